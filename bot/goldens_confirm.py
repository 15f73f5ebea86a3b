"""Drafts confirmed by verification and judges: what stands in the way is counted, and nothing passes in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bot.adapters.mirrors import read_pins
from bot.goldens_asking import Panel, Question
from bot.goldens_desk import amend, owned
from bot.judging.context import around
from goldens.confirming import FOOLED, Case, Said, Stand, agreed, case, read_reply, schema, speaks_to_judge
from goldens.edit import SuiteText
from goldens.findings import Finding, Level
from goldens.keeping import Who, confirm, drafts, promoted
from goldens.load import load_suite
from goldens.model import GitPin, GoldenPull, Suite
from goldens.verify import Trees, verify
from scoring.judges.asks import Unscored
from scoring.model import Golden, PullId

CHECKED = frozenset({"path", "lines", "side", "evidence", "finding"})
"""What verification and judges look at. What else nobody has checked stays marked: the severity above all."""
NO_TREES = "its trees are not here; --mirror gives them"
NO_PLACE = "it has no place, so nothing can be shown"
SPEAKS = "its own words speak to a judge; a person must look"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one draft."""

    pull: str
    golden: str
    confirmed: bool
    why: str
    """Why it stays a draft; empty if it does not."""
    judges: Mapping[str, str]
    """What each judge said, or why it said nothing."""

    def record(self) -> dict[str, Any]:
        """As JSON values."""
        return {name: getattr(self, name) for name in ("pull", "golden", "confirmed", "why")} | {
            "judges": dict(self.judges)
        }


@dataclass(frozen=True, slots=True)
class _Open:
    """A draft that judges may be asked about."""

    pull: GoldenPull
    golden: Golden
    case: Case


def confirm_drafts(which: str, mirror: Path | None, panel: Panel, day: str) -> tuple[Outcome, ...]:
    """Ask every judge of the panel about every draft that verification finds sound; confirm what all of them see.

    Raises:
        EditError, SuiteError, GitError: the suite is not the user's, has problems, or a clone cannot be read.
        NotAgreed, BudgetError: asking would cost what nobody allowed.
    """
    path = owned(which)
    suite = load_suite(path)
    closed, waiting = _sorted(suite, mirror)
    said = panel.ask([Question(one.case.prompt, schema()) for one in waiting], lambda text: _wrong(text, waiting))
    outcomes = list(closed)
    for one, replies in zip(waiting, said, strict=True):
        outcome = _outcome(one, panel.models, replies)
        if outcome.confirmed:
            who = Who(f"verify, {', '.join(panel.models)}", day)
            amend(path, partial(_confirm, golden=outcome.golden, who=who))
        outcomes.append(outcome)
    order = {str(golden.id): at for at, (_, golden) in enumerate(drafts(suite))}
    return tuple(sorted(outcomes, key=lambda one: order[one.golden]))


def _confirm(text: SuiteText, *, golden: str, who: Who) -> None:
    confirm(text, golden, who, checked=CHECKED)


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many drafts stay drafts, by reason."""
    return dict(Counter(one.why for one in outcomes if not one.confirmed).most_common())


def _sorted(suite: Suite, mirror: Path | None) -> tuple[list[Outcome], list[_Open]]:
    """The drafts that nobody need be asked about, and those that judges see."""
    whole = promoted(suite)
    trees, pins = read_pins(whole, mirror) if mirror is not None else ({}, {})
    told = verify(whole, trees, pins)
    closed, waiting = list[Outcome](), list[_Open]()
    for pull, golden in drafts(suite):
        code = _code(pull, golden, trees)
        why = _obstacle(pull, golden, told, code)
        if why or not code:
            closed.append(Outcome(str(pull.id), str(golden.id), False, why or NO_TREES, {}))
        else:
            waiting.append(_Open(pull, golden, case(pull, golden, code, whole.pulls)))
    return closed, waiting


def _code(pull: GoldenPull, golden: Golden, trees: Mapping[PullId, Trees]) -> dict[str, str]:
    pair = trees.get(pull.id) if isinstance(pull.source, GitPin) else pull.source
    if pair is None or golden.place is None:
        return {}
    return around(pair[0].files, pair[1].files, [golden.place])


def _obstacle(pull: GoldenPull, golden: Golden, told: Sequence[Finding], code: Mapping[str, str]) -> str:
    """What keeps a draft from judges: what verification says of it or of its pull request, or its own words."""
    if golden.place is None:
        return NO_PLACE
    mine = [one for one in told if one.pull == pull.id and one.golden in (None, golden.id)]
    errors = sorted({one.rule for one in mine if one.level is Level.ERROR})
    if errors:
        return f"verify: {errors[0]}"
    if not code or any(one.rule == "not-checked" for one in mine):
        return NO_TREES
    return SPEAKS if speaks_to_judge(golden) else ""


def _wrong(text: str, waiting: Sequence[_Open]) -> str:
    """What is wrong with the form of an answer, which is the same for every draft."""
    found = read_reply(text, waiting[0].case)
    return found if isinstance(found, str) else ""


def _outcome(one: _Open, models: Sequence[str], replies: Sequence[str | Unscored]) -> Outcome:
    told, said = dict[str, str](), list[Said]()
    for model, reply in zip(models, replies, strict=True):
        read = reply if isinstance(reply, Unscored) else read_reply(reply, one.case)
        if isinstance(read, Said):
            said.append(read)
            told[model] = f"{read.stand}: {read.reason}" if read.reason else str(read.stand)
        else:
            told[model] = read.reason if isinstance(read, Unscored) else read
    why = agreed(said) if len(said) == len(models) else _silent(told, said)
    return Outcome(str(one.pull.id), str(one.golden.id), not why, why, told)


def _silent(told: Mapping[str, str], said: Sequence[Said]) -> str:
    """Why there is no answer of every judge, without what tells one call from another."""
    if any(one.stand is Stand.FOOLED for one in said):
        return FOOLED
    kinds = {text.partition(":")[0] for text in told.values() if text.startswith(("budget:", "judge_"))}
    return f"a judge did not answer ({', '.join(sorted(kinds))})"
