"""What people rule on the pages, and what becomes of a judge's verdicts by it.

A ruling that is taken back is gone, and of two about one pair the later stands. The result goes into the run's bundle
as the judge `human`, exactly as `assay adjudicate` writes it, so that either sees what the other decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.judging.adjudicating import HUMAN, Decision, as_set, decisions, overlaid
from bot.rulings import Ruling, as_of, standing
from scoring.bundle import Bundle, JudgementSet
from scoring.judges.human import VALID
from scoring.model import Verdict

VERDICTS = (Verdict.MATCH.value, Verdict.NO_MATCH.value, VALID)
"""What a person can rule about a claim and a golden; `valid`: sound, but none of the goldens."""
SEEN = "rulings"
"""In the details of the judge `human`: the number of the last ruling that is in it."""
ELSEWHERE = "assay adjudicate"
"""Who took back a ruling that was undone at a terminal."""


def decision(ruling: Ruling) -> Decision:
    """A ruling as a decision at a terminal is kept."""
    golden = "" if ruling.verdict == VALID else ruling.golden
    return Decision(
        pull=ruling.pull,
        reviewer=ruling.reviewer,
        candidate=ruling.candidate,
        golden=golden,
        verdict=ruling.verdict,
        reason=ruling.note,
        who=ruling.by,
        when=ruling.at,
        replaced=ruling.replaced,
    )


def missing(bundle: Bundle, rulings: Sequence[Ruling]) -> tuple[Ruling, ...]:
    """Standing rulings that somebody took back at a terminal since they were written into the bundle."""
    people = people_of(bundle)
    if people is None or SEEN in people.details:
        # Whoever writes at a terminal does not note how far the record was: then what is gone was taken back there.
        return ()
    there = set(decisions(people))
    return tuple(one for one in standing(rulings) if decision(one) not in there)


def people_of(bundle: Bundle) -> JudgementSet | None:
    """What people decided so far, as the bundle holds it."""
    return next((one for one in bundle.judgements if one.judge == HUMAN), None)


def base_of(bundle: Bundle, own: str) -> JudgementSet | None:
    """The judge whose verdicts people correct: the run's own, else the first that is no person."""
    judges = [one for one in bundle.judgements if not by_people(one.judge)]
    return next((one for one in judges if one.judge == own), next(iter(judges), None))


def by_people(judge: str) -> bool:
    """Whether a judge is people, or one that people corrected."""
    return judge == HUMAN or judge.endswith(f"+{HUMAN}")


def decided(bundle: Bundle, rulings: Sequence[Ruling], last: int | None = None) -> tuple[Decision, ...]:
    """Everything that people decided and that stands: at a terminal, by a file, and by the rulings.

    Args:
        bundle: The evidence, which may hold the rulings already.
        rulings: The whole record.
        last: Up to which ruling; None: all.
    """
    ours = {decision(one) for one in rulings}
    others = [one for one in decisions(people_of(bundle)) if one not in ours]
    then = standing(rulings if last is None else as_of(rulings, last))
    return tuple(sorted([*others, *(decision(one) for one in then)], key=lambda one: one.when))


def applied(
    bundle: Bundle, base: JudgementSet, rulings: Sequence[Ruling], last: int | None = None
) -> tuple[JudgementSet, JudgementSet]:
    """What people say by now, and a judge's verdicts with that in their place. The bundle stays what it is."""
    made = decided(bundle, rulings, last)
    about = {(one.pull, one.reviewer) for one in made}
    only = replace(bundle, trials=tuple(one for one in bundle.trials if (one.pull, one.reviewer) in about))
    people = as_set(made, only)
    seen = max((one.id for one in rulings), default=0)
    return replace(people, details={**people.details, SEEN: seen}), overlaid(base, people)
