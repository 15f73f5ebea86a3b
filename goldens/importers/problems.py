"""What is wrong with a file that somebody wants imported: each fault with its file, its place in it and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from goldens.located import did_you_mean

SHOWN = 50
"""So many problems are written out; the rest are counted."""
MOST = 500
"""So many names are looked through for one that was misspelt."""
LONGEST = 60
"""So many characters of a wrong value are shown."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One value that is not what its format says."""

    file: str
    path: str
    """JSON path, for example `$[3].comments[0].severity`; for a table `row 7, column severity`."""
    expected: str
    found: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.file}: {self.path}: expected {self.expected}, found {self.found}"
        return f"{text}; did you mean {self.hint!r}?" if self.hint else text


class ImportProblem(ValueError):
    """Something cannot be imported or exported. The message lists every problem, one a line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"... and {len(self.problems) - SHOWN} more")
        super().__init__("\n".join(lines))


def fail(file: str, path: str, expected: str, found: str, hint: str = "") -> ImportProblem:
    """The error for a single problem."""
    return ImportProblem([Problem(file, path, expected, found, hint)])


def shown(value: object) -> str:
    """A wrong value in words: containers by kind, texts quoted and cut."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        cut = value if len(value) <= LONGEST else value[:LONGEST] + "…"
        return repr(cut)
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else f"the number {str(value)[:LONGEST]}"


def allowed(words: Iterable[str]) -> str:
    """The expectation `one of ...`."""
    return "one of " + ", ".join(words)


def meant(word: str, options: Iterable[str]) -> str:
    """The option somebody likely meant, or nothing."""
    return did_you_mean(word, islice(options, MOST)) or ""


def missing(name: str, there: Iterable[str], known: Iterable[str] = ()) -> tuple[str, str]:
    """What was found where a name is missing, and the hint: what is there may be a misspelling of it.

    Names that are `known` to mean something else are no misspellings.
    """
    names = list(islice(there, MOST))
    others = set(known) - {name}
    near = meant(name, [one for one in names if one not in others])
    if near:
        return shown(near), name
    listed = ", ".join(shown(one) for one in names[:8])
    return (f"{listed} ..." if len(names) > 8 else listed) or "nothing", ""
