"""What holds of our own profile for any bundle: no order counts, no duplicate counts, and absence costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.bundle import Bundle, BundleTrial, JudgementSet, TrialJudgements, load, parts
from scoring.model import (
    Candidate,
    CandidateId,
    Comment,
    Estimate,
    Golden,
    Judgement,
    Place,
    Report,
    Shape,
    TrialStatus,
    Verdict,
)
from scoring.profiles import replay
from tests.scoring.profiles.worlds import bundle, candidate, golden, match, no_match, pull, said, trial, undecided

_One = TypeVar("_One")
TEXTS = (
    "the lock is never released when load raises",
    "the page number is skipped on the last page",
    "a null user reaches the mail template",
)
WORDS = ("lock", "page", "null", "maybe lock", "`x` is fine")
UNRUN = [status for status in TrialStatus if not status.scored]


@st.composite
def trials_with_answers(draw: st.DrawFn, name: str, reviewer: str, goldens: Sequence[Golden]) -> tuple[Any, Any]:
    """A trial and what the judge said of it: claims alike or not, sure or unsure, and now and then nothing at all."""
    status = draw(st.sampled_from([TrialStatus.REVIEWED_FINDINGS] * 4 + [TrialStatus.TIMEOUT, TrialStatus.SKIPPED]))
    claims = [
        candidate(f"c{at}", *draw(st.sampled_from([(None, None), ("a.py", (3, 4)), ("b.py", (9, 9))])), text=text)
        for at, text in enumerate(draw(st.lists(st.sampled_from(TEXTS), max_size=5)))
    ]
    kinds = st.sampled_from(["no", "no", "match", "undecided", "absent"])
    sure = st.sampled_from([None, 0.0, 0.3, 0.6, 0.6, 0.9, 1.0])
    answers: list[Judgement] = []
    for claim in claims:
        for known in goldens:
            kind = draw(kinds)
            if kind == "match":
                answers.append(match(claim.id, known.id, draw(sure)))
            elif kind != "absent":
                answers.append((no_match if kind == "no" else undecided)(claim.id, known.id))
    valid = tuple(claim.id for claim in claims if draw(st.booleans())) if draw(st.booleans()) else None
    groups = _groups(draw, claims) if draw(st.booleans()) else ()
    complete = draw(st.sampled_from([True, True, True, False]))
    asked = trial(name, reviewer, claims, status, complete=complete)
    return asked, said(name, answers, reviewer, groups=groups, valid=valid)


def _groups(draw: st.DrawFn, claims: Sequence[Candidate]) -> tuple[tuple[str, ...], ...]:
    of = {claim.id: draw(st.integers(0, 2)) for claim in claims}
    return tuple(tuple(one for one in of if of[one] == group) for group in sorted(set(of.values())))


@st.composite
def worlds(draw: st.DrawFn) -> Bundle:
    pulls = [
        pull(name, [golden(f"g{at}") for at in range(draw(st.integers(0, 3)))])
        for name in draw(st.sampled_from([["p"], ["p", "q"]]))
    ]
    reviewers = draw(st.sampled_from([["acme"], ["acme", "bolt"]]))
    made = [draw(trials_with_answers(one.id, reviewer, one.goldens)) for one in pulls for reviewer in reviewers]
    return bundle(pulls, [asked for asked, _ in made], [answer for _, answer in made])


def gist(report: Report) -> dict[str, Any]:
    """A report without the order of claims, goldens and trials."""
    trials = {
        (one.trial.pull, one.trial.reviewer): (
            one.counts,
            one.scored,
            {outcome.candidate: outcome for outcome in one.outcomes},
            {outcome.golden: outcome for outcome in one.goldens},
        )
        for one in report.trials
    }
    return {"rows": report.reviewers, "trials": trials}


@given(worlds(), st.randoms(use_true_random=False))
def test_no_order_in_a_bundle_changes_anything(held: Bundle, rng: Any) -> None:
    def mixed(values: Sequence[_One]) -> tuple[_One, ...]:
        return tuple(rng.sample(list(values), len(values)))

    (judged,) = held.judgements
    answers = [
        replace(
            one,
            judgements=mixed(one.judgements),
            groups=mixed([mixed(group) for group in one.groups]),
            valid=None if one.valid is None else mixed(one.valid),
        )
        for one in judged.trials
    ]
    other = replace(
        held,
        pulls=mixed([replace(one, goldens=mixed(one.goldens)) for one in held.pulls]),
        trials=mixed([replace(one, candidates=mixed(one.candidates or ())) for one in held.trials]),
        judgements=(replace(judged, trials=mixed(answers)),),
    )
    assert gist(replay.report(other)) == gist(replay.report(held))


@given(worlds())
def test_every_claim_and_every_golden_comes_to_one_end_and_rates_are_rates(held: Bundle) -> None:
    report = replay.report(held)
    for one in report.trials:
        counts = one.counts
        ends = counts.tp + counts.fp + counts.valid + counts.duplicate + counts.unscored
        assert ends == len(one.candidates) == len(one.outcomes)
        assert counts.tp + counts.fn + counts.goldens_unscored == (len(one.trial.goldens) if one.scored else 0)
        assert len({outcome.golden for outcome in one.outcomes if outcome.kind == "tp"}) == counts.tp
    for row in report.reviewers:
        for estimate in (row.precision, row.recall, row.f1, row.recall_bound):
            assert _is_rate(estimate)
        bound, recall = row.recall_bound.value, row.recall.value
        assert bound is None or recall is None or bound <= recall


def _is_rate(estimate: Estimate) -> bool:
    if estimate.value is None:
        return bool(estimate.reason)
    low, high = estimate.low, estimate.high
    return 0 <= estimate.value <= 1 and (low is None or high is None or 0 <= low <= estimate.value <= high <= 1)


def with_twin(held: Bundle, at: int, of: Candidate, answered: bool) -> Bundle:
    """The bundle with one claim of one trial said once more, judged as it was, as sound as it was if `answered`."""
    asked: BundleTrial = held.trials[at]
    (judged,) = held.judgements
    twin = replace(of, id=CandidateId(f"{of.id}-again"))
    answers: list[TrialJudgements] = []
    for one in judged.trials:
        if (one.pull, one.reviewer) == (asked.pull, asked.reviewer):
            again = [replace(said_of, candidate=twin.id) for said_of in one.judgements if said_of.candidate == of.id]
            groups = tuple((*group, twin.id) if of.id in group else group for group in one.groups)
            sound = (*(one.valid or ()), twin.id) if answered and of.id in (one.valid or ()) else one.valid
            one = replace(one, judgements=(*one.judgements, *again), groups=groups, valid=sound)
        answers.append(one)
    trials = [*held.trials]
    trials[at] = replace(asked, candidates=(*(asked.candidates or ()), twin))
    return replace(held, trials=tuple(trials), judgements=(replace(judged, trials=tuple(answers)),))


@settings(max_examples=200)
@given(worlds(), st.data())
def test_a_claim_said_once_more_changes_no_tp_fp_or_fn(held: Bundle, data: st.DataObject) -> None:
    places = [(at, claim) for at, one in enumerate(held.trials) for claim in one.candidates or ()]
    if not places:
        return
    at, claim = data.draw(st.sampled_from(places))
    more = replay.report(with_twin(held, at, claim, data.draw(st.booleans())))
    before = replay.report(held)
    for one, other in zip(before.reviewers, more.reviewers, strict=True):
        assert (one.counts.tp, one.counts.fp, one.counts.fn) == (other.counts.tp, other.counts.fp, other.counts.fn)
        assert (one.precision, one.recall, one.f1) == (other.precision, other.recall, other.f1)


@given(worlds(), st.sampled_from(UNRUN), st.integers(0, 3))
def test_a_trial_that_did_not_run_lowers_no_score_and_stands_in_the_bound(
    held: Bundle, status: TrialStatus, many: int
) -> None:
    claims = (candidate("c0", text=TEXTS[0]),)
    more = replace(
        held,
        pulls=(*held.pulls, pull("unrun", [golden(f"u{at}") for at in range(many)])),
        trials=(*held.trials, trial("unrun", "acme", claims, status)),
    )
    before = {row.reviewer: row for row in replay.report(held).reviewers}
    for row in replay.report(more).reviewers:
        was = before[row.reviewer]
        assert (row.precision, row.recall, row.f1, row.counts) == (was.precision, was.recall, was.f1, was.counts)
        assert row.recall_bound.n == was.recall_bound.n + (many if row.reviewer == "acme" else 0)


@given(worlds())
def test_a_bundle_that_was_written_and_read_gives_the_same_report(held: Bundle) -> None:
    found = parts(held)
    assert replay.report(load(found.__getitem__)) == replay.report(held)


# --- from comments, judged now


class ByWord:
    """A golden's first word in a claim is a match; undecided where the claim says `maybe`."""

    name = "by-word/1"

    def judge(self, candidates: Sequence[Candidate], goldens: Sequence[Golden]) -> Sequence[Judgement]:
        return [self._one(claim, known) for claim in candidates for known in goldens]

    def _one(self, claim: Candidate, known: Golden) -> Judgement:
        verdict = Verdict.MATCH if known.finding in claim.text else Verdict.NO_MATCH
        verdict = Verdict.UNDECIDED if f"maybe {known.finding}" in claim.text else verdict
        return Judgement(claim.id, known.id, verdict, self.name, "by word", 0.5)


def _comment(number: int, body: str, line: int) -> Comment:
    place = Place("a.py", (line, line)) if line else None
    shape = Shape.INLINE if line else Shape.ISSUE_COMMENT
    return Comment(f"review_comment/{number}", shape, "acme[bot]", body, "", place)


SAID = st.tuples(
    st.sampled_from([f"The {word} is wrong here, so the call fails." for word in WORDS]), st.integers(0, 9)
)


@given(st.lists(SAID, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_comments_changes_nothing(bodies: list[tuple[str, int]], rng: Any) -> None:
    comments = [_comment(number, body, line) for number, (body, line) in enumerate(bodies)]
    goldens = [golden(word, finding=word) for word in ("lock", "page", "null")]

    def report(own: Sequence[Comment]) -> Report:
        asked = trial("p", candidates=None, comments=tuple(own))
        return replay.report(bundle([pull("p", goldens)], [asked]), ByWord())

    mixed = rng.sample(comments, len(comments))
    assert gist(report(mixed)) == gist(report(comments))


def test_a_record_of_two_judges_is_counted_for_the_one_that_is_named() -> None:
    held = bundle([pull("p", [golden("g")])], [trial("p", candidates=[candidate("c")])], [said("p", [match("c", "g")])])
    other = JudgementSet("strict", (said("p", [no_match("c", "g")]),))
    both = replace(held, judgements=(*held.judgements, other))
    assert [replay.report(both, name).reviewers[0].counts.tp for name in ("planted", "strict")] == [1, 0]
