"""What stands beside every result: which evidence, whose judgement, what it does not prove."""

from __future__ import annotations

from typing import Any

from bot.analysis.opening import Scored
from bot.analysis.sheet import as_json
from bot.render.figures import judge_label, suite_line
from scoring.model import Report
from scoring.statistics.bootstrap import Resampler

Json = Any
FP_MEANS = "FP: a claim that matches no known defect; it may still be right."


def title(report: Report) -> str:
    """Suite, profile and judge in one line."""
    return f"{suite_line(report)}, profile {report.profile}, judge {judge_label(report.judge)}"


def provenance(scored: Scored) -> dict[str, Json]:
    """The same for machines."""
    report = scored.report
    return {
        "profile": report.profile,
        "suite": as_json(report.suite),
        "judge": report.judge,
        "unit": report.unit,
        "dedup": report.dedup,
        "card": as_json(report.card),
        "versions": dict(report.versions),
    }


def drawn(seed: int, resampler: Resampler) -> dict[str, Json]:
    """How intervals were drawn: with this, another run gives the same digits."""
    return {
        "seed": seed,
        "draws": resampler.draws,
        "confidence": resampler.confidence,
        "method": resampler.method.value,
        "clusters": "pull requests",
    }


def intervals_note(seed: int, resampler: Resampler) -> str:
    """The same in a sentence."""
    return (
        f"Square brackets hold the {resampler.confidence:.0%} interval, by {resampler.draws} resamples of whole pull "
        f"requests (seed {seed})."
    )


def caveats(scored: Scored) -> tuple[str, ...]:
    """What the card and the run want said."""
    card = scored.report.card
    said = [FP_MEANS]
    if card is not None:
        about = (("Corpus", card.corpus), ("Labelled by", card.labelled_by), ("Counted", card.unit))
        said += [f"{what}: {words.rstrip('.')}." for what, words in about if words]
        said += [f"Not proven: {line}" for line in card.not_proven]
    return tuple(dict.fromkeys([*said, *scored.report.notes]))
