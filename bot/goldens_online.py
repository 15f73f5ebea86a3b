"""Mining through GitHub: a clone and the answers are fetched into a folder, and mined from there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.clones import Clone
from bot.adapters.gathering import Gatherer, Outside, forget
from bot.adapters.github_client import Client, Fixed, Transport
from goldens.mine.answers import Answers

CLONE, ANSWERS = "clone.git", "answers"
"""What stands in the folder."""


@dataclass(frozen=True, slots=True)
class Online:
    """What to fetch, from where, and where to."""

    repository: str
    """owner/name"""
    folder: Path
    api_url: str
    upstream_url: str
    """Where git fetches: the address before `/owner/name.git`."""
    token: Callable[[], str]
    most: int | None = None
    """About so many pull requests, the newest; None: all."""
    refresh: bool = False
    """Ask for everything again."""

    @property
    def clone(self) -> Path:
        """The bare clone."""
        return self.folder / CLONE

    @property
    def answers(self) -> Path:
        """The folder of saved answers."""
        return self.folder / ANSWERS


@dataclass(frozen=True, slots=True)
class Fetched:
    """What is ready to be mined."""

    answers: Answers
    """Asks GitHub on when a commit is met that nobody asked about, and keeps the answer."""
    tips: tuple[str, ...]
    """Branches of reviewed pull requests, beside the main one."""


def fetch(online: Online, kind: str, outside: Outside) -> Fetched:
    """Fetch what a miner needs. What is there already is not asked again, so that it can be broken off at any time.

    Raises:
        GatherError: GitHub does not tell.
        GitError: the history cannot be fetched.
        SuiteError: a file in the folder is no saved answer.
    """
    allow_file = online.upstream_url.startswith("file:")
    url = f"{online.upstream_url.rstrip('/')}/{online.repository}.git"
    if online.refresh and online.answers.is_dir():
        forget(online.answers)
    client = Client(Transport(online.api_url), Fixed(online.token))
    gatherer = Gatherer(client, online.api_url, online.repository, online.answers, outside)
    clone = Clone(online.clone, url, allow_file=allow_file)
    outside.say(f"fetching the history of {online.repository}")
    clone.fetch()
    gatherer.pulls(online.most)
    if kind != "review":
        return Fetched(gatherer.answers(), ())
    gatherer.threads()
    told = gatherer.answers()
    outside.say("fetching the branches of reviewed pull requests")
    return Fetched(told, clone.fetch_pulls(thread.pull for thread in told.threads if thread.resolved))
