"""What commands are about: each command's argument becomes a value, or `Problems` that say what would do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from bot.commands import COMMAND, JUDGE_NAME, JudgeCheck, did_you_mean, quoted, reviewer_index
from bot.model import Problem, Problems
from bot.registry import Reviewer
from scoring.model import ReviewerId

MOST_MINUTES = 24 * 60
"""By how much the deadlines of one run can be moved, in all."""

_NUMBER = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,3})?", re.ASCII)
_UNIT = re.compile(r"[ \t]*(?:m|min|minutes?)$", re.IGNORECASE)


def one_reviewer(argument: str, asked: Sequence[ReviewerId], known: Sequence[Reviewer]) -> ReviewerId | Problems:
    """The reviewer of a run that a command is about, by its id, its name or the form's option."""
    index = reviewer_index(known) | {reviewer.casefold(): reviewer for reviewer in asked}
    found = index.get(argument.casefold())
    if found is not None and found in asked:
        return ReviewerId(found)
    if not argument:
        return _wrong("retry", "say which reviewer, for example", f"/assay retry {asked[0]}", asked)
    if found is not None:
        return Problems((Problem(f"{COMMAND} retry", f"{found} is not among this run's reviewers", tuple(asked)),))
    guess = did_you_mean(argument, asked)
    message = f"{quoted(argument)} is not among this run's reviewers"
    return Problems((Problem(f"{COMMAND} retry", message, tuple(asked), guess),))


def _wrong(kind: str, message: str, example: str, allowed: Sequence[str] = ()) -> Problems:
    return Problems((Problem(f"{COMMAND} {kind}", f"{message} {example}", tuple(allowed)),))


def more_minutes(argument: str, moved: float) -> float | Problems:
    """How many minutes a run is to wait longer, given by how many its deadlines were moved before."""
    text = _UNIT.sub("", argument)
    value = float(text) if _NUMBER.fullmatch(text) else None
    if value is None:
        what = f"{quoted(argument)} is not a number of minutes;" if argument else "say by how many minutes;"
        return _wrong("extend", what, f"write for example {COMMAND} extend 30")
    left = MOST_MINUTES - moved
    if not 0 < value <= left:
        moved_by = f", and {moved:g} are used" if moved else ""
        what = f"{value:g} is out of range; deadlines can be moved by {MOST_MINUTES} minutes in all{moved_by};"
        return _wrong("extend", what, f"at most {left:g} are left" if left > 0 else "none are left")
    return value


class Cleaning(StrEnum):
    """What becomes of a run's forks."""

    ARCHIVE = "archive"
    DELETE = "delete"


def cleaning(argument: str) -> Cleaning | Problems:
    """Whether forks are to be archived, as they are where nothing is said, or deleted."""
    word = argument.lower() or Cleaning.ARCHIVE.value
    allowed = tuple(one.value for one in Cleaning)
    if word in allowed:
        return Cleaning(word)
    message = f"{quoted(argument)} is no way to clean up"
    return Problems((Problem(f"{COMMAND} cleanup", message, allowed, did_you_mean(argument, allowed)),))


def judge_named(argument: str, judges: JudgeCheck, usual: Sequence[str]) -> str | Problems:
    """The judge that a command names, if it can judge."""
    if not argument:
        return _wrong("rejudge", "say which judge, for example", f"{COMMAND} rejudge {usual[0]}", usual)
    if not JUDGE_NAME.fullmatch(argument):
        guess = did_you_mean(argument, usual)
        message = f"{quoted(argument)} is not a judge's name; write for example lexical or litellm:provider/model"
        return Problems((Problem(f"{COMMAND} rejudge", message, tuple(usual), guess),))
    problem = judges(argument)
    if problem is not None:
        return Problems((Problem(f"{COMMAND} rejudge", problem, (), did_you_mean(argument, usual)),))
    return argument
