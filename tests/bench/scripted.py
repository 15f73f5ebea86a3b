"""A stand-in for GitHub whose reviewers say one prepared thing: a run then costs what we cost, and no analyser."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from unittest import mock

from bot.demo import world as demo_world
from bot.demo.world import DemoWorld
from bot.model import Raw
from bot.registry import Registry, load_registry
from bot.sandbox.actors.api import Api
from bot.sandbox.actors.identity import AppTokens
from bot.sandbox.actors.jobs import Job, opened
from bot.sandbox.actors.runtime import Actors, Worker
from bot.sandbox.actors.start import EVENTS, PERMISSIONS
from bot.sandbox.server import Sandbox

SAID = "Reviewed: one remark.\n\n`total` is cut off and not rounded, so that amounts differ by a cent."


class Scripted:
    """A reviewer that comments on every pull request when it opens."""

    def __init__(self, slug: str) -> None:
        self.SLUG = slug

    def wants(self, event: str, payload: Raw) -> Job | None:
        return opened(event, payload)

    def story(self, job: Job, api: Api, seat: AbstractContextManager[object]) -> Iterator[None]:
        yield
        api.comment_once(job.repo, job.pull, SAID, "Reviewed: one remark.")


def slugs(count: int) -> list[str]:
    return [f"scripted{number:02}" for number in range(count)]


def registry_text(count: int) -> str:
    wait = {"floor": 1, "quiet": 10, "grace": 1, "deadline": 300, "ask_gap": 300, "max_asks": 2}
    entries = [
        {
            "id": slug,
            "name": slug.title(),
            "logins": [{"login": f"{slug}[bot]"}],
            "app_slugs": [slug],
            "trigger": {"kind": "auto"},
            "reviews_bot_authors": True,
            "wait": wait,
            "signals": {"done": [r"Reviewed: one remark\."]},
            "source": "tests/bench/scripted.py",
            "confidence": "ours",
        }
        for slug in slugs(count)
    ]
    # JSON is YAML, and shares no part by an anchor, which a registry must not hold.
    return json.dumps({"version": 1, "reviewers": entries})


@contextmanager
def running(folder: Path, count: int) -> Iterator[tuple[DemoWorld, Path]]:
    """The world with so many of them in place of the demo's, and the registry the App has to be given."""
    path = folder / "registry.yaml"
    path.write_text(registry_text(count), encoding="utf-8")

    def start(sandbox: Sandbox, org: str, gap: float = 0.1) -> Actors:
        return Actors(tuple(_worker(sandbox, org, slug, gap) for slug in slugs(count)))

    def registry() -> Registry:
        return load_registry(("registry.yaml", path.read_text(encoding="utf-8")))

    with (
        mock.patch.object(demo_world, "start_actors", start),
        mock.patch.object(demo_world, "demo_registry", registry),
        demo_world.running(folder / "github", gap=0.1) as world,
    ):
        yield world, path


def _worker(sandbox: Sandbox, org: str, slug: str, gap: float) -> Worker:
    keys = sandbox.create_app(slug, permissions=PERMISSIONS, events=list(EVENTS))
    sandbox.install(slug, org, "all")
    tokens = AppTokens(sandbox.url, str(keys.app_id), keys.private_key_pem, org)
    worker = Worker(Scripted(slug), Api(sandbox.url, f"{slug}[bot]", tokens), threading.BoundedSemaphore(2), gap)
    worker.start()
    sandbox.subscribe(slug, worker.receive)
    return worker
