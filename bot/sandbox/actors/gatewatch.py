"""gatewatch: Bandit on the Python lines of a change. Starts only when a human account asks in a comment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace

from bot.model import Raw
from bot.reviewers.bandit_scan import bandit
from bot.reviewers.child import ToolFailed, written
from bot.reviewers.finding import Finding, on_changed_lines
from bot.sandbox.actors.api import Api
from bot.sandbox.actors.change import read_change, remark
from bot.sandbox.actors.jobs import Job, commanded
from bot.sandbox.actors.prose import counted, missed, plain, stopped

SLUG = "gatewatch"
COMMAND = "@gatewatch review"
CHECK = "gatewatch / security"
SKIPPED = "gatewatch skipped this change: no Python file to scan"
FAILED = "gatewatch could not scan this change"
_CLEAN = "gatewatch: no security findings on the changed lines."


def wants(event: str, payload: Raw) -> Job | None:
    """Only what a human asks for."""
    return commanded(event, payload, COMMAND)


def story(job: Job, api: Api, seat: AbstractContextManager[object]) -> Iterator[None]:
    """Read, scan, answer once, close with a check run."""
    head = job.head or str(api.pull(job.repo, job.pull)["head"]["sha"])
    job = replace(job, head=head)
    change = read_change(api, job, (".py",))
    if not change.touched:
        api.check_once(job.repo, head, CHECK, "skipped", SKIPPED, "Only Python files are scanned.")
        return
    try:
        with seat, written(change.files) as tree:
            findings = on_changed_lines(bandit(tree, change.files), change.patches)
    except ToolFailed as problem:
        api.check_once(job.repo, head, CHECK, "action_required", FAILED, f"{problem}.")
        return
    yield
    remarks = [remark(finding, change.patches[finding.path], said) for finding in findings]
    body = verdict(len(findings), change.unread)
    api.review_once(job.repo, job.pull, head, body, remarks)
    yield
    api.check_once(job.repo, head, CHECK, "neutral" if findings else "success", "gatewatch has finished", body)


def verdict(number: int, unread: tuple[str, ...]) -> str:
    """The review's own text. Nothing is called clean while a file was left unread."""
    if number:
        return f"gatewatch: {counted(number, 'security finding')} on the changed lines.{missed(unread)}"
    return f"gatewatch read only a part of this change.{missed(unread)}" if unread else _CLEAN


def said(finding: Finding) -> str:
    """One inline comment: how bad, how sure, what."""
    severity = finding.severity.value.capitalize() if finding.severity else "Unknown"
    grade = f"**Severity:** {severity} · **Confidence:** {finding.confidence.capitalize()}"
    return f"{grade}\n\n{plain(stopped(finding.message))}\n\nBandit `{finding.rule}`, `{finding.symbol}`"
