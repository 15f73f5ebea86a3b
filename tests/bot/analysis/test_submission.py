"""What a stranger can hold against a bundle that is sent in, and what must be said beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.analysis.submission import Weight, check
from scoring.bundle import Bundle, BundleReviewer
from scoring.model import ReviewerId, SuiteRef
from tests.bot.analysis.evidence import bundle, live_bundle


def errors(made: Bundle) -> list[tuple[str, str]]:
    return [(one.rule, one.message) for one in check(made) if one.weight is Weight.ERROR]


def flags(made: Bundle, submitter: str | None = None) -> list[tuple[str, str]]:
    return [(one.rule, one.message) for one in check(made, submitter) if one.weight is Weight.FLAG]


def test_a_live_run_with_a_judge_is_sound_and_its_silent_reviewer_is_flagged() -> None:
    assert errors(live_bundle()) == []
    assert flags(live_bundle()) == [("coverage", "mute: 0 of 8 pull requests are scored")]


def _edited_comment(made: Bundle) -> Bundle:
    at, trial = next((at, one) for at, one in enumerate(made.trials) if one.comments)
    better = replace(trial.comments[0], body="The cursor is never closed when the query fails.")
    trials = list(made.trials)
    trials[at] = replace(trial, comments=(better,))
    return replace(made, trials=tuple(trials))


def _dropped_trial(made: Bundle) -> Bundle:
    gone = next(one for one in made.trials if one.comments)
    judged = made.judgements[0]
    kept = tuple(one for one in judged.trials if (one.pull, one.reviewer) != (gone.pull, gone.reviewer))
    return replace(
        made, trials=tuple(one for one in made.trials if one is not gone), judgements=(replace(judged, trials=kept),)
    )


def _dropped_golden(made: Bundle) -> Bundle:
    at, pull = next((at, one) for at, one in enumerate(made.pulls) if one.goldens)
    pulls = list(made.pulls)
    pulls[at] = replace(pull, goldens=pull.goldens[1:])
    return replace(made, pulls=tuple(pulls))


def _short_sha(made: Bundle) -> Bundle:
    forks = json.loads(made.extra["evidence/forks.json"])
    forks[0]["commits"]["head_sha"] = "abc1234"
    return replace(made, extra={**made.extra, "evidence/forks.json": json.dumps(forks).encode()})


def _lost_fork(made: Bundle) -> Bundle:
    forks = json.loads(made.extra["evidence/forks.json"])[1:]
    return replace(made, extra={**made.extra, "evidence/forks.json": json.dumps(forks).encode()})


def _without(name: str) -> Callable[[Bundle], Bundle]:
    return lambda made: replace(made, extra={key: data for key, data in made.extra.items() if key != name})


def _half_judged(made: Bundle) -> Bundle:
    judged = made.judgements[0]
    return replace(made, judgements=(replace(judged, trials=judged.trials[1:]),))


@pytest.mark.parametrize(
    ("spoil", "rule", "said"),
    [
        (_edited_comment, "evidence", "is not what the raw evidence gives"),
        (_dropped_trial, "evidence", "is left out"),
        (_dropped_trial, "coverage", "has no trial on 1 pull requests"),
        (_dropped_golden, "suite", "are not those of the suite it names"),
        (_short_sha, "commits", "'abc1234' is no full commit SHA"),
        (_lost_fork, "manifest", "no fork of it is in the manifest"),
        (_without("evidence/forks.json"), "manifest", "no evidence/forks.json"),
        (_without("evidence/snapshots/f0/1.json"), "evidence", "does not fit together"),
        (lambda made: replace(made, suite=SuiteRef("smoke", "9", "a" * 64)), "suite", "has the hash aaaaaaaaaaaa"),
        (lambda made: replace(made, judgements=()), "judge", "no judgements are stored"),
        (_half_judged, "judge", "left out 1 of 8 trials"),
    ],
)
def test_what_was_made_up_or_left_out_is_an_error(spoil: Callable[[Bundle], Bundle], rule: str, said: str) -> None:
    found = errors(spoil(live_bundle()))
    assert [message for name, message in found if name == rule and said in message], found


def test_imported_material_has_no_manifest_to_check() -> None:
    assert "manifest" in dict(errors(bundle()))


def test_raw_evidence_that_is_no_evidence_is_an_error_and_no_crash() -> None:
    made = live_bundle()
    for name in ("evidence/forks.json", "evidence/plan.json", "evidence/snapshots/f0/1.json"):
        for junk in (b"", b"[]", b"{}", b"null", b"\xff", b'[{"run": 1}]'):
            found = errors(replace(made, extra={**made.extra, name: junk}))
            assert found, (name, junk)


def test_a_judge_that_does_not_say_how_it_was_asked_is_flagged() -> None:
    made = live_bundle()
    assert any("does not say how" in said for _, said in flags(replace(made, judgements=(
        replace(made.judgements[0], details={}),))))  # fmt: skip


def _vendor(made: Bundle, name: str) -> Bundle:
    known = tuple(replace(one, vendor=name) if one.id == "acme" else one for one in made.reviewers)
    return replace(made, reviewers=known)


@pytest.mark.parametrize(
    ("made", "submitter", "role"),
    [
        (live_bundle(), "Acme, Inc.", "the submitter"),
        (live_bundle(org="acme-labs"), None, "the owner of the forks"),
        (replace(live_bundle(), card=replace(live_bundle().card, labelled_by="the ACME team")), None, "labelled"),
        (replace(live_bundle(), judgements=(replace(live_bundle().judgements[0], judge="acme_judge-4"),)), None,
         "the judge"),
        (_vendor(live_bundle(), "Bolt Works"), "BoltWorks GmbH", "the submitter"),
        (replace(live_bundle(), reviewers=(BundleReviewer(ReviewerId("acme"), "Clever Hare"),)), "cleverhare",
         "the submitter"),
    ],
)  # fmt: skip
def test_a_vendor_that_scores_itself_is_flagged(made: Bundle, submitter: str | None, role: str) -> None:
    said = [message for rule, message in flags(made, submitter) if rule == "vendor"]
    assert len(said) == 1
    assert said[0].startswith("acme: its vendor seems to score itself")
    assert role in said[0]


@pytest.mark.parametrize("submitter", [None, "Northwind", "a code review team", "Acmeister", "review labs"])
def test_nobody_else_is_flagged(submitter: str | None) -> None:
    assert "vendor" not in dict(flags(live_bundle(), submitter))
