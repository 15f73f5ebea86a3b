"""SWE-Review-Bench's tables: oracle sites, reviewers' comments, and the audit of the sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goldens.importers import tables, words
from goldens.importers.form import DocumentFormat, Documents, json_files
from goldens.importers.problems import fail
from goldens.importers.strict import Node, decode, finish
from goldens.importers.swe_write import generate
from goldens.importers.words import Options
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card
from scoring.model import Candidate, Golden, GoldenId, Place, PullId, ReviewerId, Severity, TrialStatus

SITES = ("instance_id", "site_id", "file", "line_start", "line_end")
COMMENTS = ("reviewer", "instance_id", "file", "line_start", "line_end", "severity")
_LEVELS = {"high": Severity.HIGH, "medium": Severity.MEDIUM, "low": Severity.LOW}
PILOT = "in_pilot20"
CARD = Card(
    corpus="bug fixes of public repositories, shown as they were before the fix",
    labelled_by="the fix: every hunk it changed is a site",
    unit="a comment, by its position",
    not_proven=(
        "A hit says where a comment is, not that it is right.",
        "About half of the sites hold the defect itself; the others were changed along with it.",
    ),
)
_SILENT = "the source holds no comment; it does not say whether the reviewer ran"


def gather(path: Path) -> dict[str, Path]:
    """The tables at a path that are of this format, by what their columns are."""
    if path.is_file():
        return {path.name: path}
    return {name: one for name, one in json_files(path, ".csv").items() if kind(_columns(one))}


def _columns(path: Path) -> list[str]:
    with path.open("rb") as file:
        return _header(file.readline(10_000), path.name)


def _header(line: bytes, name: str) -> list[str]:
    return decode(line, name).strip().split(",")


def looks(name: str, value: Any) -> bool:
    """Whether a table has the columns of one of these."""
    return isinstance(value, list) and all(isinstance(one, str) for one in value) and bool(kind(value))


def kind(columns: Sequence[str]) -> str:
    """Which table has these columns; empty if none."""
    have = set(columns)
    if have >= {"verdict", *SITES}:
        return "audit"
    if have >= set(COMMENTS):
        return "comments"
    return "sites" if have >= set(SITES) else ""


@dataclass(slots=True)
class _Instance:
    """An instance while it is put together."""

    sites: list[Golden] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)


def build(documents: Documents, options: Options) -> Bundle:
    """Read the documents of an import."""
    found: dict[str, list[tuple[str, list[Node]]]] = {"sites": [], "comments": [], "audit": []}
    for name, data in documents.items():
        word = kind(_header(data.partition(b"\n")[0], name))
        if not word:
            shown = ", ".join(_header(data.partition(b"\n")[0], name))[:200]
            raise fail(name, "row 1", f"the columns {', '.join(SITES)} or {', '.join(COMMENTS)}", shown)
        found[word].append((name, tables.read(data, name, COMMENTS if word == "comments" else SITES)[1]))
    if not found["sites"]:
        raise fail(next(iter(documents)), "$", f"a table of sites ({', '.join(SITES)})", "none")
    instances: dict[str, _Instance] = {}
    for name, rows in found["sites"]:
        _sites(rows, name, instances)
    _audit([row for _, rows in found["audit"] for row in rows], instances)
    rows = [row for _, one in found["comments"] for row in one]
    comments = _comments(rows, instances)
    finish(row for own in found.values() for _, one in own for row in one[:1])
    scope = _scope(instances, {instance for _, instance in comments})
    pulls = tuple(_pull(name, instances[name]) for name in scope)
    goldens = [(str(pull.id), golden) for pull in pulls for golden in pull.goldens]
    suite = words.content_suite(options.suite or "swe-review-bench", "imported", goldens)
    return Bundle(suite, CARD, pulls, tuple(_trials(scope, comments)))


def _pull(name: str, instance: _Instance) -> BundlePull:
    return BundlePull(PullId(name), tuple(instance.sites), "python", origin="real", tags=instance.tags)


def _sites(rows: Sequence[Node], name: str, into: dict[str, _Instance]) -> None:
    for row in rows:
        instance = into.setdefault(row.get("instance_id").text(), _Instance(tags={"file": name}))
        identity = GoldenId(f"{row.get('instance_id').text()}.{row.get('site_id').text()}")
        if identity in {site.id for site in instance.sites}:
            row.wrong("each site once", f"{identity} again")
        place = _place(row)
        text = f"the fix changes lines {place.lines[0]} to {place.lines[1]} of {place.path}" if place.lines else ""
        instance.sites.append(words.golden(identity, text, label="", level=None, place=place))
        if row.has(PILOT):
            instance.tags[PILOT] = row.get(PILOT).text().strip().lower()


def _place(row: Node) -> Place:
    first, last = (tables.number(row.get(key), least=1) for key in ("line_start", "line_end"))
    if first is None or last is None or last < first:
        row.wrong("line_start and line_end, the first not after the last", f"{first} and {last}")
        first = last = 1
    path = row.get("file").text()
    if not path:
        row.get("file").wrong("a path")
    return Place(path, (first, last))


def _audit(rows: Sequence[Node], into: Mapping[str, _Instance]) -> None:
    """Tag an instance `bug` if an auditor found the defect at one of its sites."""
    for row in rows:
        name, verdict = row.get("instance_id").text(), row.get("verdict").one_of(("bug", "related", "unrelated"))
        if name in into and into[name].tags.get("audit") != "bug":
            into[name].tags["audit"] = "bug" if verdict == "bug" else "no_bug"


def _comments(rows: Sequence[Node], into: Mapping[str, _Instance]) -> dict[tuple[str, str], list[Candidate]]:
    """Comments by reviewer and instance, in the order they were made."""
    numbered: dict[tuple[str, str], list[tuple[int, Candidate]]] = {}
    for row in rows:
        reviewer, instance = row.get("reviewer").text(), row.get("instance_id").text()
        if instance not in into:
            row.get("instance_id").wrong("an instance that has sites")
        own = numbered.setdefault((reviewer, instance), [])
        index = tables.number(row.get("comment_idx")) if row.has("comment_idx") else None
        at = len(own) + 1 if index is None else index
        own.append((at, _comment(row, reviewer, instance, at)))
    # Sorting is stable: rows with one index keep their order.
    return {key: [one for _, one in sorted(own, key=lambda pair: pair[0])] for key, own in numbered.items()}


def _comment(row: Node, reviewer: str, instance: str, at: int) -> Candidate:
    message = row.get("message").text("") if row.has("message") else ""
    severity = _LEVELS[row.get("severity").one_of(_LEVELS)] if row.has("severity") else None
    place = _place(row)
    first, last = place.lines or (1, 1)
    hit = row.get("is_hit_published").text("").lower()
    return words.candidate(
        "c-" + words.digest(reviewer, instance, str(at), place.path, f"{first}-{last}", length=12),
        message or f"a remark on lines {first} to {last} of {place.path}; its words are not published",
        place=place,
        level=severity,
        flags={"true": ("hit_published",), "false": ("miss_published",)}.get(hit, ()),
    )


def _scope(instances: Mapping[str, _Instance], commented: set[str]) -> list[str]:
    """The instances reviewers were asked about: where all comments are of the pilot, only the pilot."""
    pilot = [name for name, one in instances.items() if one.tags.get(PILOT) == "true"]
    return pilot if commented and commented <= set(pilot) else list(instances)


def _trials(scope: Sequence[str], comments: Mapping[tuple[str, str], list[Candidate]]) -> Iterator[BundleTrial]:
    reviewers = list(dict.fromkeys(reviewer for reviewer, _ in comments))
    for name in scope:
        for reviewer in reviewers:
            own = tuple(comments.get((reviewer, name), ()))
            status = TrialStatus.REVIEWED_FINDINGS if own else TrialStatus.REVIEWED_CLEAN
            reason = "" if own else _SILENT
            yield BundleTrial(PullId(name), ReviewerId(reviewer), status, reason=reason, candidates=own)


SWE = DocumentFormat("swe", gather, build, generate, looks)
