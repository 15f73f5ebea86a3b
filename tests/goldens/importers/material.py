"""Where published material lies, and small made-up material in the same shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldens.importers import FORMATS
from goldens.importers.form import DocumentFormat
from scoring.bundle import Bundle
from tests.shared import SHARED

URL = "https://github.com/acme/widgets/pull/7"
ODD = "https://github.com/acme/widgets/commit/0f3c"


def data(*names: str) -> Path:
    """A path of the published data; the test is skipped aloud where it is missing."""
    path = SHARED.joinpath("data", *names)
    if not path.exists():
        pytest.skip(f"no {path}: the shared reference material is not here")
    return path


def form(name: str) -> DocumentFormat:
    found = FORMATS[name]
    assert isinstance(found, DocumentFormat)
    return found


def put(root: Path, files: dict[str, Any]) -> Path:
    """Write files; values that are no bytes are written as JSON."""
    for name, value in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return root


def contents(root: Path) -> dict[str, bytes]:
    return {one.relative_to(root).as_posix(): one.read_bytes() for one in sorted(root.rglob("*")) if one.is_file()}


def typed(bundle: Bundle) -> tuple[object, ...]:
    """What a bundle says, without where it came from."""
    judged = sorted(bundle.judgements, key=lambda one: one.judge)
    return bundle.suite, bundle.card, bundle.pulls, bundle.trials, judged, bundle.reviewers


def golden_file(*texts: str, url: str = URL) -> list[dict[str, Any]]:
    return [{"pr_title": "Widgets", "url": url, "comments": [{"comment": one, "severity": "High"} for one in texts]}]


def candidates(*texts: str, tool: str = "bot", url: str = URL) -> dict[str, Any]:
    return {url: {tool: [{"text": one, "path": None, "line": None, "source": "extracted"} for one in texts]}}


def evaluation(
    found: list[tuple[str, str, Any]], unmatched: list[str], missed: list[str], **more: Any
) -> dict[str, Any]:
    """An evaluation as the pipeline stores it: (golden, candidate, confidence), candidates, goldens."""
    hits = [
        {"golden_comment": g, "severity": "High", "matched_candidate": c, "confidence": n, "reasoning": "same"}
        for g, c, n in found
    ]
    total = more.pop("total_candidates", len({c for _, c, _ in found}) + len(unmatched))
    return {
        "skipped": False,
        "true_positives": hits,
        "false_positives": [{"candidate": one} for one in unmatched],
        "false_negatives": [{"golden_comment": one, "severity": "High"} for one in missed],
        "errors": [],
        "total_candidates": total,
        "total_golden": len(found) + len(missed),
        "tp": len(found),
        "fp": len(unmatched),
        "fn": len(missed),
        "errors_count": 0,
        "precision": len(found) / total if total else 0.0,
        "recall": len(found) / max(1, len(found) + len(missed)),
        "tool": "bot",
        **more,
    }


def martian(root: Path, goldens: list[str], said: list[str], one: dict[str, Any], **files: Any) -> Path:
    """A judge's folder with the golden comments one level up."""
    base: dict[str, Any] = {
        "golden_comments/acme.json": golden_file(*goldens),
        "judge/candidates.json": candidates(*said),
        "judge/evaluations.json": {URL: {"bot": one}},
    }
    put(root, base | {name.replace("__", "/") + ".json": value for name, value in files.items()})
    return root / "judge"


def log(*results: Any, **run: Any) -> dict[str, Any]:
    """A SARIF log with one run."""
    tool = {"driver": {"name": "Wart Finder", "rules": run.pop("rules", [])}}
    own = {"tool": tool, "results": list(results), **run}
    return {
        "version": "2.1.0",
        "runs": [{key: value for key, value in own.items() if (key, value) != ("results", None)}],
    }


def result(text: str = "a wart", path: str = "src/a.c", line: int = 3, **more: Any) -> dict[str, Any]:
    spot = {"artifactLocation": {"uri": path}, "region": {"startLine": line}}
    return {"ruleId": "W1", "message": {"text": text}, "locations": [{"physicalLocation": spot}], **more}
