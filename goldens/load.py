"""Finding suites and reading them, with the trees that ship beside them."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from goldens.located import Document, Loc, Problem, SuiteError, did_you_mean
from goldens.model import Audit, Direction, GitPin, GoldenPull, Suite, TreeFiles
from goldens.schema import AuditEntry, GoldenEntry, Pin, PullEntry, parse_suite, safe_path
from goldens.trees import Size, changes, resolve, split_lines
from scoring.model import Golden, GoldenId, GoldenStatus, Place, PullId, Side, SuiteRef

SUITE_FILE = "suite.yaml"
IGNORED = frozenset({"__pycache__", ".DS_Store"})
"""Names that installers and file managers leave behind: never part of a tree, or hashes would differ by machine."""
MOST_BYTES = 256 * 1024 * 1024
"""Of one tree whose files ship with a suite."""


def _packaged() -> Path:
    return Path(str(files("goldens").joinpath("suites")))


def suite_names() -> tuple[str, ...]:
    """The suites that ship with the package."""
    return tuple(sorted(path.parent.name for path in _packaged().glob(f"*/{SUITE_FILE}")))


def is_packaged(path: Path) -> bool:
    """Whether a file belongs to the suites that ship with the package."""
    return path.resolve().is_relative_to(_packaged().resolve())


def load_suite(which: str | Path) -> Suite:
    """Read a suite.

    Args:
        which: text is the name of a packaged suite and nothing else, so that a name from an issue cannot reach other
            files; a `Path` is a suite file, or the directory of one.

    Raises:
        SuiteError: there is no such suite, or it has problems; the message lists every one.
    """
    if isinstance(which, Path):
        return _read(which / SUITE_FILE if which.is_dir() else which)
    names = suite_names()
    if which not in names:
        what = f"no suite {which[:80]!r}"
        raise SuiteError([Problem(SUITE_FILE, 1, "suite", what, names, did_you_mean(which, names))])
    return _read(_packaged() / which / SUITE_FILE)


@lru_cache(maxsize=16)
def shipped_suite(name: str) -> Suite:
    """A suite that ships, which changes only with the code: reading one takes seconds, and every fork needs it.

    Raises:
        SuiteError: there is none of that name.
    """
    return load_suite(name)


def _read(path: Path) -> Suite:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SuiteError([Problem(str(path), 1, "", f"cannot be read: {error.strerror}")]) from None
    return _suite(data, path, path.parent)


def suite_from_text(data: bytes, name: str) -> Suite:
    """Read a suite that is one file and nothing beside it: all its code comes from pinned commits.

    Args:
        data: the file.
        name: what problems call it.

    Raises:
        SuiteError: it has problems; the message lists every one.
    """
    return _suite(data, Path(name), None)


def _suite(data: bytes, path: Path, beside: Path | None) -> Suite:
    entry, document = parse_suite(data, str(path))
    problems: list[Problem] = []
    pulls = tuple(_pull(document, beside, index, pull, problems) for index, pull in enumerate(entry.pulls))
    if problems:
        raise SuiteError(problems)
    waiting = tuple(pull for pull, told in zip(pulls, entry.pulls, strict=True) if told.left_out)
    known = tuple(pull for pull, told in zip(pulls, entry.pulls, strict=True) if not told.left_out)
    ref = SuiteRef(entry.suite, entry.version, content_hash(known))
    return Suite(ref, entry.title, entry.licence, known, path, entry.provenance, waiting)


def _pull(document: Document, beside: Path | None, index: int, entry: PullEntry, problems: list[Problem]) -> GoldenPull:
    source: GitPin | tuple[TreeFiles, TreeFiles]
    if isinstance(entry.source, Pin):
        pin = entry.source
        source = GitPin(pin.upstream, pin.number, pin.base_sha, pin.head_sha, entry.direction)
    elif beside is None:
        what = (
            "there are no files beside this suite; write where the commits are: {upstream, number, base_sha, head_sha}"
        )
        problems.append(document.problem(("pulls", index, "source"), what))
        source = TreeFiles({}), TreeFiles({})
    else:
        found: list[Problem] = []
        base, head = (_tree(document, index, beside / entry.id / side, found) for side in ("base", "head"))
        source = base, head
        problems += found or _misplaced(document, index, entry, base, head)
    size = Size(entry.size.files, entry.size.lines) if entry.size else None
    return GoldenPull(
        id=PullId(entry.id),
        language=entry.language,
        title=entry.title,
        body=entry.body,
        goldens=tuple(_golden(golden) for golden in entry.goldens if golden.scored),
        source=source,
        retired=tuple(_golden(golden) for golden in entry.goldens if golden.status is GoldenStatus.RETIRED),
        drafts=tuple(_golden(golden) for golden in entry.goldens if golden.status is GoldenStatus.DRAFT),
        audits={GoldenId(golden.id): _audit(golden.audit) for golden in entry.goldens if golden.audit},
        origin=entry.origin,
        source_signal=entry.source_signal,
        authored_by=entry.authored_by,
        direction=entry.direction,
        date=entry.date or "",
        tags=dict(entry.tags),
        confirmed_by=entry.confirmed_by,
        unverified=entry.unverified,
        declared_size=size,
    )


def _audit(entry: AuditEntry) -> Audit:
    return Audit(entry.verdict, entry.drafted_by, entry.confirmed_by)


def _golden(entry: GoldenEntry) -> Golden:
    place = Place(entry.path, entry.lines, entry.side) if entry.path is not None else None
    evidence = entry.evidence.strip("\n")
    return Golden(
        id=GoldenId(entry.id),
        finding=entry.finding,
        category=entry.category,
        severity=entry.severity,
        place=place,
        evidence=evidence,
        group=entry.group,
        impact=entry.impact,
        discoverability=entry.discoverability,
        status=entry.status,
        reason=entry.reason.strip(),
        label=entry.label or "",
        fix=entry.fix.strip(),
        unverified=entry.unverified,
    )


def _tree(document: Document, index: int, root: Path, problems: list[Problem]) -> TreeFiles:
    """Every regular file below `root`, by its path in the tree."""
    loc = ("pulls", index, "source")
    # A link could show a reviewer what is not part of the suite, and put it into a fork.
    if link := next((one for one in (root.parent, root) if one.is_symlink()), None):
        problems.append(document.problem(loc, f"{link.name} is a symbolic link; a suite holds its files itself"))
        return TreeFiles({})
    if not root.is_dir():
        problems.append(document.problem(loc, f"no directory {root.parent.name}/{root.name} beside the suite file"))
        return TreeFiles({})
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if not IGNORED.isdisjoint(inside.parts):
            continue
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            problems.append(document.problem(loc, f"{root.name}/{inside.as_posix()} is not a regular file"))
        elif path.is_file() and (left := left - path.stat().st_size) < 0:
            problems.append(document.problem(loc, f"{root.name} holds more than {MOST_BYTES} bytes"))
            return TreeFiles({})
        elif path.is_file():
            found[unicodedata.normalize("NFC", inside.as_posix())] = path.read_bytes()
    problems.extend(_unusable(document, loc, root.name, found))
    return TreeFiles(dict(sorted(found.items())))


def _unusable(document: Document, loc: Loc, root: str, found: Mapping[str, bytes]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for path in found:
        try:
            safe_path(path)
        except ValueError as error:
            yield document.problem(loc, f"{root}: {error}")
        if path.lower() in seen:
            yield document.problem(loc, f"{root}: {seen[path.lower()]} and {path} are one file where case is ignored")
        seen.setdefault(path.lower(), path)


def _misplaced(document: Document, index: int, entry: PullEntry, base: TreeFiles, head: TreeFiles) -> Iterator[Problem]:
    """Goldens whose file or lines do not exist on their side."""
    diff = changes(base.files, head.files)
    for number, golden in enumerate(entry.goldens):
        if golden.path is None:
            continue
        side, tree = ("base", base) if golden.side is Side.LEFT else ("head", head)
        path, loc = resolve(Place(golden.path, side=golden.side), diff).path, ("pulls", index, "goldens", number)
        if path not in tree.files:
            what = f"no file {golden.path!r} in the {side} tree"
            yield document.problem((*loc, "path"), what, sorted(tree.files), golden.path)
        elif golden.lines and golden.lines[1] > (length := len(split_lines(tree.files[path]))):
            what = f"line {golden.lines[1]} is beyond the end of {path} in the {side} tree ({length} lines)"
            yield document.problem((*loc, "lines"), what)


def content_hash(pulls: tuple[GoldenPull, ...]) -> str:
    """SHA-256 in hex over every scored golden, text, stratum and tree; the order of entries and files is not in it."""
    record = sorted((_pull_record(pull) for pull in pulls), key=lambda pull: str(pull["id"]))
    text = json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _pull_record(pull: GoldenPull) -> dict[str, object]:
    strata: dict[str, object] = {
        "origin": pull.origin,
        "source_signal": pull.source_signal,
        "authored_by": pull.authored_by,
        "direction": None if pull.direction is Direction.AS_PUBLISHED else pull.direction,
        "date": pull.date,
        "tags": dict(pull.tags),
    }
    return _said(strata) | {
        "id": pull.id,
        "language": pull.language,
        "title": pull.title,
        "body": pull.body,
        "goldens": sorted((_golden_record(golden) for golden in pull.goldens), key=lambda golden: str(golden["id"])),
        "source": _source_record(pull.source),
    }


def _said(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields that say something: a suite that leaves them out keeps the hash it had before they existed."""
    return {name: value for name, value in fields.items() if value}


def _golden_record(golden: Golden) -> dict[str, object]:
    place = golden.place
    strata = {
        "impact": golden.impact,
        "discoverability": golden.discoverability,
        "status": None if golden.status is GoldenStatus.LIVE else golden.status,
        "label": golden.label,
    }
    return _said(strata) | {
        "id": golden.id,
        "path": place.path if place else None,
        "lines": place.lines if place else None,
        "side": place.side if place else None,
        "category": golden.category,
        "severity": golden.severity,
        "finding": golden.finding,
        "evidence": golden.evidence,
        "group": golden.group,
    }


def _source_record(source: GitPin | tuple[TreeFiles, TreeFiles]) -> dict[str, object]:
    if isinstance(source, GitPin):
        # Not the upstream's name: a mirror or a renamed repository holds the same commits.
        return {"base": source.base_sha, "head": source.head_sha}
    base, head = source
    return {"base": _tree_record(base), "head": _tree_record(head)}


def _tree_record(tree: TreeFiles) -> dict[str, str]:
    return {path: hashlib.sha256(data).hexdigest() for path, data in tree.files.items()}
