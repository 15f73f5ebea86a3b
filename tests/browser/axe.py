"""axe-core, the accessibility checker: fetched once as its pinned package, never part of the project."""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.conformance.packages import REQUIRED, Package, Unreachable, fetch

AXE = Package(
    "axe-core",
    "4.14.1",
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    "package/axe.min.js",
)
GRAVE = ("serious", "critical")
_RUN = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"], preload: false});
  return found.violations.map(one => ({
    id: one.id, impact: one.impact, help: one.help,
    nodes: one.nodes.slice(0, 4).map(node => node.html.slice(0, 200) + " | " + node.failureSummary.slice(0, 300)),
    count: one.nodes.length,
  }));
}"""


def source(cache: Path) -> str:
    """The checker. Without it the test is skipped aloud, or fails where it is required."""
    try:
        path = fetch(AXE, cache, shutil.which("npm"))
    except Unreachable as problem:
        told = f"the accessibility checker is missing: {problem}"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(told, pytrace=False)
        pytest.skip(told)
    with tarfile.open(path) as archive:
        member = archive.extractfile(AXE.member)
        assert member is not None
        return member.read().decode()


def grave(page: Page, checker: str) -> list[str]:
    """What is seriously wrong with a page, one line each."""
    page.evaluate(checker)
    found: list[dict[str, Any]] = page.evaluate(_RUN)
    return [
        f"{one['impact']} {one['id']} ({one['count']}x): {one['help']}: {' || '.join(one['nodes'])}"
        for one in found
        if one["impact"] in GRAVE
    ]
