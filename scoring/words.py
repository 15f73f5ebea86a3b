"""Texts as weighted words: what a claim is about, independent of inflection, case and the way names are joined."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

_TOKEN = re.compile(r"`([^`\n]{1,200})`|([^\W_][\w$]{0,100}(?:(?:\.|::|->|#)[^\W\d_]\w{0,100}){0,6})")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_NAME = re.compile(r"[a-z][A-Z]|_[^\W_]|[^\W_]_|[A-Z][a-z0-9]+[A-Z]|\d[A-Za-z]|[A-Za-z]\d|(?:\.|::|->|#)[^\W\d_]")

_STOP_WORDS = (
    "a an and any are as at be because been being both but by can could did do does doing done each else even "
    "ever for from had has have having here how however i if in into is isn it its itself just like may might "
    "more most much must no nor not of off on only or other our out over own rather same shall she should so some "
    "such than that the their them then there these they this those though through thus to too under until up "
    "upon us use used uses using very via was we were what when where whether which while who whose why will with "
    "within without would yet you your also e g ie eg etc t s re ll ve don doesn won isn aren wasn one two make "
    "makes making made get gets instead currently now already still since all let"
)
STOP = frozenset(_STOP_WORDS.split())
_COMMON_WORDS = (
    "code function method class variable value line file check call error issue bug problem fix change add remove "
    "return test case data object type name new old current correct incorrect wrong potential possible cause lead "
    "result consider ensure avoid handle update set need require follow pass give implementation logic behavior "
    "unexpected expect work fail param parameter argument field property string number list array key user "
    "request response comment review suggest suggestion example instance time way condition statement block scope "
    "runtime missing break proper properly actual actually always never first last create run exist existing "
    "different incorrectly wrongly rename improve better recommend place path"
)
COMMON = frozenset(_COMMON_WORDS.split())
"""Words so frequent in reviews that sharing them says little."""

_SAME = {
    word: group.split()[0]
    for group in (
        "null nil none npe nullpointerexception undefined nullptr nullable",
        "race racy concurrent concurrency concurrently thread-unsafe toctou",
        "exception throw throws thrown raise raises raised throwing raising",
        "crash panic abort segfault crashes",
        "leak leaks leaked leakage",
        "authorization permission permissions authorize authz access",
        "authentication authenticate auth login",
        "delete remove drop erase",
        "duplicate duplicated duplicates twice redundant",
        "typo misspell misspelled misspelling spelling",
        "negative minus",
        "async asynchronous asynchronously await awaited promise",
        "deadlock livelock",
        "invert inverted inverse reversed negated opposite",
        "unused dead unreachable",
        "case-sensitive case-insensitive lowercase uppercase casing",
        "injection inject injected",
        "timezone utc tz",
        "loop iteration iterate iterating",
        "overflow underflow",
        "empty blank",
        "config configuration setting settings",
        "parse parsing parser",
        "parameter param argument arg",
        "function method func",
    )
    for word in group.split()
}
_ENDINGS = (
    ("ization", "ize"), ("isation", "ise"), ("ational", "ate"), ("ingly", ""), ("ation", "ate"), ("ness", ""),
    ("ment", ""), ("ies", "y"), ("ing", ""), ("edly", ""), ("ied", "y"), ("ed", ""), ("ly", ""), ("sses", "ss"),
    ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""), ("e", ""),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Words:
    """A text's words with weights, and the names of code in it."""

    weights: Mapping[str, float]
    names: frozenset[str]
    """Identifiers, in lower case and without the separators of their parts."""
    parts: frozenset[str] = frozenset()
    """The words that identifiers are made of."""

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return sum(self.weights.values())


@cache
def stem(word: str) -> str:
    """A word without its inflection; crude, the same for both sides of a comparison."""
    word = _SAME.get(word, word)
    if len(word) > 3 and not word.endswith(("ss", "us", "is")):
        for ending, instead in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) + len(instead) >= 3:
                word = word[: len(word) - len(ending)] + instead
                break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsaeiou":
        word = word[:-1]
    return _SAME.get(word, word)


_STOP_STEMS = frozenset(map(stem, STOP)) | STOP
_COMMON_STEMS = frozenset(map(stem, COMMON))


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    """The words of a text."""
    weights: dict[str, float] = {}
    names: set[str] = set()
    parts: set[str] = set()
    for quoted, plain in _TOKEN.findall(text):
        for token in _TOKEN.findall(quoted) if quoted else [("", plain)]:
            _count(token[1], bool(quoted), weights, names, parts)
    return Words(weights, frozenset(names), frozenset(parts))


def _count(token: str, quoted: bool, weights: dict[str, float], names: set[str], subjects: set[str]) -> None:
    if not token:
        return
    if run := _CJK.findall(token):
        for part in run:
            for pair in [part[at : at + 2] for at in range(max(1, len(part) - 1))]:
                weights[pair] = max(weights.get(pair, 0.0), 0.6)
        token = _CJK.sub(" ", token)
    named = quoted or bool(_NAME.search(token))
    for whole in re.split(r"\.|::|->|#", token):
        key = whole.lower().replace("_", "").replace("$", "").strip()
        parts = [part.lower() for part in _CAMEL.findall(whole)]
        if named and len(key) > 2 and key not in STOP and (len(parts) > 1 or quoted):
            names.add(key)
        for part in parts:
            _weigh(part, named, weights)
            if named:
                subjects.add(stem(part))


def _weigh(part: str, named: bool, weights: dict[str, float]) -> None:
    root = stem(part)
    if root in _STOP_STEMS or part in _STOP_STEMS or (len(part) < 2 and not part.isdigit()):
        return
    weight = 0.3 if root in _COMMON_STEMS else 1.5 if named else 1.0
    weights[root] = max(weights.get(root, 0.0), weight)


def overlap(
    one: Words, other: Words, rarity: Mapping[str, float] | None = None, unseen: float = 0.0
) -> tuple[float, float]:
    """How much of each text's weight the other covers, in [0, 1].

    Args:
        one: A text.
        other: Another.
        rarity: Factors for words; 1 where absent.
        unseen: Weight added to each text's own, so that short texts are not covered by a word or two.
    """
    scale = rarity or {}
    shared = one.weights.keys() & other.weights.keys()

    def part(words: Words) -> float:
        total = unseen + sum(weight * scale.get(word, 1.0) for word, weight in sorted(words.weights.items()))
        inside = sum(words.weights[word] * scale.get(word, 1.0) for word in sorted(shared))
        return min(1.0, inside / total) if total else 0.0

    return part(one), part(other)


def rarity_of(texts: Iterable[str]) -> dict[str, float]:
    """Factors that lower words which stand in several of the texts: they do not tell those texts apart."""
    counts: dict[str, int] = {}
    for text in texts:
        for word in words_of(text).weights:
            counts[word] = counts.get(word, 0) + 1
    return {word: 1.0 / count for word, count in counts.items() if count > 1}
