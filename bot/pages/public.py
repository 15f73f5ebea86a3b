"""What of a bundle the public may see: everything, figures under other names, or nothing but counts.

The rules are those of `bot.render.surface`. A private reviewer is gone. Of an anonymous one only its figures are left,
under a label: what it said names it, and per pull request its outcomes could be matched with what stands on the forks.
Links to where things were said go as soon as anybody is unnamed, for a fork shows what every reviewer said.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from bot.analysis.opening import Scored
from bot.model import Publish
from bot.render.surface import Surface
from scoring.bundle import Bundle, BundlePull, BundleTrial, JudgementSet, TrialJudgements, parts
from scoring.model import PullId, ReviewerId, TrialScore
from scoring.statistics.clusters import partition

Json = Any
Modes = Mapping[ReviewerId, Publish]
LEFT_OUT = "(left out: it names a tool that is not named here)"
_REQUEST = TypeAdapter(dict[str, Any])
_DIFFS = "evidence/diffs/"
_PERMALINK = re.compile(r"https?://\S+", re.IGNORECASE)


def reviewers_of(bundle: Bundle) -> tuple[ReviewerId, ...]:
    """Everybody who has a trial, in the order of the bundle."""
    return tuple(dict.fromkeys(trial.reviewer for trial in bundle.trials))


def planned_modes(bundle: Bundle) -> Modes:
    """How a live run's plan lets each reviewer be published; imported evidence was published already."""
    everyone = reviewers_of(bundle)
    raw = bundle.extra.get("evidence/plan.json")
    if raw is None:
        return dict.fromkeys(everyone, Publish.NAMED)
    request = _REQUEST.validate_json(raw)["request"]
    overall = Publish(request.get("publish", Publish.PRIVATE))
    each = {ReviewerId(name): Publish(mode) for name, mode in request.get("publish_each", ())}
    return {name: each.get(name, overall) for name in everyone}


@dataclass(frozen=True, slots=True)
class Released:
    """A bundle as the public may have it counted."""

    bundle: Bundle
    """Without private reviewers, anonymous ones under their labels. What they said is in it, to be counted only."""
    unnamed: frozenset[ReviewerId]
    """The labels of anonymous reviewers: of these nothing about single trials may be shown."""
    hidden: int
    """How many reviewers were left out."""
    secret: Secret

    @property
    def private(self) -> bool:
        """Whether nobody is left to show."""
        return self.hidden > 0 and not self.bundle.trials

    @property
    def discreet(self) -> bool:
        """Whether anybody is unnamed."""
        return bool(self.unnamed) or self.hidden > 0

    def shown(self, scored: Scored) -> Scored:
        """The evidence with what may be shown of single trials."""
        if not self.discreet:
            return scored
        kept = tuple(
            self.secret.trial(score) for score in scored.report.trials if score.trial.reviewer not in self.unnamed
        )
        left = tuple(
            replace(trial, comments=(), candidates=(), reason=self.secret.free(trial.reason))
            for trial in scored.bundle.trials
            if trial.reviewer not in self.unnamed
        )
        extra = {name: data for name, data in scored.bundle.extra.items() if name.startswith(_DIFFS)}
        bundle = replace(scored.bundle, trials=left, extra=extra, judgements=())
        return Scored(bundle, replace(scored.report, trials=kept), partition(kept))


class Secret:
    """What gives unnamed reviewers away, and texts without it."""

    def __init__(self, words: Sequence[str]) -> None:
        """Words that must not be said: a text that holds one is left out as a whole."""
        told = sorted({word for word in words if word.strip()}, key=len, reverse=True)
        self._pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}" for word in told), re.IGNORECASE)
        self._any = bool(told)

    def held(self, text: str) -> bool:
        """Whether a text gives somebody away."""
        return self._any and self._pattern.search(text) is not None

    def free(self, text: str) -> str:
        """The text, or that it was left out."""
        return LEFT_OUT if self.held(text) else text

    def said(self, text: str) -> str:
        """The same for what somebody wrote on a fork: no address of it stays."""
        return self.free(_PERMALINK.sub("(link left out)", text)) if self._any else text

    def trial(self, score: TrialScore) -> TrialScore:
        """A trial of a named reviewer, without links and without what names others."""
        trial, said = score.trial, self.said
        comments = tuple(replace(one, permalink="", body=said(one.body)) for one in trial.comments)
        candidates = tuple(
            replace(
                one,
                permalink="",
                title=said(one.title),
                text=said(one.text),
                suggestions=tuple(map(said, one.suggestions)),
            )
            for one in score.candidates
        )
        return replace(
            score,
            trial=replace(trial, reason=said(trial.reason), comments=comments),
            candidates=candidates,
            judgements=tuple(replace(one, reason=said(one.reason)) for one in score.judgements),
            outcomes=tuple(replace(one, reason=said(one.reason)) for one in score.outcomes),
            goldens=tuple(replace(one, reason=said(one.reason)) for one in score.goldens),
            no_claims=tuple(replace(one, reason=said(one.reason)) for one in score.no_claims),
        )


def labels(bundles: Sequence[tuple[Bundle, Modes]]) -> dict[ReviewerId, ReviewerId]:
    """A label for every reviewer that is anonymous in one of the bundles, the same in all of them.

    The order of the letters follows from the evidence, which outsiders do not have: from the alphabet, or from the
    order in which reviewers were asked for, anybody could tell who is who.
    """
    anonymous = {name for bundle, modes in bundles for name in reviewers_of(bundle) if _is(modes, name)}
    key = hashlib.sha256()
    for bundle, _ in bundles:
        key.update(hashlib.sha256(parts(bundle)["trials.json"]).digest())
    ordered = sorted(anonymous, key=lambda name: hashlib.sha256(key.digest() + name.encode()).digest())
    surface = Surface(modes=dict.fromkeys(ordered, Publish.ANONYMOUS))
    return {name: ReviewerId(surface.name(name)) for name in ordered}


def _is(modes: Modes, name: ReviewerId, mode: Publish = Publish.ANONYMOUS) -> bool:
    return modes.get(name, Publish.PRIVATE) is mode


def release(bundle: Bundle, modes: Modes, called: Mapping[ReviewerId, ReviewerId]) -> Released:
    """A bundle as its modes let it be seen.

    Args:
        bundle: The evidence.
        modes: How each reviewer may be published; who has no entry is private.
        called: The labels of anonymous reviewers.
    """
    everyone = reviewers_of(bundle)
    hidden = [name for name in everyone if _is(modes, name, Publish.PRIVATE)]
    unnamed = {name: called[name] for name in everyone if _is(modes, name)}
    secret = Secret(list(_words(bundle, {*hidden, *unnamed})))
    if not hidden and not unnamed:
        return Released(bundle, frozenset(), 0, secret)
    names = {name: unnamed.get(name, name) for name in everyone if name not in hidden}
    pulls = {
        pull.id: PullId(f"pull-{number}") if secret.held(pull.id) else pull.id
        for number, pull in enumerate(bundle.pulls, start=1)
    }
    made = replace(
        bundle,
        suite=replace(bundle.suite, id=secret.free(bundle.suite.id), version=secret.free(bundle.suite.version)),
        card=_card(bundle, secret),
        pulls=tuple(_pull(pull, pulls[pull.id], secret) for pull in bundle.pulls),
        trials=tuple(_trial(one, names, pulls, secret) for one in bundle.trials if one.reviewer in names),
        judgements=tuple(_judged(one, names, pulls, secret) for one in bundle.judgements),
        reviewers=tuple(
            replace(one, id=names[one.id], name="", vendor="") if one.id in unnamed else one
            for one in bundle.reviewers
            if one.id in names
        ),
        extra=_extra(bundle.extra, pulls),
    )
    return Released(made, frozenset(unnamed.values()), len(hidden), secret)


def _words(bundle: Bundle, secret: set[ReviewerId]) -> Iterator[str]:
    """Ids, names, accounts: all that is known of who must not be named."""
    yield from secret
    for one in bundle.reviewers:
        if one.id in secret:
            yield from (one.name, one.vendor)
    for trial in bundle.trials:
        if trial.reviewer in secret:
            yield from (comment.author for comment in trial.comments)
    for entry in json.loads(bundle.extra.get("evidence/registry.json", b"[]")):
        if entry["id"] in secret:
            yield from (entry["name"], *entry["app_slugs"], *entry["check_names"])
            yield from (account["login"] for account in entry["logins"])


def _card(bundle: Bundle, secret: Secret) -> Any:
    card, free = bundle.card, secret.free
    return replace(
        card,
        corpus=free(card.corpus),
        labelled_by=free(card.labelled_by),
        unit=free(card.unit),
        not_proven=tuple(map(free, card.not_proven)),
        notes=tuple(map(free, card.notes)),
    )


def _pull(pull: BundlePull, name: PullId, secret: Secret) -> BundlePull:
    tags = {key: value for key, value in pull.tags.items() if not secret.held(f"{key} {value}")}
    return replace(pull, id=name, title=secret.free(pull.title), url="", origin=secret.free(pull.origin), tags=tags)


def _trial(
    trial: BundleTrial, names: Mapping[ReviewerId, ReviewerId], pulls: Mapping[PullId, PullId], secret: Secret
) -> BundleTrial:
    reason = secret.said(trial.reason)
    return replace(trial, pull=pulls[trial.pull], reviewer=names[trial.reviewer], reason=reason)


def _judged(
    judged: JudgementSet, names: Mapping[ReviewerId, ReviewerId], pulls: Mapping[PullId, PullId], secret: Secret
) -> JudgementSet:
    def moved(one: TrialJudgements) -> TrialJudgements:
        return replace(one, pull=pulls[one.pull], reviewer=names[one.reviewer], failed=secret.said(one.failed))

    trials = tuple(moved(one) for one in judged.trials if one.reviewer in names)
    keys = {f"{pull}|{name}": f"{pulls[pull]}|{names[name]}" for pull in pulls for name in names}
    details = _renamed(judged.details, keys | {str(name): str(label) for name, label in names.items()}, secret)
    return replace(judged, trials=trials, details=details)


def _renamed(value: Json, keys: Mapping[str, str], secret: Secret) -> Json:
    """A judge's details, which speak of trials as `pull|reviewer` and of reviewers by id, under the new names."""
    if isinstance(value, Mapping):
        kept = {name: one for name, one in value.items() if name in keys or not secret.held(name)}
        return {keys.get(name, name): _renamed(one, keys, secret) for name, one in kept.items()}
    if isinstance(value, list | tuple):
        return [_renamed(one, keys, secret) for one in value]
    if isinstance(value, str):
        return keys[value] if value in keys else secret.free(value)
    return value


def _extra(extra: Mapping[str, bytes], pulls: Mapping[PullId, PullId]) -> dict[str, bytes]:
    """Nothing of the raw evidence but the diffs."""
    diffs = {f"{_DIFFS}{old}.diff": f"{_DIFFS}{new}.diff" for old, new in pulls.items()}
    return {diffs[name]: data for name, data in extra.items() if name in diffs}


def by_status(bundle: Bundle) -> dict[str, int]:
    """How many trials ended in which way."""
    return dict(Counter(trial.status.value for trial in bundle.trials))
