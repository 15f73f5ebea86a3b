from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

from goldens.importers import FORMATS
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
from scoring.judges.calibration import Calibration, calibrate, record, reliability
from scoring.judges.card import card, quoted
from scoring.model import CandidateId, GoldenId, Judgement, PullId, ReviewerId, SuiteRef, TrialStatus, Verdict
from scoring.statistics.bootstrap import Resampler
from tests.scoring.make import candidate, golden
from tests.shared import SHARED

YES, NO, OPEN = Verdict.MATCH, Verdict.NO_MATCH, Verdict.UNDECIDED
KEYS = ["judge", "against", "n", "kappa_found", "kappa_candidates", "tau", "calls", "prompt_tokens", "cost"]


def draws() -> Resampler:
    return Resampler(np.random.default_rng(1), 200)


def world(
    *verdicts: dict[str, Verdict], reviewers: tuple[str, ...] = ("acme", "zeta")
) -> tuple[Bundle, list[JudgementSet]]:
    """Four pull requests with one golden and one claim each; a judge is its verdicts by `<pull> <reviewer>`."""
    pulls = tuple(BundlePull(PullId(f"p{at}"), (golden("g", f"the | `defect` of {at}"),)) for at in range(4))
    claim = candidate("c#1", "a *claim* by @acme <b>", title="a *claim* by @acme <b>")
    trials = tuple(
        BundleTrial(pull.id, ReviewerId(name), TrialStatus.REVIEWED_FINDINGS, candidates=(claim,))
        for pull in pulls
        for name in reviewers
    )
    sets = [_said(f"judge {at}", trials, given) for at, given in enumerate(verdicts)]
    return Bundle(SuiteRef("s", "1", "h"), Card("made up", "us", "claim"), pulls, trials), sets


def _said(judge: str, trials: tuple[BundleTrial, ...], given: dict[str, Verdict]) -> JudgementSet:
    made = []
    for trial in trials:
        verdict = given.get(f"{trial.pull} {trial.reviewer}", NO)
        sure = {YES: 0.9, NO: 0.1, OPEN: None}[verdict]
        one = Judgement(CandidateId("c#1"), GoldenId("g"), verdict, judge, "", sure)
        made.append(TrialJudgements(trial.pull, trial.reviewer, (one,)))
    return JudgementSet(judge, tuple(made), {"calls": 8, "prompt_tokens": 900, "cost": 0.25, "model": "m|x"})


MINE = {"p0 acme": YES, "p1 acme": YES, "p0 zeta": YES}
THEIRS = {"p0 acme": YES, "p1 zeta": YES, "p0 zeta": YES}


def measured() -> Calibration:
    bundle, (one, two) = world(MINE, THEIRS)
    return calibrate(bundle, one, two, draws())


def test_the_figures_are_those_of_a_table_made_by_hand() -> None:
    found = measured()
    # Eight goldens: both found 2, only one judge 1 and 1, neither 4: observed 6/8, by chance (3*3 + 5*5)/64.
    assert found.n == 8
    assert found.agreed == 6
    assert found.kappa_found.value == pytest.approx((6 / 8 - 34 / 64) / (1 - 34 / 64))
    mine = [key in MINE for key in _keys()]
    theirs = [key in THEIRS for key in _keys()]
    assert found.kappa_found.value == pytest.approx(cohen_kappa_score(mine, theirs))
    assert found.kappa_candidates.value == pytest.approx(found.kappa_found.value)
    assert found.ranks.tau_b == pytest.approx(-1.0)
    assert {(cell.judge, cell.against): cell.count for cell in found.goldens} == {
        ("found", "found"): 2, ("found", "missed"): 1, ("missed", "found"): 1, ("missed", "missed"): 4
    }  # fmt: skip


def _keys() -> list[str]:
    return [f"p{at} {name}" for at in range(4) for name in ("acme", "zeta")]


def test_the_record_has_the_promised_keys_first_and_is_plain_json() -> None:
    made = record(measured())
    assert list(made)[:9] == KEYS
    assert (made["calls"], made["prompt_tokens"], made["cost"]) == (8, 900, 0.25)
    assert json.loads(json.dumps(made, allow_nan=False))["judge"] == "judge 0"


def test_what_a_judge_leaves_open_is_no_disagreement() -> None:
    bundle, (one, two) = world(MINE | {"p3 acme": OPEN}, THEIRS)
    found = calibrate(bundle, one, two, draws())
    assert found.n == 7
    assert found.undecided == 1


def test_a_judge_agrees_with_itself_and_cannot_be_measured_against_its_own_name() -> None:
    bundle, (one, two) = world(MINE, MINE)
    found = calibrate(bundle, one, two, draws())
    assert found.kappa_found.value == 1.0
    assert found.ranks.tau_b == 1.0
    with pytest.raises(ValueError, match="judge 0"):
        calibrate(bundle, one, one, draws())


def test_where_nothing_is_shared_every_figure_is_undefined_and_says_so() -> None:
    bundle, (one, two) = world(MINE, dict.fromkeys(_keys(), OPEN))
    found = calibrate(bundle, one, two, draws())
    assert found.n == 0
    assert record(found)["kappa_found"] is None
    assert "undefined" in card(found)
    assert "nothing was labelled by both" in card(found)


def test_the_curve_puts_what_was_said_beside_what_was_so() -> None:
    _, (one, two) = world(MINE, THEIRS)
    low, high = reliability(one, two)
    assert [low.low, low.n, low.said, low.matched] == pytest.approx([0.1, 5, 0.1, 1 / 5])
    assert [high.high, high.n, high.said, high.matched] == pytest.approx([1.0, 3, 0.9, 2 / 3])
    (whole,) = reliability(one, two, bins=1)
    assert whole.n == 8
    certain = [replace(t, judgements=tuple(replace(j, confidence=1.0) for j in t.judgements)) for t in one.trials]
    sure = replace(one, trials=tuple(certain))
    assert [bar.high for bar in reliability(sure, two)] == [1.0]
    with pytest.raises(ValueError, match="one bin"):
        reliability(one, two, bins=0)


def test_a_card_shows_examples_and_nothing_in_it_is_active() -> None:
    text = card(measured())
    assert text.startswith("# Judge: judge 0\n")
    assert "@acme" not in text
    assert "<b>" not in text
    assert "(at)acme" in text
    assert "| found | missed | 1 |" in text
    assert "8 calls, 900 prompt tokens, 0.25 US dollars" in text
    assert "m\\|x" in text
    assert "the \\| \\`defect\\` of 1" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in rows)


@pytest.mark.parametrize(
    "text", ["a\nb", "# x", "[a](http://x)", "![a](x)", "<img src=x>", "`x`", "@bot /review", "a|b"]
)
def test_quoted_text_is_one_line_of_plain_text(text: str) -> None:
    from markdown_it import MarkdownIt

    rendered = MarkdownIt("commonmark").render(f"- x: {quoted(text)}")
    assert rendered.count("<") == rendered.count("<ul>") * 4
    assert "@" not in rendered


def test_two_models_on_published_reviews() -> None:
    folder = SHARED / "data" / "martian"
    if not folder.exists():
        pytest.skip(f"no published reviews under {folder}: the shared reference material is not here")
    bundle = FORMATS["martian"].read(Path(folder))
    one, two = bundle.judgements
    found = calibrate(bundle, one, two, draws())
    assert found.kappa_found.value is not None
    assert 0.92 <= found.kappa_found.value <= 0.95
    assert found.ranks.tau_b is not None
    assert found.ranks.tau_b > 0.9
    assert found.ranks.reviewers == 12
