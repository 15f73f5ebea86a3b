"""Comments -> candidates: the atomic claims a reviewer made, by the structure of what it wrote.

A comment on a line is one claim, unless it clearly lists several. A review body, an issue comment or a collapsed
section is cut into its items. What is no claim (praise, status, tips, a description of the change) is left out and
said to be left out. A summary that repeats the claims made on lines adds nothing but a note to them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scoring import chatter, dedup, hostile
from scoring.blocks import Block, Document, Kind
from scoring.claims import Claim, assemble, short_title
from scoring.items import Splitter, visible
from scoring.markdown import read
from scoring.model import Candidate, CandidateId, Comment, NoClaim, Shape
from scoring.patterns import bounded, window

_PLACED = (Shape.INLINE, Shape.FILE, Shape.ANNOTATION)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")


@dataclass(frozen=True, slots=True)
class Extraction:
    """The claims, and every comment that made none, with the reason: nothing vanishes."""

    candidates: tuple[Candidate, ...]
    no_claims: tuple[NoClaim, ...]


def extract(comments: Sequence[Comment], *, not_findings: Sequence[str] = ()) -> tuple[Candidate, ...]:
    """The candidates among a reviewer's comments on one pull request. The order of the comments does not matter.

    Args:
        comments: What one reviewer said on one pull request.
        not_findings: Regular expressions; text in which one is found is chatter of this reviewer.
    """
    return examine(comments, not_findings=not_findings).candidates


def examine(comments: Sequence[Comment], *, not_findings: Sequence[str] = ()) -> Extraction:
    """Like `extract`, and also tell which comments held no claim, and why."""
    patterns = tuple(bounded(pattern, re.IGNORECASE) for pattern in not_findings)
    ordered = sorted(comments, key=lambda comment: (comment.id, comment.revision))
    found: list[Candidate] = []
    silent: list[NoClaim] = []
    for comment in ordered:
        claims, reason = _claims(comment, patterns)
        made = [_candidate(comment, claim, number) for number, claim in enumerate(claims, 1)]
        found += made
        if not made:
            silent.append(NoClaim(comment.id, reason))
    kept = _fold([candidate for candidate in found if candidate.shape in _PLACED], found)
    return Extraction(kept, tuple(silent))


def _claims(comment: Comment, patterns: Sequence[re.Pattern[str]]) -> tuple[list[Claim], str]:
    body, flags = hostile.unhide(comment.body)
    document = read(body)
    if other := next(filter(None, map(chatter.other_kind, document.comments)), None):
        return [], f"the reviewer marked it as `{other}`"
    blocks = visible(document)
    placed = comment.shape in _PLACED
    claims = _on_a_line(blocks) if placed else _in_a_text(document, blocks)
    kept = [claim for claim in claims if not _chatter(claim, placed, patterns)]
    if not placed and not any(claim.place for claim in kept) and _any_in(patterns, body):
        kept = []
    if kept:
        return [replace(claim, flags=(*claim.flags, *flags)) for claim in kept], ""
    return [], _why_none(claims, blocks, placed)


def _on_a_line(blocks: Sequence[Block]) -> list[Claim]:
    """One claim, unless at least two items each name a place or a badness of their own."""
    split = Splitter().run(blocks)
    if len(split.claims) > 1 and all(split.strong) and not split.prose:
        return split.claims
    whole = assemble(blocks)
    return [] if whole.empty else [whole]


def _in_a_text(document: Document, blocks: Sequence[Block]) -> list[Claim]:
    split = Splitter().run(blocks)
    if split.claims:
        return split.claims
    alone = [claim for claim in _prose(split.prose) if not claim.empty]
    return [replace(claim, listed=False) for claim in alone]


def _prose(blocks: Sequence[Block]) -> list[Claim]:
    """What is left when a text lists nothing: its sentences, as one claim, without those that claim nothing."""
    texts = [block for block in blocks if block.kind is Kind.TEXT]
    whole = "\n".join(block.text for block in texts)
    parted = {
        number: _sentences([block for block in texts if block.paragraph == number])
        for number in dict.fromkeys(block.paragraph for block in texts)
    }
    kept = "\n\n".join(sentences for sentences, _ in parted.values() if sentences)
    cut = any(dropped for _, dropped in parted.values())
    if not kept or (cut and (chatter.withdraws(whole) or not chatter.faults(kept))):
        return []
    fixes = [block for block in blocks if block.kind is Kind.CODE]
    claim = assemble([*(block for block in texts if parted[block.paragraph][0]), *fixes])
    if not cut:
        return [claim]
    text = "\n\n".join(filter(None, (hostile.without_notes(part)[0] for part in kept.split("\n\n"))))
    return [replace(claim, text=text, title=short_title(text))]


def _sentences(lines: Sequence[Block]) -> tuple[str, bool]:
    """The sentences of a paragraph that may claim something, and whether there were others."""
    parts = [part for block in lines for part in _SENTENCE_END.split(block.text) if part.strip()]
    kept = [part.strip() for part in parts if chatter.no_claim(part) is None]
    return " ".join(kept), len(kept) < len(parts)


def _any_in(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    if not patterns:
        return False
    seen = window(text)
    return any(pattern.search(seen) for pattern in patterns)


def _chatter(claim: Claim, placed: bool, patterns: Sequence[re.Pattern[str]]) -> bool:
    if claim.suggestions and not claim.text:
        return False
    if _any_in(patterns, claim.text) or _any_in(patterns, claim.title):
        return True
    return _no_claim(claim.text, placed or claim.place is not None) is not None


def _no_claim(text: str, placed: bool) -> str | None:
    """Why a whole text claims nothing; one sentence that claims something is enough to make it a claim."""
    parts = [part for line in text.split("\n") for part in _SENTENCE_END.split(line) if part.strip()]
    reasons = [chatter.no_claim(part, placed=placed) for part in parts]
    return next(iter(reasons), "nothing said") if all(reasons) else None


def _why_none(claims: Sequence[Claim], blocks: Sequence[Block], placed: bool) -> str:
    texts = [claim.text for claim in claims] or [block.text for block in blocks if block.text]
    return _no_claim("\n".join(texts), placed) or "nothing in it is a claim" if texts else "nothing said"


def _candidate(comment: Comment, claim: Claim, number: int) -> Candidate:
    own = claim.place if comment.shape not in _PLACED or comment.place is None else comment.place
    flags = dict.fromkeys((*comment.flags, *(["outdated"] * comment.outdated), *claim.flags))
    if not claim.listed:
        flags["prose"] = None
    return Candidate(
        id=CandidateId(f"{comment.id}#{number}"),
        comment_id=comment.id,
        shape=comment.shape,
        permalink=comment.permalink,
        title=claim.title,
        text=claim.text,
        place=own,
        commit=comment.commit,
        revision=comment.revision,
        severity=claim.severity,
        category_said=claim.category,
        suggestions=claim.suggestions,
        flags=tuple(flags),
    )


def _fold(placed: Sequence[Candidate], found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Take out what a summary repeats, and note the summary on the claim it repeats.

    What only the summary says of the claim (how bad, what kind) is kept.
    """
    repeats: dict[CandidateId, list[Candidate]] = {}
    dropped: set[CandidateId] = set()
    for candidate in found:
        if candidate.shape in _PLACED:
            continue
        if (first := dedup.repeated(candidate, placed)) is not None:
            repeats.setdefault(first, []).append(candidate)
            dropped.add(candidate.id)
    kept = [candidate for candidate in found if candidate.id not in dropped]
    return tuple(_with_repeats(candidate, repeats.get(candidate.id, [])) for candidate in kept)


def _with_repeats(candidate: Candidate, again: Sequence[Candidate]) -> Candidate:
    listed = [one for one in again if "prose" not in one.flags]
    level = next((one.severity for one in listed if one.severity), None)
    kind = next((one.category_said for one in listed if one.category_said), None)
    return replace(
        candidate,
        repeats=tuple(sorted({one.comment_id for one in again})),
        severity=candidate.severity or level,
        category_said=candidate.category_said or kind,
    )
