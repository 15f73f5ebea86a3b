"""The frozen evidence of a run, as scoring sees it: who was asked about what, what was said, and who judged it how.

A bundle is parts by name, each bytes, and an index with the SHA-256 of every part. Where the parts lie is the caller's
business: `parts` gives them, and `load` takes them through `read(name) -> bytes`. A live run puts its raw evidence
(plan, forks, registry, snapshots) beside these parts, under `evidence/`; imported material keeps what our types do not
hold under `extra/`, so that exporting gives back what was imported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from scoring.card import Card as Card
from scoring.model import Candidate, Comment, Golden, Judgement, PullId, ReviewerId, SuiteRef, TrialStatus
from scoring.patterns import UnboundedPattern, bounded, ways

SCHEMA = "assay.bundle/1"
INDEX = "index.json"
MOST_WAYS = 12_000
"""What the patterns of one reviewer may cost together, in `patterns.ways`."""

Json = Any


class BundleError(Exception):
    """A bundle cannot be read; the message names the first part that is wrong."""


@dataclass(frozen=True, slots=True)
class BundlePull:
    """A golden pull request, as far as scoring and its strata need it."""

    id: PullId
    goldens: tuple[Golden, ...]
    language: str = ""
    title: str = ""
    url: str = ""
    changed_lines: int | None = None
    origin: str = ""
    """`real`, `synthetic` or what the source calls it; empty if it does not say."""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BundleTrial:
    """One golden pull request x one reviewer."""

    pull: PullId
    reviewer: ReviewerId
    status: TrialStatus
    complete: bool = True
    reason: str = ""
    comments: tuple[Comment, ...] = ()
    candidates: tuple[Candidate, ...] | None = None
    """The claims, where the source holds them; None: they are taken from the comments."""
    cost: float | None = None
    """US dollars."""
    seconds: float | None = None
    """From the first ask to the last thing said."""


@dataclass(frozen=True, slots=True)
class BundleReviewer:
    """What reading and naming a reviewer needs."""

    id: ReviewerId
    name: str = ""
    """What it is called; its id where empty."""
    vendor: str = ""
    not_findings: tuple[str, ...] = ()
    """Patterns of its chatter, which is never a claim."""


@dataclass(frozen=True, slots=True)
class TrialJudgements:
    """What one judge said about one trial."""

    pull: PullId
    reviewer: ReviewerId
    judgements: tuple[Judgement, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    """Candidate ids that the source's deduplication put together."""
    failed: str = ""
    """Why this trial could not be judged; empty if it was."""
    valid: tuple[str, ...] | None = None
    """Candidate ids found sound though they match no golden; None where the judge was not asked that."""


@dataclass(frozen=True, slots=True)
class JudgementSet:
    """Everything one judge said, and how it was asked."""

    judge: str
    trials: tuple[TrialJudgements, ...]
    details: Mapping[str, Json] = field(default_factory=dict)
    """Model, parameters, prompt hash, tokens, cost, latency: whatever is known."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle's contents as values. Nothing in it is ever changed: a new judge adds a `JudgementSet`."""

    suite: SuiteRef
    card: Card
    pulls: tuple[BundlePull, ...]
    trials: tuple[BundleTrial, ...]
    judgements: tuple[JudgementSet, ...] = ()
    reviewers: tuple[BundleReviewer, ...] = ()
    """Those of whom more is known than the id."""
    extra: Mapping[str, bytes] = field(default_factory=dict)
    """Parts scoring does not read, by full name: `evidence/...` of a live run, `extra/<format>/...` of an import."""


_SUITE = TypeAdapter(SuiteRef)
_CARD = TypeAdapter(Card)
_PULLS = TypeAdapter(tuple[BundlePull, ...])
_TRIALS = TypeAdapter(tuple[BundleTrial, ...])
_REVIEWERS = TypeAdapter(tuple[BundleReviewer, ...])
_JUDGEMENTS = TypeAdapter(JudgementSet)


def parts(bundle: Bundle) -> dict[str, bytes]:
    """Every part by name, the index last.

    Raises:
        ValueError: an extra part has a name that scoring uses, or two judges have one name.
    """
    found = {
        "suite.json": _SUITE.dump_json(bundle.suite, indent=1),
        "card.json": _CARD.dump_json(bundle.card, indent=1),
        "pulls.json": _PULLS.dump_json(bundle.pulls, indent=1),
        "trials.json": _TRIALS.dump_json(bundle.trials, indent=1),
        "reviewers.json": _REVIEWERS.dump_json(bundle.reviewers, indent=1),
    }
    fixed = len(found)
    for judged in bundle.judgements:
        found[judgement_part(judged.judge)] = _JUDGEMENTS.dump_json(judged, indent=1)
    if len(found) != fixed + len(bundle.judgements):
        raise ValueError("two judges of a bundle have one name")
    if misplaced := [name for name in bundle.extra if not name.startswith(("evidence/", "extra/"))]:
        raise ValueError(f"extra parts must lie under evidence/ or extra/, not {', '.join(sorted(misplaced))}")
    found |= bundle.extra
    return found | {INDEX: index_of(found)}


def judgement_part(judge: str) -> str:
    """The part that holds what a judge said. The name is hashed: judges are called what a model vendor likes."""
    readable = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in judge.lower())[:40]
    return f"judgements/{readable}.{hashlib.sha256(judge.encode()).hexdigest()[:8]}.json"


def index_of(found: Mapping[str, bytes]) -> bytes:
    """The index over parts."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(found.items())}
    return json.dumps({"schema": SCHEMA, "parts": hashes}, indent=1).encode()


def load_parts(read: Callable[[str], bytes]) -> dict[str, bytes]:
    """Every part, checked against the index.

    Raises:
        BundleError: a part is missing, differs from its hash, or the index is none of this version.
    """
    return {name: _checked(read, name, digest) for name, digest in _index(read).items()}


def _index(read: Callable[[str], bytes]) -> Mapping[str, str]:
    try:
        index = json.loads(read(INDEX))
    except RecursionError:
        raise BundleError(f"{INDEX}: nested too deep") from None
    except (OSError, KeyError, ValueError) as error:
        raise BundleError(f"{INDEX}: {error}") from error
    if not isinstance(index, dict) or index.get("schema") != SCHEMA or not isinstance(index.get("parts"), dict):
        raise BundleError(f"{INDEX}: not a bundle of this version; expected schema {SCHEMA}")
    return {str(name): str(digest) for name, digest in index["parts"].items()}


def _checked(read: Callable[[str], bytes], name: str, digest: str) -> bytes:
    try:
        data = read(name)
    except (OSError, KeyError) as error:
        raise BundleError(f"{name}: missing") from error
    if hashlib.sha256(data).hexdigest() != digest:
        raise BundleError(f"{name}: differs from its hash in {INDEX}; the evidence was changed")
    return data


def load(read: Callable[[str], bytes]) -> Bundle:
    """Read a bundle, every part checked against the index.

    Raises:
        BundleError: a part is missing, was changed, or does not fit its type; the first one is named.
    """
    found = load_parts(read)
    judged = [name for name in found if name.startswith("judgements/")]
    return Bundle(
        suite=_typed(_SUITE, found, "suite.json"),
        card=_typed(_CARD, found, "card.json"),
        pulls=_typed(_PULLS, found, "pulls.json"),
        trials=_typed(_TRIALS, found, "trials.json"),
        judgements=tuple(_typed(_JUDGEMENTS, found, name) for name in judged),
        reviewers=_bounded(_typed(_REVIEWERS, found, "reviewers.json")),
        extra={name: data for name, data in found.items() if name.startswith(("evidence/", "extra/"))},
    )


def _bounded(reviewers: tuple[BundleReviewer, ...]) -> tuple[BundleReviewer, ...]:
    """The reviewers, once it is sure that a search with their patterns comes to an end."""
    for one in reviewers:
        try:
            total = sum(ways(bounded(pattern).pattern) for pattern in one.not_findings)
        except UnboundedPattern as error:
            raise BundleError(f"reviewers.json: a pattern of {one.id} {error}") from error
        if total > MOST_WAYS:
            raise BundleError(f"reviewers.json: the patterns of {one.id} can be tried in {total} ways; too many")
    return reviewers


def _typed(kind: TypeAdapter[Any], found: Mapping[str, bytes], name: str) -> Any:
    if name not in found:
        raise BundleError(f"{name}: missing")
    try:
        return kind.validate_json(found[name])
    except ValueError as error:
        raise BundleError(f"{name}: does not fit {SCHEMA}: {error}") from error
