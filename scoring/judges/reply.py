"""A model's answer read: tolerant of how it is wrapped, strict about what it says.

An answer may stand alone, in a fence, or among prose. What counts is complete JSON; nothing is ever guessed from words.
If several complete answers disagree, or the last one is cut off, there is no answer: taking an earlier one would let
text that the model merely quoted decide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Any
NONE = "none"
MAX_CHARACTERS = 200_000
CONFIDENCE = "confidence_unusable"
_MOST_FAILURES = 200
"""So many brackets may open without making JSON; an answer with more is not worth the time."""
_START = re.compile(r"[\[{]\s{0,50}[\"{\[]")
_WRAPPERS = ("verdicts", "results", "answers")
_THOUGHT = re.compile(r"\s{0,50}<think(?:ing)?>", re.IGNORECASE)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


class ReplyError(ValueError):
    """An answer cannot be used; the message is for the model that gave it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer says of one candidate, in opaque ids."""

    candidate: str
    goldens: tuple[str, ...]
    """The goldens it matches; none is an answer too."""
    confidence: float | None = None
    """How sure the model says it is, in [0, 1]."""
    valid: bool = False
    reason: str = ""
    evidence: Mapping[str, float] | None = None
    """What a rubric asks besides."""
    flags: tuple[str, ...] = ()


def rows(text: str, keys: Collection[str]) -> list[Mapping[str, Json]]:
    """The entries of the answer that binds.

    Args:
        text: What the model wrote.
        keys: The words an entry has; JSON without any of them is no answer.

    Raises:
        ReplyError: there is no complete answer, or there are several that differ.
    """
    if len(text) > MAX_CHARACTERS:
        raise ReplyError(f"the answer is {len(text)} characters long; at most {MAX_CHARACTERS} are read")
    found = _answers(without_thought(text), keys)
    if not found:
        raise ReplyError("the answer holds no complete JSON object of the form that was asked for")
    if len(found) > 1 and (joined := _one_by_one(found)):
        return joined
    if any(one != found[-1] for one in found):
        raise ReplyError("the answer holds several JSON answers that differ; give one")
    return found[-1]


def without_thought(text: str) -> str:
    """What follows the notes a reasoning model begins with; their drafts are no answers."""
    if not _THOUGHT.match(text):
        return text
    ends = list(_THOUGHT_END.finditer(text))
    return text[ends[-1].end() :] if ends else ""


def _one_by_one(found: Sequence[list[Mapping[str, Json]]]) -> list[Mapping[str, Json]]:
    """Entries that were written as one object each, about different candidates; empty if they were not."""
    single = [one[0] for one in found if len(one) == 1]
    named = {row.get("candidate") for row in single if isinstance(row.get("candidate"), str)}
    return single if len(single) == len(found) == len(named) else []


def _answers(text: str, keys: Collection[str]) -> list[list[Mapping[str, Json]]]:
    """Every complete answer, in order.

    Raises:
        ReplyError: what follows the last complete one is the beginning of another.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_not_json)
    found: list[list[Mapping[str, Json]]] = []
    at, cut, failures = 0, False, 0
    while match := _START.search(text, at):
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError) as error:
            failures += 1
            if isinstance(error, ReplyError) or failures > _MOST_FAILURES:
                raise ReplyError(str(error)[:200]) from error
            cut = cut or _begins_answer(text, match.start(), keys)
            at = match.start() + 1
            continue
        if entries := _entries(value, keys):
            found.append(entries)
            cut = False
    if cut:
        raise ReplyError("the answer is cut off or is no valid JSON")
    return found


def _begins_answer(text: str, at: int, keys: Collection[str]) -> bool:
    return any(f'"{key}"' in text[at : at + 300] for key in (*keys, *_WRAPPERS))


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ReplyError("an object of the answer has the same key twice")
    return made


def _not_json(word: str) -> Json:
    raise ValueError(f"{word} is no JSON")


def _entries(value: Json, keys: Collection[str]) -> list[Mapping[str, Json]]:
    """The entries of an answer; empty if a value is none."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and _wrapped(value[0]) is not None:
        value = value[0]
    if isinstance(value, dict):
        listed = _wrapped(value)
        value = [value] if listed is None else listed
        if listed is not None and not all(isinstance(one, dict) for one in listed):
            raise ReplyError("an entry of the answer is no JSON object")
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return []
    return value if any(key in one for one in value for key in keys) else []


def _wrapped(value: Mapping[str, Json]) -> list[Json] | None:
    """The list that an object wraps."""
    return next((value[name] for name in _WRAPPERS if isinstance(value.get(name), list)), None)


# --- values


def boolean(value: Json, name: str) -> bool:
    """A truth value. The words `true` and `false` are taken too; anything else is no answer, 1 and 0 among it.

    Raises:
        ReplyError: it is none.
    """
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.strip().casefold(), value)
    if not isinstance(value, bool):
        raise ReplyError(f"{name} must be true or false, not {brief(value)}")
    return value


def confidence(row: Mapping[str, Json]) -> tuple[float | None, tuple[str, ...]]:
    """How sure an entry says it is, and a flag where it says something that is no number in [0, 1]."""
    value = row.get("confidence")
    if value is None:
        return None, ()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None, (CONFIDENCE,)
    return float(value), ()


def identity(value: Json, offered: Collection[str], name: str) -> str:
    """An id that was offered.

    Raises:
        ReplyError: it is none.
    """
    if isinstance(value, str) and value.strip() in offered:
        return value.strip()
    raise ReplyError(f"{name} must be one of {', '.join(sorted(offered))}, not {brief(value)}")


def golden_ids(row: Mapping[str, Json], offered: Sequence[str]) -> tuple[str, ...]:
    """The goldens an entry names: `golden`, one id or `none`, and those in `also`.

    Raises:
        ReplyError: it names something else, names one twice, or names none and yet others.
    """
    if "golden" not in row:
        raise ReplyError("an entry lacks `golden`")
    said = row["golden"]
    listed = said if isinstance(said, list) else [said]
    first = [identity(one, (*offered, NONE), "golden") for one in listed if one is not None]
    also = row.get("also") or []
    if not isinstance(also, list):
        raise ReplyError(f"also must be a list of ids, not {brief(also)}")
    more = [identity(one, offered, "also") for one in also]
    if NONE in first and len(first) + len(more) > 1:
        raise ReplyError("an entry says that no golden matches and names one")
    if not first and more:
        raise ReplyError("an entry has further goldens in `also` and no `golden`")
    return tuple(dict.fromkeys(one for one in (*first, *more) if one != NONE))


def number(row: Mapping[str, Json], name: str, low: int, high: int) -> float:
    """A grade of an entry.

    Raises:
        ReplyError: it is missing or out of range.
    """
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ReplyError(f"{name} must be a number from {low} to {high}, not {brief(value)}")
    return float(value)


def brief(value: Json) -> str:
    """A value as the model gave it, cut short."""
    written = json.dumps(value, ensure_ascii=True, default=str)
    return written if len(written) <= 80 else written[:80] + "..."


# --- reasons

_DENIES = re.compile(
    r"\bno\s+match|\bnot\s+(?:a\s+)?match|\b(?:does|do|did)(?:\s+not|n't|n\u2019t)\s+match|\bnot\s+the\s+same\b|\bunrelated\b|"
    r"\b(?:different|separate|distinct|another)\s+(?:\w{1,20}\s+)?(?:problem|issue|defect|bug|concern|fault|cause)s?\b|"
    r"不匹配|不同的问题|不相关",
    re.IGNORECASE,
)
_AFFIRMS = re.compile(
    r"\b(?:the\s+)?same\s+(?:\w{1,20}\s+)?(?:problem|issue|defect|bug|concern|fault|cause)\b|"
    r"\b(?:is|are)\s+a\s+match\b|\b(?:clearly|exactly|fully)\s+match|\bmatches\s+the\b|同一个?(?:问题|缺陷)",
    re.IGNORECASE,
)


def contradicts(reason: str, matched: bool) -> bool:
    """Whether a reason says the opposite of the verdict beside it. That is shown; the verdict stands."""
    text = reason[:2_000]
    denies, affirms = bool(_DENIES.search(text)), bool(_AFFIRMS.search(_DENIES.sub(" ", text)))
    return denies and not affirms if matched else affirms and not denies
