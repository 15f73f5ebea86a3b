"""Writes to GitHub that happen once: meant, looked for, paced, sent, confirmed. The only caller of mutating ports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot import answers
from bot.model import Bucket
from bot.ports import GitFailure, GitHubError, Json
from bot.workflows import engine
from bot.workflows.services import Services, current

MOST_ATTEMPTS = 12
MEND_SECONDS = 30.0
MOST_TRIES = 6
"""How often a workflow that falls over is tried again when nothing says that trying again will help."""
TOKEN_TRIES = 3
"""How often a token is not accepted before that is believed: one minted a moment ago may not be known everywhere."""


class Deferred(Exception):
    """The write may not go out before `until`: end the workflow and queue it again."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"not before {until.isoformat()}")
        self.until = until


class Refused(Exception):
    """GitHub says no, and asking again cannot help."""


@dataclass(frozen=True, slots=True)
class Write:
    """One outbound write: how to see that it is done, and how to do it."""

    key: str
    kind: str
    identity: str
    """Whose content limits it counts against."""
    find: Callable[[], Json | None]
    make: Callable[[], Json]
    fresh: bool = False
    """It touches something that we made seconds ago, which GitHub may not see everywhere yet."""


def write_once(write: Write) -> Json:
    """Do a write as a checkpointed step, and give what GitHub says of it (JSON, small).

    A write whose outcome is unknown (no answer, 5xx) is looked for again, at once and after the configured pauses,
    before it is sent once more.

    Raises:
        Deferred: its turn under the content or rate limits is too far away to sleep for.
        Refused: GitHub says no.
    """
    outcome = engine.step(f"write {write.kind}", lambda: _attempt(current(), write))
    if "later" in outcome:
        raise Deferred(datetime.fromisoformat(outcome["later"]))
    if "refused" in outcome:
        raise Refused(outcome["refused"])
    return outcome["done"]


def _attempt(services: Services, write: Write) -> dict[str, Json]:
    """Outcomes as JSON, because an exception's type does not survive the engine's checkpoint."""
    done = services.ledger.result(write.key)
    if done is not None:
        return {"done": done}
    services.ledger.intend(write.key, write.kind, services.clock())
    for attempt in range(1, MOST_ATTEMPTS + 1):
        try:
            done = _look(services, write)
            if done is None:
                turn = _await_turn(services, write)
                if turn is not None:
                    return {"later": turn.isoformat()}
                done = _send(services, write)
        except (GitHubError, GitFailure) as error:
            verdict = _verdict(services, write, error, attempt)
            if isinstance(verdict, answers.GiveUp):
                return {"refused": verdict.reason}
            until = services.clock() + timedelta(seconds=verdict.seconds)
            if not _sleep_until(services, until):
                return {"later": until.isoformat()}
            continue
        services.ledger.confirm(write.key, done, services.clock())
        return {"done": done}
    return {"refused": f"GitHub did not do it in {MOST_ATTEMPTS} attempts"}


def _verdict(
    services: Services, write: Write, error: GitHubError | GitFailure, attempt: int
) -> answers.Retry | answers.GiveUp:
    if isinstance(error, GitHubError):
        fresh = write.fresh or (error.status == 401 and attempt <= TOKEN_TRIES)
        return answers.decide(_answer(error), services.clock(), attempt, fresh=fresh)
    if error.retryable:
        return answers.Retry(float(min(2 ** (attempt - 1), 64)), str(error))
    return answers.GiveUp(str(error))


def _look(services: Services, write: Write) -> Json | None:
    found = write.find()
    if found is None and services.ledger.attempts(write.key):
        # It may have been done and not be visible yet; sending it blind is how duplicates are made.
        for pause in services.timing.rechecks:
            services.sleep(pause)
            found = write.find()
            if found is not None:
                break
    return found


def _await_turn(services: Services, write: Write) -> datetime | None:
    """None when the write is noted as going out now; else its turn, which is too far away to sleep for."""
    turn: datetime | None = services.ledger.reserve(write.key, write.identity, services.clock())
    while turn is not None and _sleep_until(services, turn):
        turn = services.ledger.sent(write.key, services.clock())
    return turn


def _send(services: Services, write: Write) -> Json:
    try:
        return write.make()
    except GitHubError as error:
        if not error.outcome_unknown:
            services.ledger.refused(write.key)
        raise


def _sleep_until(services: Services, moment: datetime) -> bool:
    seconds = (moment - services.clock()).total_seconds()
    if seconds > services.timing.longest_sleep:
        return False
    if seconds > 0:
        services.sleep(seconds)
    return True


def _answer(error: GitHubError) -> answers.Answer:
    headers = {name.lower(): value for name, value in error.headers.items()}
    return answers.Answer(error.status, error.message, headers, error.method)


def take_turn(key: str, buckets: Callable[[], Sequence[Bucket]], *, unless: Sequence[str] = ()) -> None:
    """Wait for a turn in all of the buckets, which is then ours; not where a write of one of these keys is done.

    Raises:
        Deferred: it is too far away to sleep for.
    """
    # All of it is one step: what is decided outside of steps may be decided otherwise after a restart.
    until = engine.step("turn", lambda: _turn(current(), key, buckets(), unless))
    if until is not None:
        raise Deferred(datetime.fromisoformat(until))


def _turn(services: Services, key: str, buckets: Sequence[Bucket], unless: Sequence[str]) -> str | None:
    if not buckets or any(services.ledger.result(done) is not None for done in unless):
        return None
    turn = services.ledger.pace(key, buckets, services.clock())
    return None if _sleep_until(services, turn) else turn.isoformat()


def mend_seconds(error: Exception) -> float:
    """How long to leave a workflow that fell over alone before it is tried again."""
    known = retry_seconds(current(), error) if isinstance(error, GitHubError) else None
    return known or MEND_SECONDS


def try_again_in(error: Exception, attempt: int) -> float | None:
    """Seconds until a workflow that fell over for the `attempt`-th time is tried again; None: leave it.

    A checkpointed step, so that a restart decides the same. An outage is waited out however long it lasts.
    """
    seconds: float | None = engine.step("try again", lambda: _try_again_in(current(), error, attempt))
    return seconds


def _try_again_in(services: Services, error: Exception, attempt: int) -> float | None:
    pause = min(MEND_SECONDS * attempt, 600.0)
    if engine.is_replay(error):
        return pause
    known = retry_seconds(services, error) if isinstance(error, GitHubError) else None
    if known is not None:
        return max(known, pause)
    return pause if attempt < MOST_TRIES else None


def retry_seconds(services: Services, error: GitHubError, attempt: int = 1) -> float | None:
    """When a failed call is worth another try, in seconds; None if it is not."""
    verdict = answers.decide(_answer(error), services.clock(), attempt)
    return verdict.seconds if isinstance(verdict, answers.Retry) else None
