"""What two texts have in common, as a few numbers between -1 and 1."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rapidfuzz import fuzz

from scoring.judges import kinds, phrases
from scoring.words import Words, overlap, rarity_of, words_of

NAMES = (
    "golden_covered",
    "candidate_covered",
    "balance",
    "fault_covered",
    "claim_covered",
    "names_shared",
    "common_words",
    "likeness",
    "margin",
    "kinds_agree",
    "only_style",
    "phrases_shared",
    "order_kept",
    "written_alike",
)
"""The features, in the order of the coefficients."""
_MANY = 8.0
_UNSEEN = 3.0
"""Weight of words that a text might have had too: what two short texts share proves less than the share it makes up."""


def text_features(candidate: str, golden: str, others: Sequence[str] = ()) -> tuple[float, ...]:
    """The features of one pair of texts.

    Only the two texts and the other goldens of the pull request count: what else a reviewer said must not change what
    this remark means. What is said (the fault) is weighed apart from what it is said of (the names of code).

    Args:
        candidate: The claim.
        golden: The known defect.
        others: The other goldens of the pull request. Words that several goldens share tell them apart less, and a
            claim that is nearer to another golden is less likely to mean this one.
    """
    rarity = rarity_of((golden, *others))
    mine, known = words_of(candidate), words_of(golden)
    of_candidate, of_golden = overlap(mine, known, rarity, _UNSEEN)
    nearest = max((_balance(*overlap(mine, words_of(other), rarity, _UNSEEN)) for other in others), default=0.0)
    balance = _balance(of_candidate, of_golden)
    subjects = mine.parts | known.parts
    claim_covered, fault_covered = overlap(_without(mine, subjects), _without(known, subjects), rarity, _UNSEEN)
    return (
        of_golden,
        of_candidate,
        balance,
        fault_covered,
        claim_covered,
        _names(mine, known),
        _shared(mine, known, rarity),
        fuzz.token_set_ratio(candidate.casefold(), golden.casefold()) / 100,
        balance - nearest,
        kinds.agreement(candidate, golden),
        kinds.only_style(candidate, golden),
        phrases.phrases_shared(candidate, golden),
        phrases.order_kept(candidate, golden),
        phrases.written_alike(candidate, golden),
    )


def _balance(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0


def _without(words: Words, subjects: Collection[str]) -> Words:
    return Words({word: weight for word, weight in words.weights.items() if word not in subjects}, frozenset())


def _names(mine: Words, known: Words) -> float:
    """The share of the golden's names of code that the claim names too; a part of a longer name counts."""
    if not known.names or not mine.names:
        return 0.0
    hits = sum(any(name == other or name in other or other in name for other in mine.names) for name in known.names)
    return hits / len(known.names)


def _shared(mine: Words, known: Words, rarity: Mapping[str, float]) -> float:
    shared = mine.weights.keys() & known.weights.keys()
    weight = sum(min(mine.weights[word], known.weights[word]) * rarity.get(word, 1.0) for word in sorted(shared))
    return min(1.0, weight / _MANY)
