"""Where chaos happens: a world, and an App whose processes are started again when they die, as by a service manager."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from werkzeug.wrappers import Request, Response

from bot.demo import story
from bot.demo import world as demo_world
from bot.demo.app import AppProcess
from bot.demo.world import DemoWorld
from tests.chaos.trapped import RECORD
from tests.flows.world import Bench, Gate
from tests.judging.server import Models
from tests.postgres import Postgres

ROOT = Path(__file__).resolve().parents[2]
TRAPPED = "tests.chaos.trapped"
MOST_STARTS = 12
PAUSE = 1.0
"""Seconds between two starts, as a service manager leaves."""


class Watched(AppProcess):
    """A process that is started again when somebody asks after it and it is dead."""

    starts = 0
    ended: int | None = None
    """With what it ended last."""
    held = False
    """It stays down for now."""

    also: tuple[Watched, ...] = ()
    """Who is asked after with this one."""

    _began = 0.0

    def start(self) -> None:
        self.starts += 1
        self._began = time.monotonic()
        super().start()

    @property
    def exited(self) -> int | None:
        for one in self.also:
            one.exited  # noqa: B018 - asking after it starts it again
        code = super().exited
        if code is None or self.held:
            return None
        self.ended = code
        if self.starts >= MOST_STARTS:
            return code
        if time.monotonic() - self._began > PAUSE:
            self.start()
        return None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def strike(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Signal it and all its children, and wait for nobody: whoever asks after it next starts it again."""
        with_group = self._process
        if with_group is not None:
            try:
                os.killpg(with_group.pid, number)
            except ProcessLookupError:
                return


class Tripwire:
    """Stands before the stand-in and counts what the App asks; at one request something happens."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self.seen = 0
        self._at: int | None = None
        self._answered_first = False
        self._do: Callable[[], None] = lambda: None

    def arm(self, at: int, do: Callable[[], None], *, answered_first: bool) -> None:
        """Let something happen at a request: before it is carried out, or when it is and nobody has been told."""
        with self._lock:
            self._at, self._do, self._answered_first = at, do, answered_first

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        agent = Request(environ).headers.get("User-Agent", "")
        if not agent.startswith(("assay", "git/")):
            found: Iterable[bytes] = self._inner(environ, start_response)
            return found
        with self._lock:
            self.seen += 1
            mine = self.seen == self._at
        if mine and not self._answered_first:
            self._do()
            return Response("nobody hears this", 502)(environ, start_response)
        found = self._inner(environ, start_response)
        if mine:
            self._do()
        return found


@dataclass(slots=True, kw_only=True)
class Place(Bench):
    """One world whose App, one process or several, comes back whenever it dies."""

    processes: list[Watched]
    wire: Tripwire
    settings: Mapping[str, str]
    database: str | None = None
    """Its address where it is PostgreSQL."""
    models: Models | None = None
    model_gate: Gate | None = None
    stack: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        # Whoever follows a run asks after the first; before there is a run, nobody would ask after the others.
        self.processes[0].also = tuple(self.processes[1:])

    @property
    def where(self) -> Path | str:
        return self.database or self.data

    @property
    def record(self) -> Path:
        return self.data / "moments.lines"

    def finish(self, timeout: float = 240) -> story.Outcome:
        """Follow the run to its end; all that dies meanwhile is started again."""
        return story.follow(self.where, self.app, self._tend, timeout)

    def _tend(self, line: str) -> None:
        self.shown.append(line)
        for process in self.processes:
            process.exited  # noqa: B018 - asking after it starts it again

    def tend_until(self, ready: Callable[[], bool], seconds: float = 60) -> None:
        """Wait until something is so, while all that dies is started again.

        Raises:
            AssertionError: it did not come to be so.
        """
        give_up = time.monotonic() + seconds
        while not ready():
            assert time.monotonic() < give_up, f"it did not happen within {seconds} s:\n{self.app.tail(40)}"
            self._tend("")
            time.sleep(0.05)

    def add(self, command: Sequence[str], name: str, settings: Mapping[str, str] | None = None) -> Watched:
        """One more process of the App, started."""
        made = Watched(settings or self.settings, self.data / f"{name}.txt", command, module=TRAPPED)
        made.start()
        self.stack.callback(made.stop)
        self.processes.append(made)
        return made

    def logs(self) -> str:
        """Everything that the App's processes said."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.data.glob("*.txt")))


@contextmanager
def place(
    folder: Path,
    *,
    postgres: Postgres | None = None,
    workers: int = 2,
    gated: bool = False,
    models: Models | None = None,
    extra: Mapping[str, str] | None = None,
) -> Iterator[Place]:
    """A world and its App: one process on SQLite, or a web server and workers on PostgreSQL.

    In the extra settings `{data}` is the App's data directory.
    """
    with ExitStack() as stack:
        world = stack.enter_context(demo_world.running(folder / "github", gap=0.2))
        wire = Tripwire(world.sandbox.api)
        world.sandbox._server.app = wire
        data = folder / "app"
        gate = Gate(world.url)
        stack.callback(gate.close)
        settings = _settings(world, data, gate if gated else None, extra or {})
        model_gate = Gate(models.base) if models is not None else None
        if model_gate is not None:
            stack.callback(model_gate.close)
            settings["ASSAY_LLM_API_BASE"] = f"{model_gate.url}/v1"
        database = postgres.database() if postgres is not None else None
        if database is not None:
            settings["ASSAY_DATABASE_URL"] = database
        made = _Made(stack, settings, data)
        web = made.process(("serve",) if postgres is None else ("serve", "--web-only"), "log")
        others = [made.process(("worker",), f"worker-{one}") for one in range(workers if postgres else 0)]
        yield Place(
            world=world,
            app=web,
            data=data,
            gate=gate,
            processes=[web, *others],
            wire=wire,
            settings=settings,
            database=database,
            models=models,
            model_gate=model_gate,
            stack=stack,
        )


@dataclass(frozen=True, slots=True)
class _Made:
    stack: ExitStack
    settings: Mapping[str, str]
    data: Path

    def process(self, command: Sequence[str], name: str) -> Watched:
        made = Watched(self.settings, self.data / f"{name}.txt", command, module=TRAPPED)
        made.start()
        self.stack.callback(made.stop)
        return made


def _settings(world: DemoWorld, data: Path, gate: Gate | None, extra: Mapping[str, str]) -> dict[str, str]:
    settings = world.app_settings(data) | {"PYTHONPATH": str(ROOT), RECORD: str(data / "moments.lines")}
    if gate is not None:
        settings["ASSAY_GITHUB_API_URL"] = gate.url
    return settings | {name: value.replace("{data}", str(data)) for name, value in extra.items()}


def copied_tree(target: Path) -> Path:
    """A copy of the sources, to be changed: a process whose `PYTHONPATH` it is runs the copy."""
    for package in ("bot", "goldens", "manifests", "scoring"):
        shutil.copytree(ROOT / package, target / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.yml", target / "app.yml")
    shutil.copytree(ROOT / "tests" / "chaos", target / "tests" / "chaos", ignore=shutil.ignore_patterns("__pycache__"))
    (target / "tests" / "__init__.py").touch()
    return target
