"""Registering an App from a manifest: the form, the redirect with a code, and the exchange of the code."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from bot.sandbox import shapes_account
from bot.sandbox.errors import ApiError, not_found
from bot.sandbox.routing import Answer, Call
from bot.sandbox.state import Account, App
from bot.sandbox.world import World

PATH = re.compile(r"(?:/organizations/(?P<org>[\w-]+))?/settings/apps/new")
LIFETIME = timedelta(hours=1)
_REQUIRED = ("name", "url")


@dataclass(frozen=True, slots=True)
class _Registered:
    app: App
    private_key_pem: str
    expires: datetime


def new_key() -> str:
    """A private key as GitHub hands it out."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def public_half(pem: str) -> bytes:
    """The public key of a private one."""
    key = serialization.load_pem_private_key(pem.encode(), password=None)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form)


class Registration:
    """Holds the codes that were given and not exchanged yet."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._codes: dict[str, _Registered] = {}

    def submit(self, request: Request, org: str | None) -> Response:
        """The form. There is no page to confirm on: the App is registered at once."""
        try:
            manifest = json.loads(request.form.get("manifest", ""))
            code = self._register(manifest, org)
        except ValueError as problem:
            return Response(f"The manifest is not valid: {problem}\n", 422, content_type="text/plain; charset=utf-8")
        except ApiError as problem:
            return Response(problem.message + "\n", problem.status, content_type="text/plain; charset=utf-8")
        state = {"state": request.args["state"]} if "state" in request.args else {}
        return redirect(f"{manifest['redirect_url']}?{urlencode({'code': code, **state})}", 302)

    def _register(self, manifest: Any, org: str | None) -> str:
        if not isinstance(manifest, dict):
            raise ValueError("it is not an object")
        lacking = [name for name in (*_REQUIRED, "redirect_url") if not isinstance(manifest.get(name), str)]
        if lacking:
            raise ValueError(f"{lacking[0]} is missing or not a string")
        slug = re.sub(r"[^a-z0-9]+", "-", manifest["name"].lower()).strip("-")
        pem, code = new_key(), secrets.token_hex(20)
        with self._world.lock:
            if not slug or slug in self._world.apps:
                raise ValueError("name is already taken")
            owner = self._owner(org, slug)
            app = self._make(manifest, slug, owner, pem)
            self._codes[code] = _Registered(app, pem, self._world.now() + LIFETIME)
        return code

    def _owner(self, org: str | None, slug: str) -> Account:
        if org is not None:
            return self._world.account(org)
        login = f"{slug}-owner"
        return self._world.accounts.get(login) or self._world.add_account(login, "User")

    def _make(self, manifest: Mapping[str, Any], slug: str, owner: Account, pem: str) -> App:
        permissions, events = manifest.get("default_permissions", {}), manifest.get("default_events", [])
        hook = manifest.get("hook_attributes", {})
        if not isinstance(permissions, dict) or not isinstance(events, list) or not isinstance(hook, dict):
            raise ValueError("default_permissions or hook_attributes is no object, or default_events no array")
        if hook and not isinstance(hook.get("url"), str):
            raise ValueError("hook_attributes.url is missing or not a string")
        callbacks = _callbacks(manifest)
        app = self._world.add_app(slug, owner, permissions, events, public_half(pem))
        app.webhook_url = hook.get("url") if hook.get("active", True) else None
        app.webhook_secret = secrets.token_hex(20) if hook else None
        app.callback_urls = callbacks
        return app

    def convert(self, call: Call) -> Answer:
        """Exchange a code, once and within the hour."""
        found = self._codes.pop(call.params["code"], None)
        if found is None or self._world.now() >= found.expires:
            raise not_found()
        told = {
            **shapes_account.app(call.links, found.app),
            "client_secret": found.app.client_secret,
            "webhook_secret": found.app.webhook_secret,
            "pem": found.private_key_pem,
        }
        return Answer(told, 201)


def _callbacks(manifest: Mapping[str, Any]) -> list[str]:
    urls = manifest.get("callback_urls", [])
    if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
        raise ValueError("callback_urls is no array of strings")
    return urls
