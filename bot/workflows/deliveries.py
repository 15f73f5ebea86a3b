"""Deliveries that never reached us: found in GitHub's own list of attempts, and taken up as if they had."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from bot import webhooks
from bot.model import ForkId, Ignored, Raw, Rejected, RunId
from bot.ports import GitHubError
from bot.workflows import engine
from bot.workflows.events import dump_event
from bot.workflows.services import Services

BEGAN = "deliveries looked for since"
CURSOR = "deliveries"
KEPT = timedelta(days=3)
"""How long GitHub keeps deliveries."""
OVERLAP = timedelta(minutes=2)
"""An attempt may show up in the list later than one that was made after it."""
UNDER_WAY = timedelta(seconds=30)
"""An attempt without an answer may still get one for so long."""
MOST = 200
"""How many are fetched in one look: the next look goes on."""

_ACTIVITY = frozenset({"check_run", "pull_request", "pull_request_review", "pull_request_review_comment", "status"})
_TAKEN_UP = frozenset({*webhooks.EVENTS, "installation"})

LOG = logging.getLogger("assay.workflows")
Json = engine.Json


def missed(services: Services) -> Json:
    """{events: [{guid, event}], forks: [[run, fork]]}: what to queue, and which forks something happened on.

    The cursor moves only past what was read, so whatever fails is looked at again.
    """
    nothing: Json = {"events": [], "forks": []}
    now = services.clock()
    try:
        attempts = services.app.deliveries(_since(services, now))
        return _take_up(services, attempts, now)
    except GitHubError as error:
        LOG.warning("missed deliveries are not looked for: %s", error)
        return nothing


def _since(services: Services, now: datetime) -> datetime:
    began, reached = services.store.cursor(BEGAN), services.store.cursor(CURSOR)
    if began is None or reached is None:
        # What was sent before there was anybody to take it is history; issues and comments are looked for anyway.
        # GitHub's stamps are cut to whole seconds.
        start = now.replace(microsecond=0)
        services.store.set_cursor(BEGAN, start.isoformat())
        return start
    first, last = datetime.fromisoformat(began), datetime.fromisoformat(reached)
    if last > now + OVERLAP:
        # The clock was set back since, and how far has really been read is not known: what is known is left out later.
        return max(min(first, now), now - KEPT)
    return max(first, last - OVERLAP, now - KEPT)


def _take_up(services: Services, attempts: Iterable[Raw], now: datetime) -> Json:
    events: list[Json] = []
    forks: dict[tuple[RunId, ForkId], None] = {}
    reached = now
    lost = sorted(_lost(attempts, now), key=_at)
    for number, attempt in enumerate(lost):
        if number >= MOST or _under_way(attempt, now):
            reached = min(reached, _at(attempt))
            continue
        fork = services.store.fork_by_repo_id(int(attempt.get("repository_id") or 0))
        if fork is not None and attempt.get("event") in (*_ACTIVITY, "issue_comment"):
            # Whatever it says, the fork is read afresh: that something happened is enough.
            forks[fork.run, fork.id] = None
        elif fork is None and attempt.get("event") not in _ACTIVITY:
            event = _fetched(services, attempt)
            if event is not None:
                events.append({"guid": attempt["guid"], "event": event})
    services.store.set_cursor(CURSOR, reached.isoformat())
    if events or forks:
        LOG.info("taken up from missed deliveries: %d events, %d forks", len(events), len(forks))
    return {"events": events, "forks": [list(key) for key in forks]}


def _lost(attempts: Iterable[Raw], now: datetime) -> list[Raw]:
    """An attempt for each delivery that we use, did not accept at any attempt, and have not queued since."""
    by_guid: dict[str, list[Raw]] = {}
    for attempt in attempts:
        if attempt.get("guid") and attempt.get("event") in _TAKEN_UP:
            by_guid.setdefault(str(attempt["guid"]).lower(), []).append(attempt)
    lost = [tries for tries in by_guid.values() if not any(_accepted(attempt) for attempt in tries)]
    return [max(tries, key=_at) for tries in lost if not engine.known(f"gh-{str(tries[0]['guid']).lower()}")]


def _accepted(attempt: Raw) -> bool:
    return 200 <= int(attempt.get("status_code") or 0) < 300


def _under_way(attempt: Raw, now: datetime) -> bool:
    return not attempt.get("status_code") and _at(attempt) > now - UNDER_WAY


def _at(attempt: Raw) -> datetime:
    return datetime.fromisoformat(str(attempt["delivered_at"]))


def _fetched(services: Services, attempt: Raw) -> Json | None:
    """The event that was to be delivered; None where it is of no use, or gone."""
    try:
        whole = services.app.delivery(int(attempt["id"]))
    except GitHubError as error:
        if error.status != 404:
            raise
        return None
    payload = (whole.get("request") or {}).get("payload")
    if not isinstance(payload, Mapping):
        return None
    # GitHub itself tells us, over a connection of ours: there is no signature to check.
    outcome = webhooks.read(str(attempt["event"]), payload, app_slug=services.app.identity().slug)
    if isinstance(outcome, Ignored | Rejected):
        return None
    return dump_event(outcome)
