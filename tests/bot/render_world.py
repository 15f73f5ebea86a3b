"""Values to render, and GitHub's way of reading what was rendered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt

from bot.model import (
    ForkId,
    ForkPlan,
    Publish,
    RunId,
    RunPlan,
    RunProgress,
    RunRequest,
    Sha,
    TriggerKind,
)
from bot.registry import Login, Reviewer, TriggerSpec
from bot.render import ReportRef, Surface
from scoring.model import (
    Candidate,
    CandidateId,
    CandidateOutcome,
    Category,
    Counts,
    Coverage,
    Estimate,
    Golden,
    GoldenId,
    GoldenOutcome,
    GoldenState,
    OutcomeKind,
    Place,
    PullId,
    Report,
    ReviewerId,
    ReviewerScore,
    Severity,
    Shape,
    SuiteRef,
    Trial,
    TrialScore,
    TrialStatus,
)

SNAPSHOTS = Path(__file__).parent / "snapshots"
HEAD = Sha("5" * 40)
RUN = RunId("700-1")
REF = ReportRef(RUN, "abcdef012345", "lexical", "assay", "https://assay.test/runs/700-1")
EVIL = (
    "@octocat and @org/team see #1, o/r#2, GH-3, https://github.com/o/r/issues/4 or 0123456789abcdef; "
    "![x](https://evil.test/p.png) <img src=x onerror=alert(1)> [go](javascript:alert(1)) | cell | `code` ```fence``` "
    "<!-- assay:progress run=1 --> &#64;octocat &commat;octocat \\@octocat www.evil.test a@evil.test :tada: ~~x~~ "
    "**b** $$x$$ [^1] [ ] \u202eabc\u200b \x1b[31mred\n# heading\n- item\n| a | b |\n| - | - |\n> [!NOTE]\n\n"
    "```\nopen fence"
)


def registry() -> tuple[Reviewer, ...]:
    """Reviewers that listen to every form of command there is."""

    def reviewer(name: str, login: str, *texts: str) -> Reviewer:
        asked = [TriggerSpec(kind=TriggerKind.COMMENT, text=text) for text in texts]
        return Reviewer(
            id=name.lower(),
            name=name,
            logins=(Login(login=login),),
            trigger=asked[0] if asked else TriggerSpec(),
            rerun=asked[1] if len(asked) > 1 else None,
        )

    return (
        reviewer("Acme", "acme-reviewer[bot]", "@acme review", "@acme full review"),
        reviewer("Zeta", "zeta[bot]", "/review", "/zeta improve"),
        reviewer("Omega", "omega-ai[bot]", "omega run"),
        reviewer("Quiet", "quiet-bot[bot]"),
    )


WAKERS = (
    "@acme review",
    "@ACME Full\nReview",
    "/review",
    "please /zeta  improve",
    "omega run",
    "@quiet-bot",
    "@omega-ai[bot]",
)


def surface(*, public: bool = False, modes: Mapping[str, Publish] | None = None) -> Surface:
    """A surface that knows the registry above."""
    return Surface.of(registry(), {ReviewerId(k): v for k, v in (modes or {}).items()}, public=public)


SQL = Golden(
    GoldenId("g1"),
    "SQL string is built from user input",
    Category.SECURITY,
    Severity.CRITICAL,
    Place("src/db/query.py", (10, 12)),
)
LEAK = Golden(
    GoldenId("g2"), "File handle is never closed", Category.RESOURCES, Severity.LOW, Place("src/io.py", (4, 4))
)


def candidate(number: int, title: str, place: Place | None = None) -> Candidate:
    """A claim with a permalink of its own."""
    return Candidate(
        CandidateId(f"c{number}"),
        f"review_comment/{number}",
        Shape.INLINE,
        f"https://github.com/acme-bench/tidy-harbour/pull/1#discussion_r{number}",
        title,
        title,
        place,
        HEAD,
    )


def trial(reviewer: str, status: TrialStatus, goldens: tuple[Golden, ...] = (SQL, LEAK), reason: str = "") -> Trial:
    """A trial of pull request `injection`, or of `clean` where there is no golden."""
    pull = PullId("injection" if goldens else "clean")
    return Trial(pull, ReviewerId(reviewer), status, True, reason, goldens)


def scored(reviewer: str = "acme") -> TrialScore:
    """One claim that hits, one that does not, one that could not be judged; one defect missed."""
    outcomes = (
        CandidateOutcome(CandidateId("c1"), OutcomeKind.TP, "names the same query", GoldenId("g1"), confidence=0.93),
        CandidateOutcome(CandidateId("c2"), OutcomeKind.FP, "no known defect is about naming"),
        CandidateOutcome(CandidateId("c3"), OutcomeKind.UNSCORED, "the judge gave no readable answer"),
    )
    return TrialScore(
        trial(reviewer, TrialStatus.REVIEWED_FINDINGS, reason="quiet for 120 s"),
        (
            candidate(1, "User input reaches the SQL text", Place("src/db/query.py", (11, 11))),
            candidate(2, "Rename `x` to `user_id`", Place("src/db/query.py", (3, 3))),
            candidate(3, "The cache may be stale", Place("src/cache.py")),
        ),
        (),
        outcomes,
        (
            GoldenOutcome(GoldenId("g1"), GoldenState.FOUND, "names the same query", CandidateId("c1")),
            GoldenOutcome(GoldenId("g2"), GoldenState.MISSED, "no claim is about it"),
        ),
        Counts(tp=1, fp=1, fn=1, unscored=1),
        scored=True,
    )


def not_scored(reviewer: str = "zeta") -> TrialScore:
    """A trial that measured nothing."""
    return TrialScore(trial(reviewer, TrialStatus.RATE_LIMITED, reason="said it may review again in 20 minutes"))


def row(
    reviewer: str,
    f1: tuple[float, float, float] | None,
    counts: Counts,
    statuses: Mapping[str, int],
    scored_trials: int,
) -> ReviewerScore:
    """A row whose three figures are alike, or undefined."""
    nothing = Estimate(None, None, None, 0, "no trial was scored")
    one = Estimate(f1[0], f1[1], f1[2], 4) if f1 else nothing
    bound = Estimate(0.25, 0.07, 0.59, 8)
    cover = Coverage(sum(statuses.values()), scored_trials, statuses)
    clean = 1 if f1 else 0
    return ReviewerScore(ReviewerId(reviewer), counts, one, one, one, bound, clean, clean, cover)


def report() -> Report:
    """Three reviewers: two that overlap, one that was never measured."""
    rows = (
        row("zeta", None, Counts(), {"rate_limited": 1, "skipped": 1}, 0),
        row("acme", (0.5, 0.2, 0.8), Counts(1, 1, 1, unscored=1), {"reviewed_findings": 1, "reviewed_clean": 1}, 2),
        row("omega", (0.33, 0.06, 0.79), Counts(1, 2, 1), {"reviewed_findings": 1, "timeout": 1}, 1),
    )
    quiet = TrialScore(trial("acme", TrialStatus.REVIEWED_CLEAN, ()), counts=Counts(), scored=True)
    trials = (
        scored(),
        quiet,
        not_scored(),
        TrialScore(trial("zeta", TrialStatus.SKIPPED, ())),
        TrialScore(trial("omega", TrialStatus.REVIEWED_FINDINGS), counts=Counts(1, 2, 1), scored=True),
        TrialScore(trial("omega", TrialStatus.TIMEOUT, ())),
    )
    suite = SuiteRef("harbour", "3", "0a1b2c3d4e5f60718293")
    return Report("1", "assay", suite, "lexical", rows, trials, ("Zeta was rate limited on one of two pull requests",))


def plan(*warnings: str) -> RunPlan:
    """Two forks, three reviewers."""
    ids = tuple(ReviewerId(name) for name in ("acme", "zeta", "omega"))
    forks = tuple(
        ForkPlan(ForkId(pull), PullId(pull), (name,), "main", f"{name}-update", title, "", ids)
        for pull, name, title in (("injection", "tidy-harbour", "Speed up lookups"), ("clean", "calm-meadow", "Tidy"))
    )
    return RunPlan(RUN, "acme-bench", RunRequest("harbour", ids, "lexical"), "0a1b", forks, warnings, 34.6, 21)


def progress(stage: str = "waiting", **changes: object) -> RunProgress:
    """A run in the middle."""
    values: dict[str, object] = {
        "stage": stage,
        "forks": 2,
        "forks_open": 1,
        "trials_by_status": {"waiting": 2, "reviewed_findings": 3, "rate_limited": 1},
        "started": datetime(2026, 3, 4, 5, 6, tzinfo=UTC),
    }
    return RunProgress(**{**values, **changes})  # type: ignore[arg-type]


@dataclass
class Page(HTMLParser):
    """Rendered HTML as GitHub post-processes it: what is text outside code, and what is markup."""

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    _code: int = 0

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._code += tag in ("code", "pre", "a")

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "pre", "a")

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if not self._code:
            self.prose.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def links(self) -> list[str]:
        """Every address that can be followed or loaded."""
        return [value or "" for _, attrs in self.tags for name, value in attrs.items() if name in ("href", "src")]


_ALIVE = re.compile(
    r"(?<!\w)@[a-z0-9]|(?<!\w)#\d|\bgh-\d|\w/\w+[#@]|https?://|www\.|\b[0-9a-f]{7,40}\b|\S@\S+\.\w|:[a-z]+:|\$\$",
    re.IGNORECASE,
)


def read(markdown: str) -> Page:
    """What GitHub makes of a Markdown text."""
    page = Page()
    page.feed(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))
    page.close()
    return page


def alive(page: Page) -> list[str]:
    """Everything outside code that GitHub would turn into a mention, a reference or a link."""
    return _ALIVE.findall("\n".join(page.prose))


def assert_snapshot(name: str, text: str) -> None:
    """The text is the file, to the letter."""
    assert text == (SNAPSHOTS / name).read_text(encoding="utf-8").removesuffix("\n")
