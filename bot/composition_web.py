"""What the web process needs of the rest: a durable way for deliveries, and how everything stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot import composition
from bot.adapters import database
from bot.adapters.counts import SqlCounts
from bot.adapters.inbox import SqlInbox
from bot.adapters.ledger import SqlLedger
from bot.composition import Databases
from bot.judging import store
from bot.model import Event, WriteLimits
from bot.settings import Settings
from bot.web.hooks import Intake
from bot.web.intake import Delivery, Mover, Together
from bot.web.metrics import Metrics, Standing
from bot.workflows import engine, events
from bot.workflows.services import Services


def intake_of(
    settings: Settings, services: Services, databases: Databases, metrics: Metrics, after: Callable[[], None]
) -> Intake:
    """The hook endpoint's way to the queues: durable in the inbox first, then moved by a thread of this process.

    Args:
        settings: The operator's.
        services: Who we are.
        databases: The inbox's, and the engine's.
        metrics: Count deliveries.
        after: Called when deliveries have been told whether they were kept.
    """
    door, inbox = engine.client(databases.engine, databases.engine_url), SqlInbox(databases.app)

    def submit(ones: Sequence[Delivery]) -> None:
        named = [(f"{engine.DELIVERY}{guid}", event) for guid, event in ones]
        engine.submit_all(door, databases.engine, "events", "on_event", named)

    mover = Mover(inbox, submit, (database.DatabaseError, engine.EngineError))

    def kept() -> None:
        mover.nudge()
        after()

    together = Together(inbox.keep, kept)

    def accept(guid: str, event: Event, told: Callable[[bool], None]) -> None:
        together.put(guid, events.dump_event(event), told)

    together.start()
    mover.start()
    return Intake(
        secrets=settings.webhook_secrets,
        app_id=settings.app_id or 0,
        app_slug=lambda: services.app.slug,
        accept=accept,
        count=metrics.delivered,
    )


def standing_of(settings: Settings, databases: Databases) -> Callable[[], Standing]:
    """How everything stands, for an operator's monitor; it raises RuntimeError where the databases do not answer."""
    counts, ledger = SqlCounts(databases.app), SqlLedger(databases.app, WriteLimits())
    path, replies = settings.data_dir / "bundles" / store.CACHE, composition.replies_of(settings)

    def ask() -> Standing:
        try:
            queue, now = ledger.pending(composition.utc_now()), composition.utc_now()
            oldest = 0.0 if queue.oldest_at is None else max((now - queue.oldest_at).total_seconds(), 0.0)
            runs, trials, under_way = counts.runs(), counts.trials(), counts.under_way()
        except database.DatabaseError as error:
            raise RuntimeError(f"a database does not answer: {type(error).__name__}") from error
        calls, cost, dearest = 0, 0.0, 0.0
        if path.exists():
            # Looking must not make the file: where no model was ever asked there is none.
            calls, cost = replies.totals()
            dearest = max((replies.spent(run) for run in under_way), default=0.0)
        return Standing(runs, trials, queue.kinds, oldest, calls, cost, dearest)

    return ask
