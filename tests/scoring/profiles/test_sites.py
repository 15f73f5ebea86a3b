"""Matching by position: paths, boundaries, order, and the pilot of 20 instances end to end."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import sites
from scoring.sites import Assignment, Remark, Span
from tests.scoring.profiles.worlds import table

PATHS = {
    "a/src/x.py": "src/x.py",
    "b\\src\\x.py": "src/x.py",
    "./src/x.py": "src/x.py",
    " src/x.py ": "src/x.py",
    "a/./x.py": "x.py",
    "A/x.py": "A/x.py",
    "a/b/x.py": "b/x.py",
    "./a/x.py": "a/x.py",
    "a//x.py": "/x.py",
    "././x.py": "./x.py",
    "": "",
}


@pytest.mark.parametrize(("given_path", "normal"), PATHS.items())
def test_a_path_loses_one_prefix(given_path: str, normal: str) -> None:
    assert sites.normal_path(given_path) == normal


def test_no_path_is_the_empty_path() -> None:
    assert sites.normal_path(None) == ""


SITE = Span("x.py", (10, 12))
BOUNDARIES = [
    ((7, 7), 3, True),
    ((6, 6), 3, False),
    ((15, 15), 3, True),
    ((16, 16), 3, False),
    ((1, 40), 3, True),
    ((9, 9), 0, False),
    ((10, 10), 0, True),
    ((12, 20), 0, True),
    ((13, 13), 0, False),
]


@pytest.mark.parametrize(("lines", "tolerance", "hit"), BOUNDARIES)
def test_a_remark_hits_within_the_tolerance(lines: tuple[int, int], tolerance: int, hit: bool) -> None:
    assert sites.hits(Span("x.py", lines), SITE, tolerance) is hit
    assert sites.hits(Span("y.py", lines), SITE, tolerance) is False


def test_a_negative_tolerance_is_refused() -> None:
    with pytest.raises(ValueError, match="0 lines or more"):
        sites.hits(SITE, SITE, -1)


def test_a_remark_between_two_sites_is_counted_to_the_first_only() -> None:
    both = [Span("x.py", (10, 12)), Span("x.py", (14, 16))]
    remark = [Remark(Span("x.py", (13, 13)))]
    assert sites.score_instance(remark, both).sites_hit == {0}
    assert sites.score_instance(remark, both, assignment=Assignment.ALL).sites_hit == {0, 1}


def test_several_remarks_on_one_site_are_all_hits() -> None:
    found = sites.score_instance([Remark(SITE), Remark(SITE), Remark(Span("x.py", (90, 90)))], [SITE])
    assert (found.hit, found.false_positives, found.comments) == (True, 1, 3)


def test_precision_at_k_takes_the_worst_first_and_then_the_line() -> None:
    right, wrong = Span("x.py", (10, 10)), Span("x.py", (90, 90))
    remarks = [Remark(wrong, 1), Remark(right, 0), Remark(wrong, 2), Remark(right, 3)]
    found = sites.score_instance(remarks, [SITE])
    assert found.precision_at == {1: 1.0, 3: 1 / 3, 5: 0.5}
    same = [Remark(Span("x.py", (80, 80)), 1), Remark(right, 1)]
    assert sites.score_instance(same, [SITE]).precision_at[1] == 1.0
    assert sites.score_instance([], [SITE]).precision_at == {1: 0.0, 3: 0.0, 5: 0.0}


@pytest.mark.parametrize(
    ("span", "name"),
    [
        (Span("y.py", (10, 10)), "wrong_file"),
        (Span("x.py", (11, 30)), "d0"),
        (Span("x.py", (13, 13)), "d1-3"),
        (Span("x.py", (22, 22)), "d4-10"),
        (Span("x.py", (23, 23)), "d>10"),
        (Span("x.py", None), "invalid"),
        (Span("x.py", (9, 3)), "invalid"),
        (Span("x.py", (0, 3)), "invalid"),
    ],
)
def test_the_distance_of_a_remark(span: Span, name: str) -> None:
    assert sites.bucket(span, [SITE]) == name


def test_tests_are_told_by_folder_and_name_and_do_not_make_a_defect_multi_file() -> None:
    for path in ("tests/x.py", "a/Test/y.py", "lib/test_x.py", "lib/x_test.py", "conftest.py", "TESTING/z.c"):
        assert sites.is_test_file(path), path
    for path in ("lib/latest/x.py", "lib/contest.py", "testimony/x.py", "lib/test_x.js"):
        assert not sites.is_test_file(path), path
    assert not sites.multi_file(["a.py", "a.py", "tests/test_a.py"])
    assert sites.multi_file(["a.py", "b.py"])


spans = st.builds(
    lambda path, first, more: Span(path, (first, first + more)),
    st.sampled_from(["x.py", "y.py"]),
    st.integers(1, 40),
    st.integers(0, 10),
)


@given(st.lists(spans, max_size=6), st.lists(spans, max_size=4))
def test_a_wider_tolerance_never_loses_a_hit(remarks: list[Span], there: list[Span]) -> None:
    said = [Remark(one) for one in remarks]
    found = [sites.score_instance(said, there, tolerance) for tolerance in (0, 3, 10)]
    assert [sum(one.hits) for one in found] == sorted(sum(one.hits) for one in found)
    assert [one.hit for one in found] == sorted(one.hit for one in found)
    for one in found:
        assert one.false_positives + sum(one.hits) == len(remarks)
        assert len(one.sites_hit) <= min(sum(one.hits), len(there))


def test_a_sample_is_sorted_and_seeded() -> None:
    assert sites.sample_rows(50, 5, random.Random(1)) == sorted(random.Random(1).sample(range(50), 5))


# --- the pilot, from the raw tables


def pilot() -> tuple[dict[str, list[Span]], dict[str, dict[str, list[tuple[Remark, bool]]]]]:
    """Sites by instance, and by reviewer and instance each remark with whether the study counted it a hit."""
    ranks = {"high": 0, "medium": 1, "low": 2}
    there: dict[str, list[Span]] = defaultdict(list)
    for row in table("swe", "oracle_sites_n100.csv"):
        if row["in_pilot20"] == "True":
            there[row["instance_id"]].append(Span(row["file"], (int(row["line_start"]), int(row["line_end"]))))
    said: dict[str, dict[str, list[tuple[Remark, bool]]]] = defaultdict(lambda: defaultdict(list))
    for row in table("swe", "pilot20_comments.csv"):
        span = Span(row["file"], (int(row["line_start"]), int(row["line_end"])))
        remark = Remark(span, ranks.get(row["severity"], 3))
        said[row["reviewer"]][row["instance_id"]].append((remark, row["is_hit_published"] == "True"))
    return there, said


def test_every_comment_of_the_pilot_is_judged_as_the_study_judged_it() -> None:
    there, said = pilot()
    assert (len(there), sum(map(len, there.values()))) == (20, 32)
    compared = 0
    for own in said.values():
        for instance, remarks in own.items():
            found = sites.score_instance([remark for remark, _ in remarks], there[instance])
            assert list(found.hits) == [hit for _, hit in remarks]
            compared += len(remarks)
    assert compared == 321


def scored(own: dict[str, list[tuple[Remark, bool]]], there: dict[str, list[Span]], tolerance: int) -> sites.Sums:
    remarks: Sequence[list[Remark]] = [[remark for remark, _ in own.get(one, [])] for one in there]
    found = [sites.score_instance(said, there[one], tolerance) for said, one in zip(remarks, there, strict=True)]
    return sites.add_up(found, len(there), sum(map(len, there.values())))


def test_the_sums_of_the_pilot_are_reproduced() -> None:
    there, said = pilot()
    for row in table("swe", "pilot20_summary.csv"):
        sums = scored(said[row["reviewer"]], there, 3)
        assert sums.hit_rate == pytest.approx(float(row["instance_hit_rate"]), abs=1e-12)
        assert sums.site_recall == pytest.approx(float(row["site_recall"]), abs=1e-12)
        assert sums.false_positives_mean == pytest.approx(float(row["false_positives_per_instance_mean"]), abs=1e-12)
        assert sums.false_positives_median == float(row["false_positives_per_instance_median"])
        for k in (1, 3, 5):
            assert sums.precision_at[k] == pytest.approx(float(row[f"precision_at_{k}"]), abs=1e-12)


@pytest.mark.parametrize(
    ("tolerance", "hits"),
    [
        (0, {"claude-sonnet-4-5": 0, "gpt-4o-mini": 2, "static": 2}),
        (10, {"claude-sonnet-4-5": 1, "gpt-4o-mini": 4, "static": 5}),
    ],
)
def test_the_pilot_at_other_tolerances(tolerance: int, hits: dict[str, int]) -> None:
    there, said = pilot()
    assert {name: scored(own, there, tolerance).instance_hits for name, own in said.items()} == hits
