"""Fit the lexical judge's coefficients on pairs that a model judged, and measure how well it agrees with that model.

    python -m tests.bench.fit_lexical FOLDER [--judge NAME] [--write scoring/judges/lexical_model.json]

FOLDER holds, for each judge, `candidates.json` and `evaluations.json` of published reviews. Agreement is measured
leaving one repository out: the coefficients that answer for a repository have not seen it.

Published reviews seldom hold two defects of one function, so they teach that the same subject is the same defect. The
pairs in `contrast_pairs.json`, which we wrote, teach the difference; they are in every fit and in no measurement.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from scoring.judges.features import NAMES, text_features
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
NO_MATCH_BELOW, MATCH_FROM, TEXT_FLOOR = 0.25, 0.35, 0.15
CONTRAST = Path(__file__).with_name("contrast_pairs.json")
CONTRAST_WEIGHT = 4.0
Example = tuple[tuple[float, ...], int]
Weighted = tuple[tuple[float, ...], int, float]


@dataclass(frozen=True)
class Pull:
    """One tool's review of one pull request, as the model judged it."""

    repository: str
    candidates: tuple[str, ...]
    goldens: tuple[str, ...]
    found: Mapping[str, str]
    unmatched: frozenset[str]
    features: Mapping[tuple[str, str], tuple[float, ...]]

    def examples(self) -> Iterable[Example]:
        """Pairs with a sure answer. Another candidate of a found golden may well match too, so it teaches nothing."""
        for (candidate, golden), features in self.features.items():
            if self.found.get(golden, candidate) == candidate:
                yield features, int(golden in self.found)


def repository_of(address: str) -> str:
    """The project a pull request is from; mirrors of one project count as that project."""
    owner, name = address.split("/")[3:5]
    return name.split("-")[0] if owner == "ai-code-review-evaluation" else name


def read(folder: Path) -> list[Pull]:
    """All reviews of one judge."""
    candidates = json.loads((folder / "candidates.json").read_text(encoding="utf-8"))
    evaluations = json.loads((folder / "evaluations.json").read_text(encoding="utf-8"))
    return [
        pull_of(address, review, candidates.get(address, {}).get(tool, []))
        for address, reviews in evaluations.items()
        for tool, review in reviews.items()
        if not review.get("skipped")
    ]


def pull_of(address: str, review: Mapping[str, Any], claims: Sequence[Mapping[str, Any]]) -> Pull:
    """One review with its features."""
    candidates = tuple(dict.fromkeys(claim["text"] for claim in claims))
    found = {hit["golden_comment"]: hit["matched_candidate"] for hit in review["true_positives"]}
    goldens = (*found, *(miss["golden_comment"] for miss in review["false_negatives"]))
    features = {
        (candidate, golden): text_features(candidate, golden, sorted(other for other in goldens if other != golden))
        for golden in goldens
        for candidate in candidates
    }
    unmatched = frozenset(alarm["candidate"] for alarm in review["false_positives"])
    return Pull(repository_of(address), candidates, goldens, found, unmatched, features)


def contrasts() -> list[Example]:
    """Pairs of our own: the same defect in other words, and another defect of the same subject."""
    groups = json.loads(CONTRAST.read_text(encoding="utf-8"))
    return [
        (text_features(claim, group["golden"], ()), answer)
        for group in groups
        for answer, key in ((1, "same"), (0, "other"))
        for claim in group[key]
    ]


def train(pulls: Iterable[Pull]) -> list[float]:
    """The coefficients learned from reviews and from our contrasts."""
    rows = [(*example, 1.0) for pull in pulls for example in pull.examples()]
    return fit([*rows, *((*example, CONTRAST_WEIGHT) for example in contrasts())])


def fit(examples: Sequence[Weighted], penalty: float = 1.0, rounds: int = 15) -> list[float]:
    """Weighted logistic regression by Newton's method with a ridge on all but the intercept."""
    size = len(NAMES) + 1
    weights = [0.0] * size
    for _ in range(rounds):
        slope = [0.0] + [-penalty * weight for weight in weights[1:]]
        curve = [
            [(penalty if row else 1e-6) if row == column else 0.0 for column in range(size)] for row in range(size)
        ]
        for features, answer, count in examples:
            inputs = (1.0, *features)
            p = chance(weights, features)
            for row, left in enumerate(inputs):
                slope[row] += count * (answer - p) * left
                for column, right in enumerate(inputs):
                    curve[row][column] += count * p * (1 - p) * left * right
        weights = [weight + step for weight, step in zip(weights, solve(curve, slope), strict=True)]
    return weights


def chance(weights: Sequence[float], features: Sequence[float]) -> float:
    """The probability of a match."""
    odds = sum(weight * value for weight, value in zip(weights, (1.0, *features), strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Gauss and Jordan, with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for at in range(len(rows)):
        pivot = max(range(at, len(rows)), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for other in range(len(rows)):
            if other != at:
                factor = rows[other][at]
                rows[other] = [value - factor * base for value, base in zip(rows[other], rows[at], strict=True)]
    return [row[-1] for row in rows]


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Cohen's kappa of two raters with two answers."""
    n = len(pairs)
    first, second = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    by_chance = first * second + (1 - first) * (1 - second)
    return (sum(a == b for a, b in pairs) / n - by_chance) / (1 - by_chance)


def agreement(pulls: Sequence[Pull], weights_for: Callable[[str], Sequence[float]]) -> dict[str, Any]:
    """How the judge's answers compare with the model's, with the pairs it leaves undecided left out."""
    found: list[tuple[bool, bool]] = []
    claims: list[tuple[bool, bool]] = []
    pairs: list[tuple[float, int]] = []
    undecided = 0
    for pull in pulls:
        weights = weights_for(pull.repository)
        chances = {pair: chance(weights, features) for pair, features in pull.features.items()}
        pairs += [(chance(weights, features), answer) for features, answer in pull.examples()]
        edges = {(CandidateId(c), GoldenId(g)): p for (c, g), p in chances.items() if p >= MATCH_FROM}
        held = assign(edges)
        open_goldens = {g for (_, g), p in chances.items() if NO_MATCH_BELOW <= p < MATCH_FROM and g not in held}
        undecided += len(open_goldens)
        found += [(golden in pull.found, golden in held) for golden in pull.goldens if golden not in open_goldens]
        matched = {candidate for candidate, _ in edges}
        claims += [(candidate not in pull.unmatched, candidate in matched) for candidate in pull.candidates]
    return {
        "goldens": len(found) + undecided,
        "undecided": undecided,
        "kappa_found": round(kappa(found), 3),
        "found_by_model": sum(a for a, _ in found),
        "found_by_judge": sum(b for _, b in found),
        "kappa_candidates": round(kappa(claims), 3),
        "brier": round(sum((p - answer) ** 2 for p, answer in pairs) / len(pairs), 4),
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, measure, and write the model if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--judge", default="anthropic_claude-opus-4-5-20251101")
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args(arguments)
    pulls = read(chosen.folder / chosen.judge)
    repositories = sorted({pull.repository for pull in pulls})
    held_out = {name: train(pull for pull in pulls if pull.repository != name) for name in repositories}
    measured = agreement(pulls, held_out.__getitem__)
    for repository in repositories:
        own = agreement([pull for pull in pulls if pull.repository == repository], held_out.__getitem__)
        measured[f"kappa_found/{repository}"] = own["kappa_found"]
    sys.stdout.write(json.dumps(measured, indent=1) + "\n")
    if chosen.write:
        chosen.write.write_text(model_text(train(pulls)), encoding="utf-8")
    return 0


def model_text(weights: Sequence[float]) -> str:
    """The model file."""
    model = {
        "version": "1",
        "intercept": round(weights[0], 4),
        "coefficients": {name: round(weight, 4) for name, weight in zip(NAMES, weights[1:], strict=True)},
        "evidence": EVIDENCE,
        "no_match_below": NO_MATCH_BELOW,
        "match_from": MATCH_FROM,
        "text_floor": TEXT_FLOOR,
    }
    return json.dumps(model, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main())
