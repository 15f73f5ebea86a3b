"""Bundles from a disk: whose answers are counted, what does not fit together, several as one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.analysis.opening import judging, open_against, open_bundle, open_scored, under
from bot.analysis.pooling import misfit, pool
from bot.analysis.problems import Unusable
from scoring.bundle import Bundle, BundleError
from scoring.judges.lexical import LexicalJudge
from scoring.model import GoldenId, SuiteRef, TrialStatus
from scoring.profiles import replay
from scoring.records import dumps
from tests.bot.analysis.evidence import bundle, live_bundle, put, unrun


def test_one_stored_judge_is_the_default_and_several_have_none() -> None:
    assert under(bundle(), "assay", None).judge == "careful"
    both = bundle(judges=("careful", "hasty"))
    assert under(both, "assay", "hasty").judge == "hasty"
    with pytest.raises(Unusable, match=r"name one of careful, hasty \(--judge NAME\)"):
        under(both, "assay", None)


def test_an_unknown_judge_is_named_with_those_there_are() -> None:
    with pytest.raises(Unusable, match=r"no judge 'carefull'; there is: careful, lexical. Did you mean careful\?"):
        under(bundle(), "assay", "carefull")


def test_the_lexical_judge_is_asked_now_only_where_nobody_of_that_name_answered() -> None:
    assert isinstance(judging(bundle(), "lexical"), LexicalJudge)
    assert judging(bundle(judges=("lexical",)), "lexical") == "lexical"


def test_a_bundle_without_answers_names_the_judge_that_needs_no_model() -> None:
    with pytest.raises(Unusable, match="--judge lexical"):
        under(replace(bundle(), judgements=()), "assay", None)
    assert under(replace(bundle(), judgements=()), "swe", None).judge == "position only"


def test_a_live_run_is_judged_as_its_plan_asked() -> None:
    run = replace(live_bundle(), judgements=())
    again = under(run, "assay", None).report
    assert again is not None
    assert dumps(again) == dumps(replace(replay.report(run, LexicalJudge()), versions=again.versions))
    assert "assay" in again.versions


def test_one_of_two_judges_is_asked_only_for_the_claims_it_was_given() -> None:
    """A claim that another judge's pipeline took from a comment is no failure of this one."""
    made = bundle({"dull": (5, 2)}, judges=("careful", "hasty"))
    few = {
        f"{one.pull}|{one.reviewer}": [str(c.id) for c in one.candidates or () if c.id != "alarm0"]
        for one in made.trials
    }
    hasty = replace(
        made.judgements[1],
        details={"candidates": few},
        trials=tuple(
            replace(one, judgements=tuple(j for j in one.judgements if j.candidate != "alarm0"))
            for one in made.judgements[1].trials
        ),
    )
    both = replace(made, judgements=(made.judgements[0], hasty))
    full, part = (under(both, "assay", name).reviewers[0].counts for name in ("careful", "hasty"))
    assert (full.fp, part.fp) == (16, 8)
    assert (full.unscored, part.unscored) == (0, 0)


def test_counts_without_claims_are_no_silence(tmp_path: Path) -> None:
    """A source that published only sums has nothing to count again: that is no reviewer that found nothing."""
    made = bundle({"dull": (5, 2)})
    keys = [f"{one.pull}|{one.reviewer}" for one in made.trials]
    silent = replace(
        made,
        trials=tuple(replace(one, candidates=(), comments=()) for one in made.trials),
        judgements=(
            replace(
                made.judgements[0],
                trials=tuple(replace(one, judgements=()) for one in made.judgements[0].trials),
                details={"counts_only": keys},
            ),
        ),
    )
    row = under(silent, "assay", None).reviewers[0]
    assert (row.coverage.scored, row.f1.value, row.counts.fn) == (0, None, 0)
    other = replace(bundle({"sharp": (10, 0)}), suite=SuiteRef("other", "1", "d" * 64))
    pooled = pool([("silent", silent), ("other", other)])
    assert {one.reviewer: one.coverage.scored for one in under(pooled, "assay", None).reviewers} == {
        "dull": 0,
        "sharp": 8,
    }


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda b: replace(b, trials=(*b.trials, b.trials[0])), "is there twice"),
        (lambda b: replace(b, pulls=(*b.pulls, b.pulls[0])), "is there twice"),
        (lambda b: replace(b, pulls=b.pulls[1:]), "which is not in pulls.json"),
        (lambda b: replace(b, trials=b.trials[1:]), "there is no such trial"),
        (lambda b: _answer(b, golden=GoldenId("ghost")), "golden ghost"),
        (lambda b: _answer(b, candidate="ghost"), "claim ghost"),
        (lambda b: _group(b, ("alarm0", "ghost")), "claim ghost"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_named(spoil, said: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    spoilt = spoil(bundle({"dull": (5, 1)}))
    assert said in (misfit(spoilt) or "")
    with pytest.raises(Unusable, match=said):
        open_bundle(put(spoilt, tmp_path / "b"))


def _answer(made: Bundle, **change: object) -> Bundle:
    judged = made.judgements[0]
    first = next(one for one in judged.trials if one.judgements)
    wrong = replace(first.judgements[0], **change)  # type: ignore[arg-type]
    trials = tuple(replace(one, judgements=(wrong,)) if one is first else one for one in judged.trials)
    return replace(made, judgements=(replace(judged, trials=trials),))


def _group(made: Bundle, group: tuple[str, ...]) -> Bundle:
    judged = made.judgements[0]
    trials = (replace(judged.trials[0], groups=(group,)), *judged.trials[1:])
    return replace(made, judgements=(replace(judged, trials=trials),))


def test_a_sound_bundle_has_no_misfit() -> None:
    assert misfit(bundle()) is None
    assert misfit(live_bundle()) is None


def test_an_error_of_a_part_is_one_line_with_its_name(tmp_path: Path) -> None:
    folder = put(bundle(), tmp_path / "b")
    trials = json.loads((folder / "trials.json").read_text())
    trials[0]["status"] = "asleep"
    (folder / "trials.json").write_text(json.dumps(trials))
    with pytest.raises(BundleError, match=r"trials.json: differs") as caught:
        open_bundle(folder)
    assert "\n" not in str(caught.value)


def test_bundles_of_one_suite_share_its_pull_requests(tmp_path: Path) -> None:
    parts = [put(bundle({name: share}), tmp_path / name) for name, share in {"a": (10, 0), "b": (2, 1)}.items()]
    scored = open_scored(parts, None)
    assert scored.trials.reviewers == ("a", "b")
    assert len(scored.trials.pulls) == 8
    together = open_scored([put(bundle({"a": (10, 0), "b": (2, 1)}), tmp_path / "ab")], None)
    assert scored.report.reviewers == together.report.reviewers


def test_bundles_of_other_suites_keep_their_pull_requests_apart(tmp_path: Path) -> None:
    other = replace(bundle(), suite=SuiteRef("other", "2", "f" * 64))
    scored = open_scored([put(bundle(), tmp_path / "one"), put(other, tmp_path / "two")], None)
    assert len(scored.trials.pulls) == 16
    assert {pull.split("/")[0] for pull in scored.trials.pulls} == {"smoke", "other"}
    alone = {row.reviewer: row.counts for row in open_scored([tmp_path / "one"], None).report.reviewers}
    assert {row.reviewer: row.counts for row in scored.report.reviewers} == {
        name: counts + counts for name, counts in alone.items()
    }
    newer = replace(bundle(), suite=SuiteRef("smoke", "2", "e" * 64))
    assert len(pool([("one", bundle()), ("newer", newer)]).pulls) == 16


def test_a_repeat_is_no_second_pull_request(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match=r"has a trial on .* in one and in two: repeats"):
        pool([("one", bundle()), ("two", bundle())])


def test_rows_of_different_judges_are_never_put_into_one_table(tmp_path: Path) -> None:
    one, two = bundle({"a": (5, 1)}, judges=("careful",)), bundle({"b": (5, 1)}, judges=("hasty",))
    with pytest.raises(Unusable, match=r"no judge in common \(one: careful; two: hasty\)"):
        pool([("one", one), ("two", two)])
    paths = [put(one, tmp_path / "one"), put(two, tmp_path / "two")]
    assert open_scored(paths, "lexical").report.judge.startswith("lexical")


def test_two_releases_of_one_bot_are_compared_across_bundles(tmp_path: Path) -> None:
    new, old = put(bundle({"bot": (10, 0)}), tmp_path / "new"), put(bundle({"bot": (2, 2)}), tmp_path / "old")
    scored, label = open_against(new, "bot", old, "bot", None)
    assert label == "bot@old"
    assert [(row.reviewer, row.counts.tp) for row in scored.report.reviewers] == [("bot", 12), ("bot@old", 3)]
    strange = replace(bundle({"bot": (2, 2)}), suite=SuiteRef("smoke", "1", "0" * 64))
    with pytest.raises(Unusable, match="share no goldens"):
        open_against(new, "bot", put(strange, tmp_path / "strange"), "bot", None)
    with pytest.raises(Unusable, match=r"no reviewer 'bott'.*Did you mean bot\?"):
        open_against(new, "bott", old, "bot", None)


def test_a_reviewer_that_did_not_run_is_in_the_bundle_and_not_scored(tmp_path: Path) -> None:
    scored = open_scored([put(unrun(bundle(), "dull", TrialStatus.RATE_LIMITED), tmp_path / "b")], None)
    row = next(row for row in scored.report.reviewers if row.reviewer == "dull")
    assert (row.coverage.scored, row.f1.value) == (0, None)
