"""Drafts one after the other: what a person is shown of each, and what becomes of it. No terminal is known here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bot.goldens_desk import amend, findings, owned
from goldens.edit import EditError
from goldens.fields import printable
from goldens.findings import Finding
from goldens.keeping import Who, confirm, drafts, promoted, regrade, reject
from goldens.load import load_suite
from goldens.model import GitPin, GoldenPull
from scoring.model import Golden, Severity


class Walk:
    """A walk through the drafts of a suite file. Every answer is written before the next draft is shown."""

    def __init__(self, draft: str, who: Who, mirror: Path | None) -> None:
        """Open a suite file with drafts.

        Raises:
            EditError: it is not the user's.
            SuiteError: it has problems.
            GitError: the mirror cannot be read.
        """
        self._path = owned(draft)
        self._who = who
        self._mirror = mirror
        self._at = ""
        self._done: Counter[str] = Counter()
        self._told = _findings(self._path, mirror)
        self.stopped = False

    def __iter__(self) -> Iterator[str]:
        """Each draft that waits, as text."""
        waiting = [golden.id for _, golden in drafts(load_suite(self._path))]
        for number, wanted in enumerate(waiting, 1):
            pull, golden = next(pair for pair in drafts(load_suite(self._path)) if pair[1].id == wanted)
            self._at = golden.id
            told = [one for one in self._told if one.golden == golden.id or (one.pull, one.golden) == (pull.id, None)]
            yield f"\n[{number}/{len(waiting)}]\n{describe(pull, golden, told)}"

    def confirm(self) -> None:
        """It is a defect, as it stands there."""
        amend(self._path, lambda text: confirm(text, self._at, self._who))
        self._done["confirmed"] += 1

    def reject(self, reason: str) -> None:
        """It is none, or not one to measure with."""
        amend(self._path, lambda text: reject(text, self._at, reason, self._who))
        self._done["rejected"] += 1

    def regrade(self, severity: str) -> None:
        """Give it another severity; it still waits.

        Raises:
            EditError: there is no such severity.
        """
        if severity not in tuple(Severity):
            raise EditError(f"{severity[:40]!r} is no severity; allowed: {', '.join(Severity)}")
        amend(self._path, lambda text: regrade(text, self._at, Severity(severity)))

    def stop(self) -> None:
        """Leave the rest for later."""
        self.stopped = True

    def counts(self) -> dict[str, int]:
        """What was done, and what still waits."""
        left = sum(1 for _ in drafts(load_suite(self._path)))
        return {"confirmed": self._done["confirmed"], "rejected": self._done["rejected"], "waiting": left}


def waiting(draft: str, mirror: Path | None) -> list[dict[str, Any]]:
    """The drafts that wait, as JSON values.

    Raises:
        EditError, SuiteError, GitError: as for a walk.
    """
    path = owned(draft)
    told = _findings(path, mirror)
    return [
        {
            "pull": str(pull.id),
            "golden": str(golden.id),
            "path": golden.place.path if golden.place else None,
            "lines": list(golden.place.lines) if golden.place and golden.place.lines else None,
            "category": golden.category.value,
            "severity": golden.severity.value,
            "finding": golden.finding,
            "reason": golden.reason,
            "findings": [str(one) for one in told if one.golden == golden.id],
        }
        for pull, golden in drafts(load_suite(path))
    ]


def _findings(path: Path, mirror: Path | None) -> tuple[Finding, ...]:
    """What verification says of the suite, were every draft confirmed."""
    return findings(promoted(load_suite(path)), mirror)


def describe(pull: GoldenPull, golden: Golden, told: list[Finding]) -> str:
    """A draft for a person: all of it is somebody's text, so nothing in it may steer the terminal."""
    pin = pull.source if isinstance(pull.source, GitPin) else None
    source = f"{pin.upstream}#{pin.number} {pin.base_sha[:12]}..{pin.head_sha[:12]}" if pin else "files of the suite"
    place = "no place"
    if golden.place is not None:
        lines = f":{golden.place.lines[0]}-{golden.place.lines[1]}" if golden.place.lines else ""
        place = f"{golden.place.path}{lines} ({golden.place.side})"
    rows = {
        "golden": f"{pull.id}/{golden.id}",
        "from": f"{source}, {pull.direction}",
        "title": pull.title,
        "place": place,
        "kind": f"{golden.category}, {golden.severity}",
        "finding": golden.finding,
        "origin": golden.reason,
        "unverified": ", ".join(golden.unverified),
    }
    text = [f"{name:>10}  {' '.join(said.split())}" for name, said in rows.items() if said]
    text += [f"{'evidence':>10}  {line}" for line in golden.evidence.splitlines()]
    text += [f"{'verify':>10}  {one.level}: {one.message} [{one.rule}]" for one in told]
    return printable("\n".join(text))
