"""Generated pull requests as a suite on disk: all of it, or nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from goldens.load import SUITE_FILE, load_suite
from goldens.model import Suite
from goldens.synth.generator import golden_pull
from goldens.synth.model import GeneratedPull, SynthError
from goldens.verify import Level, verify

LICENCE = "MIT"


def write_suite(pulls: Sequence[GeneratedPull], folder: Path, id: str, version: str, title: str = "") -> Suite:
    """Write a suite that can be loaded, and load it.

    The directory appears when it is whole, or not at all.

    Raises:
        SynthError: the directory exists, or there is nothing to write, or `verify` has an error to report.
        SuiteError: id or version cannot be used.
    """
    if not pulls:
        raise SynthError("there are no pull requests to write")
    if folder.exists():
        raise SynthError(f"{folder} exists; name a directory that does not")
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        _write(pulls, draft, id, version, title)
        errors = [finding for finding in verify(load_suite(draft)) if finding.level is Level.ERROR]
        if errors:
            raise SynthError("\n".join(map(str, errors)))
        draft.chmod(0o755)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return load_suite(folder)


def _write(pulls: Sequence[GeneratedPull], folder: Path, id: str, version: str, title: str) -> None:
    for pull in pulls:
        for side, tree in (("base", pull.base), ("head", pull.head)):
            for path, data in tree.items():
                target = folder / pull.id / side / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
    document = {
        "suite": id,
        "version": version,
        "title": title or f"{len(pulls)} generated pull requests",
        "licence": LICENCE,
        "provenance": "Generated from templates of this project. Each defect was put in by an operator that knows the "
        "syntax of the language; what an operator makes was read through by hand for every template.",
        "pulls": [_entry(pull) for pull in pulls],
    }
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    (folder / SUITE_FILE).write_bytes(text.encode())


def _entry(pull: GeneratedPull) -> dict[str, object]:
    whole = golden_pull(pull)
    entry: dict[str, object] = {
        "id": pull.id,
        "language": pull.language,
        "title": pull.title,
        "body": pull.body,
        "source": "files",
        "origin": whole.origin.value if whole.origin else None,
        "source_signal": whole.source_signal.value if whole.source_signal else None,
        "authored_by": whole.authored_by.value if whole.authored_by else None,
        "tags": dict(whole.tags),
    }
    entry = {name: value for name, value in entry.items() if value is not None}
    if not pull.goldens:
        return {**entry, "clean": True}
    goldens = []
    for golden in pull.goldens:
        place = golden.place
        written: dict[str, object] = {"id": str(golden.id)}
        if place is not None:
            written |= {"path": place.path} | ({"lines": list(place.lines)} if place.lines else {})
        written |= {"category": golden.category.value, "severity": golden.severity.value, "finding": golden.finding}
        goldens.append(written | ({"evidence": golden.evidence} if golden.evidence else {}))
    return {**entry, "goldens": goldens}
