"""Where the shared reference material is, for tests that read it. It never enters the repository."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("ASSAY_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def case(prefix: str) -> dict[str, Any]:
    """The case whose file name starts with `prefix`; the test is skipped aloud where the shared folder is missing."""
    found = sorted((SHARED / "cases").glob(f"{prefix}*.json"))
    if not found:
        pytest.skip(f"no case {prefix} under {SHARED / 'cases'}: the shared reference material is not here")
    loaded: dict[str, Any] = json.loads(found[0].read_text(encoding="utf-8"))
    return loaded


def case_file(name: str) -> bytes:
    """The bytes of a file that a case names."""
    return (SHARED / "cases" / name).read_bytes()
