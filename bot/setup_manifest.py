"""The manifest that registers the App: `app.yml`, with this installation's addresses and a name that says nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from bot import neutral
from bot.model import ForkId

HOOK_PATH = "/webhooks/github"
CALLBACK_PATH = "/sign-in/callback"
"""Where GitHub sends people back to who sign in to the pages."""
LONGEST_NAME = 34
"""What GitHub lets an App's name be."""
NOWHERE = "https://example.com"
"""Stands for an address that is not known: GitHub wants one even of an App that gets no deliveries."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be registered."""

    name: str
    org: str | None
    """None: it belongs to whoever registers it."""
    web_url: str
    """GitHub's web address."""
    public_url: str | None
    """Where deliveries reach us; None: none shall be sent."""


def app_yml() -> Mapping[str, Any]:
    """`app.yml`, from the package or, in a source tree, from its top."""
    packaged = resources.files("bot") / "templates" / "app.yml"
    path = packaged if packaged.is_file() else Path(__file__).resolve().parents[1] / "app.yml"
    manifest: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return manifest


def proposed_name(secret: bytes) -> str:
    """A name that tells nothing of measuring: whoever sees a fork sees the Apps that act on it."""
    return neutral.repository_names(secret, ForkId("app"))[0][:LONGEST_NAME]


def manifest(wanted: Wanted, redirect_url: str) -> dict[str, Any]:
    """The manifest as GitHub's form takes it."""
    hook = {"url": f"{wanted.public_url or NOWHERE}{HOOK_PATH}", "active": wanted.public_url is not None}
    own: dict[str, Any] = {
        "name": wanted.name,
        "url": wanted.public_url or f"{wanted.web_url}/{wanted.org or ''}".rstrip("/"),
        "hook_attributes": hook,
        "redirect_url": redirect_url,
    }
    if wanted.public_url:
        own["callback_urls"] = [wanted.public_url + CALLBACK_PATH]
    # Without the description: everybody who looks the App up would read what it is for.
    kept = {name: value for name, value in app_yml().items() if name != "description"}
    return {**kept, **own}


def form_address(wanted: Wanted, state: str) -> str:
    """Where the form with the manifest goes."""
    place = f"/organizations/{wanted.org}" if wanted.org else ""
    return f"{wanted.web_url}{place}/settings/apps/new?state={state}"


def as_json(content: Mapping[str, Any]) -> str:
    """The value of the form's field."""
    return json.dumps(content, ensure_ascii=False)
