"""The durable engine: queues, ids, waking. The only module that spells DBOS calls out.

Nothing is parked: a wait is one delayed queue row. Ids are ours, so that a redelivery or a restart joins.
"""

from __future__ import annotations

import functools
import inspect
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from dbos import DBOS, DBOSClient, DBOSConfig, Debouncer, SetWorkflowID
from dbos import EnqueueOptions as Options
from dbos._error import DBOSException
from dbos._migration import get_migration_versions, get_sqlite_migration_versions
from dbos._serialization import DBOSPortableJSONSerializer, PortableWorkflowError
from sqlalchemy import Engine

from bot import logs

LOG = logging.getLogger("assay.workflows")
APP = "assay"
DELIVERY = "gh-"
"""How the id of a delivery's workflow begins; the delivery's own follows."""
VERSION = "1"
"""Constant: the default is a hash of the code, and a change of it strands every queued row."""

QUEUES: Mapping[str, int] = {
    "events": 8,
    "start": 1,
    "sweep": 1,
    "forks": 3,
    "collect": 6,
    "reviews": 1,
    "score": 1,
    "publish": 3,
    "progress": 1,
}
"""Queue -> how many workflows of it one worker runs at a time."""
ALONE = frozenset({"start", "sweep", "progress", "reviews"})
"""Queues of which one workflow runs at a time among all workers.

`start` so that of two requests for one suite the second sees the first's run; `sweep` so that of two rounds the second
sees what the first has mended; `progress` so that of two edits the later one was rendered later; `reviews` so that
each knows what those before it have spent. One that a dead worker left counts as running until it is handed on, which
the others do within seconds.
"""
SET_BACK_SECONDS = 60.0
"""A row that is stamped farther ahead was made before the clock was set back; less may be two hosts' clocks."""
PATIENT: Mapping[str, float] = {
    "start": 2,
    "forks": 2,
    "collect": 2,
    "publish": 2,
    "sweep": 3,
    "reviews": 3,
    "score": 3,
    "progress": 3,
}
"""Queue -> how many times rarer a worker looks for work there than in a queue that somebody waits for.

Looking is all that an idle worker does: what it costs is the looks of all queues together.
"""
_ALIVE = ["PENDING", "ENQUEUED", "DELAYED"]

Json = Any
EngineError = DBOSException
"""What the engine raises of its own accord."""


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
    """Start to work on the queues, looked at every `queue_poll` seconds or a few times rarer, and on what was left."""
    DBOS.launch()
    for name, concurrency in QUEUES.items():
        DBOS.register_queue(
            name,
            worker_concurrency=concurrency,
            global_concurrency=1 if name in ALONE else None,
            polling_interval_sec=queue_poll * PATIENT.get(name, 1),
            on_conflict="always_update",
        )


def client(engine: Engine, url: str) -> DBOSClient:
    """A way in for who runs no workflow. It does not wait for a database that is away: GitHub does not wait either."""
    return DBOSClient(
        system_database_url=url,
        system_database_engine=engine,
        serializer=DBOSPortableJSONSerializer(),
        application_name=APP,
        retry_connection_errors=False,
    )


def submit(door: DBOSClient, queue: str, workflow: str, workflow_id: str, *args: Json) -> None:
    """Queue a workflow durably from outside; one with that id already there is joined, not repeated."""
    options: Options = {"workflow_name": workflow, "queue_name": queue, "workflow_id": workflow_id}
    door.enqueue(options, *args)


def submit_all(door: DBOSClient, engine: Engine, queue: str, workflow: str, ones: Sequence[tuple[str, Json]]) -> None:
    """Queue a workflow for each id and argument, in one transaction; those already there are joined, not repeated."""
    with engine.begin() as db:
        for workflow_id, argument in ones:
            options: Options = {"workflow_name": workflow, "queue_name": queue, "workflow_id": workflow_id}
            door.enqueue_in_transaction(db, options, argument)


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
    # The engine's own id would be ours with a suffix: of what wakes itself again and again it gets longer each time.
    with SetWorkflowID(f"{workflow.__name__}-{uuid.uuid4().hex}"):
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
        names = tuple(inspect.signature(function).parameters)

        @functools.wraps(function)
        def guarded(*arguments: Json) -> None:
            given = dict(zip(names, arguments, strict=False))
            ids = {key: str(given[key]) for key in ("run", "fork", "issue", "installation") if key in given}
            try:
                with logs.about(**about_of(str(DBOS.workflow_id)), **ids):
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


def about_of(workflow_id: str) -> dict[str, str]:
    """What log lines say of a workflow: its id, and the delivery's where it is one's."""
    guid = workflow_id.removeprefix(DELIVERY)
    return {"workflow": workflow_id} if guid == workflow_id else {"workflow": workflow_id, "delivery": guid}


def step(name: str, do: Callable[[], Json]) -> Json:
    """Run `do` as a checkpointed step: its JSON result is remembered, and a restart does not run it again."""
    return DBOS.run_step({"name": name}, do)


def unique() -> str:
    """A part for the id of work that comes again, and is no twin of what it follows; a replay gives the same."""
    return str(step("unique", lambda: uuid.uuid4().hex[:12]))


def is_replay(error: Exception) -> bool:
    """Whether a step failed before a restart: what it failed with is then no longer known by its type."""
    return isinstance(error, PortableWorkflowError)


def alive(prefix: str | None = None, *, name: str | None = None) -> bool:
    """Whether a workflow whose id begins so, or of that name, is queued, waiting for its time or under way."""
    found = DBOS.list_workflows(
        workflow_id_prefix=prefix, name=name, status=_ALIVE, limit=1, load_input=False, load_output=False
    )
    return bool(found)


def known(workflow_id: str) -> bool:
    """Whether there is, or was, a workflow of that id."""
    return DBOS.get_workflow_status(workflow_id) is not None


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


def busy() -> dict[str, dict[str, list[str]]]:
    """Executor -> queue -> workflows under way."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in DBOS.list_workflows(status="PENDING", load_input=False, load_output=False):
        if row.executor_id and row.queue_name:
            found.setdefault(row.executor_id, {}).setdefault(row.queue_name, []).append(row.workflow_id)
    return found


def hand_on(by_queue: Mapping[str, Sequence[str]]) -> int:
    """Queue a dead executor's workflows again: whoever is free goes on where they stood. Gives how many."""
    for queue, ids in by_queue.items():
        DBOS.resume_workflows(list(ids), queue_name=queue)
    return sum(len(ids) for ids in by_queue.values())


def hasten(now: datetime, back: float | None = None) -> int:
    """Bring forward what would wait until a clock that was set back has caught up. Gives how many.

    Args:
        now: by the clock as it is now.
        back: by how many seconds it was set back just now; None: that is not known, and rows stamped at a moment that
            is yet to come tell of it. Several workers may do this: what wakes too early sets its next wake.
    """
    at, hastened = now.timestamp() * 1000, 0
    since = None if back is not None else (now + timedelta(seconds=SET_BACK_SECONDS)).isoformat()
    rows = DBOS.list_workflows(status="DELAYED", start_time=since, load_input=False, load_output=False)
    for row in rows:
        until, stamped = row.delay_until_epoch_ms, row.created_at
        if until is None or stamped is None:
            continue
        sooner = until - back * 1000 if back is not None else at + until - stamped
        if at <= sooner < until:
            DBOS.set_workflow_delay(row.workflow_id, delay_until_epoch_ms=int(sooner))
            hastened += 1
    return hastened


def schema(engine: Engine) -> tuple[int, int]:
    """The version of the engine's tables, 0 where there are none, and the one that this release of it needs."""
    if engine.dialect.name == "sqlite":
        return get_sqlite_migration_versions(engine)
    return get_migration_versions(engine, "dbos", True)


def migrate(url: str) -> None:
    """Bring the engine's tables up to date, for a process that does not launch it."""
    DBOS.migrate(url)
