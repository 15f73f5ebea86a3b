"""What all profiles have in common: the record, the choice of a judge, the options, and our own among them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator

from goldens.importers import FORMATS
from scoring import records
from scoring.bundle import Bundle, BundleReviewer, JudgementSet
from scoring.judges.base import Judge
from scoring.judges.lexical import LexicalJudge
from scoring.model import Comment, GoldenStatus, Place, ReviewerId, Shape, TrialStatus
from scoring.profiles import PROFILES, assay, named, replay
from scoring.profiles.base import ProfileError, ProfileResult, ProfileTrial
from scoring.profiles.records import dumps, json_schema, to_record
from tests.scoring.profiles.worlds import (
    SUITE,
    all_pairs,
    bundle,
    candidate,
    data,
    golden,
    match,
    no_match,
    pull,
    said,
    trial,
    undecided,
)
from tests.shared import case

REVIEWER_KEYS = {
    "reviewer", "tp", "fp", "fn", "valid", "duplicate", "unscored", "precision", "recall", "f1", "coverage",
}  # fmt: skip
ESTIMATE_KEYS = {"value", "low", "high", "n", "reason"}


def planted() -> Bundle:
    goldens = [golden("g1", "x.py", (10, 10)), golden("g2", "x.py", (50, 50))]
    candidates = [candidate("c1", "x.py", (10, 10), kind="bug"), candidate("c2", "x.py", (90, 90), kind="bug")]
    judgements = all_pairs(goldens, candidates, {("g1", "c1"): 0.9})
    trials = [trial("p", candidates=candidates), trial("p", "quiet", [], TrialStatus.REVIEWED_CLEAN)]
    trials.append(trial("p", "limited", [], TrialStatus.RATE_LIMITED))
    return bundle([pull("p", goldens)], trials, [said("p", judgements), said("p", reviewer="quiet")])


def keys_everywhere(record: dict[str, Any]) -> None:
    assert set(record) >= {"schema", "profile", "suite", "judge", "reviewers", "trials"}
    assert set(record["suite"]) == {"id", "version", "hash"}
    for row in record["reviewers"]:
        assert set(row) >= REVIEWER_KEYS
        assert set(row["coverage"]) == {"trials", "scored", "by_status"}
        for name in ("precision", "recall", "f1"):
            assert set(row[name]) == ESTIMATE_KEYS
            assert row[name]["value"] is not None or row[name]["reason"]


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_gives_the_keys_that_others_rely_on(name: str) -> None:
    text = dumps(PROFILES[name](planted()))
    record = json.loads(text)
    assert record["profile"] == name
    keys_everywhere(record)
    assert len(record["reviewers"]) == 3
    assert {row["reviewer"]: row["coverage"]["by_status"] for row in record["reviewers"]}["limited"] == {
        "rate_limited": 1
    }


@pytest.mark.parametrize("name", [name for name in PROFILES if name != "assay"])
def test_a_record_fits_its_schema_and_carries_the_card(name: str) -> None:
    record = json.loads(dumps(PROFILES[name](planted())))
    OAS31Validator.check_schema(json_schema())
    check = OAS31Validator(json_schema())
    assert [error.message for error in check.iter_errors(record)] == []
    assert list(check.iter_errors({**record, "colour": "red"}))
    assert record["card"]["labelled_by"] == "the test"


@pytest.mark.parametrize("name", PROFILES)
def test_a_record_says_whose_rules_judge_and_goldens_these_are_and_what_counted(name: str) -> None:
    result = replace(PROFILES[name](planted()), versions={"assay": "1"})
    if result.report is not None:
        result = replace(result, report=replace(result.report, versions=result.versions))
    record = json.loads(dumps(result))
    assert record["versions"] == {"assay": "1"}
    for key in ("profile", "judge", "unit", "dedup"):
        assert record[key]
    assert record["suite"]["hash"] == SUITE.hash
    assert set(record["card"]) == {"corpus", "labelled_by", "unit", "not_proven", "notes"}


@pytest.mark.parametrize("name", PROFILES)
def test_the_same_bundle_gives_the_same_bytes(name: str) -> None:
    assert dumps(PROFILES[name](planted())) == dumps(PROFILES[name](planted()))


@pytest.mark.parametrize("name", PROFILES)
def test_an_empty_bundle_is_no_error(name: str) -> None:
    assert json.loads(dumps(PROFILES[name](bundle([], [], []))))["reviewers"] == []


@pytest.mark.parametrize("name", PROFILES)
def test_rates_stay_between_zero_and_one(name: str) -> None:
    for row in PROFILES[name](planted()).reviewers:
        for estimate in (row.precision, row.recall, row.f1):
            assert estimate.value is None or 0 <= estimate.value <= 1


@pytest.mark.parametrize("name", PROFILES)
def test_an_unknown_option_is_named_with_those_there_are(name: str) -> None:
    with pytest.raises(ProfileError, match="no option 'colour'"):
        PROFILES[name](planted(), options={"colour": "red"})


def test_a_nearly_right_name_gets_a_hint() -> None:
    with pytest.raises(ProfileError, match="did you mean dedup"):
        PROFILES["martian"](planted(), options={"dedupe": "none"})
    with pytest.raises(ProfileError, match="did you mean martian"):
        named("martain")
    with pytest.raises(ProfileError, match="did you mean planted"):
        PROFILES["martian"](planted(), judge="plantd")
    assert named("swe") is PROFILES["swe"]


def test_a_wrong_value_of_an_option_is_named_with_the_allowed_ones() -> None:
    with pytest.raises(ProfileError, match=r"option dedup.*none.*propagate.*merge"):
        PROFILES["martian"](planted(), options={"dedup": "all"})
    with pytest.raises(ProfileError, match="option tolerance"):
        PROFILES["swe"](planted(), options={"tolerance": "near"})
    assert PROFILES["swe"](planted(), options={"tolerance": "5"}).options["tolerance"] == 5


JUDGED = [name for name in PROFILES if name not in ("swe", "vibeops")]


@pytest.mark.parametrize("name", [*JUDGED, "vibeops"])
def test_there_is_no_default_among_several_judges(name: str) -> None:
    held = planted()
    both = replace(held, judgements=(*held.judgements, JudgementSet("other", ())))
    with pytest.raises(ProfileError, match="name one of other, planted"):
        PROFILES[name](both)
    assert PROFILES[name](both, judge="planted").judge == "planted"


@pytest.mark.parametrize("name", JUDGED)
def test_a_bundle_without_judgements_must_be_judged_first(name: str) -> None:
    with pytest.raises(ProfileError, match="judge it first"):
        PROFILES[name](replace(planted(), judgements=()))


@pytest.mark.parametrize("name", [*JUDGED, "vibeops"])
def test_a_judge_can_be_asked_now(name: str) -> None:
    judge = LexicalJudge()
    assert PROFILES[name](replace(planted(), judgements=()), judge=judge).judge == judge.name


@pytest.mark.parametrize("name", [name for name in PROFILES if name != "assay"])
def test_a_trial_about_an_unknown_pull_request_is_refused(name: str) -> None:
    with pytest.raises(ProfileError, match="no golden pull request 'ghost'"):
        PROFILES[name](bundle([pull("p")], [trial("ghost")], []))


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("form", ["martian", "cloudaeye", "codevetter", "swe"])
def test_the_material_of_one_system_does_not_break_the_rules_of_another(form: str, name: str) -> None:
    """What a profile cannot count it leaves out or names; it never takes another system's numbers for its own."""
    folders = {"martian": ("martian", "anthropic_claude-opus-4-5-20251101"), "cloudaeye": ("cpp16",)}
    held = FORMATS[form].read(data(*folders.get(form, (form,))))
    judge = held.judgements[0].judge if held.judgements else None
    if judge is None and name in JUDGED:
        with pytest.raises(ProfileError, match="judge it first"):
            PROFILES[name](held)
        return
    keys_everywhere(json.loads(dumps(PROFILES[name](held, judge=judge))))


def test_published_counts_that_are_not_complete_are_not_counted() -> None:
    for counts in ({"tp": 1, "fp": 2}, {"tp": 1, "fp": 2, "fn": None}, {"tp": 1, "fp": 2, "fn": -1}, {}):
        details = {"published": {"p|acme": counts}, "counts_only": ["p|acme", "p|ghost"]}
        held = bundle([pull("p", [golden("g")])], [trial("p")], [said("p", failed="counts only")], details)
        (one,) = PROFILES["martian"](held).trials
        assert not one.scored
        assert "no TP, FP and FN" in one.reason


def test_a_match_without_confidence_counts_here_and_never_in_martians_rules() -> None:
    shown = case("83")["expected"]
    goldens = [golden(f"g{at}") for at in range(len(shown["match"]))]
    verdicts = list(zip(shown["match"], shown["confidence"], strict=True))
    candidates = [candidate(f"c{at}", text=f"claim {at} about thing{at}") for at in range(len(verdicts))]
    judgements = [
        match(f"c{at}", f"g{at}", sure) if decided else no_match(f"c{at}", f"g{at}")
        for at, (decided, sure) in enumerate(verdicts)
    ]
    judgements += [no_match(c.id, g.id) for c in candidates for g in goldens if c.id[1:] != g.id[1:]]
    groups = tuple((c.id,) for c in candidates)
    judged = [said("p", judgements, groups=groups)]
    held = bundle([pull("p", goldens)], [trial("p", candidates=candidates)], judged)
    counts = {name: PROFILES[name](held).reviewers[0].counts for name in ("assay", "martian")}
    assert counts["assay"].tp == sum(shown["match"]) == 6
    assert counts["martian"].tp == 1


def test_a_figure_that_json_cannot_hold_is_refused() -> None:
    row = ProfileTrial("p", "r", TrialStatus.ERROR, True, "", False, figures={"odds": float("inf")})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="JSON cannot hold"):
        to_record(ProfileResult("x", SUITE, "j", "u", "none", (), (row,)))


def test_importing_the_profiles_stays_light() -> None:
    heavy = "{'numpy', 'scipy', 'pandas', 'statsmodels'}"
    code = f"import sys, scoring.profiles.records; print(sorted({heavy} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


# --- our own among them


def commented(judge: Judge) -> Bundle:
    place = Place("x.py", (10, 10))
    said_of = "The lock is never released when `load` raises, so the next call blocks forever."
    comment = Comment("review_comment/1", Shape.INLINE, "acme[bot]", said_of, "https://example.test/1", place)
    goldens = [golden("g1", "x.py", (10, 10), finding="The lock is not released if load raises; later calls block.")]
    asked = trial("p", candidates=None, comments=(comment,))
    return Bundle(
        SUITE, planted().card, (pull("p", goldens),), (asked,), reviewers=(BundleReviewer(ReviewerId("acme")),)
    )


def test_our_profile_on_comments_gives_the_report_of_a_live_run() -> None:
    judge = LexicalJudge()
    held = commented(judge)
    result = PROFILES["assay"](held, judge=judge)
    live = assay.score_run(replay.trials_of(held), judge, SUITE)
    assert result.report is not None
    assert (result.report.reviewers, result.report.trials) == (live.reviewers, live.trials)
    assert result.reviewers[0].counts.tp == 1
    assert records.loads(dumps(result)).reviewers[0].counts.tp == 1


def test_a_record_gives_the_report_again_without_the_judge() -> None:
    judge = LexicalJudge()
    held = commented(judge)
    first = replay.report(held, judge)
    kept = JudgementSet(judge.name, (said("p", first.trials[0].judgements),))
    assert replay.report(replace(held, judgements=(kept,))) == first


@pytest.mark.parametrize("name", PROFILES)
def test_a_golden_that_is_retired_or_a_draft_counts_in_no_profile(name: str) -> None:
    """Frozen evidence keeps them on record, so scoring it again must leave them out as the live run did."""
    held = planted()
    options = {"rules": "agent_pr"} if name == "codevetter" else None
    wanted = PROFILES[name](held, options=options)
    gone = replace(golden("gone", "x.py", (90, 90)), status=GoldenStatus.RETIRED, reason="it was wrong")
    draft = replace(golden("draft", "x.py", (70, 70)), status=GoldenStatus.DRAFT, reason="mined")
    more = replace(held, pulls=(replace(held.pulls[0], goldens=(gone, *held.pulls[0].goldens, draft)),))
    found = PROFILES[name](more, options=options)
    assert found.reviewers == wanted.reviewers
    assert found.tables == wanted.tables


def test_a_trial_that_a_bundle_holds_twice_is_refused_by_name() -> None:
    held = planted()
    with pytest.raises(ValueError, match="more than one trial for p x acme"):
        replay.report(replace(held, trials=(*held.trials, held.trials[0])))


def test_claims_without_comments_are_scored_one_to_one_and_not_by_order() -> None:
    goldens, candidates = [golden("g1"), golden("g2")], [candidate("c1"), candidate("c2")]
    shown = case("81")["input"]["matches"]
    judgements = all_pairs(goldens, candidates, {(g, c): sure for g, c, sure in shown})
    for order in (candidates, candidates[::-1]):
        held = bundle([pull("p", goldens)], [trial("p", candidates=order)], [said("p", judgements)])
        counts = PROFILES["assay"](held).reviewers[0].counts
        assert (counts.tp, counts.fp, counts.fn) == (2, 0, 0)


def test_ids_that_two_trials_share_do_not_share_their_judgements() -> None:
    goldens, candidates = [golden("g1")], [candidate("c1")]
    held = bundle(
        [pull("p", goldens), pull("q", goldens)],
        [trial("p", candidates=candidates), trial("q", candidates=candidates)],
        [said("p", [match("c1", "g1")]), said("q", [no_match("c1", "g1")])],
    )
    counts = PROFILES["assay"](held).reviewers[0].counts
    assert (counts.tp, counts.fp, counts.fn) == (1, 1, 1)


def test_a_claim_found_sound_is_neither_hit_nor_false_alarm() -> None:
    judged = [said("p", [no_match("c1", "g1"), undecided("c2", "g1")], valid=("c1", "c2"))]
    held = bundle(
        [pull("p", [golden("g1")])],
        [
            trial(
                "p", candidates=[candidate("c1", text="first sound thing"), candidate("c2", text="another open matter")]
            )
        ],
        judged,
    )
    row = PROFILES["assay"](held).reviewers[0]
    assert (row.counts.valid, row.counts.fp, row.counts.unscored) == (1, 0, 1)
    assert row.figures["valid_judged"]
    assert row.figures["usefulness"].value == 1.0


def test_what_is_sound_is_not_judged_by_a_judge_that_was_not_asked() -> None:
    """Then `valid` is 0 for want of an answer, and what depends on it is undefined and not 0."""
    row = PROFILES["assay"](planted()).reviewers[0]
    assert row.counts.valid == 0
    assert not row.figures["valid_judged"]
    assert row.figures["usefulness"].value is None
    assert row.figures["usefulness"].reason.startswith("not judged")
    record = records.to_record(replay.report(planted()))
    assert {one["reviewer"]: one["valid_judged"] for one in record["reviewers"]}["acme"] is False
    assert records.loads(json.dumps(record)) == records.loads(records.dumps(replay.report(planted())))


def test_a_clean_pull_request_counts_here_though_peers_skip_it() -> None:
    expected = case("86")["expected"]
    held = bundle(
        [pull("clean")],
        [
            trial(
                "clean",
                "loud",
                [candidate("c1", text="one wrong thing here"), candidate("c2", text="an unrelated mistake")],
            ),
            trial("clean", "quiet", [], TrialStatus.REVIEWED_CLEAN),
            trial("clean", "absent", [], TrialStatus.NOT_INSTALLED),
        ],
        [],
    )
    rows = {str(row.reviewer): row for row in PROFILES["assay"](held).reviewers}
    assert rows["loud"].counts.fp == expected["loud"]["fp"]
    assert rows["loud"].precision.value == expected["loud"]["precision"]
    assert rows["loud"].recall.value is None
    assert rows["quiet"].precision.value is None
    assert rows["quiet"].figures["clean_quiet"] == 1
    assert rows["absent"].coverage.scored == 0
    assert PROFILES["martian"](held).reviewers[0].coverage.scored == 0


def test_a_refusal_is_no_miss_here_but_is_one_in_martians_rules() -> None:
    rows = {
        name: {str(row.reviewer): row for row in PROFILES[name](planted()).reviewers} for name in ("assay", "martian")
    }
    assert rows["assay"]["limited"].counts.fn == 0
    assert rows["assay"]["limited"].recall.value is None
    assert rows["assay"]["limited"].figures["recall_bound"].value == 0.0
    assert rows["martian"]["limited"].counts.fn == 2


def test_both_recalls_of_a_reviewer_that_answered_little_are_shown() -> None:
    shown = case("87")
    for name, one in shown["input"].items():
        answered, everything = one["goldens_in_answered"], one["goldens_all"]
        goldens = [golden(f"g{at}") for at in range(answered)]
        rest = [golden(f"h{at}") for at in range(everything - answered)]
        candidates = [candidate(f"c{at}", text=f"claim {at} about thing{at}") for at in range(one["tp"])]
        judgements = [match(f"c{at}", f"g{at}") for at in range(one["tp"])]
        have = {(judgement.candidate, judgement.golden) for judgement in judgements}
        judgements += [no_match(c.id, g.id) for c in candidates for g in goldens if (c.id, g.id) not in have]
        pulls = [pull("p", goldens), *([pull("q", rest)] if rest else [])]
        trials = [trial("p", candidates=candidates)]
        trials += [trial("q", status=TrialStatus.RATE_LIMITED)] if rest else []
        groups = tuple((c.id,) for c in candidates)
        (row,) = PROFILES["assay"](bundle(pulls, trials, [said("p", judgements, groups=groups)])).reviewers
        wanted = shown["expected"][name]
        assert row.recall.value == pytest.approx(wanted["recall_answered"])
        assert row.figures["recall_bound"].value == pytest.approx(wanted["recall_all"])
