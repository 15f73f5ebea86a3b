"""What happens to goldens after they are written: doubted, retired, audited, and drafts confirmed or rejected.

Each deed is a change to the text of a suite file; who did it and when stands in the file beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from goldens.edit import EditError, SuiteText
from goldens.located import Loc
from goldens.model import AuditVerdict, GoldenPull, Suite
from goldens.schema import GoldenEntry, PullEntry
from scoring.model import Golden, GoldenStatus, Severity


@dataclass(frozen=True, slots=True)
class Who:
    """Who decides, and on which day."""

    name: str
    day: str
    """As 2026-01-31."""

    def __str__(self) -> str:
        return f"{self.name}, {self.day}"


def promoted(suite: Suite) -> Suite:
    """The suite as it were if every draft were confirmed: what `verify` is asked about before somebody does that."""

    def whole(pull: GoldenPull) -> GoldenPull:
        confirmed = tuple(replace(draft, status=GoldenStatus.LIVE, reason="") for draft in pull.drafts)
        return replace(pull, goldens=(*pull.goldens, *confirmed), drafts=())

    waiting = tuple(pull for pull in suite.unconfirmed if pull.drafts)
    return replace(suite, pulls=tuple(map(whole, (*suite.pulls, *waiting))), unconfirmed=())


def drafts(suite: Suite) -> Iterator[tuple[GoldenPull, Golden]]:
    """Every draft that waits, with its pull request."""
    for pull in (*suite.pulls, *suite.unconfirmed):
        for golden in pull.drafts:
            yield pull, golden


def dispute(text: SuiteText, golden: str, reason: str, who: Who) -> None:
    """Doubt a golden: it stays scored, and is named as doubted.

    Raises:
        EditError: it is not there or not live.
    """
    _set_aside(text, golden, GoldenStatus.DISPUTED, (GoldenStatus.LIVE,), f"{_said(reason)} ({who})")


def retire(text: SuiteText, golden: str, reason: str, who: Who, *, clean: bool = False) -> None:
    """Take a golden out of the score for good.

    Args:
        text: the suite.
        golden: its id.
        reason: why.
        who: who says so.
        clean: that its pull request has no defect left, where this was the last golden.

    Raises:
        EditError: it is not there, is out already or a draft, or was the last one.
    """
    loc = text.golden(golden)
    pull = text.suite.pulls[_index(loc)]
    last = not [one for one in pull.goldens if one.scored and one.id != golden]
    if last and not clean and not pull.clean:
        what = "if no defect is left there, say --clean; else take the pull request out of the suite"
        raise EditError(f"{text.name}: {golden} is the last golden of {pull.id}: {what}")
    if clean and not last:
        raise EditError(f"{text.name}: {pull.id} has other goldens, so it cannot be clean; leave --clean out")
    if clean and any(one.status is GoldenStatus.DRAFT for one in pull.goldens):
        raise EditError(f"{text.name}: {pull.id} has drafts that wait; review them first: assay goldens review")
    if clean and not pull.clean:
        text.put(loc[:2], "clean", True, after="id")
    old = (GoldenStatus.LIVE, GoldenStatus.DISPUTED)
    _set_aside(text, golden, GoldenStatus.RETIRED, old, f"{_said(reason)} ({who})")


def confirm(text: SuiteText, golden: str, who: Who, *, checked: Collection[str] | None = None) -> None:
    """Make a draft a golden: from now on it is scored.

    Args:
        text: the suite.
        golden: its id.
        who: who looked at it.
        checked: the fields that were looked at; None: all of them.

    Raises:
        EditError: it is not there or no draft.
    """
    loc = text.golden(golden)
    _entry(text, loc, (GoldenStatus.DRAFT,))
    pull = text.suite.pulls[_index(loc)]
    if pull.clean:
        text.drop(loc[:2], "clean", neutral=False)
    text.drop(loc, "status", neutral=GoldenStatus.LIVE.value)
    text.drop(loc, "reason", neutral="")
    left = [] if checked is None else [name for name in _golden(text, loc).unverified if name not in checked]
    if left:
        text.put(loc, "unverified", left)
    else:
        text.drop(loc, "unverified", neutral=[])
    text.put(loc[:2], "confirmed_by", [*_confirmed(text, loc), f"{who} ({golden})"], after="language")


def reject(text: SuiteText, golden: str, reason: str, who: Who) -> None:
    """Put a draft on record as wrong; it is never asked about again.

    Where it was all that is known of its pull request, that is left out of every run, for nobody knows it as clean.

    Raises:
        EditError: it is not there or no draft.
    """
    loc = text.golden(golden)
    old = _entry(text, loc, (GoldenStatus.DRAFT,))
    told = f"rejected: {_said(reason)} ({who}); it was: {old.reason.strip()}"
    pull = text.suite.pulls[_index(loc)]
    if not pull.clean and all(one.status is GoldenStatus.RETIRED or one.id == golden for one in pull.goldens):
        text.put(loc[:2], "rejected", True, after="id")
    _set_aside(text, golden, GoldenStatus.RETIRED, (GoldenStatus.DRAFT,), told)


def regrade(text: SuiteText, golden: str, severity: Severity) -> None:
    """Give a draft another severity.

    Raises:
        EditError: it is not there or no draft.
    """
    loc = text.golden(golden)
    _entry(text, loc, (GoldenStatus.DRAFT,))
    text.put(loc, "severity", severity.value)


def audit(text: SuiteText, golden: str, verdict: AuditVerdict | None, who: str, *, confirm: bool = False) -> None:
    """Note what somebody found at a golden's place, or that somebody else looked again.

    Args:
        text: the suite.
        golden: its id.
        verdict: what is there; None confirms the verdict of the draft.
        who: who looked.
        confirm: whether this is the second look.

    Raises:
        EditError: it is not there, there is nothing to confirm, or one person would be both.
    """
    loc = text.golden(golden)
    known = _golden(text, loc).audit
    if not confirm:
        if verdict is None:
            raise EditError(f"{golden}: say what is there: --verdict {'|'.join(AuditVerdict)}")
        if known is not None and known.confirmed_by is not None:
            raise EditError(f"{golden}: {known.confirmed_by} confirmed it as {known.verdict}; nothing was changed")
        text.put(loc, "audit", {"verdict": verdict.value, "drafted_by": who}, after="severity")
        return
    if known is None:
        raise EditError(f"{golden}: nobody has audited it, so there is nothing to confirm; leave --confirm out first")
    if known.drafted_by == who:
        raise EditError(f"{golden}: {who} drafted the verdict; somebody else must confirm it")
    found = {"verdict": (verdict or known.verdict).value, "drafted_by": known.drafted_by, "confirmed_by": who}
    text.put(loc, "audit", found)


def _set_aside(
    text: SuiteText, golden: str, status: GoldenStatus, allowed: tuple[GoldenStatus, ...], reason: str
) -> None:
    loc = text.golden(golden)
    _entry(text, loc, allowed)
    text.put(loc, "status", status.value, after="severity")
    text.put(loc, "reason", reason, after="status")


def _said(reason: str) -> str:
    said = " ".join(reason.split())
    if not said:
        raise EditError("a reason is needed, in a sentence")
    return said


def _index(loc: Loc) -> int:
    assert isinstance(loc[1], int)
    return loc[1]


def _golden(text: SuiteText, loc: Loc) -> GoldenEntry:
    assert isinstance(loc[3], int)
    return text.suite.pulls[_index(loc)].goldens[loc[3]]


def _entry(text: SuiteText, loc: Loc, allowed: tuple[GoldenStatus, ...]) -> GoldenEntry:
    found = _golden(text, loc)
    if found.status not in allowed:
        told = f" ({found.reason.strip()})" if found.reason.strip() else ""
        raise EditError(f"{text.name}: {found.id} is {found.status}{told}, not {' or '.join(allowed)}")
    return found


def _confirmed(text: SuiteText, loc: Loc) -> list[str]:
    pull: PullEntry = text.suite.pulls[_index(loc)]
    return list(pull.confirmed_by)
