"""Judged trials made up for measuring: as many pull requests and reviewers as wanted, the same for a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from scoring.matching import settle
from scoring.model import (
    Candidate,
    CandidateId,
    Category,
    Comment,
    Golden,
    GoldenId,
    Judgement,
    Place,
    PullId,
    ReviewerId,
    Severity,
    Shape,
    Trial,
    TrialScore,
    TrialStatus,
    Verdict,
)

LANGUAGES = ("python", "typescript", "go", "java")
WORDS = [
    "the",
    "lock",
    "is",
    "not",
    "released",
    "when",
    "this",
    "call",
    "fails",
    "so",
    "a",
    "second",
    "request",
    "waits",
    "for",
    "it",
    "without",
    "end",
]


@dataclass(frozen=True, slots=True)
class Judged:
    """A trial with its claims and what a judge said of them, not yet counted."""

    trial: Trial
    candidates: tuple[Candidate, ...]
    judgements: tuple[Judgement, ...]

    def count(self) -> TrialScore:
        """The trial with its outcomes, as a profile makes it from stored judgements."""
        if not self.trial.status.scored:
            return TrialScore(self.trial)
        settled = settle(self.candidates, self.trial.goldens, self.judgements, ())
        return TrialScore(
            self.trial, self.candidates, self.judgements, settled.outcomes, settled.goldens, settled.counts, scored=True
        )


def trials(pulls: int, reviewers: int, seed: int = 1) -> list[Judged]:
    """Pull requests with 0 to 6 goldens; reviewers from weak to strong; one trial in thirty does not run."""
    rng = Random(seed)
    made = []
    for number in range(pulls):
        goldens = _goldens(rng)
        language = rng.choice(LANGUAGES)
        for reviewer in range(reviewers):
            skill = 0.2 + 0.5 * reviewer / max(1, reviewers - 1)
            made.append(_judged(rng, f"p{number:06}", f"bot-{reviewer:02}", goldens, language, skill))
    return made


def second_opinion(judged: Sequence[Judged], seed: int = 2) -> list[Judged]:
    """The same trials by a judge that turns one verdict in twenty round."""
    rng = Random(seed)
    turned = {Verdict.MATCH: Verdict.NO_MATCH, Verdict.NO_MATCH: Verdict.MATCH}
    return [
        replace(
            one,
            judgements=tuple(
                replace(said, verdict=turned[said.verdict]) if rng.random() < 0.05 else said for said in one.judgements
            ),
        )
        for one in judged
    ]


def _goldens(rng: Random) -> tuple[Golden, ...]:
    return tuple(
        Golden(GoldenId(f"g{at}"), "a defect", rng.choice(list(Category)), rng.choice(list(Severity)))
        for at in range(rng.choice((0, 1, 2, 2, 3, 3, 4, 6)))
    )


def _judged(rng: Random, pull: str, reviewer: str, goldens: tuple[Golden, ...], language: str, skill: float) -> Judged:
    ran = rng.random() > 1 / 30
    found = [golden for golden in goldens if ran and rng.random() < skill]
    alarms = rng.choice((0, 0, 1, 1, 2, 4)) if ran else 0
    claims = [_claim(rng, number) for number in range(len(found) + alarms)]
    rng.shuffle(claims)
    judgements = tuple(
        Judgement(
            claim.id,
            golden.id,
            Verdict.MATCH if at < len(found) and found[at] is golden else Verdict.NO_MATCH,
            "made up",
            "",
            rng.random(),
        )
        for at, claim in enumerate(claims)
        for golden in goldens
    )
    status = TrialStatus.TIMEOUT
    if ran:
        status = TrialStatus.REVIEWED_FINDINGS if claims else TrialStatus.REVIEWED_CLEAN
    comments = tuple(Comment(claim.comment_id, Shape.INLINE, reviewer, claim.text, "") for claim in claims)
    trial = Trial(PullId(pull), ReviewerId(reviewer), status, True, "", goldens, comments, language)
    return Judged(trial, tuple(claims), judgements)


def _claim(rng: Random, number: int) -> Candidate:
    line = rng.randint(1, 400)
    text = " ".join(rng.choices(WORDS, k=rng.randint(10, 60)))
    return Candidate(
        CandidateId(f"review_comment/{number}#0"),
        f"review_comment/{number}",
        Shape.INLINE,
        "",
        text[:80],
        text,
        Place(f"src/f{rng.randint(1, 5)}.py", (line, line)),
        severity=rng.choice([None, *Severity]),
    )
