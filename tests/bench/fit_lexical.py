"""Fit the lexical judge's coefficients and thresholds on pairs that models judged, and measure how well it agrees.

    python -m tests.bench.fit_lexical FOLDER [--write scoring/judges/lexical_model.json]

FOLDER holds, in a folder for each judge, `candidates.json` and `evaluations.json` of published reviews. Agreement is
measured leaving one repository out: neither the coefficients nor the thresholds that answer for a repository have seen
it. Thresholds are chosen the same way once more inside: on answers for each repository of the fit by coefficients from
the others. `python -m tests.bench lexical` measures more, with intervals.

Published reviews seldom hold two defects of one function, so they teach that the same subject is the same defect. The
pairs in `contrast_pairs.json`, which we wrote, teach the difference; they are in every fit and in no measurement.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from goldens.importers.words import candidate as claim_of
from scoring.judges.features import NAMES, text_features
from scoring.judges.lexical import Model, parse, views_of
from scoring.matching import assign
from scoring.model import CandidateId, GoldenId

EVIDENCE = {
    "same_lines": 0.7,
    "near_lines": 0.5,
    "same_file": 0.3,
    "far_lines": -0.2,
    "other_file": -0.8,
    "severity_alike": 0.1,
    "severity_far": -0.2,
    "kind_alike": 0.2,
    "kind_far": -0.3,
}
TEXT_FLOOR = 0.12
GRID = tuple(round(at / 50, 2) for at in range(8, 30))
NEIGHBOURS = 3
"""Agreement at a threshold is the mean with so many on each side: a peak of one step is chance."""
OPEN = 0.04
"""The share of goldens that may be left undecided in what the thresholds are chosen on."""
CONTRAST = Path(__file__).with_name("contrast_pairs.json")
CONTRAST_WEIGHT = 4.0
Features = tuple[float, ...]
Example = tuple[Features, int]
Weighted = tuple[Features, int, float]
Pair = tuple[CandidateId, GoldenId]
Chances = Mapping[Pair, float]


@dataclass(frozen=True)
class Pull:
    """One tool's review of one pull request, as one model judged it. Texts are their own ids."""

    judge: str
    repository: str
    candidates: tuple[CandidateId, ...]
    goldens: tuple[GoldenId, ...]
    found: Mapping[GoldenId, CandidateId]
    sure: Mapping[Pair, float]
    """How sure the model was of each pair it found; one claim that means two goldens finds the surer one."""
    features: Mapping[Pair, tuple[Features, ...]]
    """Of the whole claim first, then of its beginning and its title, as the judge looks at it."""

    def examples(self) -> Iterable[Example]:
        """Pairs with a sure answer. Another candidate of a found golden may well match too, so it teaches nothing."""
        for (candidate, golden), views in self.features.items():
            if self.found.get(golden, candidate) == candidate:
                yield views[0], int(golden in self.found)

    def chances(self, weights: Sequence[float]) -> Chances:
        """The probability of a match of every pair."""
        return {pair: max(chance(weights, view) for view in views) for pair, views in self.features.items()}


@dataclass(frozen=True)
class Fitted:
    """What the fit learned."""

    weights: tuple[float, ...]
    no_match_below: float
    match_from: float

    def model(self) -> Model:
        """As the judge takes it."""
        return parse(model_text(self))


def repository_of(address: str) -> str:
    """The project a pull request is from; mirrors of one project count as that project."""
    owner, name = address.split("/")[3:5]
    return name.split("-")[0] if owner == "ai-code-review-evaluation" else name


def read(folder: Path) -> list[Pull]:
    """All reviews, as each judge judged them."""
    return [pull for own in sorted(folder.iterdir()) if (own / "evaluations.json").exists() for pull in read_one(own)]


def read_one(folder: Path) -> list[Pull]:
    """All reviews of one judge."""
    candidates = json.loads((folder / "candidates.json").read_text(encoding="utf-8"))
    evaluations = json.loads((folder / "evaluations.json").read_text(encoding="utf-8"))
    return [
        pull_of(folder.name, address, review, candidates.get(address, {}).get(tool, []))
        for address, reviews in evaluations.items()
        for tool, review in reviews.items()
        if not review.get("skipped")
    ]


def pull_of(judge: str, address: str, review: Mapping[str, Any], claims: Sequence[Mapping[str, Any]]) -> Pull:
    """One review with its features."""
    candidates = tuple(dict.fromkeys(CandidateId(claim["text"]) for claim in claims if claim["text"]))
    found = {GoldenId(hit["golden_comment"]): CandidateId(hit["matched_candidate"]) for hit in review["true_positives"]}
    goldens = (*found, *(GoldenId(miss["golden_comment"]) for miss in review["false_negatives"]))
    views = {candidate: views_of(claim_of("c", candidate)) for candidate in candidates}
    features = {
        (candidate, golden): tuple(
            text_features(view, golden, sorted(other for other in goldens if other != golden))
            for view in views[candidate]
        )
        for golden in goldens
        for candidate in candidates
    }
    said = {golden: hit["confidence"] for golden, hit in zip(found, review["true_positives"], strict=True)}
    sure = {(candidate, golden): float(said[golden]) for golden, candidate in found.items()}
    return Pull(judge, repository_of(address), candidates, goldens, found, sure, features)


def contrasts() -> list[Example]:
    """Pairs of our own: the same defect in other words, and another defect of the same subject."""
    groups = json.loads(CONTRAST.read_text(encoding="utf-8"))
    return [
        (text_features(claim, group["golden"], ()), answer)
        for group in groups
        for answer, key in ((1, "same"), (0, "other"))
        for claim in group[key]
    ]


def train(pulls: Sequence[Pull]) -> Fitted:
    """Coefficients from reviews and our contrasts, and thresholds from answers by coefficients that saw less.

    Raises:
        ValueError: the reviews are of fewer than two repositories, so none can be left out.
    """
    names = sorted({pull.repository for pull in pulls})
    if len(names) < 2:
        raise ValueError(f"a fit needs reviews of two repositories or more; these are of {', '.join(names) or 'none'}")
    without = {name: coefficients(pull for pull in pulls if pull.repository != name) for name in names}
    answered = [(pull, pull.chances(without[pull.repository])) for pull in pulls]
    match_from = best_threshold({at: kappa(found_pairs(answered, at)) for at in GRID})
    steps = [at / 100 for at in range(round(TEXT_FLOOR * 100), round(match_from * 100) + 1)]
    total = sum(len(pull.goldens) for pull in pulls)
    widest = next(low for low in steps if open_goldens(answered, low, match_from) <= OPEN * total)
    return Fitted(tuple(coefficients(pulls)), widest, match_from)


def coefficients(pulls: Iterable[Pull]) -> list[float]:
    """The coefficients learned from reviews and from our contrasts."""
    rows = [(*example, 1.0) for pull in pulls for example in pull.examples()]
    return fit([*rows, *((*example, CONTRAST_WEIGHT) for example in contrasts())])


def best_threshold(kappas: Mapping[float, float]) -> float:
    """The threshold whose neighbourhood agrees best; of equals the lowest."""
    ordered = sorted(kappas)
    around = {
        at: mean(kappas[near] for near in ordered[max(0, place - NEIGHBOURS) : place + NEIGHBOURS + 1])
        for place, at in enumerate(ordered)
    }
    return max(ordered, key=lambda at: (around[at], -at))


def found_pairs(answered: Sequence[tuple[Pull, Chances]], match_from: float) -> list[tuple[bool, bool]]:
    """Whether the model and the judge hold each golden found, one claim finding one golden for both."""
    pairs = []
    for pull, chances in answered:
        ours = assign({pair: sure for pair, sure in chances.items() if sure >= match_from})
        theirs = assign(pull.sure)
        pairs += [(golden in theirs, golden in ours) for golden in pull.goldens]
    return pairs


def open_goldens(answered: Sequence[tuple[Pull, Chances]], low: float, match_from: float) -> int:
    """How many goldens are not found and might be, through a pair between the thresholds."""
    count = 0
    for _, chances in answered:
        held = assign({pair: sure for pair, sure in chances.items() if sure >= match_from})
        count += len({golden for (_, golden), sure in chances.items() if low <= sure < match_from} - held.keys())
    return count


def fit(examples: Sequence[Weighted], penalty: float = 2.0, rounds: int = 15) -> list[float]:
    """Weighted logistic regression by Newton's method with a ridge on all but the intercept."""
    inputs = np.array([(1.0, *features) for features, _, _ in examples])
    answers, counts = (np.array([row[at] for row in examples], dtype=np.float64) for at in (1, 2))
    ridge = np.diag([1e-6, *[penalty] * len(NAMES)])
    weights = np.zeros(len(NAMES) + 1)
    for _ in range(rounds):
        likely = 1 / (1 + np.exp(-np.clip(inputs @ weights, -30, 30)))
        slope = inputs.T @ (counts * (answers - likely)) - ridge @ weights
        curve = (inputs.T * (counts * likely * (1 - likely))) @ inputs + ridge
        weights = weights + np.linalg.solve(curve, slope)
    return [float(weight) for weight in weights]


def chance(weights: Sequence[float], features: Sequence[float]) -> float:
    """The probability of a match."""
    odds = weights[0] + sum(weight * value for weight, value in zip(weights[1:], features, strict=True))
    return float(1 / (1 + np.exp(-max(-30.0, min(30.0, odds)))))


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Cohen's kappa of two raters with two answers."""
    n = len(pairs)
    first, second = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    by_chance = first * second + (1 - first) * (1 - second)
    return (sum(a == b for a, b in pairs) / n - by_chance) / (1 - by_chance)


def agreement(pulls: Sequence[Pull], fitted_for: Callable[[str], Fitted]) -> dict[str, Any]:
    """How the judge's answers compare with the models'. `kappa_found` counts what is undecided as no match."""
    answered = [(pull, pull.chances(fitted_for(pull.repository).weights)) for pull in pulls]
    found: list[tuple[bool, bool]] = []
    undecided = 0
    for pull, chances in answered:
        fitted = fitted_for(pull.repository)
        found += found_pairs([(pull, chances)], fitted.match_from)
        undecided += open_goldens([(pull, chances)], fitted.no_match_below, fitted.match_from)
    pairs = [
        (chance(fitted_for(pull.repository).weights, features), answer)
        for pull in pulls
        for features, answer in pull.examples()
    ]
    return {
        "goldens": len(found),
        "undecided": undecided,
        "kappa_found": round(kappa(found), 3),
        "found_by_model": sum(a for a, _ in found),
        "found_by_judge": sum(b for _, b in found),
        "brier": round(mean((p - answer) ** 2 for p, answer in pairs), 4),
        "calibration": calibration(pairs),
    }


def calibration(pairs: Sequence[tuple[float, int]]) -> list[str]:
    """Promised against kept, in five bands."""
    bands = [[pair for pair in pairs if at / 5 <= pair[0] < (at + 1) / 5 + (at == 4)] for at in range(5)]
    return [
        f"{mean(p for p, _ in band):.2f} promised, {mean(answer for _, answer in band):.2f} kept (n={len(band)})"
        for band in bands
        if band
    ]


def leave_one_out(pulls: Sequence[Pull]) -> dict[str, Fitted]:
    """For each repository, what is learned from the others."""
    names = sorted({pull.repository for pull in pulls})
    return {name: train([pull for pull in pulls if pull.repository != name]) for name in names}


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, measure, and write the model if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args(arguments)
    pulls = read(chosen.folder)
    held_out = leave_one_out(pulls)
    for judge in sorted({pull.judge for pull in pulls}):
        own = [pull for pull in pulls if pull.judge == judge]
        measured = {"judge": judge} | agreement(own, held_out.__getitem__)
        for name, fitted in held_out.items():
            part = agreement([pull for pull in own if pull.repository == name], held_out.__getitem__)
            measured[f"kappa_found/{name}"] = part["kappa_found"]
            measured[f"thresholds/{name}"] = [fitted.no_match_below, fitted.match_from]
        sys.stdout.write(json.dumps(measured, indent=1) + "\n")
    if chosen.write:
        chosen.write.write_text(model_text(train(pulls)), encoding="utf-8")
    return 0


def model_text(fitted: Fitted) -> str:
    """The model file."""
    model = {
        "version": "2",
        "intercept": round(fitted.weights[0], 4),
        "coefficients": {name: round(weight, 4) for name, weight in zip(NAMES, fitted.weights[1:], strict=True)},
        "evidence": EVIDENCE,
        "no_match_below": fitted.no_match_below,
        "match_from": fitted.match_from,
        "text_floor": TEXT_FLOOR,
    }
    return json.dumps(model, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main())
