"""`sarif:<file>`: what an analyser wrote down, as a review; and the reading of such logs for commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.reviewers.options import ReviewerProblem
from bot.reviewers.protocol import Change, Remark, Review
from goldens.importers import sarif
from goldens.importers.problems import ImportProblem
from goldens.importers.words import Options
from scoring.bundle import BundleTrial
from scoring.model import Candidate, Comment, Place

_ENDINGS = (".sarif", ".sarif.json", ".json")
_PULL, _REVIEWER = "change", "log"
_LONGEST_PROBLEM = 300


@dataclass(frozen=True, slots=True)
class SarifLog:
    """Implements `Reviewer` by a file, or by a folder with a file for each pull request."""

    name: str
    place: Path
    largest: int

    @classmethod
    def at(cls, name: str, where: str, largest: int) -> SarifLog:
        """The reviewer of a file or folder.

        Raises:
            ReviewerProblem: there is none.
        """
        place = Path(where)
        if not place.exists():
            raise ReviewerProblem(f"{name}: there is no file or folder {where}")
        return cls(name, place, largest)

    def for_pull(self, pull: str) -> SarifLog:
        """The reviewer of one pull request: in a folder, of the file that is called like it."""
        if not self.place.is_dir():
            return self
        plain = pull if "/" not in pull and "\0" not in pull and pull not in ("", ".", "..") else "-"
        found = (self.place / f"{plain}{ending}" for ending in _ENDINGS)
        there = next((path for path in found if path.is_file()), self.place / f"{plain}{_ENDINGS[0]}")
        return SarifLog(self.name, there, self.largest)

    def review(self, change: Change) -> Review:
        """Read the log."""
        try:
            with self.place.open("rb") as file:
                data = file.read(self.largest + 1)
        except OSError as error:
            return Review((), failed=f"unable: {self.place.name} cannot be read: {error.strerror}")
        if len(data) > self.largest:
            return Review((), failed=f"unable: {self.place.name} holds more than {self.largest} bytes")
        return read_log(data, change)


def read_log(data: bytes, change: Change, roots: Sequence[str] = ()) -> Review:
    """A log as a review. All of its runs count as one reviewer's.

    Args:
        data: The log.
        change: What it is about: places must be in it.
        roots: What its paths may begin with: where the head tree lay.
    """
    try:
        bundle = sarif.build({"log": data}, Options(pull=_PULL, reviewer=_REVIEWER))
    except ImportProblem as error:
        lines = " ".join(str(error).split())
        return Review((), failed=f"no log that can be read: {lines[:_LONGEST_PROBLEM]}")
    if not bundle.trials:
        return Review((), failed="unable: the log holds no run")
    return _review(bundle.trials[0], change, roots)


def _review(trial: BundleTrial, change: Change, roots: Sequence[str]) -> Review:
    if not trial.status.scored:
        return Review((), failed=f"{'unable: ' if trial.status.value == 'unable' else ''}{trial.reason}")
    remarks: list[Remark] = []
    invalid: list[str] = []
    for comment, claim in zip(trial.comments, trial.candidates or (), strict=True):
        path = None if comment.place is None else located(comment.place.path, change, roots)
        if comment.place is not None and path is None:
            invalid.append(f"{comment.id}: there is no file {comment.place.path[:200]!r}")
        else:
            remarks.append(_remark(comment, claim, path))
    return Review(tuple(remarks), invalid=tuple(invalid))


def _remark(comment: Comment, claim: Candidate, path: str | None) -> Remark:
    place = comment.place or Place("")
    lines = place.lines if path is not None else None
    return Remark(
        comment.body,
        path,
        lines[0] if lines else None,
        lines[1] if lines else None,
        kind=claim.category_said or "",
        severity=claim.severity,
    )


def located(path: str, change: Change, roots: Sequence[str]) -> str | None:
    """A path of a tool's as the head tree has it; None where it has none."""
    plain = path.removeprefix("./").lstrip("/")
    for root in (*(one.strip("/") + "/" for one in roots), ""):
        if plain.startswith(root) and (plain[len(root) :] in change.head or plain[len(root) :] in change.base):
            return plain[len(root) :]
    return plain if not change.whole and ".." not in plain.split("/") else None
