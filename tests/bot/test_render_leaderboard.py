"""The leaderboard: its words, its order, its doubts, its limits."""

from __future__ import annotations

import dataclasses

from bot.model import Publish
from bot.render import LIMITS, leaderboard_comment, terms_notice
from bot.render.figures import Footnotes, coverage, figure, judge_label, not_separated, quiet, ranked
from bot.render.leaderboard import Links
from scoring.model import Counts, Coverage, Estimate, PullId, ReviewerId, TrialScore, TrialStatus
from tests.bot.render_world import REF, RUN, alive, assert_snapshot, read, report, row, surface, trial

ACME = ReviewerId("acme")
LINKS: Links = {
    PullId("injection"): "https://github.com/acme-bench/tidy-harbour/pull/1/checks",
    (PullId("injection"), ACME): "https://github.com/acme-bench/tidy-harbour/runs/11",
    (PullId("clean"), ReviewerId("zeta")): "https://github.com/acme-bench/calm-meadow/runs/12",
}


def comment(**changes: object) -> str:
    """The comment of the example report, or of one that differs in some field."""
    changed = dataclasses.replace(report(), **changes)  # type: ignore[arg-type]
    return leaderboard_comment(changed, run=RUN, links=LINKS, surface=surface(), report_url=REF.url)


def test_the_whole_comment() -> None:
    assert_snapshot("render_leaderboard.md", comment())


def test_every_row_of_the_tables_has_all_its_cells() -> None:
    page = read(comment())
    tags = [tag for tag, _ in page.tags]
    assert (tags.count("td"), tags.count("th")) == (3 * 15 + 2 * 4, 15 + 4)
    assert alive(page) == []


def test_a_cell_says_in_words_what_its_signs_mean() -> None:
    titles = [attrs["title"] for tag, attrs in read(comment()).tags if tag == "a" and "title" in attrs]
    assert titles == ["found: 1, missed: 1, false alarms: 1, claims unscored: 1"]


def test_a_reviewer_that_was_never_measured_has_dashes_and_a_reason_not_zeros() -> None:
    line = next(line for line in comment().splitlines() if "| Zeta |" in line)
    assert line.startswith("| \N{EN DASH} | Zeta | \N{EN DASH}<sup>2</sup> |")
    assert "| 0 |" not in line
    assert "| 0 of 2 | 1 skipped<br>1 rate limited |" in line
    assert "- <sup>2</sup> no trial was scored" in comment()


def test_sound_claims_that_nobody_was_asked_about_are_not_zero() -> None:
    asked, unasked = report().reviewers[1], report().reviewers[2]
    said = comment(reviewers=(dataclasses.replace(asked, valid_judged=True), unasked)).splitlines()
    cells = {name: next(line for line in said if f"| {name} |" in line).split("|") for name in ("Acme", "Omega")}
    assert cells["Acme"][10].strip() == "0"
    assert cells["Omega"][10].strip() == "\N{EN DASH}<sup>1</sup>"
    assert "- <sup>1</sup> not judged: nobody was asked which claims are sound" in "\n".join(said)


def test_only_overlapping_intervals_are_called_unseparated() -> None:
    far = (row("acme", (0.9, 0.8, 0.95), Counts(), {}, 1), row("omega", (0.3, 0.2, 0.4), Counts(), {}, 1))
    assert "overlap" not in comment(reviewers=far)
    near = (*far, row("zeta", (0.85, 0.4, 0.9), Counts(), {}, 1))
    said = comment(reviewers=near)
    assert "- F1 intervals overlap: this run does not separate Acme from Zeta." in said
    assert "- F1 intervals overlap: this run does not separate Zeta from Omega." in said


def test_one_reviewer_may_be_unseparated_from_several() -> None:
    rows = tuple(row(name, (0.5 - n / 100, 0.1, 0.9), Counts(), {}, 1) for n, name in enumerate("abc"))
    pairs = not_separated(ranked(rows))
    assert [(upper.reviewer, [r.reviewer for r in lowers]) for upper, lowers in pairs] == [
        ("a", ["b", "c"]),
        ("b", ["c"]),
    ]
    assert "does not separate a from b or c." in comment(reviewers=rows)


def test_equal_values_share_a_place_and_the_next_place_is_skipped() -> None:
    rows = tuple(row(name, (value, 0, 1), Counts(), {}, 1) for name, value in (("a", 0.5), ("b", 0.7), ("c", 0.7)))
    unknown = row("d", None, Counts(), {}, 0)
    assert [(entry.place, entry.row.reviewer) for entry in ranked((unknown, *rows))] == [
        (1, "b"),
        (1, "c"),
        (3, "a"),
        (None, "d"),
    ]
    assert ranked((*rows, unknown)) == ranked((unknown, *reversed(rows)))


def test_coverage_names_what_became_of_the_rest() -> None:
    statuses = {"timeout": 1, "reviewed_clean": 3, "skipped": 2, "reviewed_findings": 3, "error": 0}
    assert (
        coverage(Coverage(9, 5, statuses), incomplete=1) == "5 of 9 · 2 skipped · 1 timeout · 1 reviewed but not scored"
    )
    assert coverage(Coverage(2, 2, {"reviewed_clean": 2}), incomplete=0) == "2 of 2"


def test_a_zero_is_a_figure_and_a_missing_interval_is_explained() -> None:
    notes = Footnotes()
    assert figure(Estimate(0.0, 0.0, 0.6, 3), notes) == ("0.00 [0.00\N{EN DASH}0.60]", None)
    assert figure(Estimate(0.5, None, None, 1, "one pull request"), notes) == ("0.50", 1)
    assert figure(Estimate(None, None, None, 0, "no claims"), notes) == ("\N{EN DASH}", 2)
    assert figure(Estimate(None, None, None, 0, "one pull request"), notes) == ("\N{EN DASH}", 1)
    assert notes.items() == ((1, "one pull request"), (2, "no claims"))


def test_quiet_on_no_clean_pull_request_is_undefined() -> None:
    assert quiet(row("a", None, Counts(), {}, 0)) == "\N{EN DASH}"
    assert quiet(row("a", (0.5, 0, 1), Counts(), {}, 1)) == "1/1"


def test_a_judge_that_only_compares_words_is_a_preview() -> None:
    assert judge_label("lexical") == "lexical (preview)"
    assert judge_label("llm:some/model") == "llm:some/model"


def test_what_it_does_not_prove_is_always_there_and_notes_are_quoted() -> None:
    said = comment(notes=("see @octocat | #1",))
    assert all(f"- {limit}" in said for limit in LIMITS)
    assert "- see `@octocat `<code>&#124;</code>` #1`" in said


def test_valid_claims_on_a_clean_pull_request_are_not_silence() -> None:
    only_valid = TrialScore(trial("acme", TrialStatus.REVIEWED_FINDINGS, ()), counts=Counts(valid=2), scored=True)
    assert "| `clean` | ~2 | not planned | not planned |" in comment(trials=(only_valid,))


def test_thousands_of_pull_requests_still_fit_a_comment() -> None:
    one = report().trials[0]
    trials = tuple(
        dataclasses.replace(one, trial=dataclasses.replace(one.trial, pull=PullId(f"pull-🐇-{n}"))) for n in range(4000)
    )
    said = comment(trials=trials)
    assert len(said.encode()) <= 60_000
    head, _, note = said.rpartition("\n\n")
    assert head.splitlines()[-1].startswith("| `pull-🐇-")
    assert head.splitlines()[-1].endswith(" |")
    assert note == f"_Cut, full report: {REF.url}_"


def test_a_wholly_private_result_shows_no_row_in_public() -> None:
    here = surface(public=True, modes={"acme": Publish.PRIVATE})
    said = leaderboard_comment(report(), run=RUN, links=LINKS, surface=here, report_url=None)
    assert "Private and not shown: 3." in said
    assert "acme" not in said.lower()
    assert "tidy-harbour" not in said


def test_what_earlier_judges_made_of_it_stands_beside_the_newest() -> None:
    rows = tuple(
        dataclasses.replace(r, f1=Estimate(0.9, 0.5, 1.0, 4)) for r in report().reviewers if r.reviewer != "zeta"
    )
    earlier = dataclasses.replace(report(), judge="litellm:acme/model-1", reviewers=rows)
    here = surface(public=True, modes={"acme": Publish.NAMED, "omega": Publish.ANONYMOUS})
    said = leaderboard_comment(report(), run=RUN, links={}, surface=here, report_url=None, earlier=(earlier,))
    table = said.partition("#### F1 by judge")[2].partition("####")[0]
    assert "| reviewer | lexical (preview) | `litellm:acme/model-1` |" in table
    figures = table.replace("\N{EN DASH}", "-")
    assert "| Acme | 0.50 [0.20-0.80] | 0.90 [0.50-1.00] |" in figures
    assert "| Tool B | 0.33 [0.06-0.79] | 0.90 [0.50-1.00] |" in figures
    assert "zeta" not in said.lower()
    assert "omega" not in said.lower()
    assert "F1 by judge" not in comment()


def test_terms_are_shown_before_anybody_publishes() -> None:
    assert terms_notice([("Acme", "no comparisons")], surface()).endswith("\n\n- Acme: no comparisons")
    assert "\n" not in terms_notice([], surface())
