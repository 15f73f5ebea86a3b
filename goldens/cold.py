"""Cold review: a reviewer sees whole files as they are, no change, no texts, and says what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from goldens.leakage import WITHHELD_FILE, Withheld, guard, read_withheld
from goldens.model import GitPin, GoldenPull, Suite
from goldens.trees import changes, is_binary

TAG, COLD = "presentation", "cold"
"""The tag of pull requests that are made for cold review."""


@dataclass(frozen=True, slots=True)
class ColdFile:
    """All that a reviewer is told about one file."""

    path: str
    text: str


def cold_files(pull: GoldenPull) -> tuple[ColdFile, ...]:
    """The files of a pull request that are reviewed cold: those the change touches, as head has them.

    Raises:
        ValueError: its trees are not here, but pinned in an upstream repository.
    """
    if isinstance(pull.source, GitPin):
        raise ValueError(f"{pull.id} is pinned to commits; only pull requests whose files are here are read cold")
    base, head = pull.source
    paths = [change.new for change in changes(base.files, head.files) if change.new is not None]
    texts = [(path, head.files[path]) for path in paths if not is_binary(head.files[path])]
    return tuple(ColdFile(path, data.decode("utf-8", "replace")) for path, data in texts)


def withheld_of(suite: Suite) -> Mapping[str, Withheld]:
    """What is kept from the reviewers of each pull request: the places of its goldens, and what its source told.

    Raises:
        ValueError: the file beside the suite cannot be used.
    """
    beside = suite.path.parent / WITHHELD_FILE
    told = read_withheld(beside.read_bytes()) if beside.is_file() else {}
    return {pull.id: _with_places(pull, told.get(pull.id, Withheld())) for pull in suite.pulls}


def _with_places(pull: GoldenPull, told: Withheld) -> Withheld:
    found = [golden.place.lines for golden in pull.goldens if golden.place is not None and golden.place.lines]
    return replace(told, lines=tuple(dict.fromkeys((*told.lines, *found))))


def admit(pull: GoldenPull, file: ColdFile, shown: str, withheld: Withheld) -> str:
    """What a reviewer may be shown: the text as it is, or no run at all.

    Raises:
        Leak: the text holds what must be withheld.
    """
    guard(f"{pull.id}, {file.path}", shown, file.text, withheld)
    return shown


def is_cold(suite: Suite) -> bool:
    """Whether every pull request of a suite is made for cold review."""
    return bool(suite.pulls) and all(pull.tags.get(TAG) == COLD for pull in suite.pulls)
