"""A bench for whole runs: the stand-in with its reviewers, and the App as a process that can be killed."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bot.demo import app as app_process
from bot.demo import story
from bot.demo import world as demo_world
from bot.demo.app import AppProcess
from bot.demo.world import CONTROL, Asked, DemoWorld
from bot.sandbox.faults import Fault

SMALL = Asked(reviewers=("lintwarden", "gatewatch", "quillreview", "meterbot"), pulls="order-totals, ring-buffer")
"""Two forks and four reviewers, none of which lets the run wait for its deadline."""

TINY = Asked(reviewers=("lintwarden", "meterbot"), pulls="order-totals, ring-buffer")
"""Two forks whose reviewers need not be asked."""


PATIENCE = 120.0
"""Seconds after which what has to happen is taken never to happen. On a machine that does ten other things the App
alone takes half a minute to start; where nothing is wrong, none of this is waited for."""

LEISURELY = {"ASSAY_QUEUE_POLL_SECONDS": "0.25"}
"""Several Apps share this machine, and looking for work is half of what one does that waits."""


class Gate:
    """A way to the stand-in that can be shut: GitHub is then out for the App, and for nobody else."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (str(parts.hostname), int(parts.port or 80))
        self._open = True
        self._joined: set[socket.socket] = set()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def shut(self) -> None:
        """Hang up on everybody, and let nobody in."""
        self._open = False
        for end in list(self._joined):
            _hang_up(end)

    def open(self) -> None:
        """Let the App in again."""
        self._open = True

    def close(self) -> None:
        """End."""
        self.shut()
        _hang_up(self._door)
        self._door.close()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._door.accept()
            except OSError:
                return
            if not self._open:
                caller.close()
                continue
            callee = socket.create_connection(self._target)
            self._joined |= {caller, callee}
            for source, sink in ((caller, callee), (callee, caller)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        _hang_up(sink)
        _hang_up(source)
        self._joined.discard(source)
        source.close()


def _hang_up(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


@dataclass(slots=True)
class Bench:
    """One world with one App."""

    world: DemoWorld
    app: AppProcess
    data: Path
    gate: Gate
    issue: int = 0
    shown: list[str] = field(default_factory=list)

    def ask(self, asked: Asked = SMALL) -> None:
        """Open the benchmark issue."""
        self.issue = self.world.ask_for_run(asked).number

    def finish(self, timeout: float = PATIENCE) -> story.Outcome:
        """Follow the run to its end."""
        return story.follow(self.data, self.app, self.shown.append, timeout)

    def fault(self, fault: Fault) -> None:
        """Make the stand-in misbehave."""
        self.world.sandbox.faults.add(fault)

    def say(self, body: str, issue: int | None = None) -> int:
        """Comment on an issue of the control repository as the maintainer; the comment's id."""
        path = f"/repos/{CONTROL}/issues/{issue or self.issue}/comments"
        return int(self.world.get("POST", path, body={"body": body})["id"])

    def open_issue(self, body: str, login: str = demo_world.MAINTAINER) -> int:
        """Open any issue in the control repository."""
        issue = {"title": "Benchmark", "body": body}
        self.issue = int(self.world.get("POST", f"/repos/{CONTROL}/issues", login, issue)["number"])
        return self.issue

    def comments(self, issue: int | None = None) -> list[Any]:
        """The comments of an issue of the control repository, oldest first."""
        found: list[Any] = self.world.get("GET", f"/repos/{CONTROL}/issues/{issue or self.issue}/comments?per_page=100")
        return found

    def ours(self, kind: str) -> list[str]:
        """Our comments of one kind on the issue."""
        return [c["body"] for c in self.comments() if c["body"].startswith(f"<!-- assay:{kind} ")]

    def wait_for(self, ready: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Wait until something is so.

        Raises:
            AssertionError: it did not come to be so.
        """
        give_up = time.monotonic() + seconds
        while not _timed(ready):
            assert time.monotonic() < give_up, f"it did not happen within {seconds} s:\n{self.app.tail(40)}"

    def done(self) -> list[tuple[str, str, str]]:
        """(method, path, actor) of everything that the App and its author token changed on GitHub, in order."""
        own = (f"{demo_world.SLUG}[bot]", demo_world.AUTHOR)
        with self.world.sandbox.world.lock:
            return [(one.method, one.path, one.actor) for one in self.world.sandbox.api.log if one.actor in own]

    def made(self) -> Counter[str]:
        """How many repositories, pull requests, comments and check runs the App and its author token made."""
        kinds = {"repos": "repository", "pulls": "pull request", "comments": "comment", "check-runs": "check run"}
        last = [path.rpartition("/")[2] for method, path, _ in self.done() if method == "POST"]
        return Counter(kinds[name] for name in last if name in kinds)


def _timed(ready: Callable[[], bool]) -> bool:
    """Whether it is so; if not, after a pause that leaves the machine to those who are waited for."""
    begun = time.monotonic()
    if ready():
        return True
    time.sleep(max(0.02, 4 * (time.monotonic() - begun)))
    return False


def content(report: str | None) -> str:
    """A report without the stand-in's port, which differs between worlds that run side by side."""
    return re.sub(r"http://127\.0\.0\.1:\d+/", "http://github.test/", report or "")


def expected(forks: int, reviewers: int, asks: int) -> Counter[str]:
    """What an undisturbed run makes: two comments on the issue, and per fork one for each ask."""
    return Counter(
        {
            "repository": forks,
            "pull request": forks,
            "comment": 2 + forks * asks,
            "check run": forks * (reviewers + 1),
        }
    )


@contextmanager
def bench(
    folder: Path, *, webhooks: bool = True, gated: bool = False, extra: Mapping[str, str] | None = None
) -> Iterator[Bench]:
    """A world with its App running, which reaches GitHub through the gate if it is `gated`.

    In the extra settings `{github}` is the stand-in's address.
    """
    with ExitStack() as stack:
        world = stack.enter_context(demo_world.running(folder / "github", webhooks=webhooks, gap=0.2))
        data = folder / "app"
        gate = Gate(world.url)
        stack.callback(gate.close)
        settings = world.app_settings(data) | {"ASSAY_GITHUB_API_URL": gate.url if gated else world.url} | LEISURELY
        more = {name: value.replace("{github}", world.url) for name, value in (extra or {}).items()}
        app = stack.enter_context(app_process.running(settings | more, data / "log.txt"))
        yield Bench(world, app, data, gate)
