from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.matching import Settlement, assign, settle
from scoring.model import CandidateId, GoldenId, GoldenState, Judgement, OutcomeKind, Verdict
from tests.scoring.make import candidate, golden, judged
from tests.shared import case

M, N, U = Verdict.MATCH, Verdict.NO_MATCH, Verdict.UNDECIDED


def table(
    cells: dict[str, dict[str, Verdict | tuple[Verdict, float]]], *groups: tuple[str, ...], **more: Any
) -> Settlement:
    """Settle a table `{candidate: {golden: verdict}}`."""
    goldens = sorted({known for row in cells.values() for known in row})
    judgements = [_judged(one, known, cell) for one, row in cells.items() for known, cell in row.items()]
    named = [tuple(CandidateId(name) for name in group) for group in groups]
    return settle([candidate(one) for one in cells], [golden(one) for one in goldens], judgements, named, **more)


def _judged(one: str, known: str, cell: Verdict | tuple[Verdict, float]) -> Judgement:
    return judged(one, known, *cell) if isinstance(cell, tuple) else judged(one, known, cell)


def kinds(settled: Settlement) -> dict[str, str]:
    return {outcome.candidate: outcome.kind.value for outcome in settled.outcomes}


def from_case(prefix: str) -> tuple[dict[str, Any], Settlement]:
    shared = case(prefix)
    matches = {(c, g): confidence for g, c, confidence in shared["input"]["matches"]}
    cells: dict[str, dict[str, Verdict | tuple[Verdict, float]]] = {
        c: {g: (M, matches[c, g]) if (c, g) in matches else N for g in shared["input"]["goldens"]}
        for c in shared["input"]["candidates"]
    }
    return shared["expected"], table(cells)


def test_the_best_assignment_finds_the_pair_that_greed_loses() -> None:
    expected, settled = from_case("81")
    pairs = [[outcome.golden, outcome.candidate] for outcome in settled.goldens]
    assert pairs == expected["pairs"]
    counts = settled.counts
    assert (counts.tp, counts.fp, counts.fn) == (expected["tp"], expected["fp"], expected["fn"])


def test_a_second_remark_on_a_golden_is_a_duplicate_in_either_order() -> None:
    expected, settled = from_case("82")
    assert kinds(settled) == {"c1": "tp", "c2": "duplicate", "c3": "fp"}
    assert (settled.counts.tp, settled.counts.fp, settled.counts.fn) == (1, 1, expected["fn"])
    twin = next(outcome for outcome in settled.outcomes if outcome.candidate == "c2")
    assert (twin.golden, twin.same_as) == ("g1", "c1")


@pytest.mark.parametrize("confidence", [0.0, None, 1.0])
def test_a_match_counts_whatever_its_confidence(confidence: float | None) -> None:
    settled = settle([candidate("c1")], [golden("g1")], [judged("c1", "g1", M, confidence)])
    assert settled.counts.tp == 1
    refused = settle([candidate("c1")], [golden("g1")], [judged("c1", "g1", N, 1.0)])
    assert (refused.counts.fp, refused.counts.fn) == (1, 1)


def test_confidence_breaks_ties_and_ids_break_the_rest() -> None:
    assert assign({_pair("c1", "g1"): 0.2, _pair("c2", "g1"): 0.9}) == {"g1": "c2"}
    assert assign({_pair("c1", "g1"): 0.5, _pair("c2", "g1"): 0.5}) == {"g1": "c1"}
    square = {_pair(c, g): 0.5 for c in ("c1", "c2") for g in ("g1", "g2")}
    assert assign(square) == {"g1": "c1", "g2": "c2"}


def _pair(one: str, known: str) -> tuple[CandidateId, GoldenId]:
    return CandidateId(one), GoldenId(known)


def test_an_undecided_only_chance_is_neither_a_false_alarm_nor_a_miss() -> None:
    settled = table({"c1": {"g1": U, "g2": N}, "c2": {"g1": N, "g2": N}})
    assert kinds(settled) == {"c1": "unscored", "c2": "fp"}
    assert [outcome.state for outcome in settled.goldens] == [GoldenState.UNSCORED, GoldenState.MISSED]
    assert "c1" in settled.goldens[0].reason


def test_a_missing_judgement_is_undecided_not_no() -> None:
    settled = settle([candidate("c1")], [golden("g1")], [])
    assert (settled.counts.unscored, settled.counts.goldens_unscored) == (1, 1)


def test_an_undecided_pair_of_a_claim_that_is_spent_elsewhere_makes_a_miss() -> None:
    settled = table({"c1": {"g1": M, "g2": U}})
    assert [outcome.state for outcome in settled.goldens] == [GoldenState.FOUND, GoldenState.MISSED]


def test_a_golden_that_a_chain_of_changes_could_free_is_unscored() -> None:
    settled = table({"c1": {"g1": (M, 0.9), "g2": U}, "c2": {"g1": (M, 0.1), "g2": N}})
    states = {outcome.golden: outcome.state for outcome in settled.goldens}
    assert states == {"g1": GoldenState.FOUND, "g2": GoldenState.UNSCORED}


def test_twins_of_a_hit_are_duplicates_and_twins_of_an_alarm_are_one_alarm() -> None:
    settled = table({"a": {"g": M}, "b": {"g": N}, "c": {"g": N}, "d": {"g": N}, "e": {"g": N}}, ("a", "b"), ("c", "d"))
    assert kinds(settled) == {"a": "tp", "b": "duplicate", "c": "fp", "d": "duplicate", "e": "fp"}
    assert next(one.same_as for one in settled.outcomes if one.candidate == "d") == "c"


def test_members_of_a_group_that_match_different_goldens_are_both_hits() -> None:
    settled = table({"a": {"g1": M, "g2": N}, "b": {"g1": N, "g2": M}}, ("a", "b"))
    assert settled.counts.tp == 2


def test_one_claim_for_two_goldens_of_one_cause_finds_one_and_is_no_alarm() -> None:
    goldens = [golden("g1", group="rc"), golden("g2", group="rc")]
    settled = settle([candidate("c1")], goldens, [judged("c1", "g1", M, 0.5), judged("c1", "g2", M, 0.5)])
    assert (settled.counts.tp, settled.counts.fp, settled.counts.fn) == (1, 0, 1)


def test_a_withdrawn_claim_is_neither_a_hit_nor_an_alarm() -> None:
    taken = candidate("c1", flags=("withdrawn_by_author_bot",))
    settled = settle([taken], [golden("g1")], [judged("c1", "g1", M, 1.0)])
    assert (settled.counts.tp, settled.counts.fp, settled.counts.fn, settled.counts.unscored) == (0, 0, 1, 1)
    assert "took it back" in settled.outcomes[0].reason


def test_a_claim_found_sound_is_valid_unless_it_is_a_hit() -> None:
    sound = {CandidateId("a"), CandidateId("b")}
    assert kinds(table({"a": {"g": N}, "b": {"g": M}}, valid=sound)) == {"a": "valid", "b": "tp"}


def test_judgements_on_strangers_and_contradictions_are_refused() -> None:
    with pytest.raises(ValueError, match="no pair of this trial"):
        settle([candidate("c1")], [golden("g1")], [judged("c9", "g1", M)])
    with pytest.raises(ValueError, match="two different judgements"):
        settle([candidate("c1")], [golden("g1")], [judged("c1", "g1", M), judged("c1", "g1", N)])
    with pytest.raises(ValueError, match="candidate ids must be unique"):
        settle([candidate("c1"), candidate("c1")], [golden("g1")], [])


# --- what must hold for any table

_CELL = st.tuples(st.sampled_from([M, N, N, U]), st.sampled_from([None, 0.0, 0.3, 0.5, 0.5, 1.0]))


@st.composite
def _trials(draw: st.DrawFn) -> tuple[list[str], list[str], list[Judgement], list[tuple[CandidateId, ...]]]:
    claims = [f"c{at}" for at in range(draw(st.integers(0, 6)))]
    goldens = [f"g{at}" for at in range(draw(st.integers(0, 4)))]
    judgements = [judged(c, g, *draw(_CELL)) for c in claims for g in goldens]
    labels = [draw(st.integers(0, 3)) for _ in claims]
    groups = [
        tuple(CandidateId(c) for c, at in zip(claims, labels, strict=True) if at == label) for label in set(labels)
    ]
    return claims, goldens, judgements, groups


def _settle(
    claims: list[str], goldens: list[str], judgements: list[Judgement], groups: list[tuple[CandidateId, ...]]
) -> Settlement:
    return settle([candidate(one) for one in claims], [golden(one) for one in goldens], judgements, groups)


@given(_trials(), st.randoms(use_true_random=False))
def test_no_order_of_the_input_changes_anything(trial: Any, shuffle: Any) -> None:
    claims, goldens, judgements, groups = trial
    wanted = _settle(*trial)
    mixed = [list(part) for part in (claims, goldens, judgements, groups)]
    for part in mixed:
        shuffle.shuffle(part)
    assert _settle(*mixed) == wanted


@given(_trials())
def test_every_candidate_and_golden_is_counted_once(trial: Any) -> None:
    claims, goldens, _, _ = trial
    counts = _settle(*trial).counts
    assert counts.tp + counts.fp + counts.valid + counts.duplicate + counts.unscored == len(claims)
    assert counts.tp + counts.fn + counts.goldens_unscored == len(goldens)


@given(_trials(), st.data())
def test_saying_a_thing_twice_changes_no_score(trial: Any, data: st.DataObject) -> None:
    claims, goldens, judgements, groups = trial
    if not claims:
        return
    said = data.draw(st.sampled_from(claims))
    again = data.draw(st.sampled_from(["a-before", "z-after"]))
    more = [
        Judgement(CandidateId(again), one.golden, one.verdict, one.judge, one.reason, one.confidence)
        for one in judgements
        if one.candidate == said
    ]
    wider = [(*group, CandidateId(again)) if said in group else group for group in groups]
    before, after = _settle(*trial).counts, _settle([*claims, again], goldens, [*judgements, *more], wider).counts
    assert (before.tp, before.fp, before.fn, before.goldens_unscored) == (
        after.tp,
        after.fp,
        after.fn,
        after.goldens_unscored,
    )


@given(_trials())
def test_the_assignment_is_as_large_and_as_sure_as_the_best_of_all(trial: Any) -> None:
    claims, goldens, judgements, _ = trial
    edges = {(one.candidate, one.golden): one.confidence for one in judgements if one.verdict is M}
    held = assign(edges)
    best = (
        max(
            (
                (len(chosen), sum(round((edges[pair] or 0) * 1e6) for pair in chosen))
                for order in permutations([*claims, *[None] * len(goldens)], len(goldens))
                for chosen in [[pair for pair in zip(order, goldens, strict=True) if pair in edges]]
            ),
            default=(0, 0),
        )
        if len(claims) <= 4 and len(goldens) <= 3
        else None
    )
    assert all((one, known) in edges for known, one in held.items())
    assert len(set(held.values())) == len(held)
    if best is not None:
        assert (len(held), sum(round((edges[one, known] or 0) * 1e6) for known, one in held.items())) == best


@given(_trials())
def test_no_outcome_is_an_alarm_if_any_pair_matches(trial: Any) -> None:
    _, _, judgements, _ = trial
    matched = {one.candidate for one in judgements if one.verdict is M}
    for outcome in _settle(*trial).outcomes:
        assert not (outcome.kind is OutcomeKind.FP and outcome.candidate in matched)
        assert outcome.reason
