"""Scripts that stand in for a language model, so that a study can be tried without one: no key, no network, no cost.

`scripted/careful` and `scripted/eager` review by a short list of patterns, `scripted/judge` judges by place and words.
They read the same prompts as a model and answer in the same form, always alike. Their figures say nothing of any model.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.ports import ModelError
from scoring.judges.asks import Ask, Reply
from scoring.judges.rubrics import QUALITIES
from scoring.judges.shown import SIGIL

Json = Any
PREFIX = "scripted/"
NAMES = ("careful", "eager", "judge")
_WINDOW = 32_000
_LETTERS_PER_TOKEN = 4
_LEAST_LIKE = 0.25
"""So large a share of a defect's telling words a remark at another place must have to mean it."""
_FORGETS = 6
"""Asked again, an eager reviewer leaves out one in so many of its remarks."""
_TASTE = re.compile(r"(?i)naming|docstring|caching|spelling|annotation|unit test")
"""Remarks about these mean no defect, wherever they stand."""
_WORD = re.compile(r"[A-Za-z_]{5,40}")
_PLACE = re.compile(r"(.{1,300}?):(\d{1,7})(?:-(\d{1,7}))?\Z")
_PATH = re.compile(r'(?:file|conventions) ("(?:[^"\\]|\\.){1,600}")\Z')
_FILE = re.compile(r"diff --git a/.{1,600} b/(.{1,600})\Z")
_DIFF_ROW = re.compile(r" {0,6}(\d{1,7}) ([ +])(.*)\Z")
_LISTED_ROW = re.compile(r" {0,6}(\d{1,7}): (.*)\Z")


@dataclass(frozen=True, slots=True)
class Habit:
    """One pattern, and what a script says where it sees it."""

    pattern: re.Pattern[str]
    kind: str
    severity: str
    description: str
    careful: bool = True
    """Whether the careful one says it too."""


def _habit(pattern: str, kind: str, severity: str, description: str, careful: bool = True) -> Habit:
    return Habit(re.compile(pattern), kind, severity, description, careful)


HABITS = (
    _habit(r"\b(?:md5|sha1)\b", "security", "high", "A fast, broken hash guards a secret; anybody can try passwords."),
    _habit(r"\bpickle\.loads?\b|\byaml\.load\(", "security", "critical", "Bytes from outside are turned into objects."),
    _habit(r"shell=True|\bexec\(|\beval\(", "security", "critical", "Text from outside is run as a command or code."),
    _habit(r"innerHTML\s{0,4}=|dangerouslySetInnerHTML", "security", "high", "Markup from outside reaches the page."),
    _habit(r"(?i)\bselect\b[^;]{0,120}(?:\$\{|\" ?\+|' ?\+|%s|\{\w{1,40}\})", "security", "high",
           "A query is put together from text, so input can change it; use parameters."),
    _habit(r"except(?: Exception)?:\s{0,4}(?:pass)?\Z", "bug", "medium", "Every error is swallowed here and lost."),
    _habit(r"Math\.random\(|\bnew Random\(", "security", "high", "A predictable generator makes a secret value."),
    _habit(r"(?i)(?:api_?key|secret|password|token)\s{0,4}[:=]{1,2}\s{0,4}[\"'][^\"']{8,}", "security", "high",
           "A secret stands in the source and goes wherever the source goes."),
    _habit(r", _ :?= |, _ = ", "bug", "medium", "The error is thrown away, and the zero value is used as a result."),
    _habit(r"<= ?(?:len\(|\w{1,40}\.length)", "bug", "high", "The loop runs one past the end of the list."),
    _habit(r"\bfor\b.{0,80}\bawait\b|await .{0,60}\.(?:find|get|query)\w{0,20}\(", "performance", "medium",
           "A query is made for each element of the list.", careful=False),
    _habit(r"\.(?:get|find)\(", "bug", "low", "The result may be missing, and nothing checks it.", careful=False),
    _habit(r"\bopen\(|\bos\.Open\(", "bug", "low", "The file stays open where an error leaves early.", careful=False),
    _habit(r"\breturn\b.{0,40}\bor\b|\|\|", "best_practice", "low", "A default hides a value of zero or an empty text.",
           careful=False),
)  # fmt: skip


class Scripted:
    """Implements `bot.ports.Model` without one."""

    def complete(self, ask: Ask) -> Reply:
        """Answer as the script does."""
        if (problem := self.missing_key(ask.model)) is not None:
            raise ModelError(404, problem)
        text = _verdicts(ask) if "verdicts" in ask.schema.get("properties", {}) else _review(ask)
        sent = sum(self.count_tokens(ask.model, message.content) for message in ask.messages)
        return Reply(text, ask.model, sent, self.count_tokens(ask.model, text), None, 0.0, "stop")

    def count_tokens(self, model: str, text: str) -> int:
        """About how many tokens a text is."""
        return len(text) // _LETTERS_PER_TOKEN + 1

    def price(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Nothing: nobody is paid."""
        return 0.0

    def window(self, model: str) -> int | None:
        """How many tokens a prompt may have."""
        return _WINDOW

    def missing_key(self, model: str) -> str | None:
        """What keeps the model from being asked."""
        name = model.removeprefix(PREFIX)
        return None if name in NAMES else f"there is no script {name[:40]!r}; there is: {', '.join(NAMES)}"


def blocks(message: str) -> list[tuple[str, str]]:
    """The parts of a message between its marks: name and text."""
    found: list[tuple[str, list[str]]] = []
    fence = ""
    for line in message.split("\n"):
        if line.startswith(SIGIL):
            fence = fence or line
            found.append((line.removeprefix(fence).strip(), []))
        elif found:
            found[-1][1].append(line)
    return [(name, "\n".join(lines)) for name, lines in found if name and name != "end"]


# --- reviewing


def _review(ask: Ask) -> str:
    eager = ask.model.endswith("eager")
    parts = dict(blocks(ask.messages[-1].content))
    rows = [
        _row(path, line, habit)
        for path, line, code, new in _code(parts)
        for habit in HABITS
        if (eager or habit.careful) and new and habit.pattern.search(code)
    ]
    rows = [row for row in rows if not _forgotten(ask, row)] if eager else rows
    if "findings" in parts:
        rows = _next_round(parts["findings"], rows)
    if ask.schema:
        return json.dumps({"findings": rows}, indent=1)
    return json.dumps([_plain(row) for row in rows], indent=1)


def _code(parts: Mapping[str, str]) -> Iterator[tuple[str, int, str, bool]]:
    """Path, line, code, and whether it is shown as new, of every line of code in a prompt."""
    for name, text in parts.items():
        if name == "diff":
            yield from _of_diff(text)
        elif found := _PATH.match(name):
            yield from _of_file(str(json.loads(found[1])), text)


def _of_diff(text: str) -> Iterator[tuple[str, int, str, bool]]:
    path = ""
    for row in text.split("\n"):
        if found := _FILE.match(row):
            path = found[1]
        elif path and (found := _DIFF_ROW.match(row)):
            yield path, int(found[1]), found[3], found[2] == "+"


def _of_file(path: str, text: str) -> Iterator[tuple[str, int, str, bool]]:
    """A file as it is, or with its lines numbered."""
    rows = text.split("\n")
    full = [row for row in rows if row.strip()]
    listed = all(_LISTED_ROW.match(row) for row in full)
    for number, row in enumerate(rows, start=1):
        found = _LISTED_ROW.match(row) if listed else None
        if found or not listed:
            yield path, int(found[1]) if found else number, found[2] if found else row, True


def _row(path: str, line: int, habit: Habit) -> dict[str, Json]:
    return {
        "path": path,
        "start_line": line,
        "end_line": line,
        "type": habit.kind,
        "severity": habit.severity,
        "description": habit.description,
        "failing_input": "",
        "citation": "",
        "suggestion": "",
    }


def _plain(row: Mapping[str, Json]) -> dict[str, Json]:
    """In the form of the prompts that show whole files, both of them."""
    return {
        "file": row["path"],
        "path": row["path"],
        "line": row["start_line"],
        "line_start": row["start_line"],
        "line_end": row["end_line"],
        "severity": row["severity"],
        "message": row["description"],
    }


def _forgotten(ask: Ask, row: Mapping[str, Json]) -> bool:
    """What an eager reviewer leaves out depends on the seed it is asked with."""
    told = json.dumps([ask.parameters.get("seed"), row["path"], row["start_line"], row["description"]])
    return hashlib.sha256(told.encode()).digest()[0] % _FORGETS == 0


def _next_round(earlier: str, rows: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """A later round keeps what was said with some weight."""
    try:
        held = json.loads(earlier)
    except ValueError:
        return rows
    listed = held.get("findings", []) if isinstance(held, dict) else held
    said = {(one.get("path"), one.get("start_line")) for one in listed if isinstance(one, dict)}
    return [row for row in rows if (row["path"], row["start_line"]) not in said or row["severity"] != "low"]


# --- judging


def _verdicts(ask: Ask) -> str:
    parts = blocks(ask.messages[-1].content if len(ask.messages) < 3 else ask.messages[1].content)
    items = {name.partition(" ")[0]: (name.partition(" ")[2], text) for name, text in parts}
    goldens = {name: item for name, item in items.items() if name.startswith("g")}
    entry = ask.schema["properties"]["verdicts"]["items"]["properties"]
    rows = [_verdict(name, item, _meant(item, goldens), entry) for name, item in items.items() if name.startswith("c")]
    return json.dumps({"verdicts": rows}, indent=1)


def _meant(item: tuple[str, str], goldens: Mapping[str, tuple[str, str]]) -> str:
    """The defect that a remark means: at the same place, or with enough of its words; the likest of those."""
    if _TASTE.search(item[1]):
        return "none"
    scores = {name: (_near(item[0], head), _like(item[1], text)) for name, (head, text) in goldens.items()}
    good = {name: score for name, score in scores.items() if score[0] or score[1] >= _LEAST_LIKE}
    return max(sorted(good), key=lambda name: good[name]) if good else "none"


def _near(one: str, other: str) -> bool:
    first, second = _PLACE.match(one), _PLACE.match(other)
    if first is None or second is None or first[1] != second[1]:
        return False
    start, end = int(first[2]), int(first[3] or first[2])
    return start <= int(second[3] or second[2]) + 1 and end >= int(second[2]) - 1


def _like(said: str, known: str) -> float:
    words = set(_WORD.findall(known.lower()))
    return len(words & set(_WORD.findall(said.lower()))) / len(words) if words else 0.0


def _verdict(name: str, item: tuple[str, str], golden: str, entry: Mapping[str, Json]) -> dict[str, Json]:
    row: dict[str, Json] = {"candidate": name, "golden": golden, "confidence": 0.8, "reason": "place and words"}
    long = len(item[1]) > 60
    if "also" in entry:
        row["also"] = []
    if "valid" in entry:
        row["valid"] = golden == "none" and long
    labels: Sequence[str] = entry.get("label", {}).get("enum", ())
    if "true_positive" in labels:
        row["label"] = "false_positive" if golden == "none" else "true_positive"
        row |= {one: (4 if golden != "none" else 2) + (long and at % 2) for at, one in enumerate(QUALITIES)}
    elif labels:
        row["label"] = "bug_hit" if golden != "none" else "valid_suggestion" if long else "noise"
    return row
