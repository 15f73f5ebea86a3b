"""Who is calling, and whether they may."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from bot.sandbox.errors import INTEGRATION, ApiError, bad_credentials, forbidden, not_found
from bot.sandbox.roles import at_least, role_of
from bot.sandbox.routing import Caller, Route
from bot.sandbox.state import App, Installation, Repo, Token
from bot.sandbox.world import World

UNREADABLE_JWT = "A JSON web token could not be decoded"
_LEVELS = ("none", "read", "write", "admin")
_SKEW = 60
_LONGEST = 600


def identify(world: World, header: str | None) -> Caller:
    """Read an Authorization header.

    Raises:
        ApiError: 401 for credentials that are not valid now.
    """
    if not header:
        return Caller()
    scheme, _, value = header.partition(" ")
    value = value.strip()
    if scheme.lower() == "basic":
        return Caller(token=world.token(_password(value)))
    if scheme.lower() not in {"bearer", "token"}:
        raise bad_credentials()
    if value.count(".") == 2 and not value.startswith(("ghs_", "ghp_", "ghu_")):
        return Caller(app=verify_jwt(world, value))
    return Caller(token=world.token(value))


def _password(encoded: str) -> str:
    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise bad_credentials() from None
    return user if password in {"", "x-oauth-basic"} else password


def _part(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _claims(text: str) -> tuple[Mapping[str, Any], Mapping[str, Any], bytes]:
    head, body, signature = text.split(".")
    try:
        found = json.loads(_part(head)), json.loads(_part(body)), _part(signature)
    except ValueError:
        raise ApiError(401, UNREADABLE_JWT) from None
    if not (isinstance(found[0], dict) and isinstance(found[1], dict)):
        raise ApiError(401, UNREADABLE_JWT)
    return found


def verify_jwt(world: World, text: str) -> App:
    """The App that signed a JSON web token.

    Raises:
        ApiError: 401 with GitHub's reasons.
    """
    head, claims, signature = _claims(text)
    app = world.app_by_issuer(str(claims.get("iss")))
    if app is None or head.get("alg") != "RS256":
        raise ApiError(401, "Integration not found" if app is None else UNREADABLE_JWT)
    key = load_pem_public_key(app.public_key_pem)
    assert isinstance(key, RSAPublicKey)
    try:
        key.verify(signature, text.rpartition(".")[0].encode(), PKCS1v15(), SHA256())
    except InvalidSignature:
        raise ApiError(401, UNREADABLE_JWT) from None
    _check_times(claims, world.now())
    return app


def _check_times(claims: Mapping[str, Any], now: datetime) -> None:
    issued, expires = claims.get("iat"), claims.get("exp")
    if not isinstance(issued, int | float) or not isinstance(expires, int | float):
        raise ApiError(401, "Missing 'issued at' ('iat') or 'Expiration time' ('exp') claim in assertion")
    seconds = now.timestamp()
    if issued > seconds + _SKEW:
        raise ApiError(
            401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        )
    if expires <= seconds:
        raise ApiError(401, "'Expiration time' claim ('exp') must be a numeric value representing the future time")
    if expires > seconds + _LONGEST + _SKEW:
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")


# --- may they? --------------------------------------------------------------------------------------------------


def admit(world: World, route: Route, caller: Caller, params: Mapping[str, Any]) -> Repo | None:
    """The repository of the path, if the caller may do what the route does.

    Raises:
        ApiError: 401, 403, or 404 where even the existence is none of the caller's business.
    """
    _check_kind(route, caller)
    if "repo" not in params:
        return None
    repo = world.repo(params["owner"], params["repo"])
    if route.auth == "app":
        return repo
    _check_visible(repo, caller)
    _check_permission(route, repo, caller)
    if repo.archived and not route.on_archived:
        raise forbidden("Repository was archived so is read-only.")
    return repo


def _check_kind(route: Route, caller: Caller) -> None:
    if route.auth == "app":
        if caller.app is None:
            raise ApiError(401, UNREADABLE_JWT)
        return
    if caller.app is not None:
        raise forbidden()
    if route.auth == "public":
        return
    if caller.token is None and (route.auth != "anyone" or route.method != "GET"):
        raise ApiError(401, "Requires authentication")
    if route.auth == "installation" and caller.installation is None:
        raise forbidden("You must authenticate with an installation access token in order to list repositories.")


def token_covers(token: Token, installation: Installation, repo: Repo) -> bool:
    """Whether an installation token reaches a repository at this moment."""
    return installation.covers(repo) and (token.repo_ids is None or repo.id in token.repo_ids)


def sees(repo: Repo, caller: Caller) -> bool:
    """Whether a repository exists for the caller."""
    if not repo.private:
        return True
    if caller.token and caller.installation:
        return token_covers(caller.token, caller.installation, repo)
    return role_of(repo, caller.account) != "none"


def _check_visible(repo: Repo, caller: Caller) -> None:
    if not sees(repo, caller):
        raise not_found()


def _check_permission(route: Route, repo: Repo, caller: Caller) -> None:
    if caller.token and caller.installation:
        covered = token_covers(caller.token, caller.installation, repo)
        if route.method == "GET" and not repo.private and not covered:
            return
        if not covered or not granted(caller.token, route.needs):
            raise ApiError(403, INTEGRATION, headers={"X-Accepted-GitHub-Permissions": accepted(route)})
        return
    if not at_least(role_of(repo, caller.account), route.role):
        raise forbidden("Must have admin rights to Repository." if route.role == "admin" else "Must have push access.")


def granted(token: Token, needs: tuple[tuple[str, str], ...]) -> bool:
    """Whether a token has one of the permissions."""
    return not needs or any(includes(token.permissions.get(name, "none"), level) for name, level in needs)


def includes(level: str, wanted: str) -> bool:
    """Whether a level of a permission includes another."""
    return _LEVELS.index(level) >= _LEVELS.index(wanted)


def accepted(route: Route) -> str:
    """The header that tells what a route needs."""
    return "; ".join(f"{name}={level}" for name, level in route.needs)
