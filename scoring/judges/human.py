"""Verdicts that people gave, from JSON, YAML or CSV.

One row a verdict: `pull`, `reviewer`, `candidate`, `golden`, `verdict`, and for the record `reason`, `who`, `when`,
`replaced`. A row with `no_match` and no golden says that the candidate matches none; a row with `valid` and no golden
that it is sound though it matches none. Every problem is named with its line and field.
"""

from __future__ import annotations

import csv
import difflib
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol

from scoring.bundle import JudgementSet, TrialJudgements
from scoring.model import CandidateId, GoldenId, Judgement, PullId, ReviewerId, Verdict

Form = Literal["json", "yaml", "csv"]
Json = Any
VALID = "valid"
WORDS = (*(verdict.value for verdict in Verdict), VALID)
_REQUIRED = ("pull", "reviewer", "candidate", "verdict")
_TOP = ("judge", "verdicts")
_MOST = 200_000
_LONGEST_NAME = 200

Trial = tuple[PullId, ReviewerId]
Known = Mapping[Trial, tuple[Sequence[CandidateId], Sequence[GoldenId]]]
"""The candidates and goldens of every trial there is."""


class Mark(Protocol):
    """Where something begins."""

    @property
    def line(self) -> int:
        """The line, from 0."""


class Node(Protocol):
    """A node of a YAML document, as `yaml.compose` makes it."""

    @property
    def value(self) -> Any:
        """A text, a list of nodes, or a list of pairs of nodes."""

    @property
    def start_mark(self) -> Any:
        """Where it begins."""


@dataclass(frozen=True, slots=True)
class HumanProblem:
    """One thing that is wrong, and where."""

    line: int | None
    """From 1; None where the form does not tell."""
    field: str
    what: str
    allowed: tuple[str, ...] = ()
    meant: str | None = None

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        text = f"{where}{self.field + ': ' if self.field else ''}{self.what}"
        if self.allowed:
            text += f"; allowed: {', '.join(self.allowed[:20])}{' ...' if len(self.allowed) > 20 else ''}"
        return text + (f"; did you mean {self.meant!r}?" if self.meant else "")


class HumanError(ValueError):
    """The verdicts cannot be used; every problem is named, one a line."""

    def __init__(self, problems: Iterable[HumanProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


@dataclass(frozen=True, slots=True)
class Row:
    """One verdict as written."""

    pull: str = ""
    reviewer: str = ""
    candidate: str = ""
    golden: str = ""
    verdict: str = ""
    reason: str = ""
    who: str = ""
    when: str = ""
    replaced: str = ""
    """The verdict that this one stands in place of, and whose it was."""


COLUMNS = tuple(one.name for one in fields(Row))
_Written = tuple[int | None, str, Any]
"""Line, where in the document, and the fields of a row."""


def read(
    text: str, form: Form, known: Known, *, judge: str = "human", compose: Callable[[str], Node | None] | None = None
) -> JudgementSet:
    """Read verdicts.

    Args:
        text: The file's contents.
        form: How it is written.
        known: The trials that verdicts may be about.
        judge: Who judges, unless the file names someone.
        compose: For YAML: makes the node of a document, as `yaml.compose` does, and raises ValueError where it is no
            YAML. The caller has the library; this one does without.

    Raises:
        HumanError: anything is wrong with any row.
    """
    if form == "csv":
        written, name = _csv(text), judge
    elif form == "json":
        written, name = _json(text, judge)
    elif compose is None:
        raise ValueError("reading YAML needs `compose`")
    else:
        written, name = _yaml(text, judge, compose)
    if len(written) > _MOST:
        raise HumanError([HumanProblem(None, "verdicts", f"there are {len(written)} rows; at most {_MOST} are read")])
    problems: list[HumanProblem] = []
    rows = [(line, row) for line, where, raw in written if (row := _row(line, where, raw, known, problems))]
    _twice(rows, known, problems)
    if problems:
        raise HumanError(problems)
    return _judgements(name, [row for _, row in rows], known)


# --- forms


def _csv(text: str) -> list[_Written]:
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    found: list[_Written] = []
    header: list[str] = []
    begins = 1
    try:
        for cells in reader:
            if begins == 1:
                header = _header(cells)
            elif cells and len(cells) != len(header):
                what = f"the row has {len(cells)} fields, the header {len(header)}"
                raise HumanError([HumanProblem(begins, "", what)])
            elif cells:
                found.append((begins, "", dict(zip(header, cells, strict=True))))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise HumanError([HumanProblem(begins, "", f"no CSV: {error}")]) from error
    if begins == 1:
        _header([])
    return found


def _header(names: list[str]) -> list[str]:
    problems = [_unknown(1, "", name, COLUMNS) for name in names if name not in COLUMNS]
    problems += [HumanProblem(1, name, "this column is missing") for name in _REQUIRED if name not in names]
    problems += [HumanProblem(1, name, "this column stands twice") for name in COLUMNS if names.count(name) > 1]
    if problems:
        raise HumanError(problems)
    return names


def _json(text: str, judge: str) -> tuple[list[_Written], str]:
    try:
        document = json.loads(text, object_pairs_hook=_object)
    except RecursionError as error:
        raise HumanError([HumanProblem(None, "", "nested too deep")]) from error
    except json.JSONDecodeError as error:
        raise HumanError([HumanProblem(error.lineno, "", f"no JSON: {error.msg}")]) from error
    except HumanError:
        raise
    except ValueError as error:
        raise HumanError([HumanProblem(None, "", "no JSON that can be used: a number is too long")]) from error
    if isinstance(document, Mapping):
        if problems := [_unknown(None, "", name, _TOP) for name in document if name not in _TOP]:
            raise HumanError(problems)
        judge, document = _name(document.get("judge", judge)), document.get("verdicts")
    if not isinstance(document, list):
        raise HumanError([HumanProblem(None, "verdicts", "must be a list of verdicts")])
    lines = _lines_of_objects(text, len(document))
    return [(lines[at], f"verdicts[{at}]", raw) for at, raw in enumerate(document)], judge


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        name = next(name for name, _ in pairs if [other for other, _ in pairs].count(name) > 1)
        raise HumanError([HumanProblem(None, name, "this field stands twice in one object")])
    return made


def _lines_of_objects(text: str, count: int) -> list[int | None]:
    """The line on which each row of a JSON document begins, found by reading the list value by value."""
    decoder, found = json.JSONDecoder(), list[int | None]()
    at = text.find("[") if text.lstrip().startswith("[") else text.find("[", text.find('"verdicts"'))
    line, seen = 1, 0
    while len(found) < count:
        at += 1
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        line, seen = line + text.count("\n", seen, at), at
        try:
            _, end = decoder.raw_decode(text, at)
        except ValueError:
            return [*found, *([None] * (count - len(found)))]
        found.append(line)
        at = end - 1
    return found


def _name(value: Json) -> str:
    if not isinstance(value, str) or not value.strip():
        raise HumanError([HumanProblem(None, "judge", "must be a name")])
    if not value.isprintable() or len(value) > _LONGEST_NAME:
        what = f"must be a name of at most {_LONGEST_NAME} characters without control codes"
        raise HumanError([HumanProblem(None, "judge", what)])
    return value.strip()


def _plain(value: str) -> bool:
    """Whether a terminal and a file take it: no control codes, no halves of characters."""
    return all(one.isprintable() or one in "\t\n\r" for one in value)


def _yaml(text: str, judge: str, compose: Callable[[str], Node | None]) -> tuple[list[_Written], str]:
    try:
        document = compose(text)
    except RecursionError as error:
        raise HumanError([HumanProblem(None, "", "nested too deep")]) from error
    except ValueError as error:
        raise HumanError([HumanProblem(None, "", f"no YAML: {error}")]) from error
    top = _mapping(document)
    if top is not None:
        if problems := [_unknown(_line(key), "", str(key.value), _TOP) for key, _ in top if key.value not in _TOP]:
            raise HumanError(problems)
        by_name = {key.value: value for key, value in top}
        document = by_name.get("verdicts")
        judge = _name(by_name["judge"].value) if "judge" in by_name else judge
    rows = document.value if document is not None else None
    if not isinstance(rows, list) or _mapping(document) is not None:
        raise HumanError([HumanProblem(None, "verdicts", "must be a list of verdicts")])
    return [_yaml_row(at, node) for at, node in enumerate(rows)], judge


def _yaml_row(at: int, node: Node) -> _Written:
    pairs = _mapping(node)
    if pairs is None:
        return _line(node), f"verdicts[{at}]", node.value
    raw = {str(key.value): value.value for key, value in pairs}
    if len(raw) != len(pairs):
        raise HumanError([HumanProblem(_line(node), f"verdicts[{at}]", "a field stands twice in one verdict")])
    return _line(node), f"verdicts[{at}]", raw


def _mapping(node: Node | None) -> list[tuple[Node, Node]] | None:
    """The pairs of a mapping; None for anything else. A mapping without pairs is taken for an empty list."""
    value = node.value if node is not None else None
    pairs = isinstance(value, list) and bool(value) and all(isinstance(one, tuple) for one in value)
    return value if pairs else None


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


# --- rows


def _row(line: int | None, where: str, raw: Any, known: Known, problems: list[HumanProblem]) -> Row | None:
    """A row if it is right; what is wrong goes to the problems."""
    before = len(problems)
    prefix = f"{where}." if where else ""
    if not isinstance(raw, Mapping):
        problems.append(HumanProblem(line, where, "a verdict is an object with fields"))
        return None
    problems += [_unknown(line, prefix, str(name), COLUMNS) for name in raw if name not in COLUMNS]
    for name in COLUMNS:
        value = raw.get(name)
        if value is not None and not isinstance(value, str):
            problems.append(HumanProblem(line, prefix + name, f"must be text, not {type(value).__name__}"))
        elif value and not _plain(value):
            problems.append(HumanProblem(line, prefix + name, "holds characters that are no text: control codes"))
        elif name in _REQUIRED and not (value or "").strip():
            problems.append(HumanProblem(line, prefix + name, "is missing"))
    if len(problems) > before:
        return None
    row = Row(**{name: (raw.get(name) or "").strip() for name in COLUMNS})
    problems += _meaning(line, prefix, row, known)
    return row if len(problems) == before else None


def _meaning(line: int | None, prefix: str, row: Row, known: Known) -> list[HumanProblem]:
    if row.verdict not in WORDS:
        return [
            HumanProblem(line, f"{prefix}verdict", f"{row.verdict!r} is no verdict", WORDS, _near(row.verdict, WORDS))
        ]
    trial = known.get((PullId(row.pull), ReviewerId(row.reviewer)))
    if trial is None:
        pulls = sorted({pull for pull, _ in known})
        if row.pull not in pulls:
            what = f"there is no golden pull request {row.pull!r}"
            return [HumanProblem(line, f"{prefix}pull", what, tuple(pulls), _near(row.pull, pulls))]
        names = sorted({reviewer for pull, reviewer in known if pull == row.pull})
        what = f"{row.reviewer!r} has no trial on {row.pull}"
        return [HumanProblem(line, f"{prefix}reviewer", what, tuple(names), _near(row.reviewer, names))]
    found = []
    for name, value, there in (("candidate", row.candidate, trial[0]), ("golden", row.golden, trial[1])):
        if value not in there and (value or name == "candidate"):
            what = f"the trial has no {name} {value!r}"
            found.append(HumanProblem(line, prefix + name, what, tuple(there), _near(value, there)))
    if not row.golden and row.verdict in (Verdict.MATCH, Verdict.UNDECIDED):
        found.append(HumanProblem(line, f"{prefix}golden", f"a row with {row.verdict} names a golden"))
    if row.golden and row.verdict == VALID:
        found.append(
            HumanProblem(line, f"{prefix}golden", "a candidate that is valid matches no golden; leave it empty")
        )
    return found


def _unknown(line: int | None, prefix: str, name: str, allowed: Sequence[str]) -> HumanProblem:
    return HumanProblem(line, prefix + name, "no such field", tuple(allowed), _near(name, allowed))


def _near(word: str, options: Sequence[str]) -> str | None:
    return next(iter(difflib.get_close_matches(word[:100], options, n=1)), None)


def _twice(rows: Sequence[tuple[int | None, Row]], known: Known, problems: list[HumanProblem]) -> None:
    """Two rows about one pair: which one holds would depend on their order."""
    seen: dict[tuple[str, ...], int] = {}
    for at, (line, row) in enumerate(rows):
        for golden in _goldens(row, known) or ("",):
            first = seen.setdefault((row.pull, row.reviewer, row.candidate, golden), at)
            if first != at:
                pair = f"{row.candidate} x {golden}" if golden else row.candidate
                where = f"line {rows[first][0]}" if rows[first][0] else f"verdict {first + 1}"
                problems.append(HumanProblem(line, "candidate", f"there is a verdict on {pair} already, on {where}"))
                break


def _goldens(row: Row, known: Known) -> Sequence[str]:
    """The goldens a row speaks of: all of the trial where it names none."""
    return (row.golden,) if row.golden else known[PullId(row.pull), ReviewerId(row.reviewer)][1]


def _judgements(judge: str, rows: Sequence[Row], known: Known) -> JudgementSet:
    by_trial: dict[Trial, list[Row]] = {}
    for row in rows:
        by_trial.setdefault((PullId(row.pull), ReviewerId(row.reviewer)), []).append(row)
    trials = tuple(_trial(judge, trial, own, known) for trial, own in sorted(by_trial.items()))
    history = [
        {name: value for name in COLUMNS if (value := getattr(row, name))} for row in rows if row.who or row.replaced
    ]
    return JudgementSet(judge, trials, {"by": "people", "rows": len(rows), "history": history})


def _trial(judge: str, trial: Trial, rows: Sequence[Row], known: Known) -> TrialJudgements:
    judgements = []
    for row in rows:
        verdict = Verdict.NO_MATCH if row.verdict == VALID else Verdict(row.verdict)
        name = f"{judge}:{row.who}" if row.who else judge
        judgements += [
            Judgement(CandidateId(row.candidate), GoldenId(golden), verdict, name, row.reason)
            for golden in _goldens(row, known)
        ]
    valid = tuple(row.candidate for row in rows if row.verdict == VALID)
    asked = valid if any(row.verdict == VALID for row in rows) else None
    return TrialJudgements(*trial, tuple(judgements), valid=asked)
