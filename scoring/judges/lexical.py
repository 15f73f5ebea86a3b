"""The judge that is always there: no key, no download, the same answer every time.

It weighs what a claim and a golden have in common in words and names of code, calibrated to a probability on pairs
that a strong model judged. Place, severity and kind add evidence and prove nothing: on the right line with unrelated
words there is no match, and a match does not need the line. What falls between the thresholds is undecided.

The model is a small file of coefficients. It holds no vocabulary, so it knows no project it was fitted on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from scoring.dedup import gap, same_file
from scoring.judges.features import NAMES, text_features
from scoring.model import Candidate, Category, Golden, Judgement, Severity, Verdict
from scoring.words import words_of

_LEVELS = tuple(Severity)
_KINDS: dict[Category, tuple[str, ...]] = {
    Category.CORRECTNESS: ("correctness", "logic", "bug", "functional"),
    Category.SECURITY: ("security", "vulnerability", "injection", "auth"),
    Category.PERFORMANCE: ("performance", "efficiency", "speed"),
    Category.CONCURRENCY: ("concurrency", "race", "thread", "async", "deadlock"),
    Category.RESOURCES: ("resource", "leak", "memory"),
    Category.ERROR_HANDLING: ("error", "exception", "reliability", "robustness"),
    Category.API: ("api", "compatibility", "contract", "interface", "breaking"),
    Category.MAINTAINABILITY: (
        "maintainability",
        "style",
        "readability",
        "quality",
        "nitpick",
        "documentation",
        "typo",
    ),
}
_STYLE_ONLY = frozenset({Category.MAINTAINABILITY})


@dataclass(frozen=True, slots=True)
class Model:
    """The coefficients of the judge."""

    version: str
    intercept: float
    coefficients: Mapping[str, float]
    """One for each text feature, fitted."""
    evidence: Mapping[str, float]
    """Log-odds that place, severity and kind add. Set by hand: the data the rest is fitted on has no places."""
    no_match_below: float
    match_from: float
    text_floor: float
    """Least probability by text alone; below it no place raises a doubt. What text alone calls no match, place makes
    undecided at most."""

    def probability(self, features: Sequence[float]) -> float:
        """The probability of a match by text alone."""
        return _logistic(
            self.intercept + sum(self.coefficients[name] * value for name, value in zip(NAMES, features, strict=True))
        )


@cache
def load() -> Model:
    """The model that ships with the library."""
    return parse(resources.files("scoring.judges").joinpath("lexical_model.json").read_text(encoding="utf-8"))


def parse(text: str) -> Model:
    """Read a model file; it must have exactly the features this code computes."""
    raw = json.loads(text)
    if set(raw["coefficients"]) != set(NAMES):
        raise ValueError(f"the model's features are {sorted(raw['coefficients'])}, the code computes {sorted(NAMES)}")
    if not 0 < raw["no_match_below"] <= raw["match_from"] < 1:
        raise ValueError("the model's thresholds must satisfy 0 < no_match_below <= match_from < 1")
    return Model(
        version=str(raw["version"]),
        intercept=float(raw["intercept"]),
        coefficients={name: float(raw["coefficients"][name]) for name in NAMES},
        evidence={name: float(value) for name, value in sorted(raw["evidence"].items())},
        no_match_below=float(raw["no_match_below"]),
        match_from=float(raw["match_from"]),
        text_floor=float(raw["text_floor"]),
    )


class LexicalJudge:
    """Judges by words, names and evidence of place. See the module's description."""

    def __init__(self, model: Model | None = None) -> None:
        self._model = model or load()

    @property
    def name(self) -> str:
        """The judge and the version of its model."""
        return f"lexical/{self._model.version}"

    def judge(self, candidates: Sequence[Candidate], goldens: Sequence[Golden]) -> Sequence[Judgement]:
        """One judgement for each pair; each depends on its candidate and the goldens only."""
        return tuple(self._one(candidate, golden, goldens) for candidate in candidates for golden in goldens)

    def _one(self, candidate: Candidate, golden: Golden, goldens: Sequence[Golden]) -> Judgement:
        others = sorted(other.finding for other in goldens if other.id != golden.id)
        views = [text_features(view, golden.finding, others) for view in views_of(candidate)]
        features = max(views, key=self._model.probability, default=(0.0,) * len(NAMES))
        by_text = self._model.probability(features)
        signs = signs_of(candidate, golden)
        added = sum(self._model.evidence[sign] for sign in signs)
        probability = _logistic(_logit(by_text) + added) if views else 0.0
        verdict = self._verdict(by_text, probability)
        evidence = {name: round(value, 4) for name, value in zip(NAMES, features, strict=True)}
        evidence |= {"text": round(by_text, 4)} | {sign: self._model.evidence[sign] for sign in signs}
        return Judgement(
            candidate.id,
            golden.id,
            verdict,
            self.name,
            reason(candidate, golden, features, signs, by_text < self._model.text_floor),
            round(probability, 4),
            evidence,
        )

    def _verdict(self, by_text: float, probability: float) -> Verdict:
        if by_text < self._model.text_floor or probability < self._model.no_match_below:
            return Verdict.NO_MATCH
        sure = probability >= self._model.match_from and by_text >= self._model.no_match_below
        return Verdict.MATCH if sure else Verdict.UNDECIDED


def views_of(candidate: Candidate) -> tuple[str, ...]:
    """The candidate at several lengths: all of it, its beginning, its title. A long claim is not less of a match."""
    if not candidate.text:
        return ("\n".join(candidate.suggestions),) if any(part.strip() for part in candidate.suggestions) else ()
    first = candidate.text.split("\n\n")
    begun = first[0] if len(first[0].split()) > 12 else "\n".join(first[:2])
    return tuple(dict.fromkeys(view for view in (candidate.text, begun, candidate.title) if view.strip()))


def signs_of(candidate: Candidate, golden: Golden) -> tuple[str, ...]:
    """The names of the evidence besides the text."""
    found = [_place_sign(candidate, golden), _severity_sign(candidate, golden), _kind_sign(candidate, golden)]
    return tuple(sign for sign in found if sign)


def _place_sign(candidate: Candidate, golden: Golden) -> str | None:
    if candidate.place is None or golden.place is None:
        return None
    if not same_file(candidate.place.path, golden.place.path):
        return "other_file"
    apart = gap(candidate.place, golden.place)
    if apart is None:
        return "same_file"
    return "same_lines" if apart == 0 else "near_lines" if apart <= 10 else "same_file" if apart <= 60 else "far_lines"


def _severity_sign(candidate: Candidate, golden: Golden) -> str | None:
    if candidate.severity is None:
        return None
    steps = abs(_LEVELS.index(candidate.severity) - _LEVELS.index(golden.severity))
    return "severity_alike" if steps <= 1 else "severity_far"


def _kind_sign(candidate: Candidate, golden: Golden) -> str | None:
    if not candidate.category_said:
        return None
    said = candidate.category_said.lower()
    kinds = {kind for kind, words in _KINDS.items() if any(word in said for word in words)}
    if not kinds:
        return None
    return "kind_alike" if golden.category in kinds else "kind_far" if kinds == _STYLE_ONLY else None


def reason(
    candidate: Candidate, golden: Golden, features: Sequence[float], signs: Sequence[str], unrelated: bool
) -> str:
    """Why, in plain words."""
    mine, known = words_of(candidate.text or "\n".join(candidate.suggestions)), words_of(golden.finding)
    shared = sorted(mine.weights.keys() & known.weights.keys(), key=lambda word: (-known.weights[word], word))[:6]
    words = f"both speak of {', '.join(shared)}" if shared else "they share no telling word"
    parts = [f"{words}; the claim covers {features[0]:.0%} of the golden and the golden {features[1]:.0%} of the claim"]
    parts += [_SIGN_WORDS[sign] for sign in signs]
    if unrelated and any(sign in ("same_lines", "near_lines") for sign in signs):
        parts.append("the place alone proves nothing")
    return "; ".join(parts)


_SIGN_WORDS = {
    "same_lines": "same lines",
    "near_lines": "near lines of the same file",
    "same_file": "same file",
    "far_lines": "same file, far apart",
    "other_file": "another file",
    "severity_alike": "about as severe",
    "severity_far": "severity far off",
    "kind_alike": "same kind of defect",
    "kind_far": "called a matter of style",
}


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, log_odds))))


def _logit(probability: float) -> float:
    clipped = min(1 - 1e-12, max(1e-12, probability))
    return math.log(clipped / (1 - clipped))
