"""SWE-bench rows as a suite for cold review: the code before the fix, and the places that the fix changed.

The rows are the user's (parquet or JSON lines), and so are the clones that the files are read from. What a fix changes
is where a defect may be; nobody has said that each place holds one, so category, severity and finding are unverified.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from goldens.cold import COLD, TAG, ColdFile
from goldens.diff import DiffError, read_diff
from goldens.dump import suite_yaml
from goldens.fields import printable, safe_path
from goldens.importers import strict, words
from goldens.importers.problems import ImportProblem, Problem, fail
from goldens.importers.strict import Node
from goldens.leakage import WITHHELD_FILE, Withheld, guard, write_withheld
from goldens.load import SUITE_FILE
from goldens.mine.lines import oracle_sites, text_at
from goldens.mine.reader import Span
from goldens.model import AuthoredBy, Direction, Origin, SourceSignal
from goldens.patching import PatchError, applied
from goldens.trees import split_lines
from scoring.model import Category, Severity

Oracle = Literal["hunk", "strict"]
Read = Callable[[str, str, Sequence[str]], Sequence[bytes | None] | None]
"""(repository, commit, paths) -> the files; None for each that is not there, or for all if there is no clone."""

_REQUIRED = ("instance_id", "repo", "base_commit", "patch")
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPO = re.compile(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TITLE = "Code to be read through"
_BODY = "Nothing is said about it: it is read as it stands."
_MOST_EVIDENCE = 40


@dataclass(frozen=True, slots=True)
class Row:
    """One instance, as far as it is used."""

    instance: str
    repository: str
    commit: str
    patch: str
    tests: str = ""
    statement: str = ""
    hints: str = ""
    created: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An instance that is not in the suite, and why."""

    instance: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """A suite as files by name, ready to be landed in a directory."""

    files: Mapping[str, bytes]
    pulls: int
    goldens: int
    skipped: tuple[Skipped, ...]

    def by_reason(self) -> Mapping[str, int]:
        """How many instances were skipped for what."""
        return dict(Counter(one.reason for one in self.skipped).most_common())


# --- rows


def read_rows(path: Path) -> tuple[Row, ...]:
    """The rows of a parquet or JSON lines file, in their order.

    Raises:
        ImportProblem: it is no such file, or a row lacks what is needed; every problem is named.
    """
    try:
        raw = _parquet(path) if path.suffix == ".parquet" else _json_lines(path.read_bytes(), path.name)
    except OSError as error:
        raise fail(str(path), "$", "a file of rows", str(error.strerror or error)) from None
    problems: list[Problem] = []
    rows = tuple(_row(Node(one, path.name, f"row {at}", problems)) for at, one in enumerate(raw))
    if twice := [name for name, count in Counter(row.instance for row in rows).items() if count > 1]:
        problems.append(Problem(path.name, "$", "each instance once", f"{twice[0]!r} twice"))
    if problems:
        raise ImportProblem(dict.fromkeys(problems))
    if not rows:
        raise fail(path.name, "$", "rows", "none")
    return rows


def _parquet(path: Path) -> list[Any]:
    from importlib import import_module

    try:
        table = import_module("pyarrow.parquet").read_table(path)
    except (ValueError, import_module("pyarrow").ArrowException) as error:
        raise fail(path.name, "$", "a parquet file", str(error)[:100]) from None
    wanted = ("test_patch", "problem_statement", "hints_text", "created_at")
    columns = [name for name in table.column_names if name in (*_REQUIRED, *wanted)]
    rows: list[Any] = table.select(columns).to_pylist()
    return rows


def _json_lines(data: bytes, name: str) -> list[Any]:
    text = strict.decode(data, name)
    if text.lstrip().startswith("["):
        found: list[Any] = strict.load(data, name)
        return found
    return [strict.load(line.encode("utf-8"), f"{name}:{at}") for at, line in enumerate(text.split("\n"), 1) if line]


def _row(node: Node) -> Row:
    instance, repo, commit, patch = (node.need(name, _REQUIRED) for name in _REQUIRED)
    if commit.value is not None and not _SHA.fullmatch(commit.text()):
        commit.wrong("a commit id")
    if repo.value is not None and not _REPO.fullmatch(repo.text()):
        repo.wrong("owner/name")
    created = node.get("created_at").value
    return Row(
        instance.text(),
        repo.text(),
        commit.text(),
        patch.text(),
        node.get("test_patch").text(""),
        node.get("problem_statement").text(""),
        node.get("hints_text").text(""),
        str(created)[:10] if created is not None and _DAY.match(str(created)) else "",
    )


# --- suite


def build(rows: Iterable[Row], read: Read, *, suite: str, oracle: Oracle = "hunk", licence: str) -> Imported:
    """A suite of the rows. Instances that cannot be shown as they were are skipped and counted.

    Args:
        rows: the instances.
        read: gives files of the clones.
        suite: the id of the suite.
        oracle: `hunk`: a hunk of the fix with its context is a place; `strict`: each run of removed lines is.
        licence: SPDX expression of the code that is copied into the suite.

    Raises:
        ImportProblem: no instance is left, or a patch is no diff.
        Leak: what a reviewer would be shown holds what must be withheld.
        SuiteError: the result is no suite.
    """
    made = [_instance(row, read, oracle) for row in rows]
    kept = [one for one in made if isinstance(one, _Instance)]
    skipped = tuple(one for one in made if isinstance(one, Skipped))
    if not kept:
        told = "; ".join(f"{one.instance}: {one.reason} {one.detail}".strip() for one in skipped[:5])
        raise fail(suite, "$", "an instance that can be shown", told or "none")
    value = {
        "suite": suite,
        "version": "1.0.0",
        "title": f"{len(kept)} instances of bug fixes, read cold",
        "licence": licence,
        "provenance": (
            f"Imported from SWE-bench rows: the code before each fix, with the places that the fix changed ({oracle}). "
            "Nobody has looked whether each place holds a defect; an audit tells."
        ),
        "pulls": [one.entry for one in kept],
    }
    files = {SUITE_FILE: suite_yaml(value, f"{suite}/{SUITE_FILE}")}
    for one in kept:
        files |= one.files
    files[WITHHELD_FILE] = write_withheld({one.entry["id"]: one.withheld for one in kept})
    return Imported(files, len(kept), sum(len(one.entry["goldens"]) for one in kept), skipped)


@dataclass(frozen=True, slots=True)
class _Instance:
    """One instance as a pull request."""

    entry: dict[str, Any]
    files: dict[str, bytes]
    withheld: Withheld


def _instance(row: Row, read: Read, oracle: Oracle) -> _Instance | Skipped:
    try:
        changes = read_diff(row.patch)
    except DiffError as error:
        raise fail(row.instance, "patch", "a diff", str(error)) from None
    sites = oracle_sites(changes, strict=oracle == "strict")
    if not sites:
        return Skipped(row.instance, "the fix only adds, so it names no place")
    paths = sorted({change.old_path for change in changes if change.old_path is not None})
    contents = read(row.repository, row.commit, paths)
    if contents is None:
        return Skipped(row.instance, "no clone in the mirror", row.repository)
    head = {path: data for path, data in zip(paths, contents, strict=True) if data is not None}
    if len(head) < len(paths):
        return Skipped(
            row.instance, "a file is not in the clone at the commit", ", ".join(sorted(set(paths) - set(head)))
        )
    try:
        base = applied(head, changes)
        for path in (*base, *head):
            safe_path(path)
    except PatchError as error:
        return Skipped(row.instance, "the fix does not fit the clone", str(error))
    except ValueError as error:
        return Skipped(row.instance, "a path that no suite can name", str(error))
    return _made(row, sites, base, head, oracle)


def _made(
    row: Row,
    sites: Sequence[tuple[str, Span]],
    base: Mapping[str, bytes],
    head: Mapping[str, bytes],
    oracle: Oracle,
) -> _Instance:
    name = words.slug(row.instance)
    spans = tuple(span for _, span in sites)
    withheld = Withheld(row.statement, row.hints, row.patch, row.tests, spans, (row.instance, row.commit))
    for path, data in head.items():
        file = ColdFile(path, data.decode("utf-8", "replace"))
        guard(row.instance, f"{_TITLE}\n{_BODY}\n{file.path}\n{file.text}", file.text, withheld)
    entry = {
        "id": name,
        "language": "python" if all(path.endswith(".py") for path in head) else "other",
        "title": _TITLE,
        "body": _BODY,
        "source": "files",
        "origin": Origin.REAL.value,
        "source_signal": SourceSignal.BUG_FIX.value,
        "authored_by": AuthoredBy.HUMAN.value,
        "direction": Direction.INVERTED.value,
        "date": row.created or None,
        "tags": {TAG: COLD, "oracle": oracle, "instance": row.instance, "repository": row.repository},
        "goldens": [_golden(name, at, site, base, head, len(sites)) for at, site in enumerate(sites, 1)],
    }
    files = {f"{name}/base/{path}": data for path, data in base.items()}
    files |= {f"{name}/head/{path}": data for path, data in head.items()}
    return _Instance({field: value for field, value in entry.items() if value is not None}, files, withheld)


def _golden(
    name: str, at: int, site: tuple[str, Span], base: Mapping[str, bytes], head: Mapping[str, bytes], sites: int
) -> dict[str, Any]:
    path, (first, last) = site
    last = min(last, len(split_lines(head[path])))
    found: dict[str, Any] = {
        "id": f"{name[:50]}-site-{at:04}",
        "path": path,
        "lines": [first, last],
        "category": Category.CORRECTNESS.value,
        "severity": Severity.MEDIUM.value,
        "finding": printable(f"The fix changes lines {first} to {last} of {path}."),
        "unverified": ["category", "severity", "finding"],
    }
    if sites > 1:
        found["group"] = name
    evidence = text_at(head[path], (first, last), limit=4000)
    new = path not in base or _lined(evidence) not in _lined(base[path].decode("utf-8", "replace"))
    if new and evidence.strip() and last - first < _MOST_EVIDENCE and evidence == printable(evidence):
        found["evidence"] = evidence
    return found


def _lined(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines())
