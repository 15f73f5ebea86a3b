"""A bench with a web server and workers of their own on PostgreSQL, each a process that can be killed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from bot.demo import app as app_process
from bot.demo import story
from bot.demo import world as demo_world
from bot.demo.app import AppProcess
from bot.sandbox.ports import free_port
from tests.deploy.commands import procfile
from tests.flows.world import Bench, Gate
from tests.postgres import Postgres


@dataclass(slots=True, kw_only=True)
class Cluster(Bench):
    """One world whose App is several processes."""

    workers: list[AppProcess]
    database: str
    hook: str
    """Where the web server listens: host:port."""
    metrics: list[str]
    """Where the workers tell theirs."""
    killed: set[int] = field(default_factory=set)
    """Which workers are dead."""

    def logs(self) -> list[str]:
        """Every line that any of the processes wrote."""
        texts = [process.log.read_text(errors="replace") for process in (self.app, *self.workers)]
        return [line for text in texts for line in text.split("\n") if line]

    def wait_for(self, ready: Callable[[], bool], seconds: float = 90) -> None:
        """As of one process; several on a busy machine take longer, and each may know why."""
        try:
            super(Cluster, self).wait_for(ready, seconds)
        except AssertionError as error:
            tails = "\n".join(f"{one.log.name}:\n{one.tail(20)}" for one in self.workers)
            raise AssertionError(f"{error}\n{tails}") from None

    def living(self) -> int:
        """Which worker is the first that has not been killed."""
        return next(number for number in range(len(self.workers)) if number not in self.killed)

    def kill_at_work(self) -> None:
        """Kill a worker that has work under way: stopped first, so that it cannot end it in between."""
        self.wait_for(lambda: any(self._killed_at_work(n) for n in range(len(self.workers)) if n not in self.killed))

    def _killed_at_work(self, number: int) -> bool:
        worker = self.workers[number]
        name = re.search(r"working as (slot-\d+)", worker.log.read_text(errors="replace"))
        if name is None:
            return False
        worker.pause()
        with psycopg.connect(self.database) as connection:
            query = "SELECT count(*) FROM dbos.workflow_status WHERE status = 'PENDING' AND executor_id = %s"
            [busy] = connection.execute(query, (name[1],)).fetchone() or (0,)
        if busy:
            worker.kill()
            self.killed.add(number)
        else:
            worker.go_on()
        return bool(busy)

    def finish(self, timeout: float = 200) -> story.Outcome:
        """Follow the run to its end."""
        return story.follow(self.database, self.app, self.shown.append, timeout)


@contextmanager
def cluster(
    folder: Path, postgres: Postgres, *, workers: int, gated: bool = False, extra: Mapping[str, str] | None = None
) -> Iterator[Cluster]:
    """A world, a web server that does no work, and workers; all share one database and one data directory."""
    with ExitStack() as stack:
        world = stack.enter_context(demo_world.running(folder / "github", gap=0.2))
        data, database = folder / "app", postgres.database()
        gate = Gate(world.url)
        stack.callback(gate.close)
        settings = world.app_settings(data) | {
            "ASSAY_GITHUB_API_URL": gate.url if gated else world.url,
            "ASSAY_DATABASE_URL": database,
            **(extra or {}),
        }
        commands, hook = procfile(), settings["ASSAY_BIND"]
        web = stack.enter_context(app_process.running(settings, data / "web.txt", commands["web"]))
        metrics = [f"127.0.0.1:{free_port()}" for _ in range(workers)]
        made = [
            stack.enter_context(
                app_process.running(settings, data / f"worker-{n}.txt", (*commands["worker"], "--metrics", where))
            )
            for n, where in enumerate(metrics)
        ]
        yield Cluster(
            world=world, app=web, data=data, gate=gate, workers=made, database=database, hook=hook, metrics=metrics
        )
