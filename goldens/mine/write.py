"""Drafts as a suite file that a person can read, put right and confirm."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

from goldens.dump import suite_yaml
from goldens.fields import printable
from goldens.mine.draft import DraftGolden, DraftPull, Mined
from goldens.model import AuthoredBy, Origin
from scoring.model import GoldenStatus

REASON = "mined, and confirmed by nobody"


def write_drafts(mined: Mined, path: Path, *, suite: str, title: str, licence: str, overwrite: bool = False) -> None:
    """Write the drafts as one suite file, whole or not at all.

    Raises:
        FileExistsError: `path` is there already, and `overwrite` was not asked for.
        ValueError: there is nothing to write.
        SuiteError: a draft is not what a suite file may say; nothing is written then.
    """
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} is there already; name a new file, or say that it may be replaced")
    data = draft_yaml(mined, suite=suite, title=title, licence=licence)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(scratch).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(scratch).unlink()
        raise


def draft_yaml(mined: Mined, *, suite: str, title: str, licence: str) -> bytes:
    """The suite file of some drafts, checked by the schema that will read it."""
    if not mined.drafts:
        raise ValueError("there are no drafts to write")
    value = {
        "suite": suite,
        "version": "0.0.1",
        "title": title,
        "licence": licence,
        "provenance": _provenance(mined),
        "pulls": [_pull(draft) for draft in mined.drafts],
    }
    return suite_yaml(value, f"{suite}.yaml")


def _provenance(mined: Mined) -> str:
    counts = ", ".join(f"{reason} {count}" for reason, count in mined.by_reason().items()) or "none"
    upstreams = ", ".join(dict.fromkeys(draft.upstream for draft in mined.drafts))
    notes = "".join(f" {note[0].upper()}{note[1:]}." for note in dict.fromkeys(mined.notes))
    return printable(
        f"Drafts mined from {upstreams}; nobody has confirmed them. Looked at {mined.considered}, kept "
        f"{len(mined.kept)}, discarded: {counts}.{notes}"[:4000]
    )


def _pull(draft: DraftPull) -> dict[str, Any]:
    return _without_nothing(
        {
            "id": draft.id,
            "language": draft.language,
            "title": printable(draft.title),
            "body": printable(draft.body),
            "source": {
                "upstream": draft.upstream,
                "number": draft.number,
                "base_sha": draft.base_sha,
                "head_sha": draft.head_sha,
            },
            "origin": Origin.REAL.value,
            "source_signal": draft.signal.value,
            "authored_by": AuthoredBy.HUMAN.value,
            "direction": draft.direction.value,
            "date": draft.date,
            "size": {"files": draft.size.files, "lines": draft.size.lines},
            "unverified": [*draft.unverified, "authored_by"],
            "goldens": [_golden(draft, golden, index) for index, golden in enumerate(draft.goldens, 1)],
        }
    )


def _golden(draft: DraftPull, golden: DraftGolden, index: int) -> dict[str, Any]:
    return _without_nothing(
        {
            "id": f"{draft.id}-{index}",
            "path": golden.path,
            "lines": list(golden.lines),
            "category": golden.category.value,
            "severity": golden.severity.value,
            "finding": printable(golden.finding),
            "evidence": printable(golden.evidence),
            "group": golden.group,
            "impact": golden.impact.value if golden.impact else None,
            "status": GoldenStatus.DRAFT.value,
            "reason": f"{REASON} ({printable(golden.source)})",
            "fix": golden.fix,
            "unverified": list(golden.unverified),
        }
    )


def _without_nothing(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
