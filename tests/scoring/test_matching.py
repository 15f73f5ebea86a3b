from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.matching import Settlement, assign, settle
from scoring.model import (
    CandidateId,
    CandidateOutcome,
    Counts,
    GoldenId,
    GoldenOutcome,
    GoldenState,
    Judgement,
    OutcomeKind,
    Verdict,
)
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


def _edges(**row: dict[str, float]) -> dict[tuple[CandidateId, GoldenId], float | None]:
    return {_pair(c, g): value for c, cells in row.items() for g, value in cells.items()}


def test_a_millionth_of_confidence_outweighs_every_id() -> None:
    assert assign(_edges(c1={"g1": 0.5}, c2={"g1": 0.500001})) == {"g1": "c2"}
    # g1 comes first by id and c1 first for it, but c2 is a millionth surer; g2 and g3 have c3 and c4 either way.
    rest: dict[str, dict[str, float]] = {"c3": {"g2": 0.5}, "c4": {"g3": 0.5}}
    made = assign(_edges(c1={"g1": 0.5}, c2={"g1": 0.500001}, **rest))
    assert made == {"g1": "c2", "g2": "c3", "g3": "c4"}


def test_the_first_golden_gets_the_first_candidate_whatever_that_costs_the_next() -> None:
    # Both ways assign three. Giving c1 to g1 leaves c4 for g2; the other way, c2 and c1, has the better places in sum.
    made = assign(_edges(c1={"g1": 0.5, "g2": 0.5}, c2={"g1": 0.5}, c3={"g3": 0.5}, c4={"g2": 0.5}))
    assert made == {"g1": "c1", "g2": "c4", "g3": "c3"}


def test_ids_break_ties_between_dozens_of_equal_candidates() -> None:
    names = [f"{at:02}" for at in range(14)]
    made = assign({_pair(f"c{one}", f"g{two}"): 0.5 for one in names for two in names})
    assert made == {f"g{one}": f"c{one}" for one in names}


def test_a_long_chain_of_changes_is_followed_to_its_end() -> None:
    # The surest pairs, c2-g1 and c3-g2, leave g3 and c1 without one; all three are found only by c1-g1, c2-g2, c3-g3.
    made = assign(_edges(c1={"g1": 0.1}, c2={"g1": 0.9, "g2": 0.1}, c3={"g2": 0.9, "g3": 0.1}))
    assert made == {"g1": "c1", "g2": "c2", "g3": "c3"}


def _said(claim: str, known: str, verdict: Verdict, reason: str, sure: float | None = None) -> Judgement:
    return Judgement(CandidateId(claim), GoldenId(known), verdict, "test", reason, sure)


def test_every_outcome_says_what_with_whom_how_sure_and_why() -> None:
    names, known = (
        ["hit", "again", "both", "open", "gone", "stray", "stray2", "sound", "twin", "other"],
        ["g1", "g2", "g3"],
    )
    said = {
        ("hit", "g1"): _said("hit", "g1", M, "the same lock", 0.9),
        ("again", "g1"): _said("again", "g1", M, "that lock too", 0.4),
        ("both", "g1"): _said("both", "g1", M, "perhaps the lock"),
        ("both", "g2"): _said("both", "g2", M, "the page", 0.7),
        ("other", "g2"): _said("other", "g2", M, "the same page", 0.8),
        ("open", "g3"): _said("open", "g3", U, "the judge did not answer"),
        ("open", "g1"): _said("open", "g1", N, "another lock"),
    }
    rest = [_said(c, g, N, "no") for c in names for g in known if (c, g) not in said and (c, g) != ("open", "g2")]
    settled = settle(
        [candidate(name, flags=("withdrawn_by_author_bot",) if name == "gone" else ()) for name in names],
        [golden(name) for name in known],
        [*said.values(), *rest],
        [(CandidateId("hit"), CandidateId("twin"))],
        {CandidateId("sound")},
    )
    made = {one.candidate: one for one in settled.outcomes}
    another = "matches a golden that another candidate is assigned to"
    g1, g2 = GoldenId("g1"), GoldenId("g2")
    hit, other = CandidateId("hit"), CandidateId("other")

    def outcome(name: str, kind: OutcomeKind, *more: Any) -> CandidateOutcome:
        return CandidateOutcome(CandidateId(name), kind, *more)

    assert list(made) == sorted(names)
    assert list(made.values()) == [
        outcome("again", OutcomeKind.DUPLICATE, another, g1, hit, 0.4),
        outcome("both", OutcomeKind.DUPLICATE, another, g2, other, 0.7),
        outcome("gone", OutcomeKind.UNSCORED, "the reviewer took it back"),
        outcome("hit", OutcomeKind.TP, "the same lock", g1, None, 0.9),
        outcome("open", OutcomeKind.UNSCORED, "not decided against g2, g3: no judgement was given"),
        outcome("other", OutcomeKind.TP, "the same page", g2, None, 0.8),
        outcome("sound", OutcomeKind.VALID, "found sound, though no golden covers it"),
        outcome("stray", OutcomeKind.FP, "matches no golden"),
        outcome("stray2", OutcomeKind.FP, "matches no golden"),
        outcome("twin", OutcomeKind.DUPLICATE, "says again what a candidate says that matches a golden", g1, hit),
    ]
    assert settled.goldens == (
        GoldenOutcome(g1, GoldenState.FOUND, "the same lock", hit),
        GoldenOutcome(g2, GoldenState.FOUND, "the same page", other),
        GoldenOutcome(GoldenId("g3"), GoldenState.UNSCORED, "could be found by open, which could not be judged"),
    )
    assert settled.counts == Counts(tp=2, fp=2, fn=0, valid=1, duplicate=3, unscored=2, goldens_unscored=1)


def test_what_could_not_be_judged_is_told_with_the_judges_own_words() -> None:
    judgements = [_said("c", "g1", N, "no"), _said("c", "g2", U, "the reply was cut off"), _said("c", "g3", U, "later")]
    settled = settle([candidate("c")], [golden(f"g{at}") for at in (1, 2, 3)], judgements)
    assert settled.outcomes[0].reason == "not decided against g2, g3: the reply was cut off"
    assert settled.goldens[0] == GoldenOutcome(GoldenId("g1"), GoldenState.MISSED, "no candidate matches it")


def test_an_alarm_on_a_clean_pull_request_says_that_it_is_clean() -> None:
    settled = settle([candidate("c")], [], [])
    assert settled.outcomes == (CandidateOutcome(CandidateId("c"), OutcomeKind.FP, "the pull request is clean"),)


@pytest.mark.parametrize(("valid", "kept", "what"), [((), "a", "unmatched"), (("b",), "b", "sound")])
def test_of_a_group_without_a_match_the_sound_one_counts(valid: tuple[str, ...], kept: str, what: str) -> None:
    settled = table({"a": {"g": N}, "b": {"g": N}}, ("a", "b"), valid={CandidateId(name) for name in valid})
    dropped = next(one for one in settled.outcomes if one.candidate != kept)
    assert dropped.reason == f"says again what another {what} candidate says"
    assert (dropped.kind, dropped.same_as) == (OutcomeKind.DUPLICATE, kept)


@pytest.mark.parametrize(
    ("first", "second", "finder"), [(0.2, 0.8, "b"), (0.8, 0.2, "a"), (None, 0.4, "b"), (0.4, 0.4, "a")]
)
def test_a_golden_is_found_by_the_member_of_its_claim_that_the_judge_is_surest_of(
    first: float | None, second: float, finder: str
) -> None:
    judgements = [judged("a", "g", M, first), judged("b", "g", M, second), judged("z", "g", M, 0.3)]
    groups = [(CandidateId("a"), CandidateId("b"))]
    settled = settle([candidate(name) for name in "abz"], [golden("g")], judgements, groups)
    assert settled.goldens[0].candidate == finder


def test_a_claim_is_as_sure_as_its_surest_member() -> None:
    judgements = [judged("a", "g", M, 0.9), judged("b", "g", M, 0.1), judged("A", "g", M, 0.5)]
    groups = [(CandidateId("a"), CandidateId("b"))]
    settled = settle([candidate(name) for name in "abA"], [golden("g")], judgements, groups)
    assert settled.goldens[0].candidate == "a"


def test_one_claim_said_twice_finds_one_of_two_goldens_and_no_more() -> None:
    both = {"g1": M, "g2": M}
    settled = table({"a": {**both}, "b": {**both}}, ("a", "b"))
    assert kinds(settled) == {"a": "tp", "b": "duplicate"}
    assert [outcome.state for outcome in settled.goldens] == [GoldenState.FOUND, GoldenState.MISSED]
    assert settled.outcomes[1].golden == "g1"


def test_a_repetition_of_a_hit_is_no_way_to_another_golden() -> None:
    settled = table({"a": {"g1": M, "g2": N}, "b": {"g1": N, "g2": U}}, ("a", "b"))
    assert [outcome.state for outcome in settled.goldens] == [GoldenState.FOUND, GoldenState.MISSED]


def test_a_hit_with_a_twin_can_still_be_freed_for_another_golden() -> None:
    cells: dict[str, dict[str, Verdict | tuple[Verdict, float]]] = {
        "c1": {"g1": (M, 0.9), "g2": U},
        "c2": {"g1": (M, 0.1), "g2": N},
        "c3": {"g1": N, "g2": N},
    }
    settled = table(cells, ("c1", "c3"))
    assert settled.goldens[1] == GoldenOutcome(
        GoldenId("g2"), GoldenState.UNSCORED, "could be found by c1, which could not be judged"
    )


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
    settled = table({"a": {"g": N}, "b": {"g": M}}, valid=sound)
    assert kinds(settled) == {"a": "valid", "b": "tp"}
    assert (settled.counts.valid, settled.counts.tp) == (1, 1)


def test_judgements_on_strangers_and_contradictions_are_refused() -> None:
    with pytest.raises(ValueError, match="a judgement names c9 x g1, which is no pair of this trial"):
        settle([candidate("c1")], [golden("g1")], [judged("c9", "g1", M)])
    with pytest.raises(ValueError, match="two different judgements on c1 x g1"):
        settle([candidate("c1")], [golden("g1")], [judged("c1", "g1", M), judged("c1", "g1", N)])
    with pytest.raises(ValueError, match="candidate ids must be unique"):
        settle([candidate("c1"), candidate("c1")], [golden("g1")], [])
    with pytest.raises(ValueError, match=r"^golden ids must be unique in a trial; more than one is g1, g2$"):
        settle([], [golden(name) for name in ("g1", "g2", "g2", "g1", "g3")], [])


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
