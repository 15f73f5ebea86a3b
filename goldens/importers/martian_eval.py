"""Stored evaluations of the Martian pipeline, in every shape its own readers have met."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from goldens.importers.problems import missing
from goldens.importers.strict import Node

_COUNTS = ("tp", "fp", "fn", "total_candidates", "total_golden", "errors_count")
_RATES = ("precision", "recall")
_LISTS = ("true_positives", "false_positives", "false_negatives")
_KNOWN = frozenset({*_COUNTS, *_RATES, *_LISTS, "skipped", "reason", "errors", "tool", "repo_name", "pr_url"})


@dataclass(frozen=True, slots=True)
class Hit:
    """A golden that the source says was found, and by which candidate text."""

    golden: str
    candidate: str
    confidence: Any
    """As it stands in the source: mostly a number, sometimes a word."""
    reason: str

    @property
    def usable(self) -> float | None:
        """The confidence if it can be one: a number over 0 and at most 1."""
        value = self.confidence
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if numeric and 0 < value <= 1 else None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one judge concluded about one review."""

    hits: tuple[Hit, ...] = ()
    unmatched: tuple[str, ...] = ()
    """Candidate texts that matched nothing."""
    missed: tuple[str, ...] = ()
    """Golden texts that nothing matched."""
    errors: tuple[tuple[str, str, str], ...] = ()
    """Golden text, candidate text, what went wrong."""
    published: dict[str, Any] = field(default_factory=dict)
    skipped: str | None = None
    counts_only: bool = False
    url: str = ""

    @property
    def goldens(self) -> tuple[str, ...]:
        """Every golden text it names, once."""
        return tuple(dict.fromkeys([*(hit.golden for hit in self.hits), *self.missed]))

    @property
    def candidates(self) -> tuple[str, ...]:
        """Every candidate text it names, once."""
        return tuple(dict.fromkeys([*(hit.candidate for hit in self.hits), *self.unmatched]))

    @property
    def counts(self) -> tuple[int, int, int]:
        """TP, FP and FN by its lists."""
        return len({hit.golden for hit in self.hits}), len(set(self.unmatched)), len(set(self.missed))


def read(node: Node) -> Evaluation:
    """Read the evaluation of one review."""
    url = node.get("pr_url").text("")
    if node.get("skipped").value is True:
        reason = node.get("reason").text("")
        return Evaluation(published={"skipped": True, "reason": reason}, skipped=reason or "no reason given", url=url)
    hits = [_hit(item) for item in _list(node, "true_positives", "matches")]
    unmatched = [_text(item, ("candidate", "text")) for item in _list(node, "false_positives")]
    missed = [_text(item, ("golden_comment", "golden")) for item in _list(node, "false_negatives", *_DETAIL)]
    errors = [_error(item) for item in node.get("errors").items()] if node.has("errors") else []
    listed = {"tp": len(hits), "fp": len(unmatched), "fn": len(missed)}
    return Evaluation(
        hits=tuple(hits),
        unmatched=tuple(unmatched),
        missed=tuple(missed),
        errors=tuple(errors),
        published=_published(node, listed),
        counts_only=_only_counts(node, listed),
        url=url,
    )


_DETAIL = ("false_negatives_detail",)


def _list(node: Node, key: str, *instead: str) -> list[Node]:
    """The entries under a key; where a count stands there, those under one of the keys used `instead`, or none."""
    found = node.need(key, known=_KNOWN)
    if not _is_count(found.value):
        return found.items() if node.has(key) or found.problems is node.problems else []
    for other in instead:
        if node.has(other):
            return node.get(other).items()
    return []


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _only_counts(node: Node, listed: dict[str, int]) -> bool:
    """Whether counts stand where lists should, and the lists are nowhere else."""
    counts = {name: node.get(key).value for name, key in zip(("tp", "fp", "fn"), _LISTS, strict=True)}
    return any(_is_count(count) and count != listed[name] for name, count in counts.items())


def _published(node: Node, listed: dict[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in _COUNTS:
        if node.has(name):
            found[name] = node.get(name).whole()
    for name in _RATES:
        if node.has(name):
            found[name] = node.get(name).number()
    for name, key in zip(("tp", "fp", "fn"), _LISTS, strict=True):
        count = node.get(key).value
        found.setdefault(name, count if _is_count(count) else listed[name])
    return found


def _hit(item: Node) -> Hit:
    return Hit(
        golden=_text(item, ("golden_comment", "golden")),
        candidate=_text(item, ("matched_candidate", "candidate")),
        confidence=item.get("confidence").value,
        reason=item.get("reasoning").text(""),
    )


def _text(item: Node, keys: Iterable[str]) -> str:
    """A text that stands either by itself or under the first key that is there."""
    if isinstance(item.value, str):
        return item.value
    keys = tuple(keys)
    for key in keys:
        if item.has(key):
            return item.get(key).text()
    expected = f"a text, or an object with the key {keys[0]!r}"
    if isinstance(item.value, dict):
        item.wrong(expected, *missing(keys[0], item.value))
    else:
        item.wrong(expected)
    return ""


def _error(item: Node) -> tuple[str, str, str]:
    return (
        _text(item.get("golden"), ("comment",)) if item.has("golden") else "",
        _text(item.get("candidate"), ("text",)) if item.has("candidate") else "",
        item.get("error").text(""),
    )
