"""What Assay says in the control issue while a run goes on: progress, problems, answers to commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bot.model import Installed, Problem, Problems, RunPlan, RunProgress
from bot.render.figures import counted, status_words
from bot.render.surface import Surface
from bot.render.text import COMMENT_BYTES, cut, link

STAGES = ("planned", "forking", "waiting", "scoring", "publishing", "done")
OVER = ("done", "cancelled", "failed")
MAX_WARNINGS = 20

STAGE_SENTENCES = {
    "planned": "The run is planned. Nothing has been made yet.",
    "forking": "The pull requests are being made and the reviewers asked.",
    "waiting": "The reviewers are at work. Assay reads what they say until each is done or out of time.",
    "scoring": "Every reviewer is done or out of time. What they said is being judged.",
    "publishing": "The result is being written to the pull requests and to this issue.",
    "done": "The run is over. The result is in this issue.",
    "cancelled": "The run was cancelled. Nothing was scored.",
    "failed": "The run could not be finished.",
}
_KEY = re.compile(r"[A-Za-z0-9._~-]{1,200}")
_KINDS = {
    "progress": "run",
    "leaderboard": "run",
    "problems": "issue",
    "refusal": "issue",
    "not-a-form": "issue",
    "edited": "issue",
    "reply": "comment",
    "welcome": "installation",
}


def marker(kind: str, key: str | int) -> str:
    """The hidden first line by which one of our comments is found again, so that it is edited and not repeated.

    Raises:
        ValueError: a kind we do not write, or a key that could end the HTML comment.
    """
    if kind not in _KINDS:
        raise ValueError(f"there is no comment of kind {kind!r}; allowed: {', '.join(sorted(_KINDS))}")
    if not _KEY.fullmatch(str(key)) or "--" in str(key):
        raise ValueError(f"{key!r} cannot be the key of a marker; allowed: letters, digits and . _ ~ -, no two dashes")
    return f"<!-- assay:{kind} {_KINDS[kind]}={key} -->"


def has_marker(body: str, kind: str, key: str | int) -> bool:
    """Whether a comment of ours is that one. The marker must come first: a quotation of it is not it."""
    return body.startswith(marker(kind, key))


def progress_comment(progress: RunProgress, plan: RunPlan, surface: Surface) -> str:
    """How far the run is, in counts only: it links no fork and names no golden and no verdict."""
    return comment("progress", plan.run, _progress(progress, plan, surface))


def _progress(progress: RunProgress, plan: RunPlan, surface: Surface) -> Iterator[str]:
    yield f"### Benchmark {plan.run}: {surface.say(progress.stage)}"
    yield from ("", _stages(progress.stage))
    yield from ("", STAGE_SENTENCES.get(progress.stage, ""))
    note = _discreet(progress.note, plan, surface)
    if note:
        yield from ("", note)
    yield from ("", *_totals(progress, plan))
    yield from status_table(progress)
    yield from _warnings((*plan.warnings, *progress.warnings), plan, surface)
    if progress.stage not in OVER:
        yield from ("", "Ask with `/assay status`, stop with `/assay cancel`; `/assay help` says what else there is.")


def _stages(stage: str) -> str:
    """The stages in a row, the present one in bold."""
    if stage not in STAGES:
        return f"**{stage}**" if stage in OVER else ""
    return " → ".join(f"**{name}**" if name == stage else name for name in STAGES)


def _totals(progress: RunProgress, plan: RunPlan) -> Iterator[str]:
    yield f"- pull requests: {progress.forks}, still open: {progress.forks_open}"
    yield f"- trials (pull request x reviewer): {plan.trials}"
    if progress.started:
        yield f"- started: {progress.started:%Y-%m-%d %H:%M} UTC"
    if progress.stage not in OVER:
        yield f"- estimated when planned: {plan.minutes:.0f} minutes, {plan.writes} writes to GitHub"


def status_table(progress: RunProgress) -> Iterator[str]:
    """How many trials are in which status."""
    rows = counted(progress.trials_by_status)
    if rows:
        yield from ("", "| trials | status |", "| --: | --- |")
        yield from (f"| {count} | {status_words(status)} |" for status, count in rows)


def _warnings(warnings: tuple[str, ...], plan: RunPlan, surface: Surface) -> Iterator[str]:
    unique = tuple(dict.fromkeys(warnings))
    told = [said for said in (_discreet(warning, plan, surface) for warning in unique) if said is not None]
    if unique:
        yield from ("", "#### Warnings", "")
    yield from (f"- {said}" for said in told[:MAX_WARNINGS])
    if len(told) > MAX_WARNINGS:
        yield f"- more warnings than fit here: {len(told) - MAX_WARNINGS}"
    if len(told) < len(unique):
        yield f"- warnings that name what is not named here, and are held back: {len(unique) - len(told)}"


def _discreet(text: str, plan: RunPlan, surface: Surface) -> str | None:
    """The text, or None where it names a fork, or a reviewer that is not named here.

    A link to a fork, or its name, would tell reviewers of each other.
    """
    forks = {name for f in plan.forks for name in (f.id, f.pull, *f.names, f.head_branch, f.title)}
    unnamed = {r for r in plan.request.reviewers if not surface.identified(r)}
    telling = {name for name in forks if name and not name.isdigit()} | surface.words_for(unnamed)
    if "://" in text or any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) for name in telling):
        return None
    return surface.say(text)


def problems_comment(problems: Problems, form_url: str, *, issue: int, surface: Surface) -> str:
    """Everything wrong with a request, with what is allowed instead, so that one edit mends it."""
    count = len(problems.items)
    body = [
        "### This benchmark cannot start yet",
        "",
        "One answer needs mending:" if count == 1 else f"{count} answers need mending:",
        "",
        *(line for problem in problems.items for line in problem_lines(problem, surface)),
        "",
        "Nothing was started. Mend the text of this issue, and it is read again; or open a new one with "
        f"{link('the form', form_url)}.",
    ]
    return comment("problems", issue, body)


def problem_lines(problem: Problem, surface: Surface) -> Iterator[str]:
    """What is wrong, and what would do instead."""
    yield f"- **{surface.say(problem.field, 80)}**: {surface.say(problem.message)}"
    if problem.did_you_mean:
        yield f"  - did you mean {surface.code(problem.did_you_mean)}?"
    if problem.allowed:
        yield f"  - allowed: {', '.join(map(surface.code, problem.allowed))}"


def mended_comment(kind: str, *, issue: int) -> str:
    """In place of what was said of a request that could not be used, once an edit has mended it."""
    body = ("### This benchmark has started", "", "An edit of this issue mended what was wrong with its text.")
    return comment(kind, issue, body)


def edited_comment(stage: str, *, issue: int, surface: Surface) -> str:
    """To an edit that comes after its run has begun."""
    body = (
        "### This edit changes nothing",
        "",
        f"The run of this issue had begun when its text was changed (it is now: {surface.say(stage)}). It goes on with "
        "the answers that it was started with: they are part of its record.",
        "",
        "For other answers open a new issue. `/assay cancel` stops this run if it need not end first.",
    )
    return comment("edited", issue, body)


def refusal_comment(reason: str, *, issue: int, surface: Surface) -> str:
    """Why a run that was asked for properly will not be made."""
    body = ("### This benchmark was not started", "", surface.say(reason), "", "Nothing was made on GitHub.")
    return comment("refusal", issue, body)


def not_a_form_comment(reason: str, form_url: str, *, issue: int, surface: Surface) -> str:
    """To an issue that asks for a benchmark without the form; `reason` says what gave it away."""
    body = (
        "### This issue was not written with the benchmark form",
        "",
        surface.say(reason),
        "",
        f"Assay starts a run only from {link('its form', form_url)}: the answers there say which suite, which "
        "reviewers and which judge. Nothing was started.",
    )
    return comment("not-a-form", issue, body)


def welcome_issue(installed: Installed, *, form_url: str) -> tuple[str, str]:
    """Title and body of the first issue after an installation."""
    body = (
        "### Assay is installed",
        "",
        "It measures code-review bots on pull requests with known defects, in repositories made for the purpose.",
        "",
        "1. Install the review bots you want to measure on this organisation, for all repositories.",
        "2. Put the issue form into this repository: `assay form`, where Assay is served, prints it.",
        f"3. Open {link('the benchmark form', form_url)}. Plan, progress and result come as comments there.",
        "",
        "Results are private unless the form says otherwise: some vendors' terms forbid comparisons by name.",
    )
    return "Assay: next steps", comment("welcome", installed.installation, body)


def next_step(installed: Installed, surface: Surface) -> str:
    """One plain line for the operator's log and terminal."""
    account = surface.plain(installed.account, 80)
    return f"Installed on {account}: install the review bots there too, then open the benchmark form."


def comment(kind: str, key: str | int, lines: Iterable[str]) -> str:
    """A comment of ours, within GitHub's limit."""
    return cut("\n".join((marker(kind, key), *lines)), COMMENT_BYTES, None)
