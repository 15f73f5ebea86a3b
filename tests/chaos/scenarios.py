"""What else the world does to an App: each scenario has a world of its own, and ends as an undisturbed run does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.demo.story import DemoError
from tests.chaos.checks import Reference, problems
from tests.chaos.kills import LONGEST, Came
from tests.chaos.loris import Loris, slowest_answer
from tests.chaos.places import Place, Watched, copied_tree, place
from tests.chaos.trapped import CLOCK, RECORD
from tests.flows.world import SMALL
from tests.judging.server import serving
from tests.postgres import Postgres

OUTAGE_SECONDS = 8.0
DISK = "64m"
HONEST_SECONDS = 3.0
"""Longest that an honest client waits for an answer while others hold the server up."""


class NotHere(Exception):
    """The scenario cannot be carried out on this machine."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way to disturb."""

    name: str
    disturb: Callable[[Place, Postgres | None], None]
    """Called when the run has been asked for; what it asserts counts as what must hold afterwards does."""
    needs_postgres: bool = False
    gated: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)
    around: Callable[[Path], Iterator[None]] | None = None
    """What is set up before the App and taken down after it."""
    begun_anew: bool = False
    """See `problems`: a workflow whose steps are others than when it began is ended by the engine, and begun anew."""
    judge: str = "lexical"
    """With another one the report is another; nothing may be unscored."""


def carry_out(scenario: Scenario, reference: Reference, postgres: Postgres | None) -> Came:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-chaos-")))
        try:
            if scenario.around is not None:
                stack.enter_context(contextmanager(scenario.around)(folder))
        except NotHere as error:
            return Came((False,), (), str(error))
        server = postgres if scenario.needs_postgres else None
        plain = scenario.judge == "lexical"
        models = None if plain else stack.enter_context(serving())
        extra = dict(scenario.extra) | (_judged_by(scenario.judge) if models else {})
        here = stack.enter_context(place(folder, postgres=server, gated=scenario.gated, models=models, extra=extra))
        here.ask(SMALL)
        try:
            scenario.disturb(here, server)
            outcome = here.finish(LONGEST)
            wanted = reference.report if plain else None
            wrong = tuple(problems(here, SMALL, outcome, wanted, begun_anew=scenario.begun_anew))
            if not plain:
                wrong += tuple(_unjudged(outcome.report or "{}"))
        except (DemoError, AssertionError, OSError) as error:
            wrong = (f"{type(error).__name__}: {error}"[:400],)
        return Came((True,), wrong, here.logs()[-8000:] if wrong else "")


def _judged_by(judge: str) -> dict[str, str]:
    return {"ASSAY_JUDGE": judge, "ASSAY_LLM_CONCURRENCY": "1", "OPENAI_API_KEY": "x"}


def _unjudged(report: str) -> Iterator[str]:
    rows = json.loads(report).get("reviewers", [])
    if not rows or any(row["unscored"] for row in rows):
        yield "not everything was judged"


def reached(here: Place, kind: str, count: int) -> None:
    """Wait until the App has made so many of something."""
    here.tend_until(lambda: here.made()[kind] >= count, 200)


STAGES = (("repository", 1), ("pull request", 2), ("check run", 3))
"""While forks are made; while reviewers are waited for; while results are written."""


# --- processes and their database


def told_to_end(here: Place, _postgres: Postgres | None) -> None:
    for kind, count in STAGES:
        reached(here, kind, count)
        before = here.processes[0].starts
        here.processes[0].strike(signal.SIGTERM)
        here.tend_until(lambda before=before: here.processes[0].starts > before)  # type: ignore[misc]


def rolling(here: Place, _postgres: Postgres | None) -> None:
    """Each worker is replaced while the run goes on, the new one first; the web server is started again."""
    for number, (kind, count) in enumerate(STAGES):
        reached(here, kind, count)
        here.add(("worker",), f"worker-new-{number}")
        _retire(here.processes[1 + number])
        here.processes[0].strike(signal.SIGTERM)


def _retire(process: Watched) -> None:
    process.held = True
    process.stop()


def database_restarts(here: Place, postgres: Postgres | None) -> None:
    assert postgres is not None
    for (kind, count), down in zip(STAGES, (3.0, 0.0, 6.0), strict=True):
        reached(here, kind, count)
        postgres.restart(down)


# --- another release


def new_code(here: Place, _postgres: Postgres | None) -> None:
    """From the middle of a run on it is another release that works: steps have new names, there is one more of them."""
    settings = {**here.settings, "PYTHONPATH": str(_release(here.data.parent / "release"))}
    reached(here, "repository", 1)
    here.processes[0].held = True
    here.processes[0].kill()
    here.app = here.add(("serve",), "log-new", settings)
    reached(here, "check run", 2)
    here.processes[1].held = True
    here.processes[1].kill()
    # And back again, as after a release that was not good.
    here.processes[0].held = False
    here.app = here.processes[0]
    here.app.start()


def new_code_beside_the_old(here: Place, _postgres: Postgres | None) -> None:
    settings = {**here.settings, "PYTHONPATH": str(_release(here.data.parent / "release"))}
    reached(here, "repository", 1)
    here.add(("worker",), "worker-new", settings)
    here.processes[1].strike()
    reached(here, "check run", 2)
    here.processes[2].strike()


_CHANGES = (
    ("bot/workflows/fork.py", 'engine.step("build"', 'engine.step("build the fork"'),
    (
        "bot/workflows/judge.py",
        "    key = RunId(run)\n    if not",
        '    key = RunId(run)\n    engine.step("hello", str)\n    if not',
    ),
    ("bot/workflows/publish.py", 'engine.step("visible"', 'engine.step("who can see it"'),
    ("bot/workflows/reconcile.py", 'LOG.warning("no news', 'LOG.warning("nothing new'),
)


def _release(target: Path) -> Path:
    tree = copied_tree(target)
    for name, old, new in _CHANGES:
        path = tree / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} has no {old!r} any more: change this scenario"
        path.write_text(text.replace(old, new), encoding="utf-8")
    return tree


# --- the disk


def small_disk(folder: Path) -> Iterator[None]:
    data = folder / "app"
    data.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "assay-chaos", str(data)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        raise NotHere("a small disk cannot be mounted: a full disk is NOT tested")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(data)], check=True)


def disk_full(here: Place, _postgres: Postgres | None) -> None:
    for kind, count in STAGES:
        reached(here, kind, count)
        filler = here.data / "filler"
        _fill(filler)
        _tend_for(here, 6)
        filler.unlink()


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 65536)
        except OSError:
            return


def _tend_for(here: Place, seconds: float) -> None:
    until = time.monotonic() + seconds
    here.tend_until(lambda: time.monotonic() > until, seconds + 30)


# --- clocks


def wrong_from_the_start(seconds: float) -> Callable[[Path], Iterator[None]]:
    """This machine's clock has been wrong all along."""

    def around(folder: Path) -> Iterator[None]:
        (folder / "app").mkdir()
        (folder / "app" / "clock").write_text(str(seconds))
        yield

    return around


def nothing_else(_here: Place, _postgres: Postgres | None) -> None:
    """The disturbance is there from the start."""


def our_clock_jumps(seconds: float) -> Callable[[Place, Postgres | None], None]:
    """Our clock jumps while a fork is made, and back when results are written."""

    def disturb(here: Place, _postgres: Postgres | None) -> None:
        reached(here, "repository", 1)
        (here.data / "clock").write_text(str(seconds))
        reached(here, "check run", 2)
        (here.data / "clock").write_text("0")

    return disturb


# --- who is asked does not answer


def github_is_out(here: Place, _postgres: Postgres | None) -> None:
    for kind, count in STAGES:
        reached(here, kind, count)
        here.gate.shut()
        _tend_for(here, OUTAGE_SECONDS)
        here.gate.open()


def model_is_out(here: Place, _postgres: Postgres | None) -> None:
    """The model hangs up in the middle of an answer, and is away for a while."""
    assert here.models is not None
    assert here.model_gate is not None
    models, gate = here.models, here.model_gate
    models.pause = 1.0
    here.tend_until(lambda: len(models.seen) >= 1, 200)
    gate.shut()
    _tend_for(here, OUTAGE_SECONDS)
    gate.open()


def slow_clients(here: Place, _postgres: Postgres | None) -> None:
    port = int(here.settings["ASSAY_BIND"].rpartition(":")[2])
    reached(here, "repository", 1)
    with Loris(port, ("silent", "head", "body", "drip", "chunked"), 60):
        reached(here, "pull request", 1)
        waited = slowest_answer(port, 10)
        assert waited < HONEST_SECONDS, f"an honest client waited {waited:.1f} s"
        reached(here, "check run", 1)


# --- half-written bundles


def half_bundles(here: Place, _postgres: Postgres | None) -> None:
    """What a worker left that died at writing is there when the bundle is written."""
    reached(here, "pull request", 1)
    bundles = here.data / "bundles"
    bundles.mkdir(exist_ok=True)
    run = _only_run(here)
    half = bundles / f".{run}.0badf00d" / "evidence"
    half.mkdir(parents=True)
    (half / "plan.json").write_bytes(b'{"request": {"suite"')
    (half.parent / "index.json").write_bytes(b'{"schema": "assay.bun')


def _only_run(here: Place) -> str:
    from bot.adapters.database import open_engine
    from bot.adapters.store import SqlStore
    from bot.demo.world import database_of

    engine = open_engine(database_of(here.where))
    try:
        return SqlStore(engine).all_runs()[-1].id
    finally:
        engine.dispose()


_CLOCK = {CLOCK: "{data}/clock"}
ALL: tuple[Scenario, ...] = (
    Scenario("sigterm", told_to_end),
    Scenario("rolling", rolling, needs_postgres=True),
    Scenario("database", database_restarts, needs_postgres=True),
    Scenario("new-code", new_code, begun_anew=True),
    Scenario("new-code-pg", new_code_beside_the_old, needs_postgres=True, begun_anew=True),
    Scenario("disk-full", disk_full, around=small_disk, extra={RECORD: ""}),
    Scenario("wrong-clock-ahead", nothing_else, around=wrong_from_the_start(3600), extra=_CLOCK),
    Scenario("wrong-clock-behind", nothing_else, around=wrong_from_the_start(-3600), extra=_CLOCK),
    Scenario("clock-ahead", our_clock_jumps(300), extra=_CLOCK),
    Scenario("clock-back", our_clock_jumps(-3600), extra=_CLOCK),
    Scenario("outage", github_is_out, gated=True),
    Scenario("model-outage", model_is_out, judge="litellm:openai/honest"),
    Scenario("loris", slow_clients),
    Scenario("half-bundle", half_bundles),
)
NAMES = tuple(one.name for one in ALL)
