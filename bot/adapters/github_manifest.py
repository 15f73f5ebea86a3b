"""The one request that is made without an identity: a code for the keys of an App that was just registered."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

import requests

from bot.adapters.github_client import API_VERSION
from bot.ports_github import GitHubError


@dataclass(frozen=True, slots=True, repr=False)
class Registered:
    """A new App and its keys. Has no `repr`, which would show them."""

    app_id: int
    slug: str
    client_id: str
    html_url: str
    private_key: str
    webhook_secret: str | None
    client_secret: str | None = None
    """What people sign in through the App with."""


def convert(api_url: str, code: str) -> Registered:
    """Exchange a code, which works once and within the hour.

    Raises:
        GitHubError: it was not exchanged. With status 0 it may have been, and the keys are lost.
    """
    address = f"{api_url.rstrip('/')}/app-manifests/{quote(code, safe='')}/conversions"
    headers = {
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": API_VERSION,
        "User-Agent": "assay",
    }
    try:
        answer = requests.post(address, headers=headers, timeout=30, allow_redirects=False)
    except requests.RequestException as error:
        raise GitHubError(0, type(error).__name__, {}, "POST") from error
    try:
        raw = answer.json()
    except requests.JSONDecodeError:
        raise GitHubError(answer.status_code, "it is no JSON", {}, "POST") from None
    if answer.status_code != 201 or not isinstance(raw, dict):
        said = raw.get("message") if isinstance(raw, dict) else None
        raise GitHubError(answer.status_code, str(said or "it was refused"), {}, "POST")
    return Registered(
        app_id=int(raw["id"]),
        slug=str(raw["slug"]),
        client_id=str(raw["client_id"]),
        html_url=str(raw["html_url"]),
        private_key=str(raw["pem"]),
        webhook_secret=raw.get("webhook_secret") or None,
        client_secret=raw.get("client_secret") or None,
    )
