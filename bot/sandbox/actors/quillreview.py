"""quillreview: behaves as hosted reviewers do. A placeholder at once, edited into a summary, a review, a check run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from bot.model import Raw
from bot.reviewers.child import ToolFailed, written
from bot.reviewers.finding import Finding, in_order
from bot.reviewers.patch import Patch
from bot.reviewers.ruff_lint import PYTHON, ruff
from bot.reviewers.structural import SUFFIXES, structural
from bot.sandbox.actors import quill_texts as texts
from bot.sandbox.actors.api import Api
from bot.sandbox.actors.change import Change, read_change, remark
from bot.sandbox.actors.jobs import Job, opened
from scoring.model import Severity

SLUG = "quillreview"
CHECK = "Quillreview"
_SELECT = "E9,F,B,S,ASYNC,BLE,DTZ,PLE,PLW,PERF,SIM,C4"
_IGNORE = "S101,S311,S404,S603,S607,B011,B017,PLW2901,SIM102,SIM105,SIM108,SIM117"
_MOST_ASIDE = 8
"""Remarks in the collapsed section; a file full of old sins would drown the change."""
_GRADES = (
    (Severity.HIGH, ("invalid-syntax", "F5", "F6", "F7", "F8", "PLE", "S3", "S5", "S6", "S7", "E9")),
    (Severity.MEDIUM, ("B", "S", "ASYNC", "DTZ", "PLW")),
)
"""Ruff grades nothing. The first row with a fitting start of the code counts; everything else is low."""
_MILD = ("F401", "F541", "F841", "B905", "B007", "PLW1510", "PLW1514")


def wants(event: str, payload: Raw) -> Job | None:
    """Every pull request, when it opens."""
    return opened(event, payload)


def story(job: Job, api: Api, seat: AbstractContextManager[object]) -> Iterator[None]:
    """Announce, analyse, summarise in place of the announcement, review, close.

    The review comes after the summary because its announced number tells readers that everything is there.
    """
    summary = int(api.comment_once(job.repo, job.pull, texts.PLACEHOLDER, texts.MARKER)["id"])
    yield
    change = read_change(api, job, (*PYTHON, *SUFFIXES))
    if not change.touched:
        api.edit_comment(job.repo, summary, texts.SKIPPED)
        api.check_once(job.repo, job.head, CHECK, "skipped", "Review skipped", "No file in a language that is read.")
        return
    try:
        with seat, written(change.files) as tree:
            inline, aside = sorted_out(analysed(tree, change), change.patches)
    except ToolFailed as problem:
        api.edit_comment(job.repo, summary, texts.failed(str(problem)))
        return
    api.edit_comment(job.repo, summary, texts.summary(inline, aside, change.unread))
    if change.unread and not (inline or aside):
        return
    yield
    remarks = [remark(finding, change.patches[finding.path], texts.inline) for finding in inline]
    api.review_once(job.repo, job.pull, job.head, texts.review(inline), remarks)
    yield
    conclusion = "neutral" if inline or aside else "success"
    api.check_once(job.repo, job.head, CHECK, conclusion, "Review completed", texts.closing(inline))


def analysed(tree: Path, change: Change) -> tuple[Finding, ...]:
    """What Ruff and our structural rules say of the changed files, graded."""
    python = (_graded(finding) for finding in ruff(tree, change.files, select=_SELECT, ignore=_IGNORE))
    return in_order([*python, *structural(tree, change.files)])


def _graded(finding: Finding) -> Finding:
    if finding.rule in _MILD:
        return replace(finding, severity=Severity.LOW)
    fitting = (severity for severity, starts in _GRADES if finding.rule.startswith(starts))
    return replace(finding, severity=next(fitting, Severity.LOW))


def sorted_out(
    findings: tuple[Finding, ...], patches: Mapping[str, Patch]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """What goes inline, and what goes aside: mild remarks on new lines, and serious ones on lines nobody changed."""
    new = [finding for finding in findings if finding.line in patches[finding.path].added]
    inline = tuple(finding for finding in new if finding.severity is not Severity.LOW)
    old = [f for f in findings if f not in new and f.severity is not Severity.LOW]
    aside = in_order([*old, *(f for f in new if f.severity is Severity.LOW)])
    return inline, aside[:_MOST_ASIDE]
