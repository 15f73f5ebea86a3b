"""What two texts have in common beyond their set of words: phrases, the order they keep, and words as they are written.

Two defects of one function share its words. Told in other words, one defect still keeps more of its phrases and of
their order than two defects do.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import LCSseq

from scoring.words import STOP, stem

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,100}")
_WRITTEN = re.compile(r"\w{2,100}")
_LONGEST = 600
"""Words of a text that are looked at; a defect is told in fewer."""
_MANY = 6.0
_UNSEEN = 3.0


def phrases_shared(candidate: str, golden: str) -> float:
    """How many pairs of near words both texts have; six count as many."""
    return min(1.0, len(_phrases(candidate) & _phrases(golden)) / _MANY)


def order_kept(candidate: str, golden: str) -> float:
    """The part of the golden's words that the claim has in the same order."""
    known = _sequence(golden)
    return LCSseq.similarity(_sequence(candidate), known) / (len(known) + _UNSEEN)


def written_alike(candidate: str, golden: str) -> float:
    """The cosine of both texts' words exactly as they are written but for case, each with 1 + the log of its count."""
    mine, known = _written(candidate), _written(golden)
    shared = sum(mine[word] * known[word] for word in sorted(mine.keys() & known.keys()))
    size = math.sqrt(_square(mine) * _square(known))
    return min(1.0, shared / size) if size else 0.0


@lru_cache(maxsize=4096)
def _sequence(text: str) -> tuple[str, ...]:
    words = _WORD.findall(_HUMP.sub(" ", text).lower())[:_LONGEST]
    return tuple(stem(word) for word in words if word not in STOP)


@lru_cache(maxsize=4096)
def _phrases(text: str) -> frozenset[tuple[str, str]]:
    """Pairs of neighbours, and of words with one between them."""
    words = _sequence(text)
    return frozenset(pairwise(words)) | frozenset(zip(words, words[2:], strict=False))


@lru_cache(maxsize=4096)
def _written(text: str) -> Mapping[str, float]:
    counts = Counter(word for word in _WRITTEN.findall(text.lower())[:_LONGEST] if word not in STOP)
    return {word: 1 + math.log(count) for word, count in sorted(counts.items())}


def _square(weights: Mapping[str, float]) -> float:
    return sum(weight * weight for weight in weights.values())
