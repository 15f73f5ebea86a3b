"""Evidence to make pages of: as large, as hostile and as mixed as a test wants it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from random import Random

from scoring.bundle import Bundle, BundlePull, BundleReviewer, BundleTrial, Card, JudgementSet, TrialJudgements, parts
from scoring.model import (
    Candidate,
    CandidateId,
    Category,
    Comment,
    Golden,
    GoldenId,
    GoldenStatus,
    Judgement,
    PullId,
    ReviewerId,
    Severity,
    Shape,
    SuiteRef,
    TrialStatus,
    Verdict,
)

LANGUAGES = ("python", "go", "typescript", "c")
UNSCORED = (TrialStatus.RATE_LIMITED, TrialStatus.TIMEOUT, TrialStatus.SKIPPED)
HOSTILE = "<script>alert(1)</script>\N{RIGHT-TO-LEFT OVERRIDE}\"'&"


def reviewer_names(count: int) -> tuple[ReviewerId, ...]:
    return tuple(ReviewerId(f"revbot-{chr(97 + at // 26)}{chr(97 + at % 26)}") for at in range(count))


def made_bundle(
    pulls: int = 4,
    names: Sequence[str] = ("revbot-aa", "revbot-ab", "revbot-ac"),
    *,
    judges: Sequence[str] = ("model-x",),
    seed: int = 1,
    version: str = "1",
    title: str = "A change",
    plan: Mapping[str, object] | None = None,
    disputed: bool = False,
) -> Bundle:
    """A bundle with claims, judgements and every kind of trial; the better a reviewer the earlier its name stands."""
    rng = Random(seed)
    suite_pulls = tuple(_pull(at, title, disputed and at == 0) for at in range(pulls))
    trials = tuple(_trial(pull, ReviewerId(name), at, rng) for pull in suite_pulls for at, name in enumerate(names))
    goldens = {pull.id: pull.goldens for pull in suite_pulls}
    extra = {} if plan is None else {"evidence/plan.json": json.dumps({"request": dict(plan)}).encode()}
    return Bundle(
        suite=SuiteRef("made", version, f"{seed:064x}"),
        card=Card(corpus="Made for a test", labelled_by="the test", unit="a claim x a golden"),
        pulls=suite_pulls,
        trials=trials,
        judgements=tuple(
            JudgementSet(judge, tuple(_judged(one, goldens[one.pull], rng) for one in trials if one.candidates))
            for judge in judges
        ),
        reviewers=tuple(BundleReviewer(ReviewerId(name), f"The {name}", f"Vendor of {name}") for name in names),
        extra=extra,
    )


def _pull(at: int, title: str, disputed: bool) -> BundlePull:
    severities, categories = list(Severity), list(Category)
    goldens = tuple(
        Golden(
            GoldenId(f"g{number}"),
            f"Defect {number} of change {at}",
            categories[(at + number) % len(categories)],
            severities[(at + number) % len(severities)],
            status=GoldenStatus.DISPUTED if disputed and not number else GoldenStatus.LIVE,
        )
        for number in range(0 if at % 5 == 4 else 3)
    )
    return BundlePull(PullId(f"change-{at}"), goldens, LANGUAGES[at % 4], f"{title} {at}", changed_lines=20 * at + 3)


def _trial(pull: BundlePull, name: ReviewerId, rank: int, rng: Random) -> BundleTrial:
    if rng.random() < 0.1:
        return BundleTrial(pull.id, name, rng.choice(UNSCORED), reason=f"{name} said no")
    link = f"https://forge.example/{name}/pull/{pull.id}#discussion"
    comments = tuple(
        Comment(f"review_comment/{at}", Shape.INLINE, f"{name}[bot]", f"Claim {at} of {name}", f"{link}{at}")
        for at in range(rng.randrange(0, 4))
    )
    claims = tuple(
        Candidate(CandidateId(f"c{at}"), one.id, one.shape, one.permalink, f"Claim {at}", f"{one.body} in full")
        for at, one in enumerate(comments)
    )
    status = TrialStatus.REVIEWED_FINDINGS if claims else TrialStatus.REVIEWED_CLEAN
    return BundleTrial(
        pull.id, name, status, True, "done", comments, claims, cost=0.01 * (rank + 1), seconds=9.0 + rank
    )


def _judged(trial: BundleTrial, goldens: Sequence[Golden], rng: Random) -> TrialJudgements:
    pairs = [(claim, golden) for claim in trial.candidates or () for golden in goldens]
    said = tuple(
        Judgement(
            claim.id,
            golden.id,
            Verdict.MATCH if rng.random() < 0.3 else Verdict.NO_MATCH,
            "model-x",
            f"{trial.reviewer} is plain enough",
        )
        for claim, golden in pairs
    )
    return TrialJudgements(trial.pull, trial.reviewer, said)


def write(bundle: Bundle, folder: Path) -> Path:
    """The bundle as a folder."""
    for name, data in parts(bundle).items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


@dataclass(slots=True)
class Page:
    """What a page is made of."""

    tags: list[tuple[str, dict[str, str]]]
    text: str

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def addresses(self) -> list[str]:
        return [held[name] for _, held in self.tags for name in ("href", "src", "action") if name in held]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page([], "")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.page.text += data


def read(text: str) -> Page:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.page.text = " ".join(reader.page.text.split())
    return reader.page
