"""Short ways to build the values the scoring tests speak of."""

from __future__ import annotations

from scoring.candidates import extract
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
    TrialStatus,
    Verdict,
)


def place(path: str | None, first: int | None = None, last: int | None = None) -> Place | None:
    if path is None:
        return None
    return Place(path, None if first is None else (first, last or first))


def inline(number: int, body: str, path: str = "src/app.py", first: int = 9, last: int | None = None) -> Comment:
    name = f"review_comment/{number}"
    return Comment(name, Shape.INLINE, "acme[bot]", body, f"https://example.test/{name}", place(path, first, last))


def text(number: int, body: str, shape: Shape = Shape.ISSUE_COMMENT) -> Comment:
    name = f"{'review' if shape is Shape.REVIEW_BODY else 'issue_comment'}/{number}"
    return Comment(name, shape, "acme[bot]", body, f"https://example.test/{name}")


def review(number: int, body: str) -> Comment:
    return text(number, body, Shape.REVIEW_BODY)


def candidate(name: str, said: str = "", where: Place | None = None, title: str = "", **more: object) -> Candidate:
    comment = name.split("#")[0]
    made = Candidate(CandidateId(name), comment, Shape.INLINE, "", title or said[:80], said, where)
    return made if not more else _with(made, more)


def _with(made: Candidate, more: dict[str, object]) -> Candidate:
    from dataclasses import replace

    return replace(made, **more)  # type: ignore[arg-type]


def golden(name: str, finding: str = "a defect", where: Place | None = None, group: str | None = None) -> Golden:
    return Golden(GoldenId(name), finding, Category.CORRECTNESS, Severity.HIGH, where, group=group)


def judged(claim: str, known: str, verdict: Verdict, confidence: float | None = None) -> Judgement:
    return Judgement(CandidateId(claim), GoldenId(known), verdict, "test", "because", confidence)


def trial(
    goldens: tuple[Golden, ...],
    comments: tuple[Comment, ...] = (),
    pull: str = "p1",
    reviewer: str = "acme",
    status: TrialStatus = TrialStatus.REVIEWED_FINDINGS,
    complete: bool = True,
) -> Trial:
    return Trial(PullId(pull), ReviewerId(reviewer), status, complete, "as planned", goldens, comments)


Row = tuple[str | None, tuple[int, int] | None, Severity | None, str]


def rows(*comments: Comment) -> list[Row]:
    return [row_of(one) for one in extract(comments)]


def row_of(one: Candidate) -> Row:
    return (one.place.path if one.place else None, one.place.lines if one.place else None, one.severity, one.title)
