"""Forks that stand already, as a run's evidence: whose texts are whose, how each trial ended, and what is not known.

Nothing here was asked by us, so nobody knows when a reviewer was. Everything it said until the reading counts; a
reviewer that is silent is a trial without an answer, never one that found nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot import bundle, contamination, scrape, settle
from bot.conversation import instant, read_items
from bot.fork_manifest import ForkRef
from bot.frozen import Frozen
from bot.model import (
    Asks,
    ForkId,
    ForkPlan,
    RepoName,
    RunId,
    RunPlan,
    RunRequest,
    Settled,
    Snapshot,
    TriggerKind,
    Visibility,
)
from bot.ports import ForkRow, TrialRow
from bot.registry import Login, Registry, Reviewer, TriggerSpec, normalise_login
from goldens.model import Suite
from scoring.model import PullId, ReviewerId

RUN = RunId("scraped-1")
_SLUG = re.compile(r"[^a-z0-9]+")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}(?:\[bot\])?", re.ASCII)
UNKNOWN = (
    "Whether comments were hidden as outdated or as spam is not known: GitHub's REST API does not say.",
    "What was edited or deleted before the reading is not known; an edited comment is read as it was last.",
)


class MapError(ValueError):
    """A `login=name` pair cannot be used."""


# --- who is who -------------------------------------------------------------------------------------------------


def parse_map(pairs: Iterable[str]) -> dict[str, str]:
    """`login=name` pairs, several to a text where commas stand between them. Several logins may be one reviewer.

    Raises:
        MapError: something is no such pair, or a login is there twice.
    """
    found: dict[str, str] = {}
    for pair in (part.strip() for text in pairs for part in text.split(",")):
        login, equals, name = (part.strip() for part in pair.partition("="))
        if not equals or not _LOGIN.fullmatch(login) or not _slug(name):
            raise MapError(f"{pair[:80]!r} is no login=name, for example 'coderabbitai[bot]=coderabbit'")
        key = normalise_login(login)
        if key in {normalise_login(other) for other in found}:
            raise MapError(f"{login} is there twice")
        found[login] = name
    return found


def _slug(name: str) -> str:
    return _SLUG.sub("-", name.lower()).strip("-")[:39].rstrip("-")


def registry_of(mapped: Mapping[str, str], known: Registry, snapshots: Iterable[Snapshot]) -> Registry:
    """The reviewers that a map names, with what the registry knows of them; without a map those who spoke.

    A name that the registry knows, or one for a login that it knows, keeps that entry's words and signs.
    """
    kinds = _kinds(snapshots)
    if not mapped:
        heard = {entry.id for login, kind in kinds.items() for entry in _by_account(known, login, kind)}
        return Registry(tuple(entry for entry in known.reviewers if entry.id in heard))
    made: dict[str, Reviewer] = {}
    for login, name in mapped.items():
        reviewer = _slug(name)
        kind = kinds.get(normalise_login(login), "Bot" if login.endswith("[bot]") else "User")
        entry = made.get(reviewer) or known.get(reviewer) or next(iter(_by_account(known, login, kind)), None)
        made[reviewer] = _with_login(entry, reviewer, name, login, kind)
    return Registry(tuple(_only(entry, mapped) for entry in made.values()))


def _kinds(snapshots: Iterable[Snapshot]) -> dict[str, str]:
    """Each account that said something, as compared, with GitHub's type of it."""
    kinds: dict[str, str] = {}
    for snapshot in snapshots:
        for item in read_items(snapshot):
            if item.login:
                kind = item.account or ("Bot" if item.login.endswith("[bot]") else "User")
                kinds[normalise_login(item.login)] = kind if kind in ("Bot", "User") else "User"
    return kinds


def _by_account(known: Registry, login: str, kind: str) -> list[Reviewer]:
    name = normalise_login(login)
    return [
        entry
        for entry in known.reviewers
        if any(normalise_login(own.login) == name and own.type == kind for own in entry.logins)
    ]


def _with_login(entry: Reviewer | None, reviewer: str, name: str, login: str, kind: str) -> Reviewer:
    own = Login.model_validate({"login": login, "type": kind})
    if entry is None:
        return Reviewer(id=reviewer, name=name, logins=(own,), source="named by whoever read the forks")
    logins = tuple(one for one in entry.logins if normalise_login(one.login) != normalise_login(login))
    return entry.model_copy(update={"id": reviewer, "name": name, "logins": (*logins, own)})


def _only(entry: Reviewer, mapped: Mapping[str, str]) -> Reviewer:
    """An entry without logins that the map gives to somebody else."""
    elsewhere = {normalise_login(login) for login, name in mapped.items() if _slug(name) != entry.id}
    kept = tuple(own for own in entry.logins if normalise_login(own.login) not in elsewhere)
    return entry.model_copy(update={"logins": kept})


# --- the evidence -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Read:
    """One fork that was read."""

    ref: ForkRef
    pull: PullId
    snapshot: Snapshot


class Ambiguous(ValueError):
    """Two forks are both one reviewer's of one golden pull request, and nobody can say which counts."""


def evidence_of(reads: Sequence[Read], suite: Suite, registry: Registry, our_logins: Iterable[str]) -> bundle.Evidence:
    """Everything that was read, as a run's evidence.

    Raises:
        Ambiguous: two forks are one trial.
    """
    meant = {_fork_id(read, reads): _meant_for(read, reads, registry) for read in reads}
    everybody = tuple(ReviewerId(entry.id) for entry in registry.reviewers)
    _check_once(reads, meant)
    minutes = max((_minutes(read.snapshot) for read in reads), default=1.0)
    plan = RunPlan(
        run=RUN,
        org=reads[0].ref.repo.owner,
        request=RunRequest(suite.ref.id, everybody, "lexical", wait_minutes=minutes, visibility=Visibility.PUBLIC),
        suite_hash=suite.ref.hash,
        forks=tuple(_plan(read, reads, meant) for read in reads),
        warnings=(),
        minutes=0,
        writes=0,
        frozen=Frozen(),
    )
    return bundle.Evidence(
        suite=suite,
        plan=plan,
        our_logins=tuple(our_logins),
        registry=registry,
        forks=tuple(_row(read, reads) for read in reads),
        trials=tuple(
            _trial(_fork_id(read, reads), read.snapshot, entry)
            for read in reads
            for name in meant[_fork_id(read, reads)]
            if (entry := registry.get(name)) is not None
        ),
        snapshots={_fork_id(read, reads): (read.snapshot,) for read in reads},
    )


def _fork_id(read: Read, reads: Sequence[Read]) -> ForkId:
    """The pull's id, with whom the fork is for where there are more forks of it than one."""
    same = [other for other in reads if other.pull == read.pull]
    if len(same) == 1 and not read.ref.reviewers:
        return ForkId(read.pull)
    whose = "+".join(_slug(name) for name in read.ref.reviewers) or f"{read.ref.repo.name.lower()}-{read.ref.number}"
    return ForkId(f"{read.pull}~{whose}")


def _meant_for(read: Read, reads: Sequence[Read], registry: Registry) -> tuple[ReviewerId, ...]:
    """Whose trials a fork is: those it names; a fork for everybody, those who have none of their own."""
    own = [ReviewerId(_slug(name)) for name in read.ref.reviewers]
    if own:
        return tuple(name for name in own if registry.get(name) is not None)
    same = [other for other in reads if other.pull == read.pull and other.ref.reviewers]
    taken = {_slug(name) for other in same for name in other.ref.reviewers}
    return tuple(ReviewerId(entry.id) for entry in registry.reviewers if entry.id not in taken)


def _check_once(reads: Sequence[Read], meant: Mapping[ForkId, Sequence[ReviewerId]]) -> None:
    counts = Counter((read.pull, who) for read in reads for who in meant[_fork_id(read, reads)])
    twice = [f"{pull} x {who}" for (pull, who), count in sorted(counts.items()) if count > 1]
    if twice:
        raise Ambiguous(f"more than one fork is {twice[0]}; keep one of them in the manifest, or say whose each is")


def _minutes(snapshot: Snapshot) -> float:
    """From the opening to the reading: everything said until then counts."""
    return max((snapshot.read_started - _opened(snapshot)).total_seconds(), 60.0) / 60


def _opened(snapshot: Snapshot) -> datetime:
    return instant(snapshot.pull_request.get("created_at")) or snapshot.read_started


def _plan(read: Read, reads: Sequence[Read], meant: Mapping[ForkId, tuple[ReviewerId, ...]]) -> ForkPlan:
    fork, raw = _fork_id(read, reads), read.snapshot.pull_request
    base, head = (str((raw.get(side) or {}).get("ref") or side) for side in ("base", "head"))
    title, body = str(raw.get("title") or ""), str(raw.get("body") or "")
    return ForkPlan(fork, read.pull, (read.ref.repo.name,), base, head, title, body, meant[fork])


def _row(read: Read, reads: Sequence[Read]) -> ForkRow:
    return ForkRow(
        run=RUN,
        id=_fork_id(read, reads),
        pull_id=read.pull,
        state="published",
        repo=read.ref.repo,
        pull=read.ref.number,
        opened_at=_opened(read.snapshot),
    )


def _trial(fork: ForkId, snapshot: Snapshot, reviewer: Reviewer) -> TrialRow:
    opened = _opened(snapshot)
    seconds = _minutes(snapshot) * 60
    decision = settle.decide(
        snapshot,
        # Nobody asks it again, so a notice of a rate limit is the end.
        reviewer.model_copy(update={"rerun": None, "trigger": TriggerSpec()}),
        Asks((opened,)),
        opened + timedelta(seconds=seconds),
        deadline_override_seconds=seconds,
    )
    assert isinstance(decision, Settled)
    asked = asked_at(snapshot, reviewer)
    return TrialRow(
        fork=fork,
        reviewer=ReviewerId(reviewer.id),
        status=decision.status,
        complete=decision.complete,
        reason=decision.reason,
        asks=Asks((asked,)) if asked else None,
        snapshot=1,
    )


def asked_at(snapshot: Snapshot, reviewer: Reviewer) -> datetime | None:
    """When somebody asked the reviewer in words that it listens to; None where nobody can tell, as with `auto`."""
    specs = (reviewer.trigger, reviewer.rerun)
    texts = {spec.text.strip() for spec in specs if spec and spec.kind is TriggerKind.COMMENT}
    asks = [
        created
        for raw in snapshot.issue_comments
        if str(raw.get("body") or "").strip() in texts and (created := instant(raw.get("created_at"))) is not None
    ]
    return min(asks, default=None)


# --- what to tell -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stranger:
    """A bot that commented and is no reviewer of this reading."""

    login: str
    items: int
    perhaps: str
    """The reviewer it is, or may be, by the registry; empty where nobody can tell."""


def strangers(reads: Iterable[Read], registry: Registry, known: Registry) -> tuple[Stranger, ...]:
    """Bots nobody mapped, the most talkative first. One of them may be a reviewer under a login nobody knew."""
    counts: Counter[str] = Counter()
    for read in reads:
        for item in read_items(read.snapshot):
            bot = item.account == "Bot" or (item.login or "").endswith("[bot]")
            if item.login and bot and registry.by_login(item.login, item.body, item.account) is None:
                counts[item.login] += 1
    told = [
        Stranger(login, count, next((one.id for one in _by_account(known, login, "Bot")), known.hinted(login) or ""))
        for login, count in counts.items()
    ]
    return tuple(sorted(told, key=lambda one: (-one.items, one.login.lower())))


def silent(mapped: Mapping[str, str], reads: Sequence[Read]) -> tuple[str, ...]:
    """Mapped logins that said nothing anywhere: misspelt, or never there."""
    heard = _kinds(read.snapshot for read in reads)
    return tuple(login for login in mapped if normalise_login(login) not in heard)


def seen(evidence: bundle.Evidence) -> tuple[contamination.ForkSeen, ...]:
    """Who could have read whom, fork by fork."""
    logins = frozenset(evidence.our_logins)
    return tuple(
        contamination.of_fork(
            plan.id,
            plan.reviewers,
            scrape.read(evidence.snapshots[plan.id][0], evidence.registry, our_logins=logins),
        )
        for plan in evidence.plan.forks
    )


def repositories(reads: Iterable[Read]) -> tuple[RepoName, ...]:
    """Where was read, without repeats."""
    return tuple(dict.fromkeys(read.ref.repo for read in reads))
