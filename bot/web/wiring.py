"""The pages of this installation: what they show, who is let in, and how."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from urllib.parse import urlsplit

from flask import Blueprint, request

from bot.adapters.oauth import OAuth
from bot.composition import utc_now, web_url
from bot.model import RepoName
from bot.ports_github import GitHubApp
from bot.settings import Settings
from bot.setup_manifest import CALLBACK_PATH
from bot.web.access import Access, Local, Rights, Sessions, Unknown
from bot.web.app import Site
from bot.web.goldens import Workshop
from bot.web.pages import pages
from bot.web.records import Records
from bot.web.rulings import desk
from bot.web.sign_in import SignIn, signing_in
from bot.workflows.services import Services


def site_of(settings: Settings, services: Services, clock: Callable[[], datetime] = utc_now) -> Site | None:
    """The pages, for the one person of this machine or for whoever signs in; None where neither is set up."""
    if settings.local_user is not None:
        local = Local(settings.local_user)
        access = Access(local.who, _rights(services), _asked_host, settings.control_repo, may_sign_in=False)
        return Site((pages_of(services, access),), session_key(settings), secure=False)
    if settings.client_secret is None or settings.client_id is None or settings.public_url is None:
        return None
    sessions = Sessions(session_key(settings), services.store, clock)
    ours = origin(settings.public_url)
    access = Access(sessions.who, _rights(services), lambda: ours, settings.control_repo)
    parts = SignIn(_door(settings), sessions, _admits(services, access.rights, settings.control_repo), clock)
    blueprints = (pages_of(services, access), signing_in(parts, access))
    return Site(blueprints, session_key(settings), secure=ours.startswith("https:"))


def session_key(settings: Settings) -> bytes:
    """What sessions are signed with: a key of its own, which changes with the webhook secret."""
    return hashlib.sha256(b"assay session key\0" + settings.webhook_secrets[0]).digest()


def origin(url: str) -> str:
    """Scheme, host and port of an address, as browsers write them: without a port that goes without saying."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if parts.port in (None, usual) else f":{parts.port}")


def _asked_host() -> str:
    """Where the pages of this machine are. Who is let in has named it by a name that only it has."""
    return f"http://{request.host}"


def _door(settings: Settings) -> OAuth:
    assert settings.client_id is not None and settings.client_secret is not None and settings.public_url is not None
    return OAuth(
        web_url=web_url(settings.github_api_url),
        api_url=settings.github_api_url,
        client_id=settings.client_id,
        client_secret=settings.client_secret.get_secret_value(),
        callback=settings.public_url + CALLBACK_PATH,
    )


def pages_of(services: Services, access: Access) -> Blueprint:
    """The pages, for whoever is let in."""
    workshop = Workshop(services.bundles.parent, utc_now)
    return pages(_library(services), access, desk(services.store, utc_now), workshop)


def _library(services: Services) -> Callable[[Callable[[RepoName], bool]], Records]:
    def open_library(sees: Callable[[RepoName], bool]) -> Records:
        return Records(services.store, services.bundles, services.web_url, lambda run: sees(run.control_repo))

    return open_library


def _rights(services: Services) -> Rights:
    return Rights(lambda repo, login: permission(services.app, repo, login))


def permission(app: GitHubApp, repo: RepoName, login: str) -> str:
    """What somebody may do in a repository; nothing, where the App is not installed on its owner."""
    found = [number for number, owner in app.installations() if owner.lower() == repo.owner.lower()]
    return app.installation(found[0]).permission(repo, login) if found else "none"


def _admits(services: Services, rights: Rights, control: RepoName | None) -> Callable[[str], bool]:
    """Whether somebody may see the runs of any control repository. One that GitHub is silent about hinders no other."""

    def admits(login: str) -> bool:
        known = dict.fromkeys(run.control_repo for run in services.store.all_runs())
        silent: Unknown | None = None
        for repo in {**({control: None} if control else {}), **known}:
            try:
                if rights.sees(repo, login):
                    return True
            except Unknown as error:
                silent = error
        if silent is not None:
            raise silent
        return False

    return admits
