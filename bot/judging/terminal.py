"""The questions that `assay adjudicate` asks, and what becomes of the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.judging.adjudicating import Decision, Item, decide
from bot.render.text import clean
from scoring.judges.human import VALID
from scoring.model import Verdict

KEYS = {
    "m": "match",
    "n": "no match",
    "v": "valid: sound, but none of the known defects",
    "s": "skip",
    "u": "undo the last decision",
    "q": "stop here",
}
_VERDICTS = {"m": Verdict.MATCH.value, "n": Verdict.NO_MATCH.value, "v": VALID}
_SHOWN = 1500


@dataclass(slots=True)
class Walk:
    """A walk through what is open. Every decision is saved before the next question is asked."""

    items: Sequence[Item]
    made: list[Decision]
    """Earlier decisions first; decisions of this walk are added."""
    who: str
    clock: Callable[[], str]
    ask: Callable[[str], str]
    """Puts a question and gives the line that was answered."""
    say: Callable[[str], None]
    save: Callable[[Sequence[Decision]], None]
    _skipped: set[int] = field(default_factory=set)

    def run(self) -> int:
        """Walk to the end or until the person stops; how many decisions were made."""
        earlier = len(self.made)
        while (at := self._next()) is not None:
            if not self._one(at):
                break
        return max(0, len(self.made) - earlier)

    def left(self) -> int:
        """How many items nobody has decided."""
        return sum(not self._decided(item) for item in self.items)

    def _decided(self, item: Item) -> bool:
        return any(one.about(item.pair) for one in self.made)

    def _next(self) -> int | None:
        waiting = (at for at, item in enumerate(self.items) if at not in self._skipped and not self._decided(item))
        return next(waiting, None)

    def _one(self, at: int) -> bool:
        item = self.items[at]
        self.say(shown(item, self.left()))
        key = self._key()
        if key == "q":
            return False
        if key == "s":
            self._skipped.add(at)
        elif key == "u":
            self._undo()
        else:
            why = clean(self.ask("why (may be empty): "), _SHOWN)
            self.made.append(decide(item, _VERDICTS[key], reason=why, who=self.who, when=self.clock()))
            self.save(self.made)
        return True

    def _key(self) -> str:
        while True:
            key = self.ask(f"[{'/'.join(KEYS)}] ").strip().lower()[:1]
            if key in KEYS:
                return key
            self.say("\n".join(f"  {name}  {meaning}" for name, meaning in KEYS.items()))

    def _undo(self) -> None:
        """Take the last decision back, also one of an earlier walk; verdicts from a file are not ours to take back."""
        if not self.made or not self.made[-1].who:
            self.say("there is nothing to undo")
            return
        gone = self.made.pop()
        self.save(self.made)
        self._skipped.clear()
        self.say(f"undone: {clean(gone.candidate, 80)} {gone.verdict}")


def shown(item: Item, left: int) -> str:
    """An item on a terminal. What reviewers and models wrote is cleaned of everything a terminal would obey."""
    lines = [
        "",
        f"--- {left} left: {clean(item.pull, 80)}, {item.why}",
        f"golden [{item.golden.severity.value}]{_place(item.golden)}",
        f"  {clean(item.golden.finding, _SHOWN)}",
        f"claim{_place(item.candidate)}",
        f"  {clean(item.candidate.text or item.candidate.title, _SHOWN)}",
    ]
    for one in item.said:
        sure = "" if one.confidence is None else f" {one.confidence:.2f}"
        lines.append(f"{clean(one.judge, 80)}: {one.verdict.value}{sure}  {clean(one.reason, 200)}")
    return "\n".join(lines)


def _place(item: object) -> str:
    place = getattr(item, "place", None)
    if place is None:
        return ""
    lines = "" if place.lines is None else f":{place.lines[0]}-{place.lines[1]}"
    return f" {clean(place.path, 160)}{lines}"
