"""One claim from the lines it consists of: what it says, how bad, what kind, which fix."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from scoring import chatter, hostile, severity
from scoring.blocks import Block, Kind, Span, Style
from scoring.model import Place, Severity

LONGEST_TITLE = 120
_BRACKET = re.compile(
    r"^\W{0,6}[\[\u3010(]([^\[\]\u3010\u3011()\n]{1,40})[\]\u3011)]\s{0,3}[:\uff1a\u2013\u2014-]?\s{0,3}"
)
_HEAD = re.compile(r"^([^:\uff1a\n\u2013\u2014]{1,40}?)\s{0,3}(?:[:\uff1a]|\s[\u2013\u2014-]\s)\s{0,3}(?=\S)")
_CONVENTIONAL = re.compile(
    r"^(praise|nitpick|suggestion|issue|todo|question|thought|chore|note|typo|polish|quibble)"
    r"\s?(?:\(([^()\n]{1,40})\))?\s{0,2}:\s{0,3}(?=\S)",
    re.IGNORECASE,
)
"""A label of the Conventional Comments notation."""
_TAIL = re.compile(r"\s{0,3}[\[(]([^()\[\]\n]{1,30})[\])]\s{0,3}\.?$")
_ORDINAL = re.compile(
    r"^\W{0,4}(?:(?:issue|finding|bug|problem|comment|concern)\s{0,2})?#?\d{1,3}\\?[.):]\s{1,3}", re.IGNORECASE
)
_ALERT = re.compile(r"^\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]$", re.IGNORECASE)
_EMOJI_HEAD = re.compile(r"^[^\w\s`'\"\u201c\u2018(\[{<@$#/\\.*~&|!?+=^%-]{1,6}\s{0,3}")
_FIRST_SENTENCE = re.compile(r"^.{1,400}?(?:[.!?](?=\s|$)|[\u3002\uff01\uff1f]|$)", re.DOTALL)
_LEAD_IN_WORDS = 6


@dataclass(frozen=True, slots=True)
class Label:
    """What stood in front of a claim: its badness and kind, and the text behind."""

    rest: str
    severity: Severity | None = None
    category: str | None = None
    unknown: bool = False
    """A place for the badness was there, with a word we do not know."""
    found: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim before it is a candidate: no ids, no comment."""

    title: str
    text: str
    place: Place | None = None
    severity: Severity | None = None
    category: str | None = None
    suggestions: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    listed: bool = True
    """False for prose that stood alone in a top-level comment."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to judge."""
        return not self.text and not self.suggestions


def label_of(block: Block, text: str | None = None) -> Label:
    """The label a line begins with, or is. `text`: the line where its place is already taken off."""
    line = block.text if text is None else text
    ordinal = _ORDINAL.match(line)
    line = line[ordinal.end() :] if ordinal else line
    badge = next((level for level in map(_badge, block.images) if level is not None), None)
    if _is_label_line(block, line):
        return _whole(line, badge)
    bracket = _BRACKET.match(line)
    if bracket and (severity.said(bracket[1]) or severity.names_a_slot(bracket[1])):
        return _split(bracket[1], line[bracket.end() :], badge)
    if conventional := _CONVENTIONAL.match(line):
        kind = conventional[1].lower()
        return Label(line[conventional.end() :], badge or severity.said(kind), kind, found=True)
    head = _HEAD.match(line)
    if head and severity.said(head[1]):
        return _split(head[1], line[head.end() :], badge)
    tail = _TAIL.search(line)
    if tail and severity.said(tail[1]):
        return Label(line[: tail.start()], badge or severity.said(tail[1]), _tag(block), found=True)
    kind = bracket[1].strip() if bracket and bracket[0].lstrip()[:1] in "[\u3010" else _tag(block)
    return Label(line, badge, kind, found=badge is not None or _tag(block) is not None)


def without_tags(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Spans with code that begins with a sign (`🐞 Bug`) taken for what it is: a tag, seen and not read."""
    return tuple(
        Span(f"{span.text}\n", Style.IMAGE) if span.style is Style.CODE and _is_tag(span.text) else span
        for span in spans
    )


def _is_tag(text: str) -> bool:
    head = text.strip()[:1]
    return bool(head) and unicodedata.category(head) in ("So", "Sm", "Sk") and ord(head) > 127


def _tag(block: Block) -> str | None:
    tags = [image.partition("\n")[0] for image in block.images]
    kinds = [re.sub(r"^\W{1,6}", "", tag).strip() for tag in tags if _is_tag(tag)]
    return next((kind for kind in kinds if kind and severity.said(kind) is None), None)


def _badge(image: str) -> Severity | None:
    alternative, _, source = image.partition("\n")
    name = source.rsplit("/", 1)[-1].split("?")[0]
    return severity.said(alternative) or severity.said(name) or severity.said(name.split("-")[0])


def _is_label_line(block: Block, line: str) -> bool:
    """Whether a whole line is nothing but a label: `_Logic_ | _Major_`, `High Severity`, `Severity: P9`."""
    parts = [part for part in line.split("|") if part.strip()]
    if not parts or len(parts) > 5 or any(len(part.split()) > 5 for part in parts):
        return False
    if len(parts) > 1:
        return severity.said(line) is not None or _emphasised(block)
    return severity.is_only(line) or (severity.names_a_slot(line) and ":" in line)


def _emphasised(block: Block) -> bool:
    spans = [span for span in block.spans if span.text.strip(" |·•`:\t0123456789-\u2013L")]
    return bool(spans) and all(span.style is Style.EMPHASIS for span in spans)


def _whole(line: str, badge: Severity | None) -> Label:
    parted = _split(line.replace("|", "/"), "", badge)
    return Label("", parted.severity, parted.category, parted.unknown, True)


def _split(label: str, rest: str, badge: Severity | None) -> Label:
    level = badge or severity.said(label)
    others = [part.strip(" \t*_`[]") for part in re.split(r"[/|]", label)]
    kinds = [_EMOJI_HEAD.sub("", part) for part in others if part and severity.said(part) is None]
    kinds = [kind for kind in kinds if not severity.names_a_slot(kind)]
    return Label(rest, level, kinds[0] if kinds else None, level is None and severity.names_a_slot(label), True)


def is_pseudo_heading(block: Block) -> bool:
    """Whether a line is set like a heading: bold and nothing else, or short and ending in a colon."""
    text = block.text
    if block.kind is not Kind.TEXT or not text or len(text.split()) > chatter.LONGEST_SECTION_NAME:
        return False
    return text.endswith((":", "\uff1a")) or (block.lead == text and not text.endswith((".", "\u3002", "!", "?")))


def links_only(block: Block) -> bool:
    """Whether a line is links and nothing else."""
    words = [span for span in block.spans if span.style is not Style.IMAGE and any(map(str.isalnum, span.text))]
    return bool(words) and all(span.href and span.href != "strong" for span in words)


def is_alert(text: str) -> bool:
    """Whether a line is the mark of a GitHub alert (`[!WARNING]`)."""
    return bool(_ALERT.match(text))


def has_ordinal(text: str) -> bool:
    """Whether a line is numbered (`1. Title`)."""
    return bool(_ORDINAL.match(text))


def assemble(
    blocks: Sequence[Block], place: Place | None = None, first: str | None = None, given: Severity | None = None
) -> Claim:
    """Make a claim of its lines. `first`: the first line, its place taken off; `given`: the section's badness."""
    suggestions = tuple(block.spans[0].text for block in blocks if is_fix(block))
    lines = list(_lines(blocks, first))
    labels = [label for _, label in lines if label is not None]
    level = next((label.severity for label in labels if label.severity is not None), None)
    title, paragraphs = _title(lines), _paragraphs(lines)
    kept = [hostile.without_notes(paragraph) for paragraph in paragraphs]
    text = "\n\n".join(paragraph for paragraph, _ in kept if paragraph) or "\n\n".join(paragraphs)
    flags = [hostile.INSTRUCTION] * any(noted for _, noted in kept)
    flags += ["severity_unknown"] * (level is None and any(label.unknown for label in labels))
    flags += ["suggestion_only"] * (not text and bool(suggestions))
    category = next((label.category for label in labels if label.category), None)
    clean_title = hostile.without_notes(title)[0] or short_title(text)
    return Claim(clean_title, text, place, level or given, category, suggestions, tuple(flags))


def is_fix(block: Block) -> bool:
    """Whether a block is a proposed change and no part of what is said."""
    if block.kind is not Kind.CODE:
        return False
    return block.info in ("suggestion", "diff") or _in_fix(block)


def _lines(blocks: Sequence[Block], first: str | None) -> Iterator[tuple[Block, Label | None]]:
    """The lines that are text, each with the label in front of it (code has none). Only the first lines have labels."""
    seen = 0
    for index, block in enumerate(blocks):
        if _silent(block) or _leads_to_fix(blocks, index):
            continue
        if block.kind is Kind.CODE:
            yield block, None
            continue
        given = first if index == 0 else None
        label = label_of(block, given) if seen < 3 else Label(block.text if given is None else given)
        seen += 1
        yield block, label


def _silent(block: Block) -> bool:
    """A block that says nothing of the claim: a mark, a fix, a line about the review, a line of links."""
    if block.kind in (Kind.MARK, Kind.RULE) or is_fix(block) or _in_fix(block):
        return True
    return block.kind is Kind.TEXT and (chatter.footer(block.text) or links_only(block))


def _in_fix(block: Block) -> bool:
    return any(chatter.details_fate(section.title) is chatter.Fate.FIX for section in block.sections)


def _leads_to_fix(blocks: Sequence[Block], index: int) -> bool:
    """`Also:`, `Suggested fix:` in front of a fix that is taken out would lead to nothing."""
    here = blocks[index].text
    if not here.endswith((":", "\uff1a")) or len(here.split()) > _LEAD_IN_WORDS:
        return False
    after = next((block for block in blocks[index + 1 :] if block.kind is not Kind.MARK), None)
    return after is not None and is_fix(after)


def _paragraphs(lines: Sequence[tuple[Block, Label | None]]) -> list[str]:
    found = []
    for _, group in groupby(lines, key=lambda line: (line[0].paragraph, line[0].kind is Kind.CODE)):
        texts = [block.spans[0].text if label is None else label.rest for block, label in group]
        if paragraph := "\n".join(text for text in texts if text.strip()):
            found.append(paragraph)
    return found


def _title(lines: Sequence[tuple[Block, Label | None]]) -> str:
    """The bold words a claim begins with, else its first sentence."""
    for block, label in lines:
        if label is None or not label.rest.strip():
            continue
        if block.lead and block.text != block.lead:
            lead = label_of(block, block.lead).rest.strip()
            if len(lead) > 3 and label.rest.startswith(lead):
                return _short(lead)
        return short_title(label.rest) if block.lead != block.text else _short(label.rest)
    return ""


def short_title(text: str) -> str:
    """The first sentence of a text, cut to a title's length."""
    hit = _FIRST_SENTENCE.match(text.strip())
    return _short(hit.group() if hit else text)


def _short(title: str) -> str:
    line = " ".join(title.split()).rstrip(":\uff1a").strip()
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"
