"""An actor as the App it is: a signed assertion of its own, traded over REST for an installation token."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass, field
from typing import Protocol

import requests
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

_SECONDS = 30.0


class Tokens(Protocol):
    """Where an actor gets its installation token."""

    def token(self) -> str:
        """The token to use now."""

    def renew(self) -> str:
        """A fresh token, after the last one was refused."""


@dataclass(slots=True)
class AppTokens:
    """Installation tokens of one App in one organisation."""

    api_url: str
    app_id: str
    private_key: str = field(repr=False)
    """PEM, RSA."""
    org: str
    _token: str = field(default="", repr=False)

    def token(self) -> str:
        """The token to use now; asked for on first use."""
        return self._token or self.renew()

    def renew(self) -> str:
        """A fresh token.

        Raises:
            requests.RequestException: the API refused, or did not answer.
        """
        headers = {
            "Authorization": f"Bearer {self._assertion(int(time.time()))}",
            "Accept": "application/vnd.github+json",
            "User-Agent": f"app-{self.app_id}",
        }
        with requests.Session() as session:
            found = session.get(f"{self.api_url}/orgs/{self.org}/installation", headers=headers, timeout=_SECONDS)
            found.raise_for_status()
            address = f"{self.api_url}/app/installations/{int(found.json()['id'])}/access_tokens"
            made = session.post(address, headers=headers, timeout=_SECONDS)
            made.raise_for_status()
        self._token = str(made.json()["token"])
        return self._token

    def _assertion(self, now: int) -> str:
        key = serialization.load_pem_private_key(self.private_key.encode(), password=None)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise TypeError("the private key of an App is an RSA key")
        # A minute back, as GitHub advises: the two clocks may differ.
        claims = {"iat": now - 60, "exp": now + 540, "iss": self.app_id}
        signed = b".".join(_base64url(json.dumps(part).encode()) for part in ({"alg": "RS256", "typ": "JWT"}, claims))
        signature = key.sign(signed, padding.PKCS1v15(), hashes.SHA256())
        return b".".join((signed, _base64url(signature))).decode()


def _base64url(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
