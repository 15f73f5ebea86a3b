"""Remarks as the record of a run has them: comments, and the claims that judges read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from bot.reviewers.protocol import Remark
from scoring.dedup import groups
from scoring.model import Candidate, CandidateId, Comment, Place, Severity, Shape

_LONGEST_TITLE = 120
_RANKS = {level: rank for rank, level in enumerate(Severity)}


def comments_of(remarks: Sequence[Remark], author: str) -> tuple[tuple[Comment, ...], tuple[Candidate, ...]]:
    """A comment and a claim for each remark, in its order."""
    comments = tuple(_comment(number, one, author) for number, one in enumerate(remarks, 1))
    pairs = zip(remarks, comments, strict=True)
    return comments, tuple(_claim(remark, comment) for remark, comment in pairs)


def place_of(remark: Remark) -> Place | None:
    """Where a remark is."""
    if remark.path is None:
        return None
    if remark.start_line is None:
        return Place(remark.path)
    return Place(remark.path, (remark.start_line, remark.end_line or remark.start_line))


def body_of(remark: Remark) -> str:
    """A remark as one text: what it says first, then what shows it."""
    parts = [remark.text]
    if remark.failing_input:
        parts.append(f"Fails with: {remark.failing_input}")
    if remark.citation:
        parts.append(f"See: {remark.citation}")
    return "\n\n".join(parts)


def _comment(number: int, remark: Remark, author: str) -> Comment:
    place, body = place_of(remark), body_of(remark)
    if remark.suggestion:
        body += f"\n\n{_fenced(remark.suggestion)}"
    shape = Shape.ISSUE_COMMENT if place is None else Shape.FILE if place.lines is None else Shape.INLINE
    revision = hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:12]
    return Comment(f"remark/{number}", shape, author, body, "", place, revision=revision)


def _fenced(code: str) -> str:
    """Code in a fence longer than any within it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}suggestion\n{code}\n{fence}"


def _claim(remark: Remark, comment: Comment) -> Candidate:
    text = body_of(remark)
    content = json.dumps([comment.id, text, remark.path, remark.start_line, remark.end_line])
    title = next((line for line in remark.text.splitlines() if line.strip()), "")
    return Candidate(
        CandidateId(f"c-{hashlib.sha256(content.encode()).hexdigest()[:12]}"),
        comment.id,
        comment.shape,
        "",
        title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…",
        text,
        comment.place,
        revision=comment.revision,
        severity=remark.severity,
        category_said=remark.kind or None,
        suggestions=(remark.suggestion,) if remark.suggestion else (),
    )


def distinct(remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    """The remarks without those that say again what another one says; the worst of each group stands."""
    single = list(dict.fromkeys(remarks))
    _, claims = comments_of(single, "")
    by_id = dict(zip((one.id for one in claims), single, strict=True))
    places = {claim.id: at for at, claim in enumerate(claims)}
    kept = {min(group, key=lambda one: (_rank(by_id[one]), places[one])) for group in groups(claims)}
    return tuple(by_id[one.id] for one in claims if one.id in kept)


def _rank(remark: Remark) -> int:
    return len(_RANKS) if remark.severity is None else _RANKS[remark.severity]
