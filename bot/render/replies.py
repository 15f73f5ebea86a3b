"""The answers to commands, whether they came as a comment or from a button. Each stands once, edited in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.model import Problems, RunId, RunProgress
from bot.render.figures import judge_label
from bot.render.issue import STAGE_SENTENCES, comment, problem_lines, status_table
from bot.render.surface import Surface
from scoring.model import ReviewerId

Key = str | int
"""What the answer is to: the comment's number, or the name of a press of a button."""

HELP = (
    "Commands, each alone in a comment, from people who may write to this repository:",
    "",
    "- `/assay status`: how far the run of this issue is",
    "- `/assay cancel`: stop it; nothing is scored. Once its result is being posted it is too late",
    "- `/assay retry <reviewer>`: while reviewers are waited for, ask this one again where it has not answered. Once "
    "the run is over, start a follow-up run of this reviewer alone, on the pull requests where it could not be scored; "
    "a trial that has ended stays as it ended, and the run keeps its figures",
    "- `/assay rejudge <judge>`: once the run is over, have what the reviewers said judged by another judge; reviewers "
    "are not asked again, and the run's cost limit holds for all its judges together",
    "- `/assay extend <minutes>`: wait longer for the reviewers that have not answered",
    "- `/assay cleanup`: archive the repositories of this issue's runs; they stay readable. `/assay cleanup delete` "
    "removes those that are proven ours",
    "- `/assay help`: this list",
)


def reply(key: Key, lines: Iterable[str]) -> str:
    """An answer to a command."""
    return comment("reply", key, lines)


def help_reply(key: Key) -> str:
    """What can be commanded."""
    return reply(key, HELP)


def problems_reply(problems: Problems, *, key: Key, surface: Surface) -> str:
    """What is wrong with a command."""
    lines = [line for problem in problems.items for line in problem_lines(problem, surface)]
    return reply(key, ("Nothing was done:", "", *lines, "", "`/assay help` lists all commands."))


def refusal_reply(reason: str, *, key: Key, surface: Surface) -> str:
    """Why somebody may not command."""
    return reply(key, (f"Nothing was done: {surface.say(reason)}.",))


def status_reply(progress: RunProgress | None, *, key: Key, surface: Surface) -> str:
    """How far a run is."""
    return reply(key, _status(progress, surface))


def _status(progress: RunProgress | None, surface: Surface) -> Iterator[str]:
    if progress is None:
        yield "This issue has no run."
        return
    yield f"**{surface.say(progress.stage)}**. {STAGE_SENTENCES.get(progress.stage, '')}"
    yield ""
    yield f"Pull requests: {progress.forks}, still open: {progress.forks_open}."
    yield from status_table(progress)


def no_run_reply(deed: str, *, key: Key) -> str:
    """To a command about a run where there is none; `deed` is a verb of ours."""
    return reply(key, (f"This issue has no run, so there is nothing to {deed}.",))


def not_now_reply(reason: str, *, key: Key, surface: Surface) -> str:
    """To a command that the run's stage does not allow."""
    return reply(key, (f"Nothing was done: {surface.say(reason)}",))


# --- cancel -----------------------------------------------------------------------------------------------------


def cancelled_reply(*, key: Key) -> str:
    """The run is stopped."""
    lines = (
        "The run is cancelled. Nothing is scored and nothing is posted; what is under way this moment ends first.",
        "",
        "Its repositories stay until they are archived; `/assay cleanup` does that now.",
    )
    return reply(key, lines)


def over_reply(stage: str, *, key: Key, surface: Surface) -> str:
    """There is nothing left to stop."""
    return reply(key, (f"The run is over already ({surface.say(stage)}), so there is nothing to cancel.",))


def too_late_reply(written: int, forks: int, *, key: Key) -> str:
    """The result is being posted."""
    lines = (
        "It is too late to cancel: every reviewer is done, everything is judged, and the result is being posted.",
        "",
        f"- pull requests whose check runs are posted: {written} of {forks}; the others follow",
        "- the leaderboard is posted on this issue when the last of them is done",
    )
    return reply(key, lines)


# --- retry ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Retried:
    """What a retry in a run that is under way comes to, in trials of the reviewer."""

    asked: int
    """Open, and asked again."""
    unaskable: int
    """Open, but there is no way to ask again, or it was asked as often as may be."""
    ended: int
    """Over, and not scored."""
    coming: int = 0
    """Not asked for the first time yet."""


def retried_reply(reviewer: ReviewerId, done: Retried, *, key: Key, surface: Surface) -> str:
    """To a retry while reviewers are waited for."""
    return reply(key, _retried(reviewer, done, surface))


def _retried(reviewer: ReviewerId, done: Retried, surface: Surface) -> Iterator[str]:
    if not surface.identified(reviewer):
        yield "It is asked again wherever it has not answered and can be asked. How often is not shown here."
        return
    who = surface.called(reviewer)
    if done.coming and not done.asked:
        yield f"{who} is about to be asked for the first time on pull requests that are being made: {done.coming}."
    elif done.asked:
        yield f"Asking {who} again on pull requests where it has not answered: {done.asked}."
    elif done.unaskable:
        yield f"{who} was not asked again."
    else:
        yield f"Nothing to ask {who}: all its trials in this run have ended."
    if done.unaskable:
        yield from ("", f"- cannot be asked again (no known way, or asked as often as may be): {done.unaskable}")
    if done.ended:
        yield from ("", f"- ended and not scored: {done.ended}; `/assay retry` repeats them once the run is over")


def follow_up_reply(
    run: RunId, of: RunId, reviewer: ReviewerId, pulls: int, max_cost: float | None, *, key: Key, surface: Surface
) -> str:
    """To a retry after the run was over."""
    named = surface.identified(reviewer)
    who = surface.called(reviewer) if named else "that reviewer"
    where = f"the {pulls} pull request{'s' if pulls != 1 else ''}" if named else "the pull requests"
    lines = [
        f"Run {run} repeats run {of} with {who} alone, on {where} where it could not be scored. Progress and result "
        "come as comments below.",
        "",
        f"It makes new repositories and has its own figures; those of run {of} stay as they are.",
    ]
    if max_cost is not None:
        lines.append(f"Its judge may cost up to {max_cost:g} US dollars, beside what run {of} has cost.")
    return reply(key, lines)


# --- extend -----------------------------------------------------------------------------------------------------


def extended_reply(minutes: float, total: float, waiting: int, *, key: Key) -> str:
    """Deadlines were moved."""
    lines = [f"Reviewers that have not answered have {minutes:g} minutes more: {waiting} trials are waited for."]
    if total > minutes:
        lines.append(f"In all, the deadlines of this run were moved by {total:g} minutes.")
    return reply(key, lines)


# --- rejudge ----------------------------------------------------------------------------------------------------


def rejudging_reply(run: RunId, judge: str, *, key: Key, surface: Surface) -> str:
    """A judgement has begun."""
    said = surface.say(judge_label(judge))
    return reply(key, (f"Run {run} is being judged by {said}. What comes of it will stand here.",))


@dataclass(frozen=True, slots=True)
class Rejudged:
    """What judging again came to."""

    judge: str
    checks: int
    """Check runs that were written."""
    unwritten: int
    """Pull requests that took none: archived, deleted or refused."""
    unscored: int
    """Claims that the judge could not decide."""


def rejudged_reply(run: RunId, done: Rejudged, *, key: Key, surface: Surface) -> str:
    """A judgement is done."""
    lines = [
        f"Run {run} was judged by {surface.say(judge_label(done.judge))}. The leaderboard of the run shows the new "
        "figures, and the earlier ones below them.",
        "",
        f"- new check runs: {done.checks}",
    ]
    if done.unwritten:
        lines.append(
            f"- pull requests without new ones, because they are archived, gone or refused them: {done.unwritten}"
        )
    if done.unscored and not surface.public:
        lines.append(f"- claims that could not be judged: {done.unscored}")
    return reply(key, lines)


def not_rejudged_reply(run: RunId, reason: str, *, key: Key, surface: Surface) -> str:
    """A judgement came to nothing."""
    return reply(key, (f"Run {run} was not judged again, and its result stays as it is: {surface.say(reason)}",))


# --- cleanup ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What became of one repository."""

    repo: str
    outcome: str
    """archived, deleted, gone or kept."""
    why: str = ""


def cleaning_reply(word: str, *, key: Key) -> str:
    """A cleanup has begun."""
    verb = "deleted" if word == "delete" else "archived"
    said = f"The repositories of this issue's runs are being {verb}. What became of each will stand here."
    return reply(key, (said,))


def cleaned_reply(done: Sequence[Cleaned], running: int, *, key: Key, surface: Surface) -> str:
    """What became of every repository that was made for the runs of an issue."""
    return reply(key, _cleaned(done, running, surface))


def _cleaned(done: Sequence[Cleaned], running: int, surface: Surface) -> Iterator[str]:
    counts = Counter(one.outcome for one in done)
    if counts:
        yield ", ".join(f"{surface.say(outcome)}: {count}" for outcome, count in sorted(counts.items())) + "."
    else:
        yield "No repository was made for the runs of this issue, or none is left."
    if running:
        yield from ("", f"Runs that are not over keep theirs: {running}.")
    if surface.public or not done:
        reasons = sorted({one.why for one in done if one.why})
        yield from (f"- {surface.say(reason)}" for reason in reasons)
        return
    yield from ("", "| repository | now | why |", "| --- | --- | --- |")
    for one in done:
        yield f"| {surface.code(one.repo)} | {surface.say(one.outcome)} | {surface.say(one.why)} |"
    if counts["archived"]:
        yield from ("", "Archived repositories stay readable, with their check runs and comments.")
