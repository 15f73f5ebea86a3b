"""Models shown whole files and no change: `raw:<model>`, without any help, and `cold:<model>`, one file a call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.judging.budget import Forecast
from bot.reviewers.changes import head_paths
from bot.reviewers.means import Admit
from bot.reviewers.protocol import Change, Remark, Review
from bot.reviewers.sheet import Part, digest, listing, named, prompt, sheet
from bot.reviewers.talking import FREE, Talker, Tally
from goldens.leakage import Withheld, guard
from goldens.trees import is_binary
from scoring.judges.asks import Ask, Message

COLD_TOKENS = 2_048
"""The most tokens of a cold review, as published."""
_MARGIN = 100


def _texts(change: Change) -> Iterator[tuple[str, str | None]]:
    """The changed files as head has them; None for what is no text."""
    for path in head_paths(change):
        data = change.head[path]
        yield path, None if is_binary(data) else data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Raw:
    """Implements `Reviewer`: "review this code" and the changed files, as one message."""

    name: str
    talker: Talker

    def review(self, change: Change) -> Review:
        """Ask once."""
        parts, unread = self._parts(change)
        if not parts:
            return Review((), unread=unread, failed="" if not unread else "unable: no file fits the model")
        tally = Tally()
        said = self.talker.say(self._ask(parts), change, tally)
        return Review(said.remarks, tally.usage, (), said.invalid, (*unread, *said.unread), said.failed)

    def _parts(self, change: Change) -> tuple[list[Part], tuple[str, ...]]:
        parts: list[Part] = []
        unread: list[str] = []
        left = self.talker.room - self.talker.count(prompt("raw")) - _MARGIN
        for path, text in _texts(change):
            size = self.talker.count(text) if text is not None else 0
            if text is None:
                unread.append(f"{path}: binary")
            elif size > left:
                unread.append(f"{path}: the whole file")
            else:
                parts.append((named("file", path), text))
                left -= size
        return parts, tuple(unread)

    def _ask(self, parts: list[Part]) -> Ask:
        told = prompt("raw")
        return self.talker.ask([Message("user", f"{told}\n\n{sheet(parts, digest(told))}")], FREE)

    def forecast(self, change: Change) -> Forecast:
        """One call, if it was not made already."""
        parts, _ = self._parts(change)
        return self.talker.forecast([self._ask(parts)] if parts else [])


@dataclass(frozen=True, slots=True)
class Cold:
    """Implements `Reviewer`: one file a call, as it stands, with no word of a change.

    What is shown passes two guards: it must hold nothing of the change's own texts and diff, and nothing of what the
    suite withholds. What does not pass raises `Leak`, which ends the run: it is no low score.
    """

    name: str
    talker: Talker
    prompt: str
    admit: Admit

    def review(self, change: Change) -> Review:
        """Ask about each changed file."""
        tally = Tally()
        remarks: list[Remark] = []
        invalid: list[str] = []
        unread: list[str] = []
        for path, text in _texts(change):
            ask = self._admitted(change, path, text) if text is not None else None
            if text is None or ask is None:
                unread.append(f"{path}: {'binary' if text is None else 'the whole file'}")
                continue
            said = self.talker.say(ask, change, tally, only=path)
            if said.failed:
                return Review((), tally.usage, invalid=tuple(invalid), unread=tuple(unread), failed=said.failed)
            remarks += said.remarks
            invalid += said.invalid
            unread += said.unread
        return Review(tuple(remarks), tally.usage, (), tuple(invalid), tuple(unread))

    def _admitted(self, change: Change, path: str, text: str) -> Ask | None:
        """The call about a file, if the model can take it.

        Raises:
            Leak: it would give away what must be found.
        """
        told = prompt(f"cold-{self.prompt.lower()}")
        shown = f"{told}\n\n{sheet([(named('file', path), listing(text))], digest(told))}"
        own = Withheld(statement=change.body, hints=change.title, fix=change.diff)
        guard(path, shown, text, own)
        self.admit(change, path, shown, text)
        if self.talker.count(shown) > self.talker.room:
            return None
        return self.talker.ask([Message("user", shown)], FREE)

    def forecast(self, change: Change) -> Forecast:
        """A call for each file, as far as it was not made already."""
        asks = [self._admitted(change, path, text) for path, text in _texts(change) if text is not None]
        return self.talker.forecast([ask for ask in asks if ask is not None])
