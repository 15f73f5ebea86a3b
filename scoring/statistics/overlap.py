"""What reviewers find together and alone, and what running several of them would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from scoring.exact import jaccard
from scoring.model import Candidate, Counts, Estimate, GoldenState, OutcomeKind, PullId, ReviewerId, TrialScore
from scoring.statistics.bootstrap import NO_GOLDEN, Resampler, mean_of
from scoring.statistics.clusters import GoldenKey, Partition
from scoring.statistics.paired import FoundBy, Pair, found_by
from scoring.stats import wilson

TOLERANCE = 5
"""Lines between two places that still are the same place."""

Finds = Mapping[ReviewerId, Mapping[GoldenKey, bool]]
Claim = tuple[ReviewerId, Candidate]
Same = Callable[[Candidate, Candidate], bool]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two reviewers on the goldens scored for both."""

    first: ReviewerId
    second: ReviewerId
    found: FoundBy
    jaccard: float | None
    """Found by both / found by either, in [0, 1]; None where neither found any."""


@dataclass(frozen=True, slots=True)
class Unique:
    """What a reviewer finds that no other one does."""

    reviewer: ReviewerId
    found: int
    unique: int
    share: Estimate
    """Unique / found, with its Wilson interval."""


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Several reviewers taken as one, on the pull requests all were scored on."""

    members: tuple[ReviewerId, ...]
    pulls: int
    counts: Counts


@dataclass(frozen=True, slots=True)
class Addition:
    """What a second reviewer would add to the first."""

    reviewer: ReviewerId
    gain: Estimate
    """Recall of the union less recall of the first: the share of goldens that only the second finds. In [0, 1]."""
    union: Ensemble
    alarms_added: int
    """False alarms of the union beyond those of the first."""


def finds(trials: Partition) -> dict[ReviewerId, dict[GoldenKey, bool]]:
    """Who found which of the goldens scored for it."""
    return {name: trials.goldens(name) for name in trials.reviewers}


def overlaps(found: Finds) -> dict[Pair, Overlap]:
    """Every two reviewers, the first of each pair first by id."""
    return {pair: overlap(*pair, found) for pair in combinations(sorted(found), 2)}


def overlap(first: ReviewerId, second: ReviewerId, found: Finds) -> Overlap:
    """How much of what two reviewers find they find both: the Jaccard index (P. Jaccard, 1912)."""
    by = found_by(found[first], found[second])
    return Overlap(first, second, by, jaccard(by.both, by.only_first, by.only_second))


def uniques(found: Finds) -> dict[ReviewerId, Unique]:
    """The finds that no other reviewer has.

    Among goldens that at least one other was scored on: where everybody else failed to run, being alone is no merit.
    """
    asked = Counter(key for own in found.values() for key in own)
    hits = Counter(key for own in found.values() for key, hit in own.items() if hit)
    made = {}
    for name, own in found.items():
        shared = [key for key, hit in own.items() if hit and asked[key] > 1]
        alone = sum(hits[key] == 1 for key in shared)
        share = wilson(alone, len(shared), reason="it found nothing that another was asked for")
        made[name] = Unique(name, len(shared), alone, share)
    return made


def near(one: Candidate, other: Candidate) -> bool:
    """Whether two claims stand at the same place: same file and side, at most `TOLERANCE` lines apart.

    A claim without lines is at no place, so it is like no other. What is said is not compared: two different alarms at
    one place pass for one, two wordings of one alarm at two places for two.
    """
    if one.place is None or other.place is None or one.place.lines is None or other.place.lines is None:
        return False
    if (one.place.path, one.place.side) != (other.place.path, other.place.side):
        return False
    (start, end), (other_start, other_end) = one.place.lines, other.place.lines
    return start <= other_end + TOLERANCE and other_start <= end + TOLERANCE


def claim_groups(claims: Iterable[Claim], same: Same = near) -> list[list[Claim]]:
    """Claims of several reviewers on one pull request, those that are the same put together.

    In the order of ids each claim joins the first group whose first claim it is the same as, and that has none of its
    reviewer yet. So there are never fewer groups than one reviewer has claims, nor more than there are claims.
    """
    groups: list[list[Claim]] = []
    for claim in sorted(claims, key=lambda one: (one[0], one[1].id)):
        for group in groups:
            if all(claim[0] != name for name, _ in group) and same(group[0][1], claim[1]):
                group.append(claim)
                break
        else:
            groups.append([claim])
    return groups


def claims_of(kind: OutcomeKind, members: Mapping[ReviewerId, TrialScore]) -> list[Claim]:
    """The claims of one pull request with a given outcome."""
    found = []
    for name, score in members.items():
        chosen = {one.candidate for one in score.outcomes if one.kind is kind}
        found += [(name, one) for one in score.candidates if one.id in chosen]
    return found


def shared_pulls(trials: Partition, members: Sequence[ReviewerId]) -> dict[PullId, dict[ReviewerId, TrialScore]]:
    """The pull requests on which all members were scored, with their trials."""
    scored = {name: trials.scored(name) for name in members}
    return {
        pull: {name: scored[name][pull] for name in members}
        for pull in trials.pulls
        if all(pull in own for own in scored.values())
    }


def union(trials: Partition, members: Sequence[ReviewerId], same: Same = near) -> Ensemble:
    """All members run side by side: a golden is found if any found it, an alarm is raised if any raised it.

    So recall is at least that of the best member, and false alarms are at most the sum. Alarms at one place are one.
    What the members said twice is counted as duplicate, so that the outcomes still add up to the claims. A golden is
    unscored if one member could not be judged on it and none found it.
    """
    names = _members(members)
    shared = shared_pulls(trials, names)
    return Ensemble(names, len(shared), sum((_union(own, same) for own in shared.values()), Counts()))


def intersection(trials: Partition, members: Sequence[ReviewerId], same: Same = near) -> Ensemble:
    """Only what all members say: a golden is found if all found it, an alarm raised if all raised it at one place.

    So recall is at most that of the worst member, and so are false alarms. Claims not said by all are dropped.
    """
    names = _members(members)
    shared = shared_pulls(trials, names)
    return Ensemble(names, len(shared), sum((_intersection(own, same) for own in shared.values()), Counts()))


def _members(members: Sequence[ReviewerId]) -> tuple[ReviewerId, ...]:
    names = tuple(sorted(set(members)))
    if len(names) < 2 or len(names) < len(members):
        raise ValueError(f"an ensemble has two or more different members, not {', '.join(members) or 'none'}")
    return names


def _states(own: Mapping[ReviewerId, TrialScore]) -> list[list[GoldenState]]:
    """Of each golden, what came of it for each member; one a member has no outcome for is unscored."""
    by_member = [{one.golden: one.state for one in score.goldens} for score in own.values()]
    known = sorted({golden for states in by_member for golden in states})
    return [[states.get(golden, GoldenState.UNSCORED) for states in by_member] for golden in known]


def _union(own: Mapping[ReviewerId, TrialScore], same: Same) -> Counts:
    states = _states(own)
    tp = sum(GoldenState.FOUND in one for one in states)
    fn = sum(set(one) == {GoldenState.MISSED} for one in states)
    fp, valid = (len(claim_groups(claims_of(kind, own), same)) for kind in (OutcomeKind.FP, OutcomeKind.VALID))
    apart = sum((score.counts for score in own.values()), Counts())
    again = apart.duplicate + apart.tp - tp + apart.fp - fp + apart.valid - valid
    return Counts(tp, fp, fn, valid, again, apart.unscored, len(states) - tp - fn)


def _intersection(own: Mapping[ReviewerId, TrialScore], same: Same) -> Counts:
    states = _states(own)
    tp = sum(set(one) == {GoldenState.FOUND} for one in states)
    fn = sum(GoldenState.MISSED in one for one in states)
    groups = [claim_groups(claims_of(kind, own), same) for kind in (OutcomeKind.FP, OutcomeKind.VALID)]
    fp, valid = (sum(len(group) == len(own) for group in found) for found in groups)
    return Counts(tp, fp, fn, valid, goldens_unscored=len(states) - tp - fn)


def best_second(trials: Partition, first: ReviewerId, resampler: Resampler, same: Same = near) -> tuple[Addition, ...]:
    """Every other reviewer by what it would add to the first, most first.

    The gain is that of the true union, each on the pull requests shared with the first, its interval resampling those.
    Look at `alarms_added` too: the gain costs the noise of the second.
    """
    trials.check(first)
    others = [name for name in trials.reviewers if name != first]
    made = [_addition(trials, first, other, resampler, same) for other in others]
    return tuple(sorted(made, key=lambda one: (one.gain.value is None, -(one.gain.value or 0.0), one.reviewer)))


def _addition(trials: Partition, first: ReviewerId, second: ReviewerId, resampler: Resampler, same: Same) -> Addition:
    together = union(trials, [first, second], same)
    alone = sum(own[first].counts.fp for own in shared_pulls(trials, [first, second]).values())
    gained = gain(trials.goldens(first), trials.goldens(second), resampler)
    return Addition(second, gained, together, together.counts.fp - alone)


def gain(first: Mapping[GoldenKey, bool], second: Mapping[GoldenKey, bool], resampler: Resampler) -> Estimate:
    """The share of the goldens scored for both that only the second found."""
    import numpy as np

    both = sorted(first.keys() & second.keys())
    row = {pull: number for number, pull in enumerate(dict.fromkeys(pull for pull, _ in both))}
    rows = np.zeros((len(row), 2))
    for key in both:
        rows[row[key[0]]] += (second[key] and not first[key], 1)
    return resampler.estimate(rows, mean_of, rows[:, 1] > 0, len(both), NO_GOLDEN)
