"""Results as lines of JSON that are appended, so that a long suite goes on where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.chaos.checks import Reference

Json = Any


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one point or scenario."""

    name: str
    ok: bool
    met: bool
    """Whether what was to happen did happen; a point that was not met proves nothing."""
    seconds: float
    wrong: tuple[str, ...] = ()
    tail: str = ""
    together: int = 1
    """How many points one run had."""


class Record:
    """The file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def reference(self, seed: int) -> Reference | None:
        """The undisturbed run that this file's points were planned from.

        Raises:
            ValueError: the file was begun with another seed.
        """
        for row in self._rows():
            if row["kind"] == "reference":
                if row["seed"] != seed:
                    raise ValueError(f"{self._path} was begun with --seed {row['seed']}; say so, or name another file")
                fields = row["reference"]
                return Reference(**{**fields, "moments": tuple(fields["moments"])})
        return None

    def begin(self, seed: int, reference: Reference) -> None:
        self._append({"kind": "reference", "seed": seed, "reference": asdict(reference)})

    def add(self, result: Result) -> None:
        self._append({"kind": "result", **asdict(result)})

    def results(self) -> dict[str, Result]:
        """By name; of what was done again, the last."""
        return {
            row["name"]: Result(**{key: value for key, value in row.items() if key != "kind"})
            for row in self._rows()
            if row["kind"] == "result"
        }

    def done(self) -> frozenset[str]:
        """What need not be done again: what came out well."""
        return frozenset(name for name, one in self.results().items() if one.ok)

    def _rows(self) -> Iterator[Json]:
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                try:
                    yield json.loads(line)
                except ValueError:
                    # Whoever was stopped while writing left half a line; its point is done again.
                    continue

    def _append(self, row: Mapping[str, Json]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        half = self._path.exists() and not self._path.read_bytes().endswith(b"\n") and self._path.stat().st_size > 0
        with self._path.open("a", encoding="utf-8") as file:
            file.write(("\n" if half else "") + json.dumps(row) + "\n")
