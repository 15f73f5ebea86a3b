"""Where a process becomes a worker: a slot, the engine under its name, and the look at the other workers."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from bot.adapters import database, slots
from bot.adapters.patience import patient
from bot.composition import Databases, engine_url, services_of, utc_now
from bot.settings import Settings
from bot.workflows import engine, reconcile
from bot.workflows.clock import Watch
from bot.workflows.reaper import Reaper
from bot.workflows.services import Services, use

LOG = logging.getLogger("assay.workers")
KEEP_SECONDS = 0.5
"""Between two looks whether the slot is ours. Well below the next: who is alive has it back before it is missed."""
REAP_SECONDS = 2.0
"""Between two looks at the other workers."""
LOST_SLOT = 75
"""Exit code of a worker whose slot another one has: a service manager starts it again, under a slot of its own."""

Slot = slots.FileSlot | slots.DatabaseSlot


@contextmanager
def executor_slot(settings: Settings, seconds: float = 20) -> Iterator[Slot]:
    """Hold an executor slot: the only one of a data directory, or one of many of a PostgreSQL database.

    Raises:
        NoSlot: none is free.
    """
    url = engine_url(settings)
    if url.startswith("sqlite"):
        with slots.file_slot(settings.data_dir, seconds) as slot:
            yield slot
    else:
        with slots.database_slot(database.open_engine(url)) as held:
            yield held


def start_worker(settings: Settings, databases: Databases, slot: Slot) -> Services:
    """Set the services and start the engine in this process, under the slot it holds.

    Returns:
        Services that do not wait for a database that is away, as the workflows' own do: for who answers requests.
    """
    services = services_of(settings, databases)
    use(replace(services, store=patient(services.store), ledger=patient(services.ledger)))
    with slots.starting(databases.engine):
        engine.configure(databases.engine, databases.engine_url, slot.executor)
        engine.launch(settings.queue_poll_seconds)
    engine.wake(reconcile.sweep, "sweep", "sweep", 0.1)
    engine.wake(reconcile.tidy, "sweep", "tidy", 60)
    # Two threads: the look at the others waits for a database that is away, and nobody's slot may wait with it.
    threading.Thread(target=_keep, args=(slot,), name="slot", daemon=True).start()
    threading.Thread(target=_look_around, args=(slot,), name="reaper", daemon=True).start()
    return services


def _keep(slot: Slot) -> None:
    """Keep our slot until the process ends; end it where another worker has the slot."""
    while slot.keep():
        time.sleep(KEEP_SECONDS)
    LOG.critical("lost %s to another worker; ending, so that no step is run twice", slot.executor)
    os._exit(LOST_SLOT)


def _look_around(slot: Slot) -> None:
    """Take over from the dead, and let nothing wait for a clock that was set back, until the process ends."""
    reaper, watch = Reaper(slot, engine.busy, engine.hand_on), Watch()
    # Before we began it may have been set back too, nobody knows by how much.
    back: float | None = None
    while True:
        time.sleep(REAP_SECONDS)
        back = back + watch.set_back() if back is not None else None
        try:
            if back != 0:
                _hasten(back)
                back = 0.0
            reaper.round()
        except (database.DatabaseError, engine.EngineError) as error:
            LOG.warning("the other workers cannot be looked at: %s", type(error).__name__)


def _hasten(back: float | None) -> None:
    hastened = engine.hasten(utc_now(), back)
    if back is not None:
        LOG.warning("the clock was set back by %.0f s; %d waits are brought forward", back, hastened)
    elif hastened:
        LOG.warning("the clock was set back while nobody worked; %d waits are brought forward", hastened)
