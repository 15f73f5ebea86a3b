"""What a model is asked to say of each candidate, and how an entry of its answer is read.

Three ways over one machinery: whether a claim means a golden; the second pass of the VibeOps study, with half credits
and four grades; and CR-Bench's three labels. The last two look at all candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scoring.judges.reply import (
    NONE,
    Answer,
    Json,
    ReplyError,
    boolean,
    confidence,
    contradicts,
    golden_ids,
    identity,
    number,
)

CREDIT = "credit"
QUALITIES = ("depth", "context_awareness", "specificity", "suggestion_correctness")
VIBEOPS_CREDITS: Mapping[str, float] = {"true_positive": 1.0, "partial_match": 0.5, "false_positive": 0.0}
CR_LABELS = ("bug_hit", "valid_suggestion", "noise")
CONTRADICTS = "contradicts_reasoning"
VALID_NOT_SAID = "valid_not_said"
_REASON = 400

ReadRow = Callable[[Mapping[str, Json], Sequence[str], Sequence[str]], Answer]
"""An entry, the candidates offered and the goldens offered -> what it says."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """A way to ask."""

    name: str
    prompt: str
    """The file of its instructions."""
    fields: Mapping[str, Json]
    """What an entry holds besides the ids, as JSON Schema."""
    several: bool
    """Whether a candidate may match further goldens, in `also`."""
    without_goldens: bool
    """Whether there is something to ask where nothing is known to be wrong."""
    read: ReadRow
    labels_valid: bool = True
    """Whether it tells which candidates are sound though no golden covers them."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The words that tell an entry of an answer."""
        return ("candidate", "golden", "match", *(name for name in self.fields if name == "label"))

    def schema(self, candidates: Sequence[str], goldens: Sequence[str]) -> Mapping[str, Json]:
        """The JSON Schema of an answer; every property is required, as strict providers want it."""
        entry: dict[str, Json] = {
            "candidate": {"type": "string", "enum": list(candidates)},
            "golden": {"type": "string", "enum": [*goldens, NONE]},
        }
        if self.several and goldens:
            entry["also"] = {"type": "array", "items": {"type": "string", "enum": list(goldens)}}
        entry |= self.fields
        return _object({"verdicts": {"type": "array", "items": _object(entry)}})


def _object(properties: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _read_match(row: Mapping[str, Json], candidates: Sequence[str], goldens: Sequence[str]) -> Answer:
    """Whether a claim means a golden. Where one pair was asked about, `match` says it too."""
    candidate = _candidate(row, candidates)
    if "match" in row and "golden" not in row and len(goldens) == 1:
        hits: tuple[str, ...] = (goldens[0],) if boolean(row["match"], "match") else ()
    else:
        hits = golden_ids(row, goldens)
        if "match" in row and boolean(row["match"], "match") is not bool(hits):
            raise ReplyError("an entry's match and golden say different things")
    sure, flags = confidence(row)
    valid = "valid" in row and boolean(row["valid"], "valid")
    said = () if "valid" in row else (VALID_NOT_SAID,)
    reason = _reason(row)
    if contradicts(reason, bool(hits)):
        flags = (*flags, CONTRADICTS)
    return Answer(candidate, hits, sure, valid, reason, flags=(*flags, *said))


def _read_vibeops(row: Mapping[str, Json], candidates: Sequence[str], goldens: Sequence[str]) -> Answer:
    candidate = _candidate(row, candidates)
    label = identity(row.get("label"), tuple(VIBEOPS_CREDITS), "label")
    hits = golden_ids(row, goldens)
    _agree(label, hits, label != "false_positive")
    if len(hits) > 1:
        raise ReplyError("an entry names several goldens; one finding earns the credit of one")
    sure, flags = confidence(row)
    grades = {name: number(row, name, 1, 5) for name in QUALITIES}
    evidence = {CREDIT: VIBEOPS_CREDITS[label], **grades}
    return Answer(candidate, hits, sure, False, _reason(row), evidence, flags)


def _read_crbench(row: Mapping[str, Json], candidates: Sequence[str], goldens: Sequence[str]) -> Answer:
    candidate = _candidate(row, candidates)
    label = identity(row.get("label"), CR_LABELS, "label")
    hits = golden_ids(row, goldens)
    _agree(label, hits, label == "bug_hit")
    sure, flags = confidence(row)
    return Answer(candidate, hits, sure, label == "valid_suggestion", _reason(row), flags=flags)


def _agree(label: str, hits: Sequence[str], needed: bool) -> None:
    if needed and not hits:
        raise ReplyError(f"an entry is labelled {label} and names no golden")
    if hits and not needed:
        raise ReplyError(f"an entry is labelled {label} and names a golden")


def _candidate(row: Mapping[str, Json], candidates: Sequence[str]) -> str:
    """Whom an entry is about; it need not say where one candidate was asked about."""
    if "candidate" not in row and len(candidates) == 1:
        return candidates[0]
    return identity(row.get("candidate"), candidates, "candidate")


def _reason(row: Mapping[str, Json]) -> str:
    said = row.get("reason", row.get("reasoning", ""))
    return " ".join(said.split())[:_REASON] if isinstance(said, str) else ""


_SURE = {"confidence": {"type": "number"}}
_WHY = {"reason": {"type": "string"}}
_GRADES = {name: {"type": "integer", "enum": [1, 2, 3, 4, 5]} for name in QUALITIES}

MATCH = Rubric(
    "match",
    "match",
    _SURE | {"valid": {"type": "boolean"}} | _WHY,
    several=True,
    without_goldens=False,
    read=_read_match,
)
VIBEOPS = Rubric(
    "vibeops",
    "vibeops",
    {"label": {"type": "string", "enum": list(VIBEOPS_CREDITS)}} | _SURE | _GRADES | _WHY,
    several=False,
    without_goldens=False,
    read=_read_vibeops,
    labels_valid=False,
)
CRBENCH = Rubric(
    "crbench",
    "crbench",
    {"label": {"type": "string", "enum": list(CR_LABELS)}} | _SURE | _WHY,
    several=True,
    without_goldens=True,
    read=_read_crbench,
)
RUBRICS: Mapping[str, Rubric] = {one.name: one for one in (MATCH, VIBEOPS, CRBENCH)}
