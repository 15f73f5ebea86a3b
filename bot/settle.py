"""When a trial is over, and as what. Everything follows from one snapshot, the asks and `now`.

`bot.evidence` folds a snapshot into what is known of a reviewer; this module turns that into a moment at which the
trial ends if nothing more happens, and the status it then has. Before that moment the answer is `Waiting`. So an
answer never changes for a snapshot once it is `Settled`, and nobody waits past the deadline.

`reviewed_findings` against `reviewed_clean` is told by structure alone here (comments in the diff, an announced
number, text that is no known chatter): which of it is a claim is decided when candidates are extracted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.conversation import Tone
from bot.evidence import Evidence, Refusal, gather
from bot.model import Asks, Decision, Settled, Snapshot, Waiting
from bot.registry import Reviewer
from scoring.model import TrialStatus

CUT = "cut_at_deadline"

_STATUS = {
    Tone.UNABLE: TrialStatus.UNABLE,
    Tone.SKIPPED: TrialStatus.SKIPPED,
    Tone.ERROR: TrialStatus.ERROR,
    Tone.RATE_LIMITED: TrialStatus.RATE_LIMITED,
}
LONGEST_POLL = 3600.0
"""Seconds between two readings of a fork, at most."""
_CALLS_PER_READ = 7
"""Requests one reading of a fork costs."""


@dataclass(frozen=True, slots=True)
class _Outlook:
    """What becomes of a trial if nothing more happens."""

    due: datetime
    outcome: Settled
    ask_at: datetime | None = None
    """When the reviewer may be asked once more."""


def decide(
    snapshot: Snapshot,
    reviewer: Reviewer,
    asks: Asks,
    now: datetime,
    *,
    deadline_override_seconds: float | None = None,
    installed: bool | None = None,
) -> Decision:
    """Whether a trial is over.

    Args:
        snapshot: the fork's conversation.
        reviewer: whose trial it is.
        asks: when it was asked.
        now: GitHub's clock when the reading of `snapshot` began.
        deadline_override_seconds: instead of the registry's deadline.
        installed: whether the reviewer's App is known to be installed on the fork; None: not known.
    """
    outlook = _outlook(snapshot, reviewer, asks, deadline_override_seconds, installed)
    if now >= outlook.due:
        return outlook.outcome
    if outlook.ask_at is None:
        return Waiting(outlook.due)
    return Waiting(outlook.due, ask_again=True) if now >= outlook.ask_at else Waiting(outlook.ask_at)


def due(
    snapshot: Snapshot,
    reviewer: Reviewer,
    asks: Asks,
    *,
    deadline_override_seconds: float | None = None,
) -> datetime:
    """The moment at which the trial ends if nothing more happens and nobody asks again."""
    return _outlook(snapshot, reviewer, asks, deadline_override_seconds, None).due


def latency(
    snapshot: Snapshot, reviewer: Reviewer, asks: Asks, *, deadline_override_seconds: float | None = None
) -> timedelta | None:
    """From the first ask to the last thing of the reviewer's that counts; None if it said nothing that counts."""
    evidence = gather(snapshot, reviewer, asks, _deadline(reviewer, asks, deadline_override_seconds))
    return evidence.last_said - asks.at[0] if evidence.last_said else None


def wake(decisions: Iterable[Decision], now: datetime, poll_seconds: float) -> datetime | None:
    """When to read a fork again: its earliest due trial or the next poll; None once every trial is over."""
    moments = [decision.until for decision in decisions if isinstance(decision, Waiting)]
    if not moments:
        return None
    return max(now, min(*moments, now + timedelta(seconds=poll_seconds)))


def poll_interval(waiting_forks: int, hourly_limit: int, *, least: float = 30, most: float = LONGEST_POLL) -> float:
    """Seconds between two readings of a fork, so that all the waiting forks together use half the hourly limit."""
    if hourly_limit <= 0:
        return most
    return min(most, max(least, waiting_forks * _CALLS_PER_READ * 3600 / (hourly_limit / 2)))


def _deadline(reviewer: Reviewer, asks: Asks, override: float | None) -> datetime:
    return asks.at[0] + timedelta(seconds=reviewer.wait.deadline if override is None else override)


def _outlook(
    snapshot: Snapshot, reviewer: Reviewer, asks: Asks, override: float | None, installed: bool | None
) -> _Outlook:
    deadline = _deadline(reviewer, asks, override)
    evidence = gather(snapshot, reviewer, asks, deadline)
    if evidence.done:
        return _done(evidence, reviewer, deadline)
    if evidence.refusal is not None and evidence.refusal.live:
        return _refused(evidence, evidence.refusal, reviewer, asks, deadline)
    if evidence.last_said is not None:
        return _active(evidence, reviewer, asks, deadline)
    return _Outlook(deadline, _silent(evidence, installed))


def _done(evidence: Evidence, reviewer: Reviewer, deadline: datetime) -> _Outlook:
    """The reviewer says that it is done: a short grace, or a quiet period if less is there than it announced."""
    last = evidence.last_change
    assert last is not None
    missing = _missing(evidence)
    wait = reviewer.wait.quiet if missing else reviewer.wait.grace
    outcome = Settled(_reviewed(evidence), not missing, missing or "done signal")
    return _Outlook(min(last + timedelta(seconds=wait), deadline), outcome)


def _missing(evidence: Evidence) -> str:
    """What the reviewer announced and is not there; empty if all of it is."""
    if evidence.announced is None or evidence.found >= evidence.announced:
        return ""
    return f"announced {evidence.announced}, found {evidence.found}"


def _refused(evidence: Evidence, refusal: Refusal, reviewer: Reviewer, asks: Asks, deadline: datetime) -> _Outlook:
    """The reviewer says that it will not, cannot or failed to: over after a grace, unless it may be asked again."""
    ends = min(refusal.at + timedelta(seconds=reviewer.wait.grace), deadline)
    if evidence.found:
        cut = Settled(TrialStatus.REVIEWED_FINDINGS, False, f"findings, then {refusal.tone.value}: {refusal.words}")
        assert evidence.last_change is not None
        return _Outlook(min(evidence.last_change + timedelta(seconds=reviewer.wait.quiet), deadline), cut)
    outcome = Settled(_STATUS[refusal.tone], False, refusal.words)
    if refusal.tone is not Tone.RATE_LIMITED or not reviewer.askable_again or len(asks.at) >= reviewer.wait.max_asks:
        return _Outlook(ends, outcome)
    gap_over = asks.at[-1] + timedelta(seconds=reviewer.wait.ask_gap)
    ask_at = max(refusal.window_ends or gap_over, gap_over)
    return _Outlook(deadline, outcome, ask_at) if ask_at < deadline else _Outlook(ends, outcome)


def _active(evidence: Evidence, reviewer: Reviewer, asks: Asks, deadline: datetime) -> _Outlook:
    """The reviewer spoke, and gave no sign of being done: a quiet period, but not while it says it is at work."""
    last = evidence.last_change
    assert last is not None
    quiet = max(last + timedelta(seconds=reviewer.wait.quiet), asks.at[-1] + timedelta(seconds=reviewer.wait.floor))
    if evidence.at_work or quiet > deadline:
        return _Outlook(deadline, Settled(_reviewed(evidence), False, CUT))
    return _Outlook(quiet, Settled(_reviewed(evidence), True, "quiet"))


def _silent(evidence: Evidence, installed: bool | None) -> Settled:
    """What the deadline finds where there is nothing to score."""
    if evidence.refusal is not None:
        again = f"{evidence.refusal.words} (asked again, no answer)"
        return Settled(_STATUS[evidence.refusal.tone], False, again)
    if evidence.check_only:
        return Settled(TrialStatus.TIMEOUT, False, "its check completed, but it said nothing")
    if evidence.last_change is not None:
        return Settled(TrialStatus.TIMEOUT, False, "began, but did not finish")
    if installed is False:
        return Settled(TrialStatus.NOT_INSTALLED, False, "the App is not installed on the repository")
    return Settled(TrialStatus.TIMEOUT, False, "no answer")


def _reviewed(evidence: Evidence) -> TrialStatus:
    return TrialStatus.REVIEWED_FINDINGS if evidence.has_findings else TrialStatus.REVIEWED_CLEAN
