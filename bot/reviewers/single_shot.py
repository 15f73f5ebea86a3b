"""`single-shot:<model>`, one prompt, and `reflexion:<model>`, a draft that is worked over in rounds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.judging.budget import Forecast
from bot.reviewers.changes import files_of
from bot.reviewers.fitting import context_parts, fit
from bot.reviewers.protocol import Change, Remark, Review, Round
from bot.reviewers.sheet import Part, digest, prompt, sheet
from bot.reviewers.talking import FINDINGS, Said, Talker, Tally
from goldens.diff import DiffError
from scoring.judges.asks import Ask, Message

_MARGIN = 200
"""Tokens for names and marks."""
_LEAST_ROOM = 200


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model is shown of a change."""

    parts: tuple[Part, ...]
    unread: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SingleShot:
    """Implements `Reviewer`: texts and diff in one prompt, findings as JSON."""

    name: str
    talker: Talker
    context: bool = False

    def review(self, change: Change) -> Review:
        """Ask once."""
        shown = show(self.talker, change, self.context)
        if isinstance(shown, str):
            return Review((), failed=shown)
        tally = Tally()
        said = self.talker.say(first(self.talker, shown), change, tally)
        return Review(said.remarks, tally.usage, (), said.invalid, (*shown.unread, *said.unread), said.failed)

    def forecast(self, change: Change) -> Forecast:
        """One call, if it was not made already."""
        return _forecast(self.talker, change, self.context, 1)


@dataclass(frozen=True, slots=True)
class Reflexion:
    """Implements `Reviewer`: draft, rounds that add and take out, final. Every one of them is recorded."""

    name: str
    talker: Talker
    rounds: int
    until_unchanged: bool = True
    """Whether rounds end as soon as one changes nothing."""
    context: bool = False

    def review(self, change: Change) -> Review:
        """Ask for the draft, for each round and for the final review."""
        shown = show(self.talker, change, self.context, answers=2)
        if isinstance(shown, str):
            return Review((), failed=shown)
        tally, done = Tally(), list[Round]()
        invalid: list[str] = []
        unread = list(shown.unread)
        for name, said in self._steps(shown, change, tally):
            invalid += [f"{name}: {one}" for one in said.invalid]
            unread += [f"{name}: {one}" for one in said.unread]
            if said.failed:
                return Review((), tally.usage, tuple(done), tuple(invalid), tuple(unread), f"{name}: {said.failed}")
            done.append(Round(name, said.remarks, tally.usage))
        return Review(done[-1].remarks, tally.usage, tuple(done), tuple(invalid), tuple(unread))

    def _steps(self, shown: Shown, change: Change, tally: Tally) -> Iterator[tuple[str, Said]]:
        """Each step and what it said; a caller that stops asking ends the review."""
        now = self.talker.say(first(self.talker, shown), change, tally)
        yield "draft", now
        for number in range(1, self.rounds + 1):
            before, now = now, self._step("reflexion-round", shown, now.remarks, change, tally)
            yield f"round-{number}", now
            if self.until_unchanged and set(now.remarks) == set(before.remarks):
                break
        yield "final", self._step("reflexion-final", shown, now.remarks, change, tally)

    def _step(self, name: str, shown: Shown, remarks: Sequence[Remark], change: Change, tally: Tally) -> Said:
        parts = (*shown.parts, ("findings", as_json(remarks)))
        return self.talker.say(_ask(self.talker, name, parts), change, tally)

    def forecast(self, change: Change) -> Forecast:
        """All calls, as far as that can be known: a round asks again what the draft asked, and more."""
        return _forecast(self.talker, change, self.context, self.rounds + 2)


def show(talker: Talker, change: Change, context: bool, answers: int = 1) -> Shown | str:
    """What to show of a change, or why there is nothing to show.

    Args:
        talker: Whose prompt it is.
        change: The change.
        context: Whether to show what stands around it, where there is room.
        answers: For how many answers there must be room.
    """
    try:
        files = files_of(change)
    except DiffError as error:
        return f"the diff cannot be read: {error}"
    texts: list[Part] = [("title", change.title), ("description", change.body)]
    taken = talker.count(prompt("single-shot")) + sum(talker.count(text) for _, text in texts) + _MARGIN
    # Later rounds carry the findings of earlier ones along.
    room = talker.room - taken - (answers - 1) * talker.tokens
    if room < _LEAST_ROOM:
        return f"unable: {talker.model} takes {talker.room} tokens, and the texts leave no room for the diff"
    fitted = fit(files, room, talker.count)
    if not fitted.text and fitted.unread:
        return f"unable: nothing of the diff fits into {talker.room} tokens"
    parts = [*texts, ("diff", fitted.text)]
    if context:
        parts += context_parts(change, files, room - fitted.tokens, talker.count)
    return Shown(tuple(parts), fitted.unread)


def first(talker: Talker, shown: Shown) -> Ask:
    """The call for a review."""
    return _ask(talker, "single-shot", shown.parts)


def _ask(talker: Talker, name: str, parts: Sequence[Part]) -> Ask:
    told = prompt(name)
    messages = Message("system", told), Message("user", sheet(parts, digest(told)))
    return talker.ask(messages, FINDINGS)


def _forecast(talker: Talker, change: Change, context: bool, times: int) -> Forecast:
    shown = show(talker, change, context)
    return talker.forecast([] if isinstance(shown, str) else [first(talker, shown)], times)


def as_json(remarks: Sequence[Remark]) -> str:
    """Remarks in the form in which they are asked for."""
    rows: list[dict[str, Any]] = [
        {
            "path": one.path or "",
            "start_line": one.start_line,
            "end_line": one.end_line,
            "type": one.kind,
            "severity": one.severity.value if one.severity else "",
            "description": one.text,
            "failing_input": one.failing_input,
            "citation": one.citation,
            "suggestion": one.suggestion,
        }
        for one in remarks
    ]
    return json.dumps({"findings": rows}, ensure_ascii=False, indent=1)
