"""What reviewers put out and what they take: findings, tokens, dollars, rounds; and who is worth the money."""

from __future__ import annotations

from collections.abc import Sequence

from bot.analysis.figures import Price
from bot.analysis.sheet import Cell, Column, Kind, Sheet
from bot.studies.material import Material, only
from bot.studies.record import Condition, Took
from bot.studies.tables.common import BOUNDS, REVIEWER, NotMade, Table, count, figures_of, plain, share, table_of
from scoring.bundle import BundleTrial
from scoring.model import Estimate, ReviewerId
from scoring.profiles.base import NEVER_ASKED
from scoring.statistics.bootstrap import mean_of

_NO_REVIEW = "no review came"
_ASKS_NOBODY = "it asks no model"


def output(material: Material) -> Sheet:
    """Findings, tokens, cost and what could not be used, for each review."""
    columns = (
        REVIEWER,
        count("trials", "trials"),
        count("reviews", "reviews"),
        count("failed", "failed"),
        count("partial", "cut short"),
        share("findings", "findings per review"),
        share("tokens_in", "prompt tokens per review"),
        share("tokens_out", "output tokens per review"),
        count("invalid", "unusable items"),
        Column("cost", "$ per review", Kind.SMALL),
        plain("seconds", "median seconds"),
    )
    rows = [_output(material, one) for one in material.main]
    timed = any(trial.seconds is not None for trial in material.bundle.trials)
    notes = [
        "Unusable items of an answer are counted here and are no findings. Cut short: part of the change was not shown "
        "to the reviewer, so the trial is not scored.",
        "Tokens and dollars are what the answers took when they were paid for; answers from the cache cost no more.",
    ]
    if not timed:
        notes.append("No seconds: the study keeps them apart, for no two runs take the same time (see timing.json).")
    return table_of("output", "Output behaviour", columns, rows, notes)


def _output(material: Material, one: Condition) -> tuple[Cell, ...]:
    own = [trial for trial in material.bundle.trials if trial.reviewer == one.id]
    reviews = [trial for trial in own if trial.status.scored]
    told = {took.pull: took for took in material.record.took if took.condition == one.id}
    took = [told[trial.pull] for trial in reviews if trial.pull in told]
    asks = any(part.calls for part in took)
    findings = [len(trial.candidates or ()) for trial in reviews]
    price = _price(reviews)
    return (
        one.id,
        len(own),
        len(reviews),
        sum(trial.status not in NEVER_ASKED and not trial.status.scored for trial in own),
        sum(not trial.complete for trial in reviews),
        _mean(material, findings, _NO_REVIEW),
        _tokens(material, [part.prompt_tokens for part in took], asks),
        _tokens(material, [part.completion_tokens for part in took], asks),
        sum(len(part.invalid) for part in told.values()),
        price.per_review,
        price.seconds,
    )


def _price(reviews: Sequence[BundleTrial]) -> Price:
    from statistics import median

    costs = [trial.cost for trial in reviews if trial.cost is not None]
    seconds = [trial.seconds for trial in reviews if trial.seconds is not None]
    mean = sum(costs) / len(costs) if costs else None
    return Price(len(costs), mean, None, median(seconds) if seconds else None)


def _tokens(material: Material, many: Sequence[int], asks: bool) -> Estimate:
    if not asks:
        return Estimate(None, None, None, 0, _ASKS_NOBODY if many else "nobody counted them")
    return _mean(material, many, _NO_REVIEW)


def _mean(material: Material, many: Sequence[int], reason: str) -> Estimate:
    """The mean of one number for each review, with its interval."""
    import numpy as np

    rows = np.array([(one, 1) for one in many], dtype=np.float64).reshape(len(many), 2)
    return material.resampler.estimate(rows, mean_of, rows[:, 1] > 0, len(many), reason)


def output_by_origin(material: Material) -> Sheet:
    """How much is said on pull requests of each origin."""
    origins = sorted({pull.origin or "not said" for pull in material.bundle.pulls})
    if len(origins) < 2:
        raise NotMade(f"all pull requests of the study are of one origin ({origins[0]})")
    held = {pull.id: pull.origin or "not said" for pull in material.bundle.pulls}
    rows = []
    for origin in origins:
        for one in material.main:
            own = [trial for trial in material.bundle.trials if trial.reviewer == one.id and trial.status.scored]
            many = [len(trial.candidates or ()) for trial in own if held[trial.pull] == origin]
            rows.append((origin, one.id, len(many), _mean(material, many, _NO_REVIEW)))
    columns = (
        Column("origin", "origin"),
        REVIEWER,
        count("reviews", "reviews"),
        share("findings", "findings per review"),
    )
    return table_of("output_by_origin", "Findings by origin", columns, rows)


# --- frontier


def frontier(material: Material) -> Sheet:
    """F1 against what a review costs: who is on the frontier, and who is beaten at no higher price."""
    trials = material.scored.trials
    figures = {name: figures_of(trials.counts(name), material.resampler) for name in trials.reviewers}
    prices = {one.id: _price_of(material, one.id).per_review for one in material.main}
    known = {
        name: (price, figures[name].f1)
        for name, price in prices.items()
        if price is not None and name in figures and figures[name].f1.value is not None
    }
    if not known:
        raise NotMade("no reviewer has both an F1 and a known price; give the models' prices in `prices`")
    columns = (
        REVIEWER,
        Column("cost", "$ per review", Kind.SMALL),
        share("f1", "F1"),
        Column("frontier", "on the frontier"),
        Column("beaten_by", "beaten by"),
    )
    rows = []
    for name in sorted(known, key=lambda name: (known[name][0], name)):
        better = [other for other in sorted(known) if _beats(known[other], known[name])]
        rows.append((name, *known[name], "no" if better else "yes", ", ".join(better)))
    out = sorted(set(prices) - set(known))
    notes = ["Beaten: another costs no more and has no lower F1, and is better in one of the two. By values alone: "]
    notes[0] += "whether two F1 differ by more than chance stands under `Head to head`."
    notes.append(BOUNDS)
    notes += [f"Left out, for want of a price or of F1: {', '.join(out)}."] if out else []
    return table_of("frontier", "Cost and quality", columns, rows, notes)


def _price_of(material: Material, name: ReviewerId) -> Price:
    counted = material.scored.trials.scored(name) if name in material.scored.trials.reviewers else {}
    return _price([trial for trial in material.bundle.trials if trial.reviewer == name and trial.pull in counted])


def _beats(one: tuple[float, Estimate], other: tuple[float, Estimate]) -> bool:
    (cost, f1), (price, value) = (one[0], one[1].value or 0.0), (other[0], other[1].value or 0.0)
    return cost <= price and f1 >= value and (cost < price or f1 > value)


# --- rounds


def rounds(material: Material) -> Sheet:
    """What each round of a reviewer that works in rounds is worth."""
    staged = {(one.reviewer, one.prompt) for one in material.record.conditions if one.round}
    if not staged:
        raise NotMade("no reviewer of the study works in rounds (as `reflexion:` does)")
    own = [one for one in material.record.conditions if one.repeat == 1 and (one.reviewer, one.prompt) in staged]
    scored = only(material.everything, {one.id for one in own})
    figures = {name: figures_of(scored.trials.counts(name), material.resampler) for name in scored.trials.reviewers}
    rows = {row.reviewer: row for row in scored.report.reviewers}
    columns = (
        REVIEWER,
        Column("round", "round"),
        count("tp", "TP"),
        count("fp", "FP"),
        count("fn", "FN"),
        share("precision", "precision"),
        share("recall", "recall"),
        share("f1", "F1"),
        share("tokens", "tokens so far per review"),
    )
    made: list[tuple[Cell, ...]] = []
    for one in own:
        counts, micro = rows[one.id].counts, figures[one.id]
        spent = [part.prompt_tokens + part.completion_tokens for part in _took(material, one.id)]
        tokens = _mean(material, spent, _NO_REVIEW)
        cells = (counts.tp, counts.fp, counts.fn, micro.precision, micro.recall, micro.f1, tokens)
        made.append((one.id, one.round or "last", *cells))
    note = "One run scores every round: the rounds share their calls."
    return table_of("rounds", "Rounds", columns, made, (note, BOUNDS))


def _took(material: Material, name: ReviewerId) -> list[Took]:
    return [one for one in material.record.took if one.condition == name]


TABLES = (
    Table("output", "Output behaviour", output),
    Table("output_by_origin", "Findings by origin", output_by_origin),
    Table("frontier", "Cost and quality", frontier),
    Table("rounds", "Rounds", rounds),
)
