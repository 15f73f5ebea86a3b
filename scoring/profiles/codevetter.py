"""The rules of CodeVetter's public benchmark, and of its agent-PR harness with its gates.

Someone matched findings to labels by id; these rules only count. Every label of every case is expected, also where a
reviewer left no review. Conventions: all rates are 0 where their denominator is 0. The harness (`rules=agent_pr`)
refuses ids that are no label, rounds to six places, and ends with status 2 where a gate is not met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from scoring import stats
from scoring.bundle import Bundle, BundlePull
from scoring.catch import Caught, Events, count
from scoring.model import (
    CandidateOutcome,
    Counts,
    Estimate,
    GoldenId,
    GoldenOutcome,
    GoldenState,
    OutcomeKind,
    ReviewerId,
    Severity,
    Verdict,
)
from scoring.prf import proportion
from scoring.profiles import gates
from scoring.profiles.base import (
    Case,
    Json,
    Judging,
    Options,
    ProfileError,
    ProfileResult,
    ProfileRow,
    ProfileTrial,
    Rows,
    counts_of,
    coverage,
    judged,
    live,
    not_scored,
    plain,
    read_options,
)

NAME = "codevetter"
SYSTEM = "CodeVetter"
GATE_EXIT = 2
PUBLISHED = ("expected", "caught", "false_positives", "redundant")
"""What the counts of a case are called where a source publishes counts only."""


class Rules(StrEnum):
    """Which of the two scorers."""

    PUBLIC = "public"
    AGENT_PR = "agent_pr"


@dataclass(frozen=True, slots=True)
class CodeVetterOptions:
    """What may be chosen. The gates apply to `reviewer`, or to every reviewer if none is named."""

    rules: Rules = Rules.PUBLIC
    reviewer: str | None = None
    baseline: str | None = None
    """The reviewer that all others are compared with."""
    min_rate: float | None = None
    max_fp: int | None = None
    max_redundant: int | None = None
    min_severity: Mapping[Severity, float] = field(default_factory=dict)
    """Least catch rate by severity."""
    require_rationales: bool = False
    """Every label must have evidence and every match a reason, none of them a TODO."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One reviewer's cases counted."""

    reviewer: ReviewerId
    cases: Mapping[str, Caught]
    """By case, all cases of the bundle."""
    events: Mapping[str, Events]
    """By case, where the matches themselves are there and not only their number."""
    trials: tuple[ProfileTrial, ...]

    @property
    def total(self) -> Caught:
        """The sums over all cases."""
        return sum(self.cases.values(), Caught())


def score(bundle: Bundle, *, judge: Judging = None, options: Options | None = None) -> ProfileResult:
    """Count a bundle as CodeVetter's scorers count it.

    Raises:
        ProfileError: see `scoring.profiles.base.ProfileFn`; under `agent_pr` also an id that is no label.
    """
    chosen = read_options(CodeVetterOptions, options)
    bundle = live(bundle)
    material = judged(bundle, judge)
    sheets = [sheet(bundle, reviewer, cases, chosen.rules) for reviewer, cases in material.by_reviewer().items()]
    known = [one.reviewer for one in sheets]
    for name in (chosen.reviewer, chosen.baseline):
        if name is not None and name not in known:
            raise ProfileError(f"no reviewer {name!r}; there is: {', '.join(known)}")
    gated = [one for one in sheets if chosen.reviewer in (None, one.reviewer)]
    failures = tuple(problem for one in gated for problem in _unmet(bundle, one, chosen))
    if chosen.require_rationales:
        failures += gates.without_rationale(bundle, material.cases)
    places = 6 if chosen.rules is Rules.AGENT_PR else None
    rows = tuple(sorted((_row(bundle, one, places) for one in sheets), key=lambda one: -(one.f1.value or 0.0)))
    return ProfileResult(
        profile=NAME,
        suite=bundle.suite,
        card=bundle.card,
        judge=material.judge,
        unit="a finding matched to no label, or an id that is no label",
        dedup="a label caught once more is redundant, and counts against precision",
        reviewers=rows,
        trials=tuple(trial for one in sheets for trial in one.trials),
        options=plain(chosen),
        tables={"cases": _case_table(bundle, sheets), "comparisons": _comparisons(bundle, sheets, chosen)},
        notes=bundle.card.notes,
        failures=failures,
        exit_code=GATE_EXIT if failures else 0,
    )


def sheet(bundle: Bundle, reviewer: ReviewerId, cases: Sequence[Case], rules: Rules) -> Sheet:
    """Count all cases of one reviewer. A case without a review has its labels expected and nothing else."""
    sums: dict[str, Caught] = {pull.id: Caught(expected=len(pull.goldens)) for pull in bundle.pulls}
    events: dict[str, Events] = {}
    trials = []
    for case in cases:
        if case.published is not None and (counts := counts_of(case.published, PUBLISHED)):
            sums[case.pull.id] = Caught(*(counts[name] for name in PUBLISHED))
            trials.append(_trial(case, sums[case.pull.id], None))
        elif not case.asked or case.judged is None or case.judged.failed:
            trials.append(not_scored(case, case.judged.failed if case.judged else "no review of this case"))
        else:
            events[case.pull.id] = found = _events(case, rules)
            sums[case.pull.id] = found.sums
            trials.append(_trial(case, found.sums, found))
    return Sheet(reviewer, sums, events, tuple(trials))


def _events(case: Case, rules: Rules) -> Events:
    findings = [matched(case, at) for at in range(len(case.candidates))]
    found = count([golden.id for golden in case.pull.goldens], findings)
    if rules is Rules.AGENT_PR and found.unknown:
        where = f"{case.pull.id}: {case.trial.reviewer}"
        raise ProfileError(f"{where}: a finding is matched to {found.unknown[0]!r}, which is no label of the case")
    return found


def matched(case: Case, at: int) -> list[GoldenId]:
    """The ids that a finding was matched to, in order; ids that are no label too."""
    said = case.judged.judgements if case.judged else ()
    wanted = case.candidates[at].id
    return [one.golden for one in said if one.candidate == wanted and one.verdict is Verdict.MATCH]


def _trial(case: Case, sums: Caught, events: Events | None) -> ProfileTrial:
    return replace(
        not_scored(case, case.trial.reason),
        scored=True,
        counts=_counts(sums),
        figures={"catch_rate": sums.catch_rate, "precision": sums.precision, "f1": sums.f1},
        outcomes=_outcomes(case, events) if events else (),
        goldens=_goldens(case, events) if events else (),
    )


def _outcomes(case: Case, events: Events) -> tuple[CandidateOutcome, ...]:
    kinds = {"caught": OutcomeKind.TP, "redundant": OutcomeKind.DUPLICATE, "false_positive": OutcomeKind.FP}
    return tuple(
        CandidateOutcome(candidate.id, kinds[kind], f"matched to {', '.join(matched(case, at)) or 'no label'}")
        for at, (candidate, kind) in enumerate(zip(case.candidates, events.kinds, strict=True))
    )


def _goldens(case: Case, events: Events) -> tuple[GoldenOutcome, ...]:
    return tuple(
        GoldenOutcome(golden.id, GoldenState.FOUND, "a finding is matched to it")
        if golden.id in events.caught
        else GoldenOutcome(golden.id, GoldenState.MISSED, "no finding is matched to it")
        for golden in case.pull.goldens
    )


def _counts(sums: Caught) -> Counts:
    missed = sums.expected - sums.caught
    return Counts(tp=sums.caught, fp=sums.false_positives, fn=missed, duplicate=sums.redundant)


# --- figures


def _row(bundle: Bundle, one: Sheet, places: int | None) -> ProfileRow:
    sums = one.total
    figures: dict[str, Json] = {
        "expected": sums.expected,
        "caught": sums.caught,
        "false_positives": sums.false_positives,
        "redundant": sums.redundant,
        "catch_rate": _rounded(sums.catch_rate, places),
        "precision": _rounded(sums.precision, places),
        "f1": _rounded(sums.f1, places),
        "by_severity": {level: _rounded(rate, places) for level, rate in by_severity(bundle, one).items()},
        "by_category": _grouped(bundle, one, lambda pull: pull.tags.get("category", ""), places),
        "by_language": _grouped(bundle, one, lambda pull: pull.language, places),
    }
    return ProfileRow(one.reviewer, _counts(sums), *_estimates(sums), coverage(one.trials), figures)


def _estimates(sums: Caught) -> tuple[Estimate, Estimate, Estimate]:
    events = sums.caught + sums.false_positives + sums.redundant
    precision = proportion(sums.caught, events, system=SYSTEM, undefined="nothing was found")
    rate = proportion(sums.caught, sums.expected, system=SYSTEM, undefined="nothing was expected")
    if not sums.expected:
        return precision, rate, Estimate(0.0, None, None, 0, f"nothing was expected; {SYSTEM} counts that as 0")
    wrong = sums.false_positives + sums.redundant
    return precision, rate, stats.f1(sums.caught, wrong, sums.expected - sums.caught)


def by_severity(bundle: Bundle, one: Sheet) -> dict[str, float | None]:
    """The catch rate by severity of the labels; a severity without labels is left out.

    None where only the number caught is known and the labels of a case differ in severity.
    """
    expected: dict[Severity, int] = {}
    caught: dict[Severity, int] = {}
    unclear: set[Severity] = set()
    for pull in bundle.pulls:
        for level, of_level in _levels(pull).items():
            expected[level] = expected.get(level, 0) + len(of_level)
            hits = _caught_of(pull, of_level, one)
            caught[level] = caught.get(level, 0) + (hits or 0)
            unclear |= {level} if hits is None else set()
    ordered = [level for level in Severity if level in expected]
    return {level.value: None if level in unclear else caught[level] / expected[level] for level in ordered}


def _levels(pull: BundlePull) -> dict[Severity, list[GoldenId]]:
    found: dict[Severity, list[GoldenId]] = {}
    for golden in pull.goldens:
        found.setdefault(golden.severity, []).append(golden.id)
    return found


def _caught_of(pull: BundlePull, labels: Sequence[GoldenId], one: Sheet) -> int | None:
    """How many of some labels of a case were caught, as far as that is known."""
    if pull.id in one.events:
        return sum(label in one.events[pull.id].caught for label in labels)
    sums = one.cases[pull.id]
    if len(labels) == sums.expected:
        return sums.caught
    return {0: 0, sums.expected: len(labels)}.get(sums.caught)


def _grouped(
    bundle: Bundle, one: Sheet, key: Callable[[BundlePull], str], places: int | None
) -> dict[str, dict[str, Json]]:
    """The same rates over groups of cases."""
    sums: dict[str, Caught] = {}
    for pull in bundle.pulls:
        sums[key(pull)] = sums.get(key(pull), Caught()) + one.cases[pull.id]
    return {
        name: {
            "expected": own.expected,
            "caught": own.caught,
            "false_positives": own.false_positives,
            "redundant": own.redundant,
            "catch_rate": _rounded(own.catch_rate, places),
            "precision": _rounded(own.precision, places),
            "f1": _rounded(own.f1, places),
        }
        for name, own in sorted(sums.items())
    }


def _case_table(bundle: Bundle, sheets: Sequence[Sheet]) -> Rows:
    return tuple(
        {
            "case": pull.id,
            "reviewer": one.reviewer,
            "expected": one.cases[pull.id].expected,
            "caught": one.cases[pull.id].caught,
            "missed": one.cases[pull.id].expected - one.cases[pull.id].caught,
            "false_positives": one.cases[pull.id].false_positives,
            "redundant": one.cases[pull.id].redundant,
            "catch_rate": one.cases[pull.id].catch_rate,
        }
        for pull in bundle.pulls
        for one in sheets
    )


def _rounded(value: float | None, places: int | None) -> float | None:
    return value if value is None or places is None else round(value, places)


# --- gates


def _unmet(bundle: Bundle, one: Sheet, chosen: CodeVetterOptions) -> tuple[str, ...]:
    limits = gates.Limits(chosen.min_rate, chosen.max_fp, chosen.max_redundant, chosen.min_severity)
    return gates.unmet(one.reviewer, one.total, by_severity(bundle, one), limits)


def _comparisons(bundle: Bundle, sheets: Sequence[Sheet], chosen: CodeVetterOptions) -> Rows:
    """Every reviewer against the baseline; empty if none is named."""
    base = next((one for one in sheets if one.reviewer == chosen.baseline), None)
    if base is None:
        return ()
    return tuple(
        gates.comparison(
            gates.Side(base.reviewer, base.total, _caught_ids(bundle, base)),
            gates.Side(one.reviewer, one.total, _caught_ids(bundle, one)),
        )
        for one in sheets
        if one is not base and chosen.reviewer in (None, one.reviewer)
    )


def _caught_ids(bundle: Bundle, one: Sheet) -> frozenset[str] | None:
    """Every label caught, as `case/label`; None where some are known by number only."""
    if any(sums.caught and pull not in one.events for pull, sums in one.cases.items()):
        return None
    return frozenset(f"{pull}/{label}" for pull, events in one.events.items() for label in events.caught)
