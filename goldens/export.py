"""A suite as a data set for other programs: a row for each pull request, and a card that says what it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Literal

from goldens.model import GitPin, GoldenPull, Suite, TreeFiles
from goldens.stats import as_text, stats
from goldens.trees import changes, is_binary
from scoring.model import Golden, GoldenStatus

FormatName = Literal["json", "jsonl", "parquet"]
FORMATS: tuple[FormatName, ...] = ("json", "jsonl", "parquet")
CARD = "README.md"
Row = dict[str, Any]


def export(suite: Suite, form: FormatName) -> dict[str, bytes]:
    """The files of a data set, by name: the rows in one format, and the card."""
    rows = [row(suite, pull) for pull in suite.pulls]
    write = {"json": _json, "jsonl": _jsonl, "parquet": _parquet}[form]
    return {f"data.{form}": write(rows), CARD: card(suite).encode("utf-8")}


def row(suite: Suite, pull: GoldenPull) -> Row:
    """A pull request with everything that is known of it. Drafts and retired goldens are told apart by `status`."""
    pin = pull.source if isinstance(pull.source, GitPin) else None
    size = pull.size
    return {
        "suite": suite.ref.id,
        "suite_version": suite.ref.version,
        "suite_hash": suite.ref.hash,
        "id": str(pull.id),
        "language": pull.language,
        "title": pull.title,
        "body": pull.body,
        "clean": pull.clean,
        "origin": _word(pull.origin),
        "source_signal": _word(pull.source_signal),
        "authored_by": _word(pull.authored_by),
        "direction": pull.direction.value,
        "date": pull.date or None,
        "changed_files": size.files if size else None,
        "changed_lines": size.lines if size else None,
        "upstream": pin.upstream if pin else None,
        "number": pin.number if pin else None,
        "base_sha": pin.base_sha if pin else None,
        "head_sha": pin.head_sha if pin else None,
        "tags": [{"name": name, "value": value} for name, value in sorted(pull.tags.items())],
        "confirmed_by": list(pull.confirmed_by),
        "unverified": list(pull.unverified),
        "files": [] if isinstance(pull.source, GitPin) else list(_files(*pull.source)),
        "goldens": [_golden(pull, golden) for golden in (*pull.goldens, *pull.retired, *pull.drafts)],
    }


def _files(base: TreeFiles, head: TreeFiles) -> Iterator[Row]:
    """What the change touches, before and after; None where a side has no such file, or no text."""
    for change in changes(base.files, head.files):
        before, after = (_text(tree, path) for tree, path in ((base, change.old), (head, change.new)))
        yield {"old_path": change.old, "path": change.new, "base": before, "head": after}


def _text(tree: TreeFiles, path: str | None) -> str | None:
    data = tree.files[path] if path else None
    return None if data is None or is_binary(data) else data.decode("utf-8", "replace")


def _golden(pull: GoldenPull, golden: Golden) -> Row:
    place, audit = golden.place, pull.audits.get(golden.id)
    return {
        "id": str(golden.id),
        "path": place.path if place else None,
        "first_line": place.lines[0] if place and place.lines else None,
        "last_line": place.lines[1] if place and place.lines else None,
        "side": place.side.value if place else None,
        "category": golden.category.value,
        "severity": golden.severity.value,
        "finding": golden.finding,
        "evidence": golden.evidence,
        "group": golden.group,
        "impact": _word(golden.impact),
        "discoverability": _word(golden.discoverability),
        "label": golden.label or None,
        "status": golden.status.value,
        "reason": golden.reason,
        "fix": golden.fix,
        "unverified": list(golden.unverified),
        "audit": audit.verdict.value if audit else None,
        "audit_drafted_by": audit.drafted_by if audit else None,
        "audit_confirmed_by": audit.confirmed_by if audit else None,
    }


def _word(value: Any) -> str | None:
    return value.value if value is not None else None


def _json(rows: list[Row]) -> bytes:
    return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def _jsonl(rows: list[Row]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows).encode("utf-8")


def _parquet(rows: list[Row]) -> bytes:
    pa, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    target = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist(rows, schema=_schema(pa)), target)
    data: bytes = target.getvalue().to_pybytes()
    return data


def _schema(pa: Any) -> Any:
    """Said aloud: a column that is empty in one suite has the same type in all."""
    numbers = {"changed_files", "changed_lines", "number", "first_line", "last_line"}
    text_lists = {"confirmed_by", "unverified"}

    def field(name: str, nested: Any = None) -> Any:
        kind = nested or (pa.int64() if name in numbers else pa.string())
        return pa.field(name, pa.list_(pa.string()) if name in text_lists else pa.bool_() if name == "clean" else kind)

    def listed(*names: str) -> Any:
        return pa.list_(pa.struct([field(name) for name in names]))

    nested = {"tags": listed("name", "value"), "files": listed("old_path", "path", "base", "head")}
    nested["goldens"] = listed(*_GOLDEN_COLUMNS)
    return pa.schema([field(name, nested.get(name)) for name in _COLUMNS])


_COLUMNS = (
    "suite", "suite_version", "suite_hash", "id", "language", "title", "body", "clean", "origin", "source_signal",
    "authored_by", "direction", "date", "changed_files", "changed_lines", "upstream", "number", "base_sha", "head_sha",
    "tags", "confirmed_by", "unverified", "files", "goldens",
)  # fmt: skip
_GOLDEN_COLUMNS = (
    "id", "path", "first_line", "last_line", "side", "category", "severity", "finding", "evidence", "group", "impact",
    "discoverability", "label", "status", "reason", "fix", "unverified", "audit", "audit_drafted_by",
    "audit_confirmed_by",
)  # fmt: skip


def card(suite: Suite) -> str:
    """What the data set is, where it comes from, and what it cannot show."""
    doubts = list(_doubts(suite))
    return "\n".join(
        [
            f"# {suite.title}",
            "",
            f"Suite `{suite.ref.id}`, version {suite.ref.version}, hash `{suite.ref.hash}`. Name the hash beside every "
            "score: it stands for exactly these goldens and trees.",
            "",
            f"- licence: {suite.licence}",
            f"- provenance: {' '.join(suite.provenance.split())}",
            "",
            "## What is in it",
            "",
            "```",
            as_text(stats(suite)),
            "```",
            "",
            "A row is one pull request. `goldens` holds its known defects with their places in the head tree (in the "
            "base tree for side LEFT); only those of status `live` or `disputed` are scored. `files` holds the changed "
            "files before and after where they ship with the suite; else the two commits are named.",
            "",
            "## What it cannot show",
            "",
            *(doubts or ["- Nothing is marked as doubted or unverified."]),
            "- Defects that nobody listed: a claim that matches no golden need not be wrong.",
            "",
        ]
    )


def _doubts(suite: Suite) -> Iterator[str]:
    everything = [one for pull in suite.pulls for one in (*pull.goldens, *pull.retired, *pull.drafts)]
    for status, what in _TOLD.items():
        ids = [f"`{golden.id}`" for golden in everything if golden.status is status]
        if ids:
            yield f"- {len(ids)} {what}: {', '.join(ids[:50])}{' ...' if len(ids) > 50 else ''}."
    unchecked = sum(bool(golden.unverified) for pull in suite.pulls for golden in pull.goldens)
    if unchecked:
        yield f"- {unchecked} goldens have fields that nobody has checked; `unverified` names them."
    if alone := sum(not pull.confirmed_by for pull in suite.pulls):
        yield f"- {alone} of {len(suite.pulls)} pull requests do not say who confirmed their goldens."


_TOLD = {
    GoldenStatus.DISPUTED: "goldens are disputed, and scored",
    GoldenStatus.RETIRED: "goldens are retired, and not scored",
    GoldenStatus.DRAFT: "drafts wait for somebody to confirm them, and are not scored",
}
