"""lintwarden: Ruff and Pylint on the Python lines of a change, as one review. Starts when a pull request opens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

from bot.model import Raw
from bot.reviewers.child import ToolFailed, written
from bot.reviewers.finding import Finding, on_changed_lines
from bot.reviewers.python_union import python_union
from bot.sandbox.actors.api import Api
from bot.sandbox.actors.change import read_change, remark
from bot.sandbox.actors.jobs import Job, opened
from bot.sandbox.actors.prose import counted, missed, plain, sentence, stopped

SLUG = "lintwarden"
SKIPPED = "lintwarden skipped this change: it touches no Python file."
_CLEAN = "lintwarden: no problems on the changed lines."


def wants(event: str, payload: Raw) -> Job | None:
    """Every pull request, when it opens."""
    return opened(event, payload)


def story(job: Job, api: Api, seat: AbstractContextManager[object]) -> Iterator[None]:
    """Read, check, answer once."""
    change = read_change(api, job, (".py", ".pyi"))
    if not change.touched:
        api.comment_once(job.repo, job.pull, SKIPPED, SKIPPED)
        return
    try:
        with seat, written(change.files) as tree:
            findings = on_changed_lines(python_union(tree, change.files), change.patches)
    except ToolFailed as problem:
        text = failed(str(problem))
        api.comment_once(job.repo, job.pull, text, text)
        return
    yield
    remarks = [remark(finding, change.patches[finding.path], said) for finding in findings]
    api.review_once(job.repo, job.pull, job.head, verdict(len(findings), change.unread), remarks)


def failed(reason: str) -> str:
    """What stands where a review could not be made."""
    return f"lintwarden could not check this change: {reason}."


def verdict(number: int, unread: tuple[str, ...]) -> str:
    """The review's own text. Nothing is called clean while a file was left unread."""
    if number:
        return f"lintwarden: {counted(number, 'problem')} on the changed lines.{missed(unread)}"
    return f"lintwarden read only a part of this change.{missed(unread)}" if unread else _CLEAN


def said(finding: Finding) -> str:
    """One inline comment: the message, the rule, a sentence on why it matters."""
    source = {"ruff": "Ruff", "pylint": "Pylint"}[finding.engine]
    name = f", {finding.symbol}" if finding.symbol else ""
    why = sentence(finding.note) or f"{source} reports it for line {finding.line} of this file."
    return f"**{plain(stopped(finding.message))}**\n\n{plain(why)}\n\n{source} `{finding.rule}`{name}"
