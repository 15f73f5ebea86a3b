"""What a run taught about the truth: sound claims of several reviewers that no golden covers, as drafts.

A claim becomes a draft if at least two reviewers made it, every judge that was asked calls it valid, and no judge
matches it to a golden. It is still only a draft: reviewers share models, and judges share mistakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from goldens.fields import printable
from goldens.importers import words
from goldens.model import GoldenPull, Suite
from goldens.trees import changes, resolve, split_lines
from scoring.bundle import Bundle, BundleTrial, TrialJudgements
from scoring.candidates import examine
from scoring.dedup import groups, same_file
from scoring.model import Candidate, CandidateId, Category, GoldenStatus, Place, PullId, Severity, Side, Verdict

LEAST = 2
"""So many reviewers must say the same."""
_LONGEST = 600
_MOST_EVIDENCE = 20
"""Lines of evidence beyond which a draft is left without any."""


class RunError(ValueError):
    """A run says nothing about a suite."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A golden that a run suggests."""

    pull: PullId
    id: str
    reviewers: tuple[str, ...]
    judges: tuple[str, ...]
    place: Place | None
    finding: str
    category: Category
    severity: Severity
    evidence: str
    suite_hash: str
    """Of the goldens that the run was scored with."""

    def entry(self) -> dict[str, Any]:
        """As a suite file says it."""
        place = self.place
        where: dict[str, Any] = {} if place is None else {"path": place.path}
        if place is not None and place.lines is not None:
            where["lines"] = list(place.lines)
        if place is not None and place.side is Side.LEFT:
            where["side"] = place.side.value
        unverified = ["category", "severity", "finding", *where]
        said = {"evidence": self.evidence} if self.evidence else {}
        reason = (
            f"claimed by {' and '.join(self.reviewers)} in a run on goldens {self.suite_hash[:12]}; "
            f"called valid by {' and '.join(self.judges)}"
        )
        return {
            "id": self.id,
            **where,
            "category": self.category.value,
            "severity": self.severity.value,
            "status": GoldenStatus.DRAFT.value,
            "reason": printable(" ".join(reason.split())),
            "finding": self.finding,
            **said,
            "unverified": unverified,
        }


@dataclass(frozen=True, slots=True)
class _Claim:
    """A valid claim, with an id that is unique in its pull request."""

    reviewer: str
    judges: tuple[str, ...]
    candidate: Candidate


def proposals(bundle: Bundle, suite: Suite) -> tuple[Proposal, ...]:
    """Drafts for a suite from a run, in suite order. What the suite already holds, in whatever state, is left out.

    Raises:
        RunError: no judge of the bundle was asked which claims are valid, or the run was about another suite.
    """
    if not any(one.valid is not None for judged in bundle.judgements for one in judged.trials):
        raise RunError("no judge of this bundle was asked whether claims without a golden are valid; judge it first")
    pulls = {pull.id: pull for pull in (*suite.pulls, *suite.unconfirmed)}
    if strange := sorted({trial.pull for trial in bundle.trials} - set(pulls)):
        raise RunError(f"the run is about pull requests that {suite.ref.id} does not have: {', '.join(strange[:5])}")
    known = {golden.id for pull in pulls.values() for golden in (*pull.goldens, *pull.retired, *pull.drafts)}
    by_pull: dict[PullId, list[_Claim]] = {}
    for trial in bundle.trials:
        by_pull.setdefault(trial.pull, []).extend(_claims(bundle, trial))
    found = [one for pull in pulls.values() for one in _proposed(pull, by_pull.get(pull.id, ()), bundle.suite.hash)]
    return tuple(one for one in found if one.id not in known)


def _claims(bundle: Bundle, trial: BundleTrial) -> Iterator[_Claim]:
    """The claims of a trial that every judge asked calls valid, and none matches."""
    chatter = next((one.not_findings for one in bundle.reviewers if one.id == trial.reviewer), ())
    said = trial.candidates
    listed = examine(trial.comments, not_findings=chatter).candidates if said is None else said
    answers = [(judged.judge, one) for judged in bundle.judgements for one in judged.trials if _about(one, trial)]
    matched = {
        judgement.candidate
        for _, one in answers
        for judgement in one.judgements
        if judgement.verdict is not Verdict.NO_MATCH
    }
    asked = [(judge, one.valid) for judge, one in answers if one.valid is not None and not one.failed]
    judges = tuple(judge for judge, _ in asked)
    for candidate in listed if trial.status.scored and asked else ():
        if candidate.id not in matched and all(candidate.id in valid for _, valid in asked):
            unique = CandidateId(f"{trial.reviewer}/{candidate.id}")
            yield _Claim(trial.reviewer, judges, replace(candidate, id=unique))


def _about(one: TrialJudgements, trial: BundleTrial) -> bool:
    return (one.pull, one.reviewer) == (trial.pull, trial.reviewer)


def _proposed(pull: GoldenPull, claims: Sequence[_Claim], suite_hash: str) -> Iterator[Proposal]:
    by_id = {claim.candidate.id: claim for claim in claims}
    for group in groups([claim.candidate for claim in claims]):
        together = [by_id[one] for one in group]
        reviewers = tuple(sorted({claim.reviewer for claim in together}))
        if len(reviewers) >= LEAST:
            yield _proposal(pull, together, reviewers, suite_hash)


def _proposal(pull: GoldenPull, claims: Sequence[_Claim], reviewers: tuple[str, ...], suite_hash: str) -> Proposal:
    best = max(claims, key=lambda claim: (_exactness(claim.candidate), len(claim.candidate.text), claim.candidate.id))
    place = _placed(pull, best.candidate.place)
    said = [claim.candidate.severity for claim in claims if claim.candidate.severity is not None]
    labels = [claim.candidate.category_said or "" for claim in claims]
    text = printable(" ".join((best.candidate.text or best.candidate.title).split()))[:_LONGEST].strip()
    return Proposal(
        pull.id,
        f"claim-{words.digest(pull.id, *sorted(claim.candidate.id for claim in claims), length=12)}",
        reviewers,
        tuple(sorted({judge for claim in claims for judge in claim.judges})),
        place,
        text or "Nothing was said of it.",
        words.category("assay", *labels) or Category.CORRECTNESS,
        _most_said(said),
        _evidence(pull, place),
        suite_hash,
    )


def _exactness(candidate: Candidate) -> int:
    """How well it says where: fewer lines are better than many, many better than a file, a file better than nothing."""
    place = candidate.place
    if place is None:
        return -1_000_000
    return -100_000 if place.lines is None else place.lines[0] - place.lines[1]


def _most_said(said: Sequence[Severity]) -> Severity:
    """What most called it, the worse of two that are as frequent; medium where nobody did."""
    counted, order = Counter(said), list(Severity)
    return min(counted, key=lambda one: (-counted[one], order.index(one))) if counted else Severity.MEDIUM


def _placed(pull: GoldenPull, place: Place | None) -> Place | None:
    """The place as the pull request's trees have it; none if they do not. Pinned trees are not here to be asked."""
    if place is None or not isinstance(pull.source, tuple):
        return place
    base, head = pull.source
    place = resolve(place, changes(base.files, head.files))
    tree = base if place.side is Side.LEFT else head
    paths = [path for path in tree.files if same_file(path, place.path)]
    if len(paths) != 1:
        return None
    length = len(split_lines(tree.files[paths[0]]))
    lines = place.lines if place.lines and 1 <= place.lines[0] <= place.lines[1] <= length else None
    return Place(paths[0], lines, place.side)


def _evidence(pull: GoldenPull, place: Place | None) -> str:
    if place is None or place.lines is None or not isinstance(pull.source, tuple):
        return ""
    base, head = pull.source
    lines = split_lines((base if place.side is Side.LEFT else head).files[place.path])
    first, last = place.lines
    text = "\n".join(lines[first - 1 : last]) if last - first < _MOST_EVIDENCE else ""
    return text.strip("\n") if text == printable(text) else ""
