"""Judgements -> outcomes: a largest one-to-one assignment, and what that makes of every candidate and golden.

Greedy assignment loses pairs that a better one finds, and gives another answer for another order of the comments. So
the assignment is a largest one; among those the one with the most confidence; among those the first by ids. That is
unique, so the order of the input cannot matter. Confidence never decides whether a pair is a match.

A judgement that could not be made is no evidence. A candidate that hangs on one is unscored, no false alarm; a golden
that could still be found through one is unscored, no miss.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from scoring.model import (
    Candidate,
    CandidateId,
    CandidateOutcome,
    Counts,
    Golden,
    GoldenId,
    GoldenOutcome,
    GoldenState,
    Judgement,
    OutcomeKind,
    Verdict,
)

WITHDRAWN = "withdrawn_by_author_bot"
"""The scraper's flag on a comment whose author took it back."""
_CONFIDENCE_STEPS = 1_000_000
"""Confidences are compared as whole millionths, so that sums do not depend on the order of addition."""

Pair = tuple[CandidateId, GoldenId]
_Id = TypeVar("_Id", bound=str)


@dataclass(frozen=True, slots=True)
class Settlement:
    """What came of the candidates and goldens of one trial."""

    outcomes: tuple[CandidateOutcome, ...]
    goldens: tuple[GoldenOutcome, ...]
    counts: Counts


def assign(edges: Mapping[Pair, float | None]) -> dict[GoldenId, CandidateId]:
    """The largest one-to-one assignment of candidates to goldens along the edges.

    Among the largest, the one with the largest sum of confidences (an absent one adds nothing); among those, the one
    that gives the first golden (by id) the first candidate (by id), and so on.

    Grown one pair at a time along best augmenting paths, which keeps the sum largest for every size (successive
    shortest paths; Ahuja, Magnanti and Orlin, Network Flows, 1993, section 9.7).
    """
    candidates = sorted({candidate for candidate, _ in edges})
    goldens = sorted({golden for _, golden in edges})
    weights = _weights(edges, candidates, goldens)
    held: dict[GoldenId, CandidateId] = {}
    while path := _best_path(candidates, goldens, weights, held):
        held.update(path)
    return held


def _weights(
    edges: Mapping[Pair, float | None], candidates: Sequence[CandidateId], goldens: Sequence[GoldenId]
) -> dict[Pair, int]:
    """Whole weights whose sums order assignments by confidence first and by ids second, without ties."""
    base = len(candidates) + 1
    place = {golden: base ** (len(goldens) - 1 - at) for at, golden in enumerate(goldens)}
    rank = {candidate: len(candidates) - at for at, candidate in enumerate(candidates)}
    top = base ** len(goldens)
    return {
        (candidate, golden): round((confidence or 0.0) * _CONFIDENCE_STEPS) * top + rank[candidate] * place[golden]
        for (candidate, golden), confidence in edges.items()
    }


def _best_path(
    candidates: Sequence[CandidateId],
    goldens: Sequence[GoldenId],
    weights: Mapping[Pair, int],
    held: Mapping[GoldenId, CandidateId],
) -> dict[GoldenId, CandidateId]:
    """The changes along the augmenting path that adds most (Bellman-Ford, for weights can be negative on the way)."""
    holder = {candidate: golden for golden, candidate in held.items()}
    gain: dict[CandidateId, int] = {}
    came: dict[CandidateId, GoldenId] = {}
    reach: dict[GoldenId, int] = {golden: 0 for golden in goldens if golden not in held}
    for _ in range(len(goldens) + 1):
        changed = False
        for (candidate, golden), weight in sorted(weights.items()):
            if golden not in reach:
                continue
            total = reach[golden] + weight
            if candidate not in gain or total > gain[candidate]:
                gain[candidate], came[candidate], changed = total, golden, True
                if candidate in holder:
                    reach[holder[candidate]] = total - weights[candidate, holder[candidate]]
        if not changed:
            break
    free = [candidate for candidate in candidates if candidate in gain and candidate not in holder]
    if not free:
        return {}
    return _trace(max(free, key=lambda candidate: gain[candidate]), came, held)


def _trace(
    end: CandidateId, came: Mapping[CandidateId, GoldenId], held: Mapping[GoldenId, CandidateId]
) -> dict[GoldenId, CandidateId]:
    changes: dict[GoldenId, CandidateId] = {}
    candidate: CandidateId | None = end
    while candidate is not None:
        golden = came[candidate]
        changes[golden] = candidate
        candidate = held.get(golden)
    return changes


def settle(
    candidates: Sequence[Candidate],
    goldens: Sequence[Golden],
    judgements: Sequence[Judgement],
    groups: Sequence[Sequence[CandidateId]] = (),
    valid: Collection[CandidateId] = (),
) -> Settlement:
    """Say what came of every candidate and every golden.

    Args:
        candidates: All claims of one reviewer on one pull request.
        goldens: All goldens of that pull request.
        judgements: One for each pair; a pair without one counts as undecided.
        groups: Which candidates say the same thing.
        valid: Candidates that someone found sound though no golden covers them.
    """
    table = _Table(candidates, goldens, judgements, groups, frozenset(valid))
    outcomes = table.candidate_outcomes()
    states = tuple(table.golden_outcome(golden) for golden in table.goldens)
    return Settlement(outcomes, states, _count(outcomes, states))


def _count(outcomes: Sequence[CandidateOutcome], states: Sequence[GoldenOutcome]) -> Counts:
    def kinds(kind: OutcomeKind) -> int:
        return sum(outcome.kind is kind for outcome in outcomes)

    def ends(state: GoldenState) -> int:
        return sum(outcome.state is state for outcome in states)

    return Counts(
        tp=kinds(OutcomeKind.TP),
        fp=kinds(OutcomeKind.FP),
        fn=ends(GoldenState.MISSED),
        valid=kinds(OutcomeKind.VALID),
        duplicate=kinds(OutcomeKind.DUPLICATE),
        unscored=kinds(OutcomeKind.UNSCORED),
        goldens_unscored=ends(GoldenState.UNSCORED),
    )


class _Table:
    """The verdicts on all pairs of a trial, and the assignment made of them."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        goldens: Sequence[Golden],
        judgements: Sequence[Judgement],
        groups: Sequence[Sequence[CandidateId]],
        valid: frozenset[CandidateId],
    ) -> None:
        self.withdrawn = frozenset(candidate.id for candidate in candidates if WITHDRAWN in candidate.flags)
        self.candidates = _unique(sorted(candidate.id for candidate in candidates), "candidate")
        self.goldens = _unique(sorted(golden.id for golden in goldens), "golden")
        self.valid = valid
        self.judged = _by_pair(judgements, set(self.candidates), set(self.goldens))
        self.group = {identity: tuple(sorted(group)) for group in groups for identity in group}
        self.claim_of, self.members = self._claims()
        self.held = self._assignment()
        self.golden_of = {candidate: golden for golden, candidate in self.held.items()}

    def verdict(self, candidate: CandidateId, golden: GoldenId) -> Verdict:
        judgement = self.judged.get((candidate, golden))
        return judgement.verdict if judgement else Verdict.UNDECIDED

    def confidence(self, candidate: CandidateId, golden: GoldenId) -> float | None:
        return self.judged[candidate, golden].confidence

    def matches(self, candidate: CandidateId) -> tuple[GoldenId, ...]:
        if candidate in self.withdrawn:
            return ()
        return tuple(golden for golden in self.goldens if self.verdict(candidate, golden) is Verdict.MATCH)

    def undecided(self, candidate: CandidateId) -> tuple[GoldenId, ...]:
        if candidate in self.withdrawn:
            return ()
        return tuple(golden for golden in self.goldens if self.verdict(candidate, golden) is Verdict.UNDECIDED)

    def _claims(self) -> tuple[dict[CandidateId, CandidateId], dict[CandidateId, list[CandidateId]]]:
        """Candidates of one group that match the same goldens are one claim, which can find one golden and no more.

        Members of a group that match different goldens are different claims: the judge has told them apart.
        """
        first: dict[tuple[object, ...], CandidateId] = {}
        claim_of: dict[CandidateId, CandidateId] = {}
        members: dict[CandidateId, list[CandidateId]] = {}
        for candidate in self.candidates:
            key = (self.group.get(candidate, candidate), self.matches(candidate))
            claim_of[candidate] = first.setdefault(key, candidate)
            members.setdefault(claim_of[candidate], []).append(candidate)
        return claim_of, members

    def _assignment(self) -> dict[GoldenId, CandidateId]:
        """Assign claims, then let each golden be found by the member of its claim that the judge is surest of."""
        edges: dict[Pair, float | None] = {}
        for claim, members in self.members.items():
            for golden in self.matches(claim):
                sure = [value for member in members if (value := self.confidence(member, golden)) is not None]
                edges[claim, golden] = max(sure, default=None)
        held: dict[GoldenId, CandidateId] = {}
        for golden, claim in assign(edges).items():
            held[golden] = min(self.members[claim], key=lambda one: (-(self.confidence(one, golden) or 0.0), one))
        return held

    # --- candidates

    def candidate_outcomes(self) -> tuple[CandidateOutcome, ...]:
        """What came of each. Of a group without a match one counts: a sound one, if any of them was found sound."""
        found = {candidate: self._first_look(candidate) for candidate in self.candidates}
        first: dict[tuple[CandidateId, ...], CandidateId] = {}
        for kind in (OutcomeKind.VALID, OutcomeKind.FP):
            for candidate in [one for one, outcome in found.items() if outcome.kind is kind]:
                kept = first.setdefault(self.group.get(candidate, (candidate,)), candidate)
                if kept != candidate:
                    what = "sound" if found[kept].kind is OutcomeKind.VALID else "unmatched"
                    reason = f"says again what another {what} candidate says"
                    found[candidate] = CandidateOutcome(candidate, OutcomeKind.DUPLICATE, reason, same_as=kept)
        return tuple(found[candidate] for candidate in self.candidates)

    def _first_look(self, candidate: CandidateId) -> CandidateOutcome:
        if candidate in self.withdrawn:
            return CandidateOutcome(candidate, OutcomeKind.UNSCORED, "the reviewer took it back")
        if golden := self.golden_of.get(candidate):
            return CandidateOutcome(
                candidate,
                OutcomeKind.TP,
                self.judged[candidate, golden].reason,
                golden,
                None,
                self.confidence(candidate, golden),
            )
        if again := self._duplicate(candidate):
            return again
        if open_pairs := self.undecided(candidate):
            reason = f"not decided against {', '.join(open_pairs)}: {self._gap(candidate)}"
            return CandidateOutcome(candidate, OutcomeKind.UNSCORED, reason)
        if candidate in self.valid:
            return CandidateOutcome(candidate, OutcomeKind.VALID, "found sound, though no golden covers it")
        reason = "matches no golden" if self.goldens else "the pull request is clean"
        return CandidateOutcome(candidate, OutcomeKind.FP, reason)

    def _duplicate(self, candidate: CandidateId) -> CandidateOutcome | None:
        matched = [golden for golden in self.matches(candidate) if golden in self.held]
        if matched:
            best = min(matched, key=lambda golden: (-(self.confidence(candidate, golden) or 0.0), golden))
            reason = "matches a golden that another candidate is assigned to"
            sure = self.confidence(candidate, best)
            return CandidateOutcome(candidate, OutcomeKind.DUPLICATE, reason, best, self.held[best], sure)
        twin = next((other for other in self.group.get(candidate, ()) if self.matches(other)), None)
        if twin is None:
            return None
        golden = next(one for one in self.matches(twin) if one in self.held)
        reason = "says again what a candidate says that matches a golden"
        return CandidateOutcome(candidate, OutcomeKind.DUPLICATE, reason, golden, self.held[golden])

    def _gap(self, candidate: CandidateId) -> str:
        reasons = [
            judgement.reason if (judgement := self.judged.get((candidate, golden))) else "no judgement was given"
            for golden in self.undecided(candidate)
        ]
        return reasons[0]

    # --- goldens

    def golden_outcome(self, golden: GoldenId) -> GoldenOutcome:
        if golden in self.held:
            finder = self.held[golden]
            return GoldenOutcome(golden, GoldenState.FOUND, self.judged[finder, golden].reason, finder)
        if hope := self._still_possible(golden):
            reason = f"could be found by {hope}, which could not be judged"
            return GoldenOutcome(golden, GoldenState.UNSCORED, reason)
        return GoldenOutcome(golden, GoldenState.MISSED, "no candidate matches it")

    def _still_possible(self, golden: GoldenId) -> CandidateId | None:
        """A candidate through which the golden could be found if undecided pairs matched, without losing another one.

        It ends an augmenting path whose steps may also be undecided pairs. Claims that are settled as a repetition of
        a found golden are no way in.
        """
        seen: set[CandidateId] = set()
        waiting: list[tuple[GoldenId, CandidateId | None]] = [(golden, None)]
        while waiting:
            wanted, start = waiting.pop(0)
            for candidate in self.candidates:
                if self.claim_of[candidate] in seen or not self._may_find(candidate, wanted):
                    continue
                seen.add(self.claim_of[candidate])
                begun = start or candidate
                holds = self._held_by_claim(candidate)
                if holds is None:
                    return begun
                waiting.append((holds, begun))
        return None

    def _may_find(self, candidate: CandidateId, golden: GoldenId) -> bool:
        if candidate in self.withdrawn or self.verdict(candidate, golden) is Verdict.NO_MATCH:
            return False
        if self.matches(candidate):
            return True
        return not any(self.matches(other) for other in self.group.get(candidate, ()))

    def _held_by_claim(self, candidate: CandidateId) -> GoldenId | None:
        members = self.members[self.claim_of[candidate]]
        return next((self.golden_of[member] for member in members if member in self.golden_of), None)


def _unique(ids: list[_Id], what: str) -> list[_Id]:
    again = {one for one, other in pairwise(ids) if one == other}
    if again:
        raise ValueError(f"{what} ids must be unique in a trial; more than one is {', '.join(sorted(again))}")
    return ids


def _by_pair(
    judgements: Sequence[Judgement], candidates: set[CandidateId], goldens: set[GoldenId]
) -> dict[Pair, Judgement]:
    found: dict[Pair, Judgement] = {}
    for judgement in judgements:
        pair = (judgement.candidate, judgement.golden)
        if judgement.candidate not in candidates or judgement.golden not in goldens:
            raise ValueError(f"a judgement names {pair[0]} x {pair[1]}, which is no pair of this trial")
        if found.setdefault(pair, judgement) != judgement:
            raise ValueError(f"two different judgements on {pair[0]} x {pair[1]}")
    return found
