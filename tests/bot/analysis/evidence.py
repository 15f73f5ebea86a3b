"""Bundles to analyse: the smoke suite reviewed by reviewers we know everything about, and a live run's raw evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bot import bundle as live
from bot.model import ForkId, ForkPlan, RepoName, RunId, RunPlan, RunRequest, Sha, Snapshot
from bot.ports import ForkCommits, ForkRow, TrialRow
from goldens.importers.folder import write_bundle
from goldens.load import load_suite
from goldens.model import Suite
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
from scoring.judges.lexical import LexicalJudge
from scoring.model import (
    Candidate,
    CandidateId,
    Comment,
    Golden,
    Judgement,
    Place,
    PullId,
    ReviewerId,
    Shape,
    TrialStatus,
    Verdict,
)
from scoring.profiles.base import claims
from tests.bot.talk import ASKED, inline, registry, reviewer, snapshot

CARD = Card("own pull requests", "the project's authors", "claim x golden", ("other code has other defects",))
SHARES: Mapping[str, tuple[int, int]] = {"sharp": (10, 0), "dull": (2, 2), "middling": (5, 1)}
"""Reviewer -> of every ten goldens how many it finds, and how many false alarms it raises on each pull request."""


def smoke() -> Suite:
    return load_suite("smoke")


def bundle(
    shares: Mapping[str, tuple[int, int]] = SHARES, judges: Sequence[str] = ("careful",), suite: Suite | None = None
) -> Bundle:
    """The smoke suite, reviewed and judged: found goldens are claimed in words of their own, alarms match nothing."""
    made = suite or smoke()
    pulls = tuple(
        BundlePull(one.id, one.goldens, one.language, one.title, changed_lines=5 + 20 * at, origin="synthetic")
        for at, one in enumerate(made.pulls)
    )
    trials, answers = [], []
    for name, (tenths, alarms) in shares.items():
        seen = 0
        for pull in pulls:
            found = [one for at, one in enumerate(pull.goldens, start=seen) if (at * 7) % 10 < tenths]
            seen += len(pull.goldens)
            trial, answer = reviewed(pull, name, found, alarms)
            trials.append(trial)
            answers.append(answer)
    sets = tuple(JudgementSet(judge, tuple(answers), {"model": judge}) for judge in judges)
    return Bundle(made.ref, CARD, pulls, tuple(trials), sets)


def reviewed(pull: BundlePull, name: str, found: Sequence[Golden], alarms: int) -> tuple[BundleTrial, TrialJudgements]:
    who = ReviewerId(name)
    claims = [claim(f"{one.id}!", f"{name} says: {one.finding}", one.place) for one in found]
    claims += [
        claim(f"alarm{at}", f"alarm {at} of {name}", Place("none.py", (at * 100 + 1, at * 100 + 2)))
        for at in range(alarms)
    ]
    said = tuple(
        Judgement(
            one.id,
            golden.id,
            Verdict.MATCH if one.id == f"{golden.id}!" else Verdict.NO_MATCH,
            "careful",
            "by its id",
        )
        for one in claims
        for golden in pull.goldens
    )
    status = TrialStatus.REVIEWED_FINDINGS if claims else TrialStatus.REVIEWED_CLEAN
    comments = tuple(
        Comment(f"review_comment/{at}", Shape.INLINE, f"{name}[bot]", one.text, "https://example.test", one.place)
        for at, one in enumerate(claims)
    )
    trial = BundleTrial(
        pull.id, who, status, comments=comments, candidates=tuple(claims), cost=len(name) / 100, seconds=60.0
    )
    return trial, TrialJudgements(pull.id, who, said)


def claim(name: str, text: str, place: Place | None) -> Candidate:
    return Candidate(CandidateId(name), f"review_comment/{name}", Shape.INLINE, "", text[:60], text, place)


def unrun(made: Bundle, name: str, status: TrialStatus) -> Bundle:
    """The same bundle where nothing of one reviewer was reviewed."""
    trials = tuple(
        BundleTrial(one.pull, one.reviewer, status, reason="as planned") if one.reviewer == name else one
        for one in made.trials
    )
    judged = tuple(
        replace(one, trials=tuple(trial for trial in one.trials if trial.reviewer != name)) for one in made.judgements
    )
    return replace(made, trials=trials, judgements=judged)


def put(made: Bundle, path: Path) -> Path:
    write_bundle(made, path)
    return path


# --- a live run


def live_evidence(org: str = "northwind") -> live.Evidence:
    """What is stored of a live run of two reviewers, one of which never answered."""
    suite = smoke()
    loud = reviewer("acme", "acme-reviewer[bot]")
    mute = reviewer("mute", "mute-bot[bot]")
    names = (ReviewerId("acme"), ReviewerId("mute"))
    forks, trials = [], []
    snapshots: dict[str, tuple[Snapshot, ...]] = {}
    for at, pull in enumerate(suite.pulls):
        fork = ForkId(f"f{at}")
        base, head, base_tree, head_tree = (Sha(f"{number}{at}" * 20) for number in range(1, 5))
        commits = ForkCommits(base, head, base_tree, head_tree, "p" * 40)
        forks.append(ForkRow(RunId("7-1"), fork, pull.id, "published", RepoName(org, f"quiet-{at}"), at, 1, commits))
        said = [inline(100 + at, "acme-reviewer[bot]", f"{pull.title}: this leaks the handle.", "10:05:00")]
        snapshots[fork] = (snapshot(review_comments=said),)
        trials.append(TrialRow(fork, names[0], TrialStatus.REVIEWED_FINDINGS, True, "done", ASKED, 1))
        trials.append(TrialRow(fork, names[1], TrialStatus.TIMEOUT, True, "silent", ASKED, 1))
    request = RunRequest("smoke", names, "lexical")
    plans = tuple(_plan(row.id, row.pull_id, names) for row in forks)
    plan = RunPlan(RunId("7-1"), org, request, suite.ref.hash, plans, (), 1.0, 1)
    return live.Evidence(
        suite, plan, ("assay[bot]", "author"), registry(loud, mute), tuple(forks), tuple(trials), snapshots
    )


def _plan(fork: ForkId, pull: PullId, reviewers: tuple[ReviewerId, ...]) -> ForkPlan:
    return ForkPlan(fork, pull, ("quiet",), "main", "work", "title", "body", reviewers)


def live_bundle(org: str = "northwind") -> Bundle:
    """The bundle of that run, judged by somebody who answers for every scored trial."""
    made = live.freeze(live_evidence(org))
    judge = LexicalJudge()
    answers = tuple(
        TrialJudgements(pull.id, trial.reviewer, tuple(judge.judge(said, pull.goldens)))
        for pull, trial, said in claims(made)
        if trial.status.scored
    )
    return replace(made, judgements=(JudgementSet("careful", answers, {"model": "careful-1"}),))
