"""The reviewers of the sandbox: registering them as Apps, installing them, setting them to work."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping

from bot.sandbox.actors import gatewatch, lintwarden, meterbot, quillreview
from bot.sandbox.actors.api import Api
from bot.sandbox.actors.identity import AppTokens
from bot.sandbox.actors.runtime import Actor, Actors, Worker
from bot.sandbox.server import Sandbox

PERMISSIONS = {"contents": "read", "pull_requests": "write", "issues": "write", "checks": "write"}
EVENTS = ("pull_request", "issue_comment")
MUTE = "mutebot"
ACTORS: Mapping[str, Actor | None] = {
    lintwarden.SLUG: lintwarden,
    gatewatch.SLUG: gatewatch,
    quillreview.SLUG: quillreview,
    meterbot.SLUG: meterbot,
    MUTE: None,
}
"""App slug -> what it does; None: it is installed, and never says a word."""
_SEATS = 2
"""How many analysers run at once."""


def start_actors(sandbox: Sandbox, org: str, gap: float = 0.5, only: Collection[str] | None = None) -> Actors:
    """Register and install the reviewers in an organisation, and set them to work.

    Args:
        sandbox: a sandbox that is running.
        org: where they are installed, on all repositories.
        gap: seconds between two posts of one reviewer on one pull request.
        only: the slugs of those wanted; None: all of them.

    Raises:
        ValueError: `only` names none of them.
    """
    unknown = sorted(set(only or ()) - set(ACTORS))
    if unknown:
        raise ValueError(f"no such reviewer in the sandbox: {', '.join(unknown)}; there are {', '.join(ACTORS)}")
    seats = threading.BoundedSemaphore(_SEATS)
    workers: list[Worker] = []
    for slug, actor in ACTORS.items():
        if only is not None and slug not in only:
            continue
        keys = sandbox.create_app(slug, permissions=PERMISSIONS, events=list(EVENTS))
        sandbox.install(slug, org, "all")
        if actor is None:
            continue
        tokens = AppTokens(sandbox.url, str(keys.app_id), keys.private_key_pem, org)
        worker = Worker(actor, Api(sandbox.url, f"{slug}[bot]", tokens), seats, gap)
        worker.start()
        sandbox.subscribe(slug, worker.receive)
        workers.append(worker)
    return Actors(tuple(workers))
