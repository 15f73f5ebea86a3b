"""The page of reproduced tables says what the tests show."""

from __future__ import annotations

import re
from pathlib import Path

from tests.scoring.profiles.worlds import parsed

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")


def cells(heading: str) -> dict[str, list[str]]:
    """The rows of the first table of reviewers after a heading, by reviewer."""
    after = PAGE.split(f"\n## {heading}", 1)[1].split("| reviewer |", 1)[1].split("\n\n", 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in after.splitlines()[2:]]
    return {row[0]: row[1:] for row in rows}


def test_every_test_that_the_page_names_is_there() -> None:
    named = re.findall(r"(tests/[\w/]+\.py)(?:::(\w+))?", PAGE)
    assert len(named) > 20
    for file, test in named:
        source = (ROOT / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in source, f"{file}::{test}"


def test_the_table_of_martian_is_the_published_one() -> None:
    expected = parsed("martian", "expected_totals.json")
    opus, sonnet = (expected[judge] for judge in sorted(expected))
    found = cells("martian")
    assert set(found) == set(opus)
    for reviewer, shown in found.items():
        wanted = [f"{one['tp']} / {one['fp']} / {one['fn']}" for one in (opus[reviewer], sonnet[reviewer])]
        assert shown == wanted


def test_the_table_of_cpp16_is_the_published_one() -> None:
    totals = parsed("cpp16", "judge_totals.json")["totals"]
    judges = ["anthropic_claude-sonnet-4-5-20250929", "anthropic_claude-opus-4-5-20251101", "openai_gpt-5.2"]
    found = cells("cpp16")
    assert set(found) == set(totals[judges[0]])
    for reviewer, shown in found.items():
        own = [totals[judge][reviewer] for judge in judges]
        assert shown == [f"{one['tp']} / {one['fp']} / {one['fn']}, {one['f1']}" for one in own]
