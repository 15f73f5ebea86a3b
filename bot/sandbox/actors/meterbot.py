"""meterbot: a reviewer whose allowance is used up. It answers every request with when to ask again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

from bot.model import Raw
from bot.sandbox.actors.api import Api
from bot.sandbox.actors.jobs import Job, commanded, is_command, opened

SLUG = "meterbot"
COMMAND = "@meterbot review"
NOTICE = """\
<!-- meterbot:notice -->
> [!WARNING]
> ## Review allowance used up
>
> This organisation has used all the reviews of its plan for the current hour, so this pull request was not reviewed.
>
> **Try again in 45 minutes.**

A new review can then be asked for with a comment. Commits that were reviewed before are not reviewed again.
<!-- meterbot:end -->"""


def wants(event: str, payload: Raw) -> Job | None:
    """Every pull request when it opens, and every later request of a human."""
    return opened(event, payload) or commanded(event, payload, COMMAND)


def story(job: Job, api: Api, seat: AbstractContextManager[object]) -> Iterator[None]:
    """One notice for the opening and one for each request: as many as are missing."""
    yield
    asked = sum(is_command(row, COMMAND) for row in api.comments(job.repo, job.pull))
    for number in range(1, asked + 2):
        api.nth_comment_once(job.repo, job.pull, number, NOTICE)
