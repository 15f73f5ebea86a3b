"""What a model may have seen is never guessed: no date is unknown, and a day is a day."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldens.cutoffs import cutoff_of, each_once, exposures, later, read_cutoffs
from goldens.load import load_suite
from goldens.located import SuiteError
from goldens.model import Suite
from tests.goldens.written import YAML, write_suite

FILE = """\
cutoffs:
  - model: acme/coder-2
    cutoff: 2025-06-30
    source: https://models.example.com/coder-2
"""


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """Three pull requests: on the day, the day after, and without a date."""
    head, _, entry = YAML.partition("  - id: mean-price\n")
    parts = [head]
    for name, date in (("same-day", "2025-06-30"), ("next-day", "2025-07-01"), ("undated", "")):
        dated = f"    date: {date}\n" if date else ""
        parts.append(f"  - id: {name}\n{dated}" + entry.replace("id: divisor", f"id: {name}-divisor"))
        write_suite(tmp_path)
        (tmp_path / "mean-price").rename(tmp_path / name)
    (tmp_path / "suite.yaml").write_text("".join(parts), encoding="utf-8")
    return load_suite(tmp_path / "suite.yaml")


def test_the_day_of_the_cutoff_may_have_been_seen_and_no_date_is_not_unseen(suite: Suite) -> None:
    (seen,) = exposures(suite, [cutoff_of("acme/coder-2=2025-06-30")])
    assert (seen.pulls_before, seen.pulls_after, seen.pulls_unknown) == (1, 1, 1)
    assert (seen.goldens_before, seen.goldens_after, seen.goldens_unknown) == (1, 1, 1)
    assert "1 goldens may have been seen, 1 not, 1 have no date" in str(seen)


def test_a_part_has_a_hash_of_its_own_and_says_what_it_is_a_part_of(suite: Suite) -> None:
    part, told = later(suite, "2025-06-30")
    assert [pull.id for pull in part.pulls] == ["next-day"]
    assert part.ref.hash != suite.ref.hash and suite.ref.hash in part.provenance
    assert told == "1 of 3 pull requests are dated after 2025-06-30; 1 have no date"
    assert later(suite, "2025-06-29")[0].ref.hash not in (part.ref.hash, suite.ref.hash)
    with pytest.raises(SuiteError, match="nothing is left"):
        later(suite, "2025-07-01")


def test_cutoffs_come_from_a_file_with_their_source(tmp_path: Path) -> None:
    path = tmp_path / "cutoffs.yaml"
    path.write_text(FILE, encoding="utf-8")
    (one,) = read_cutoffs(path)
    assert (one.model, one.cutoff) == ("acme/coder-2", "2025-06-30")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FILE.replace("2025-06-30", "2025-06-31"), "3: cutoffs.0..cutoff: .*is not a day"),
        (FILE.replace("    source: https://models.example.com/coder-2\n", ""), "source: missing"),
        (FILE.replace("cutoff: 2025", "cutof: 2025"), "did you mean 'cutoff'"),
        (FILE + FILE.partition("\n")[2], "stands there twice"),
        ("cutoffs: []\n", "cutoffs"),
        ("a: &x [1]\ncutoffs: *x\n", "anchor"),
        ("", "empty"),
    ],
)
def test_a_file_that_is_wrong_is_told_with_its_line(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "cutoffs.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match=told):
        read_cutoffs(path)


@pytest.mark.parametrize("text", ["acme", "=2025-01-01", "acme=", "acme=2025-02-30", "acme=9999999999-01-01", ""])
def test_a_cutoff_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SuiteError, match="--cutoff"):
        cutoff_of(text)


def test_a_model_has_one_cutoff() -> None:
    with pytest.raises(SuiteError, match="twice"):
        each_once([cutoff_of("a=2025-01-01"), cutoff_of("a=2025-01-02")], "--cutoff")


@pytest.mark.parametrize("day", ["tomorrow", "2025-13-01", "2025-1-1", ""])
def test_a_day_that_is_none_is_refused(day: str, suite: Suite) -> None:
    with pytest.raises(SuiteError, match="--after"):
        later(suite, day)
