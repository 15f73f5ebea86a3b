"""How good a judge is: one set of judgements against another, or against people's.

Agreement is counted on what the leaderboard is made of (goldens found, outcomes of candidates), not on pairs: most
pairs are plainly nothing, and agreeing on those says little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import mean
from typing import TYPE_CHECKING, Any

from scoring.bundle import Bundle, JudgementSet
from scoring.model import CandidateId, Estimate, GoldenId, PullId, Report, ReviewerId, Verdict
from scoring.profiles import replay
from scoring.statistics import agreement
from scoring.statistics.agreement import Labels, RankMoves, Unit

if TYPE_CHECKING:
    from scoring.statistics.bootstrap import Resampler

Json = Any
BINS = 10
EXAMPLES = 3
_SHORT = 160
_Key = tuple[PullId, ReviewerId, CandidateId, GoldenId]


@dataclass(frozen=True, slots=True)
class Cell:
    """How often one judge said this and the other that, with examples."""

    judge: str
    against: str
    count: int
    examples: tuple[str, ...]
    """What was judged, where the two differ: untrusted text, shortened."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Pairs whose probability of a match, as the judge gave it, lies in [low, high)."""

    low: float
    high: float
    n: int
    said: float
    """The mean probability."""
    matched: float
    """The share that the other judge calls a match."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """One judge against another."""

    judge: str
    against: str
    n: int
    """Goldens of trials that both settled."""
    agreed: int
    """Of those, the ones with the same label."""
    n_candidates: int
    agreed_candidates: int
    kappa_found: Estimate
    """Cohen's kappa on whether a golden was found."""
    kappa_candidates: Estimate
    """Cohen's kappa on what came of a candidate."""
    ranks: RankMoves
    """What changing the judge does to the leaderboard by F1."""
    undecided: int
    """Pairs that the judge left open."""
    goldens: tuple[Cell, ...]
    candidates: tuple[Cell, ...]
    reliability: tuple[Bin, ...]
    calls: int | None
    prompt_tokens: int | None
    cost: float | None
    details: Mapping[str, Json]


def calibrate(bundle: Bundle, judge: JudgementSet, against: JudgementSet, resampler: Resampler) -> Calibration:
    """Compare two judges on one bundle.

    Args:
        bundle: The trials; judgements in it play no part.
        judge: The one that is measured.
        against: What it is measured by.
        resampler: Draws for the intervals.

    Raises:
        ValueError: both have one name, so that nobody could tell them apart.
    """
    if judge.judge == against.judge:
        raise ValueError(f"both sides are called {judge.judge}")
    both = replace(bundle, judgements=(judge, against))
    mine, theirs = replay.report(both, judge.judge), replay.report(both, against.judge)
    found = agreement.golden_labels(mine.trials), agreement.golden_labels(theirs.trials)
    came = agreement.candidate_labels(mine.trials), agreement.candidate_labels(theirs.trials)
    texts = _texts(mine)
    goldens, candidates = _confusion(*found, texts), _confusion(*came, texts)
    details = judge.details
    return Calibration(
        judge=judge.judge,
        against=against.judge,
        n=sum(cell.count for cell in goldens),
        agreed=_agreed(goldens),
        n_candidates=sum(cell.count for cell in candidates),
        agreed_candidates=_agreed(candidates),
        kappa_found=agreement.kappa(*found, resampler),
        kappa_candidates=agreement.kappa(*came, resampler),
        ranks=agreement.rank_moves(*(_board(one) for one in (mine, theirs))),
        undecided=sum(said.verdict is Verdict.UNDECIDED for trial in judge.trials for said in trial.judgements),
        goldens=goldens,
        candidates=candidates,
        reliability=reliability(judge, against),
        calls=_count(details, "calls"),
        prompt_tokens=_count(details, "prompt_tokens"),
        cost=_number(details.get("cost")),
        details=details,
    )


def reliability(judge: JudgementSet, against: JudgementSet, bins: int = BINS) -> tuple[Bin, ...]:
    """The reliability curve: pairs by the probability the judge gave, and how many of them the other calls a match.

    Pairs with a probability from the judge and a decision by the other; bins are equally wide, empty ones are left out.
    A judge whose probabilities are right has `matched` near `said` in every bin.
    """
    if bins < 1:
        raise ValueError(f"a curve has one bin or more, not {bins}")
    decided = {key: said.verdict for key, said in _pairs(against) if said.verdict is not Verdict.UNDECIDED}
    held: dict[int, list[tuple[float, bool]]] = {}
    for key, said in _pairs(judge):
        if said.confidence is not None and key in decided:
            at = min(bins - 1, int(said.confidence * bins))
            held.setdefault(at, []).append((said.confidence, decided[key] is Verdict.MATCH))
    return tuple(
        Bin(at / bins, (at + 1) / bins, len(own), mean(sure for sure, _ in own), mean(float(hit) for _, hit in own))
        for at, own in sorted(held.items())
    )


def record(calibration: Calibration) -> dict[str, Json]:
    """The values as plain JSON: the figures first, their intervals and everything else beside them."""
    return {
        "judge": calibration.judge,
        "against": calibration.against,
        "n": calibration.n,
        "kappa_found": calibration.kappa_found.value,
        "kappa_candidates": calibration.kappa_candidates.value,
        "tau": calibration.ranks.tau_b,
        "calls": calibration.calls,
        "prompt_tokens": calibration.prompt_tokens,
        "cost": calibration.cost,
        "n_candidates": calibration.n_candidates,
        "agreement": {"found": calibration.agreed, "candidates": calibration.agreed_candidates},
        "undecided": calibration.undecided,
        "intervals": {
            "kappa_found": asdict(calibration.kappa_found),
            "kappa_candidates": asdict(calibration.kappa_candidates),
        },
        "leaderboard": asdict(calibration.ranks),
        "confusion": {
            "goldens": [asdict(cell) for cell in calibration.goldens],
            "candidates": [asdict(cell) for cell in calibration.candidates],
        },
        "reliability": [asdict(one) for one in calibration.reliability],
    }


def _pairs(judged: JudgementSet) -> Iterator[tuple[_Key, Any]]:
    for trial in judged.trials:
        for said in trial.judgements:
            yield (trial.pull, trial.reviewer, said.candidate, said.golden), said


def _texts(report: Report) -> dict[Unit, str]:
    found: dict[Unit, str] = {}
    for one in report.trials:
        key = one.trial.pull, one.trial.reviewer
        found |= {(*key, golden.id): golden.finding for golden in one.trial.goldens}
        found |= {(*key, claim.id): claim.title or claim.text for claim in one.candidates}
    return found


def _confusion(mine: Labels, theirs: Labels, texts: Mapping[Unit, str]) -> tuple[Cell, ...]:
    """The cells that are not empty, by label; the first units by id stand for those on which the judges differ."""
    shared = sorted(mine.keys() & theirs.keys())
    counts = Counter((mine[unit], theirs[unit]) for unit in shared)
    cells = []
    for (own, other), count in sorted(counts.items()):
        differing = [unit for unit in shared if (mine[unit], theirs[unit]) == (own, other)] if own != other else []
        examples = tuple(f"{unit[0]} x {unit[1]}: {texts.get(unit, unit[2])[:_SHORT]}" for unit in differing[:EXAMPLES])
        cells.append(Cell(own, other, count, examples))
    return tuple(cells)


def _agreed(cells: Sequence[Cell]) -> int:
    return sum(cell.count for cell in cells if cell.judge == cell.against)


def _board(report: Report) -> dict[ReviewerId, float | None]:
    return {row.reviewer: row.f1.value for row in report.reviewers}


def _count(details: Mapping[str, Json], name: str) -> int | None:
    value = details.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
