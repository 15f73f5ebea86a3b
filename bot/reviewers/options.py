"""The words that name a reviewer, taken apart: `kind:rest?key=value&key=value`.

The last question mark begins the options; a bare one at the end says that there are none. `assay review --help` lists
them for each kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

LONGEST = 2_000
COLD = ("A", "B", "C")
"""The prompts that a cold reviewer can have, the usual one first."""
_TAIL = re.compile(r"[A-Za-z][A-Za-z_-]{0,30}=[^&]{0,1000}(?:&[A-Za-z][A-Za-z_-]{0,30}=[^&]{0,1000}){0,20}\Z")
_WHOLE = re.compile(r"[0-9]{1,12}\Z")
_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?\Z")
T = TypeVar("T")


class ReviewerProblem(ValueError):
    """A reviewer cannot be had; the message says why and what would do."""


def meant(word: str, known: Sequence[str]) -> str:
    """What was likely meant and what is allowed, as the end of a message."""
    near = get_close_matches(word, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    return f"{hint} Allowed: {', '.join(known)}"


def shortened(text: str) -> str:
    """A text of a user's, fit for a message."""
    return repr(text if len(text) <= 80 else f"{text[:80]}...")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one reviewer, each read once and by its name."""

    reviewer: str
    given: Mapping[str, str]

    def only(self, *known: str) -> None:
        """Make sure that there is no other option.

        Raises:
            ReviewerProblem: there is one.
        """
        for key in self.given:
            if key not in known:
                allowed = meant(key, known) if known else "; it has no options"
                raise ReviewerProblem(f"{self.reviewer} has no option {shortened(key)}{allowed}")

    def without(self, *keys: str) -> Options:
        """The other options."""
        return Options(self.reviewer, {key: value for key, value in self.given.items() if key not in keys})

    def word(self, key: str, default: str, known: Sequence[str]) -> str:
        """One of some words.

        Raises:
            ReviewerProblem: it is none of them.
        """
        said = self.given.get(key, default)
        if said not in known:
            raise ReviewerProblem(f"{self.reviewer}: {key} cannot be {shortened(said)}{meant(said, known)}")
        return said

    def yes(self, key: str, default: bool) -> bool:
        """A switch."""
        return self.word(key, "yes" if default else "no", ("yes", "no")) == "yes"

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        """A whole number."""
        return self._number(key, default, least, most, _WHOLE, int)

    def number(self, key: str, default: float, least: float, most: float) -> float:
        """A number."""
        return self._number(key, default, least, most, _NUMBER, float)

    def _number(
        self, key: str, default: T, least: float, most: float, form: re.Pattern[str], read: Callable[[str], T]
    ) -> T:
        said = self.given.get(key)
        if said is None:
            return default
        if not form.match(said) or not least <= float(said) <= most:
            raise ReviewerProblem(f"{self.reviewer}: {key} must be from {least:g} to {most:g}, not {shortened(said)}")
        return read(said)


def split(spec: str) -> tuple[str, str, Options]:
    """The kind, what stands behind its colon, and the options.

    Raises:
        ReviewerProblem: the text is too long, or an option is given twice.
    """
    if len(spec) > LONGEST:
        raise ReviewerProblem(f"a reviewer's name may have {LONGEST} characters, not {len(spec)}")
    name, mark, tail = spec.rpartition("?")
    if not mark or (tail and not _TAIL.match(tail)):
        name, tail = spec, ""
    kind, _, rest = name.partition(":")
    given: dict[str, str] = {}
    for pair in tail.split("&") if tail else ():
        key, _, value = pair.partition("=")
        if key in given:
            raise ReviewerProblem(f"{kind}: the option {key} is given twice")
        given[key] = value
    return kind, rest, Options(kind, given)
