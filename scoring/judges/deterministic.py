"""Judging by position and type, with no model.

Some published systems decide by place alone, and their profiles do the same here (`alone=True`). Under our own rules
the right line proves nothing: place and type are evidence beside a judgement of meaning. So this judge alone decides
nothing there; a claim that names no file or no type is deferred, and is never a false alarm for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scoring import credits
from scoring.credits import Kind
from scoring.dedup import gap, same_file
from scoring.model import Candidate, Golden, Judgement, Verdict


class DeterministicJudge:
    """Looks at file, lines and type. See the module's description."""

    def __init__(self, *, alone: bool = False, tolerance: int = credits.TOLERANCE) -> None:
        if tolerance < 0:
            raise ValueError(f"a tolerance is 0 lines or more, not {tolerance}")
        self._alone, self._tolerance = alone, tolerance

    @property
    def name(self) -> str:
        """The judge and its settings."""
        return f"deterministic/{self._tolerance}{'/alone' if self._alone else ''}"

    def judge(self, candidates: Sequence[Candidate], goldens: Sequence[Golden]) -> Sequence[Judgement]:
        """One judgement for each pair; each depends on that pair only."""
        return tuple(self._one(candidate, golden) for candidate in candidates for golden in goldens)

    def _one(self, candidate: Candidate, golden: Golden) -> Judgement:
        found = evidence(candidate, golden, self._tolerance)
        verdict, reason = self._verdict(candidate, golden, found)
        return Judgement(candidate.id, golden.id, verdict, self.name, reason, None, found)

    def _verdict(self, candidate: Candidate, golden: Golden, found: Mapping[str, float]) -> tuple[Verdict, str]:
        if candidate.place is None or not (candidate.category_said or "").strip():
            missing = "no file" if candidate.place is None else "no type"
            return Verdict.UNDECIDED, f"deferred: the claim names {missing}"
        if golden.place is None:
            return Verdict.UNDECIDED, "deferred: the golden has no place"
        fits = bool(found.get("near") and found.get("same_type"))
        if fits:
            reason = "same file, lines within tolerance, types that go together"
        elif not found["same_file"]:
            reason = "another file"
        else:
            reason = "deferred: same file, but not the lines" if not found.get("near") else "deferred: another type"
        if not self._alone:
            return Verdict.UNDECIDED, f"{reason}; place and type alone decide nothing"
        if fits:
            return Verdict.MATCH, reason
        return (Verdict.NO_MATCH if not found["same_file"] else Verdict.UNDECIDED), reason


def evidence(candidate: Candidate, golden: Golden, tolerance: int = credits.TOLERANCE) -> dict[str, float]:
    """What place and type say of a pair. What either does not name is absent, not 0."""
    found: dict[str, float] = {}
    if candidate.place is not None and golden.place is not None:
        found["same_file"] = float(same_file(candidate.place.path, golden.place.path))
        apart = gap(candidate.place, golden.place)
        if apart is not None:
            found["lines_apart"] = float(apart)
            found["near"] = float(apart <= tolerance)
    kind = _kind(candidate)
    if kind is not None:
        found["same_type"] = float(kind is credits.OF_CATEGORY[golden.category])
    return found


def _kind(candidate: Candidate) -> Kind | None:
    said = (candidate.category_said or "").casefold()
    return credits.kind_said(said) or next((kind for word in said.split() if (kind := credits.kind_said(word))), None)
