"""The durable engine: queues, ids, waking. The only module that spells DBOS calls out.

Nothing is parked: a wait is one delayed queue row. Ids are ours, so that a redelivery or a restart joins.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from dbos import DBOS, DBOSClient, DBOSConfig, Debouncer
from dbos import EnqueueOptions as Options
from dbos._error import DBOSException
from dbos._serialization import DBOSPortableJSONSerializer, PortableWorkflowError
from sqlalchemy import Engine

LOG = logging.getLogger("assay.workflows")
APP = "assay"
VERSION = "1"
"""Constant: the default is a hash of the code, and a change of it strands every queued row."""

QUEUES: Mapping[str, int] = {
    "events": 8,
    "start": 1,
    "sweep": 1,
    "forks": 3,
    "collect": 6,
    "score": 1,
    "publish": 3,
    "progress": 1,
}
"""Queue -> how many workflows of it one worker runs at a time.

`start` is one at a time so that of two requests for one suite the second sees the first's run; `sweep` so that of two
rounds the second sees what the first has mended.
"""
_ALIVE = ["PENDING", "ENQUEUED", "DELAYED"]

Json = Any


def configure(engine: Engine, url: str, executor: str) -> None:
    """Tell the engine where its tables are. Must come before `launch`, after every workflow module is imported."""
    config: DBOSConfig = {
        "name": APP,
        "system_database_url": url,
        "system_database_engine": engine,
        "application_version": VERSION,
        "executor_id": executor,
        "serializer": DBOSPortableJSONSerializer(),
        "log_level": "WARNING",
    }
    DBOS(config=config)


def launch(queue_poll: float) -> None:
    """Start to work on the queues, and take up what a killed process left."""
    DBOS.launch()
    for name, concurrency in QUEUES.items():
        DBOS.register_queue(
            name, worker_concurrency=concurrency, polling_interval_sec=queue_poll, on_conflict="always_update"
        )


def client(engine: Engine, url: str) -> DBOSClient:
    """A way in for a process that runs no workflow."""
    return DBOSClient(
        system_database_url=url,
        system_database_engine=engine,
        serializer=DBOSPortableJSONSerializer(),
        application_name=APP,
    )


def submit(door: DBOSClient, queue: str, workflow: str, workflow_id: str, *args: Json) -> None:
    """Queue a workflow durably from outside; one with that id already there is joined, not repeated."""
    options: Options = {"workflow_name": workflow, "queue_name": queue, "workflow_id": workflow_id}
    door.enqueue(options, *args)


def enqueue(queue: str, workflow: str, workflow_id: str, *args: Json, delay: float = 0) -> None:
    """Queue a workflow from inside one; one with that id already there is joined, not repeated."""
    options: Options = {"workflow_name": workflow, "queue_name": queue, "workflow_id": workflow_id}
    if delay > 0:
        options["delay_seconds"] = delay
    DBOS.enqueue_workflow_with_options(options, *args)


def wake(workflow: Workflow, queue: str, key: str, seconds: float, *args: Json, cap: float | None = None) -> None:
    """See to it that `workflow` runs for `key` in `seconds`, once however often this is called until then.

    A later call moves the moment, also forward, but never past the `cap` (default: `seconds`) of the call that
    queued the row: a chatty neighbour can bring a look forward and not put it off.
    """
    limit = seconds if cap is None else cap
    Debouncer.create(workflow, debounce_timeout_sec=max(limit, 0.001), queue=queue).debounce(
        key, max(seconds, 0.0), *args
    )


Workflow = Callable[..., None]
Mend = Callable[..., None]
"""`mend(error, *arguments of the workflow)`: what to do so that nothing waits for a workflow that fell over."""


def workflow(name: str, mend: Mend | None = None) -> Callable[[Workflow], Workflow]:
    """Make a module-level function a workflow. Names are forever: rows refer to them across releases.

    The engine takes an exception as the end of the workflow, and whatever waited for it would wait forever; `mend`
    is called instead, inside the workflow.
    """

    def register(function: Workflow) -> Workflow:
        @functools.wraps(function)
        def guarded(*arguments: Json) -> None:
            try:
                function(*arguments)
            except DBOSException:
                raise
            except Exception as error:
                LOG.exception("workflow %s%r fell over", name, arguments)
                if mend is None:
                    raise
                mend(error, *arguments)

        return DBOS.workflow(name=name, max_recovery_attempts=None)(guarded)

    return register


def step(name: str, do: Callable[[], Json]) -> Json:
    """Run `do` as a checkpointed step: its JSON result is remembered, and a restart does not run it again."""
    return DBOS.run_step({"name": name}, do)


def is_replay(error: Exception) -> bool:
    """Whether a step failed before a restart: what it failed with is then no longer known by its type."""
    return isinstance(error, PortableWorkflowError)


def alive(prefix: str | None = None, *, name: str | None = None) -> bool:
    """Whether a workflow whose id begins so, or of that name, is queued, waiting for its time or under way."""
    found = DBOS.list_workflows(
        workflow_id_prefix=prefix, name=name, status=_ALIVE, limit=1, load_input=False, load_output=False
    )
    return bool(found)


def forget(before: datetime, names: Sequence[str] | None = None, most: int = 1000) -> int:
    """Delete workflows that ended before then: all, or those of some names. Their ids are free again."""
    found = DBOS.list_workflows(
        completed_before=before.isoformat(),
        name=list(names) if names is not None else None,
        limit=most,
        load_input=False,
        load_output=False,
    )
    DBOS.delete_workflows([row.workflow_id for row in found])
    return len(found)
