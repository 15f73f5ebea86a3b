"""The issue by which we ask ourselves for a preflight. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot import issue_form
from bot.issue_form import Label
from bot.model import Isolation
from bot.registry import Reviewer
from goldens.model import GoldenPull, Suite

_TITLE = re.compile(r"Preflight [0-9a-f]{8}")


def title_of(nonce: str) -> str:
    """The title of a preflight's issue, by which it is found again."""
    return f"Preflight {nonce}"


def is_preflight(title: str) -> bool:
    """Whether an issue that we opened ourselves asks for a preflight. In anybody else's it means nothing."""
    return _TITLE.fullmatch(title) is not None


def body_of(suite: str, pull: str, reviewers: Sequence[Reviewer], minutes: int | None) -> str:
    """What GitHub would make of the filled-in form: one small pull request, and a fork for each reviewer."""
    answers = {
        Label.SUITE: suite,
        Label.REVIEWERS: issue_form.MULTIPLE_JOIN.join(
            issue_form.reviewer_option(one.id, one.name) for one in reviewers
        ),
        Label.WAIT: "" if minutes is None else str(minutes),
        Label.PULLS: pull,
        Label.ISOLATION: Isolation.PER_REVIEWER.value,
    }
    return "\n\n".join(f"### {label.value}\n\n{answers.get(label) or '_No response_'}" for label in Label)


def smallest(suite: Suite) -> GoldenPull:
    """The pull request that is read fastest."""
    return min(suite.pulls, key=lambda pull: (pull.size is None, pull.size.lines if pull.size else 0))
