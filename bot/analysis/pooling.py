"""Several bundles as one, and whether the parts of one fit together."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.analysis.problems import Unusable, one_of
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
from scoring.model import PullId, ReviewerId, SuiteRef

Named = tuple[str, Bundle]
"""A bundle and what to call it in an error."""
Json = Any
Key = tuple[PullId, ReviewerId]
LIVE = "lexical"
"""The judge that can be asked at any time: it needs no model and no key."""
GIVEN = "candidates"
"""Where a judge's details say which claims it was given, by trial; absent where it was given all."""
BARE = "counts_only"
"""Where they say of which trials a source published counts only."""


def misfit(bundle: Bundle) -> str | None:
    """What does not fit together: the first trial, golden or claim that is spoken of and not there."""
    return next(_misfits(bundle), None)


def _misfits(bundle: Bundle) -> Iterator[str]:
    pulls = {pull.id: pull for pull in bundle.pulls}
    yield from _twice("golden pull request", [str(pull.id) for pull in bundle.pulls])
    yield from _twice("trial", [f"{trial.pull} x {trial.reviewer}" for trial in bundle.trials])
    trials = {(trial.pull, trial.reviewer): trial for trial in bundle.trials}
    for trial in bundle.trials:
        if trial.pull not in pulls:
            yield f"trials.json: the trial of {trial.reviewer} is about {trial.pull}, which is not in pulls.json"
    for judged in bundle.judgements:
        yield from _twice(
            f"answer of judge {judged.judge} on", [f"{one.pull} x {one.reviewer}" for one in judged.trials]
        )
        for one in judged.trials:
            where = f"judge {judged.judge}, {one.pull} x {one.reviewer}"
            if (one.pull, one.reviewer) not in trials:
                yield f"{where}: there is no such trial"
            else:
                yield from _answers(where, one, pulls[one.pull], trials[one.pull, one.reviewer])


def _twice(what: str, names: Sequence[str]) -> Iterator[str]:
    yield from (f"{what} {name} is there twice" for name, count in Counter(names).items() if count > 1)


def _answers(where: str, one: TrialJudgements, pull: BundlePull, trial: BundleTrial) -> Iterator[str]:
    goldens = {golden.id for golden in pull.goldens}
    if strange := sorted({answer.golden for answer in one.judgements} - goldens):
        yield f"{where}: an answer is about golden {strange[0]}, which is not one of its pull request"
    if trial.candidates is None:
        return
    claims = {str(claim.id) for claim in trial.candidates}
    said = {str(answer.candidate) for answer in one.judgements} | {name for group in one.groups for name in group}
    if strange_claims := sorted((said | set(one.valid or ())) - claims):
        yield f"{where}: an answer is about claim {strange_claims[0]}, which the trial does not hold"


def pool(bundles: Sequence[Named], judge: str | None = None) -> Bundle:
    """One bundle out of several: other pull requests, or other reviewers on the same ones.

    Bundles of one suite share their pull requests; those of different suites keep theirs apart. A reviewer that has two
    trials on one pull request is a repeat, and a pull request that counted twice would pass for two.

    Args:
        bundles: The bundles.
        judge: Who will be asked. The one that can be asked now needs no stored answers.

    Raises:
        Unusable: a trial is there twice, or the bundles have no judge in common.
    """
    if len(bundles) == 1:
        return bundles[0][1]
    suites = {bundle.suite for _, bundle in bundles}
    labels = _labels(sorted(suites, key=lambda one: (one.id, one.version, one.hash)))
    apart = len(suites) > 1
    own = [(name, _prefixed(bundle, labels[bundle.suite]) if apart else bundle) for name, bundle in bundles]
    _check_apart(own)
    return Bundle(
        suite=_suite([bundle.suite for _, bundle in bundles]),
        card=_card([bundle.card for _, bundle in bundles]),
        pulls=_pulls(own),
        trials=tuple(trial for _, bundle in own for trial in bundle.trials),
        judgements=_judgements(own, judge),
        reviewers=tuple({one.id: one for _, bundle in own for one in bundle.reviewers}.values()),
        extra={name: data for name, data in own[0][1].extra.items() if name == "evidence/plan.json"},
    )


def only(bundle: Bundle, reviewer: str, label: str) -> Bundle:
    """The part of a bundle that is about one reviewer, under another name.

    Raises:
        Unusable: no trial is of that reviewer.
    """
    own = [trial for trial in bundle.trials if trial.reviewer == reviewer]
    if not own:
        raise one_of("reviewer", reviewer, {trial.reviewer for trial in bundle.trials})
    called = ReviewerId(label)
    return replace(
        bundle,
        trials=tuple(replace(trial, reviewer=called) for trial in own),
        judgements=tuple(_moved(judged, own, lambda key: (key[0], called)) for judged in bundle.judgements),
        reviewers=tuple(replace(one, id=called) for one in bundle.reviewers if one.id == reviewer),
    )


def _labels(suites: Sequence[SuiteRef]) -> dict[SuiteRef, str]:
    """What to put before the pull requests of each suite: its id, or with a piece of its hash where that is not one."""
    ids = Counter(suite.id for suite in suites)
    return {suite: suite.id if ids[suite.id] == 1 else f"{suite.id}-{suite.hash[:8]}" for suite in suites}


def _prefixed(bundle: Bundle, label: str) -> Bundle:
    def of(pull: PullId) -> PullId:
        return PullId(f"{label}/{pull}")

    return replace(
        bundle,
        pulls=tuple(replace(pull, id=of(pull.id)) for pull in bundle.pulls),
        trials=tuple(replace(trial, pull=of(trial.pull)) for trial in bundle.trials),
        judgements=tuple(
            _moved(judged, bundle.trials, lambda key: (of(key[0]), key[1])) for judged in bundle.judgements
        ),
    )


def _moved(judged: JudgementSet, trials: Sequence[BundleTrial], to: Callable[[Key], Key]) -> JudgementSet:
    """What a judge said of some trials, under their new names; and which claims it was given of each."""
    keys = {(trial.pull, trial.reviewer) for trial in trials}
    moved = []
    for one in judged.trials:
        if (one.pull, one.reviewer) in keys:
            pull, reviewer = to((one.pull, one.reviewer))
            moved.append(replace(one, pull=pull, reviewer=reviewer))
    names = {"|".join(key): "|".join(to(key)) for key in sorted(keys)}
    lists = {names[key]: ids for key, ids in judged.details.get(GIVEN, {}).items() if key in names}
    bare = [names[key] for key in judged.details.get(BARE, ()) if key in names]
    return JudgementSet(judged.judge, tuple(moved), _details(lists, bare))


def _details(lists: Mapping[str, Sequence[str]], bare: Sequence[str]) -> dict[str, Json]:
    """What of a judge's details is about single trials, and so stays true beside other bundles."""
    return {name: held for name, held in ((GIVEN, lists), (BARE, bare)) if held}


def _check_apart(bundles: Sequence[Named]) -> None:
    held: dict[tuple[PullId, ReviewerId], str] = {}
    for name, bundle in bundles:
        for trial in bundle.trials:
            key = (trial.pull, trial.reviewer)
            if key in held:
                raise Unusable(
                    f"{trial.reviewer} has a trial on {trial.pull} in {held[key]} and in {name}: repeats are scored "
                    "one at a time, or compared with `assay compare ... --against`"
                )
            held[key] = name


def _pulls(bundles: Sequence[Named]) -> tuple[BundlePull, ...]:
    found: dict[PullId, BundlePull] = {}
    for name, bundle in bundles:
        for pull in bundle.pulls:
            if found.setdefault(pull.id, pull).goldens != pull.goldens:
                raise Unusable(f"{name}: {pull.id} has other goldens than in the bundle before; they are no one suite")
    return tuple(found.values())


def _judgements(bundles: Sequence[Named], judge: str | None) -> tuple[JudgementSet, ...]:
    """The judges that every bundle holds: rows judged by different judges never belong in one table."""
    names = [[judged.judge for judged in bundle.judgements] for _, bundle in bundles]
    if not any(names):
        return ()
    common = [name for name in names[0] if all(name in own for own in names)]
    if not common and judge != LIVE:
        held = "; ".join(f"{path}: {', '.join(own) or 'none'}" for (path, _), own in zip(bundles, names, strict=True))
        raise Unusable(f"the bundles have no judge in common ({held}); ask one now: --judge {LIVE}")
    return tuple(_joined(name, [one for _, bundle in bundles for one in bundle.judgements]) for name in common)


def _joined(name: str, sets: Sequence[JudgementSet]) -> JudgementSet:
    own = [one for one in sets if one.judge == name]
    lists = {key: ids for one in own for key, ids in one.details.get(GIVEN, {}).items()}
    bare = [key for one in own for key in one.details.get(BARE, ())]
    return JudgementSet(name, tuple(trial for one in own for trial in one.trials), _details(lists, bare))


def _suite(suites: Sequence[SuiteRef]) -> SuiteRef:
    different = list(dict.fromkeys(suites))
    if len(different) == 1:
        return different[0]
    digest = hashlib.sha256("\0".join(sorted(one.hash for one in different)).encode()).hexdigest()
    return SuiteRef("+".join(one.id for one in different), "+".join(one.version for one in different), digest)


def _card(cards: Sequence[Card]) -> Card:
    def joined(values: Sequence[str]) -> str:
        return "; ".join(dict.fromkeys(values))

    return Card(
        corpus=joined([card.corpus for card in cards]),
        labelled_by=joined([card.labelled_by for card in cards]),
        unit=joined([card.unit for card in cards]),
        not_proven=tuple(dict.fromkeys(line for card in cards for line in card.not_proven)),
        notes=tuple(dict.fromkeys(line for card in cards for line in card.notes)),
    )
