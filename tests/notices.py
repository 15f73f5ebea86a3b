"""Writes THIRD_PARTY_NOTICES.md from the lock and the installed packages: `python -m tests.notices`."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = """# Third-party notices

Assay is installed together with these packages. None of their code is in this repository; each comes with its own
licence text when it is installed. Made by `python -m tests.notices` from `requirements.lock`.

| package | version | licence |
|---|---|---|
"""
FACTS = """
## Facts of other projects

- Suite `cpp16`: pull request numbers, commits and places of the defects are facts of CloudAEye's C/C++ benchmark
  (MIT licence). Titles, bodies, findings and evidence are in our own words.
- Suite `recognition27`: the list of kinds of issue follows the CodeVetter public benchmark (CC0). Code and findings are
  ours.
- `scoring/judges/lexical_model.json`: a few coefficients fitted on published judgements of withmartian's
  code-review-benchmark (MIT licence); no text of it is in this repository.
"""


def licence(name: str) -> str:
    """What the package's own metadata says its licence is."""
    try:
        data = metadata.metadata(name).json
    except metadata.PackageNotFoundError:
        return "not installed on this platform"
    classified = [c.rpartition(" :: ")[2] for c in data.get("classifier", []) if c.startswith("License ::")]
    text = data.get("license_expression") or ", ".join(classified) or data.get("license") or "see the package"
    return " ".join(str(text).split())[:80]


def table() -> str:
    """The rows, in the lock's order."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = re.findall(r"^([a-z0-9][a-z0-9._-]*)(?:\[[a-z, ]+\])?==([^ \\;]+)", lock, re.MULTILINE)
    rows = [f"| {name} | {version} | {licence(name)} |" for name, version in dict(pins).items()]
    return HEAD + "\n".join(rows) + "\n" + FACTS


if __name__ == "__main__":
    (ROOT / "THIRD_PARTY_NOTICES.md").write_text(table(), encoding="utf-8")
    sys.stdout.write("THIRD_PARTY_NOTICES.md written\n")
