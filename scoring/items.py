"""A comment cut into its claims: by list items, places, labels, headings and collapsed sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from scoring import chatter, locate
from scoring.blocks import Block, Document, Kind, Section
from scoring.chatter import Fate
from scoring.claims import (
    Claim,
    Label,
    assemble,
    has_ordinal,
    is_alert,
    is_pseudo_heading,
    label_of,
    links_only,
    without_tags,
)
from scoring.model import Place, Severity

_NO_HEADING = 9
"""The level of what is no heading: below every real one."""
_PSEUDO = 7
_TITLE_LEVEL = 2
"""Headings down to this level name the text or a section of it, unless they are numbered or labelled."""
_FEW = 2
_SECTION_WORDS = 4
_COLUMNS = {
    "severity": ("severity", "priority", "level", "impact", "严重程度", "级别"),
    "place": ("file", "location", "path", "where", "line", "文件", "位置"),
    "issue": ("issue", "finding", "problem", "description", "bug", "comment", "concern", "detail", "问题", "描述"),
}


def visible(document: Document) -> list[Block]:
    """The blocks of a body that may be part of a claim."""
    return [
        replace(block, spans=without_tags(block.spans))
        for block in _outside_pairs(document.blocks)
        if not _noise(block)
    ]


def _outside_pairs(blocks: Sequence[Block]) -> Iterator[Block]:
    """Blocks outside stretches that a pair of HTML comments marks as chatter. An unpaired mark hides nothing."""
    edges = [(at, edge) for at, edge in enumerate(map(_edge, blocks)) if edge is not None]
    hidden: set[int] = set()
    for at, (name, begins) in edges:
        end = next((end for end, (other, opens) in edges if end > at and other == name and not opens), None)
        if begins and end is not None:
            hidden.update(range(at, end))
    yield from (block for at, block in enumerate(blocks) if at not in hidden)


def _edge(block: Block) -> tuple[str, bool] | None:
    return chatter.hidden_edge(block.text) if block.kind is Kind.MARK else None


def _noise(block: Block) -> bool:
    if any(_is_chatter(section) for section in block.sections):
        return True
    if block.kind is Kind.CODE:
        shown = block.info == "diff" and any(chatter.details_fate(one.title) is Fate.OPEN for one in block.sections)
        return shown or block.info in ("mermaid", "plantuml", "dot")
    return block.kind is Kind.TEXT and (_only_links(block) or is_alert(block.text))


def _is_chatter(section: Section) -> bool:
    """Whether a collapsed section holds no claim. A numbered summary or a file's name is never chatter."""
    title = section.title
    return chatter.details_fate(title) is Fate.DROP and not has_ordinal(title) and locate.file_name(title) is None


def _only_links(block: Block) -> bool:
    """A line that is links and nothing else is navigation, unless a link names the lines a claim is about."""
    if not block.links or any(locate.linked(link) for link in block.links):
        return False
    return links_only(block)


@dataclass
class _Open:
    """A claim that is being gathered."""

    blocks: list[Block] = field(default_factory=list)
    place: Place | None = None
    first: str | None = None
    severity: Severity | None = None
    level: int = _NO_HEADING
    depth: int = 0
    """How deep in lists it began."""
    sections: tuple[Section, ...] = ()
    strong: bool = False
    """It names its place or its badness, so it is a claim even below a heading like `Summary`."""
    weak: bool = False
    """It is a heading that may be a finding or the name of a section; what follows tells."""


@dataclass(frozen=True, slots=True)
class _Context:
    """A heading, a line set like one, or a file's name, and what it says about the lines below."""

    level: int
    sections: tuple[Section, ...]
    depth: int
    fate: Fate = Fate.OPEN
    severity: Severity | None = None
    path: str | None = None


@dataclass
class Splitter:
    """Goes through the blocks of one comment once and gathers its claims."""

    claims: list[Claim] = field(default_factory=list)
    strong: list[bool] = field(default_factory=list)
    """Beside each claim: whether it named a place or a badness of its own."""
    prose: list[Block] = field(default_factory=list)
    current: _Open | None = None
    contexts: list[_Context] = field(default_factory=list)
    columns: dict[str, int] = field(default_factory=dict)
    previous: Block | None = None

    def run(self, blocks: Iterable[Block]) -> Splitter:
        """Split the blocks; `claims` and `prose` hold the result."""
        for block in blocks:
            self._leave(block)
            self._take(block)
            self.previous = block if block.kind is not Kind.MARK else self.previous
        self._close()
        return self

    # --- where we stand

    def _leave(self, block: Block) -> None:
        """Forget what no longer holds at this block."""
        depth = len(block.items)
        self.contexts = [
            context
            for context in self.contexts
            if block.sections[: len(context.sections)] == context.sections and depth >= context.depth
        ]
        now = self.current
        if now and (block.sections[: len(now.sections)] != now.sections or depth < now.depth):
            self._close()
        known = {section.number for section in self.previous.sections} if self.previous else set()
        for section in block.sections:
            if section.number not in known:
                self._enter(section, block)

    def _enter(self, section: Section, block: Block) -> None:
        """A collapsed section begins: a file's name, a kind of claim, or a claim itself."""
        title = section.title
        where = block.sections[: block.sections.index(section) + 1]
        if path := locate.file_name(title):
            self.contexts.append(_Context(_NO_HEADING, where, 0, path=path))
            return
        head = Block(Kind.HEADING, without_tags(section.summary), -section.number, where)
        label = label_of(head)
        self._decide(has_ordinal(head.text) or label.found)
        if self.current and not any(one.text for one in self.current.blocks):
            self._close()
        if self.current is None and not chatter.generic(label.rest) and (has_ordinal(head.text) or label.found):
            self._begin(head, label, level=0)
        elif chatter.generic(title):
            self.contexts.append(_Context(_NO_HEADING, where, 0, severity=label.severity))

    @property
    def _path(self) -> str | None:
        return next((context.path for context in reversed(self.contexts) if context.path), None)

    @property
    def _severity(self) -> Severity | None:
        return next((context.severity for context in reversed(self.contexts) if context.severity), None)

    @property
    def _fate(self) -> Fate:
        fates = [context.fate for context in self.contexts]
        return next((fate for fate in (Fate.DROP, Fate.LISTED) if fate in fates), Fate.OPEN)

    # --- what a block does

    def _take(self, block: Block) -> None:
        if block.kind is Kind.RULE:
            self._close()
        elif block.kind is Kind.HEADING:
            self._heading(block, block.level)
        elif block.kind is Kind.ROW:
            self._row(block)
        elif block.kind is Kind.TEXT:
            self._text(block)
        elif block.kind is Kind.CODE:
            self._add(block)

    def _heading(self, block: Block, level: int) -> None:
        now = self.current
        if now and now.level < level:
            self._add(block)
            return
        self._close()
        self.contexts = [context for context in self.contexts if context.level < level or context.level == _NO_HEADING]
        label = label_of(block)
        located = locate.at_start(label.rest)
        if path := locate.file_name(label.rest):
            self._context(block, level, path=path)
        elif located and located.place.lines:
            self._begin(block, label_of(block, located.rest), level, located.place, located.rest)
        elif _names_section(block, label):
            fate = chatter.heading_fate(label.rest)
            self._context(block, level, fate=fate, severity=label.severity or _of_words(label.rest))
        elif has_ordinal(block.text) or label.found:
            self._begin(block, label, level)
        elif level > _TITLE_LEVEL and self._fate is Fate.OPEN and (len(label.rest.split()) > _FEW or "`" in label.rest):
            self._begin(block, label, level)
            if self.current:
                self.current.weak = True
        else:
            self._context(block, level)

    def _context(
        self,
        block: Block,
        level: int,
        fate: Fate = Fate.OPEN,
        severity: Severity | None = None,
        path: str | None = None,
    ) -> None:
        self.contexts.append(_Context(level, block.sections, len(block.items), fate, severity, path))

    def _text(self, block: Block) -> None:
        new_item = self._is_new_item(block)
        self._decide(new_item or locate.at_start(block.text, self._path) is not None)
        now = self.current
        if now and (len(block.items) > now.depth or (now.first == "" and len(now.blocks) == 1 and not new_item)):
            self._add(block)
            return
        located = locate.at_start(block.text, self._path) or _linked(block)
        if now and now.level < _NO_HEADING and located and not located.rest:
            self._add(block)
            return
        if not block.text and label_of(block).severity is None:
            return
        label = label_of(block, located.rest if located else None)
        if path := locate.file_name(block.text):
            self._close()
            self._context(block, _NO_HEADING if block.items else _PSEUDO, path=path)
        elif located and (located.place.lines or new_item or now is None):
            self._start(block, label, located)
        elif self._begins(block, label, new_item):
            self._start(block, label, None)
        elif self._sets_heading(block):
            self._heading(block, _PSEUDO)
        else:
            self._add(block)

    def _sets_heading(self, block: Block) -> bool:
        """Whether a bold or short line is a heading here; inside a claim that such a line began, only a bold one is."""
        if block.items or not is_pseudo_heading(block):
            return False
        return self.current is None or (self.current.level == _PSEUDO and block.lead == block.text)

    def _decide(self, listed: bool) -> None:
        """A heading that may be a finding is one if prose follows, and a section's name if a list does."""
        now = self.current
        if now and now.weak and len(now.blocks) == 1 and listed:
            self.current = None
            self._context(now.blocks[0], now.level)

    def _begins(self, block: Block, label: Label, new_item: bool) -> bool:
        """Whether a line without a place begins a claim: it is labelled, or is an item of the list we are in."""
        now = self.current
        if label.found and not (now and (_bare_label(label) or now.level < _NO_HEADING)):
            return True
        return new_item and (now is None or now.depth >= len(block.items))

    def _is_new_item(self, block: Block) -> bool:
        return bool(block.items) and (self.previous is None or block.items != self.previous.items[: len(block.items)])

    def _start(self, block: Block, label: Label, located: locate.Located | None) -> None:
        if self._fate is Fate.DROP:
            return
        if self.current and self.current.level < _NO_HEADING and not (located and located.place.lines):
            self._add(block)
            return
        listed_only = self._fate is Fate.LISTED and not (label.found or located)
        if listed_only or _checkbox(block.text, located):
            self._close()
            return
        self._begin(block, label, _NO_HEADING, located.place if located else None, located.rest if located else None)

    def _begin(
        self, block: Block, label: Label, level: int, place: Place | None = None, first: str | None = None
    ) -> None:
        self._close()
        strong = label.found or place is not None
        given = (label.severity or self._severity, level, len(block.items), block.sections)
        self.current = _Open([block], place, first, *given, strong)

    def _add(self, block: Block) -> None:
        if self.current:
            self.current.blocks.append(block)
        elif self._fate is Fate.OPEN and block.kind is not Kind.HEADING and not block.items:
            self.prose.append(block)

    def _row(self, block: Block) -> None:
        if block.info == "|":
            self._close()
            self.columns = _columns(block.cells)
            return
        if "issue" not in self.columns or len(self.columns) < 2 or self._fate is Fate.DROP:
            return
        cell = {name: block.cells[at] for name, at in self.columns.items() if at < len(block.cells)}
        place = locate.at_start(cell.get("place", "") + " ") or None
        path = locate.file_name(cell.get("place", ""))
        where = place.place if place else Place(path) if path else locate.anywhere(cell.get("place", ""))
        level = label_of(block, cell.get("severity", "") + ": -").severity
        self._begin(block, Label("", level), _NO_HEADING, where, cell.get("issue", ""))
        self._close()

    def _close(self) -> None:
        now, self.current = self.current, None
        if now is None:
            return
        claim = assemble(now.blocks, now.place or _own_place(now.blocks), now.first, now.severity)
        if now.weak and (len(now.blocks) == 1 or not (claim.place or chatter.faults(claim.text))):
            self.prose += now.blocks[1:]
        elif not claim.empty:
            self.claims.append(claim)
            self.strong.append(now.strong or claim.severity is not None)


def _linked(block: Block) -> locate.Located | None:
    """A line that is a link to lines of a file, and nothing else, is the place of what follows."""
    places = [place for place in map(locate.linked, block.links) if place]
    return locate.Located(places[0], "") if places and links_only(block) else None


def _bare_label(label: Label) -> bool:
    return not label.rest


def _names_section(block: Block, label: Label) -> bool:
    """Whether a heading names a section. A number or a label makes it a finding, unless it is short and well known."""
    if chatter.generic(label.rest):
        return True
    telling = label.found or (has_ordinal(block.text) and len(label.rest.split()) > _SECTION_WORDS)
    return not telling and chatter.heading_fate(label.rest) is not Fate.OPEN


def _checkbox(text: str, located: locate.Located | None) -> bool:
    return text.startswith(("[ ]", "[x]", "[X]")) and located is None and locate.anywhere(text) is None


def _own_place(blocks: Sequence[Block]) -> Place | None:
    for block in blocks:
        linked = next((place for place in map(locate.linked, block.links) if place), None)
        if linked:
            return linked
    texts = [block.text for block in blocks if block.kind is not Kind.CODE]
    return locate.anywhere("\n".join(texts))


def _columns(cells: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for at, cell in enumerate(cells):
        name = next((name for name, words in _COLUMNS.items() if any(word in cell.lower() for word in words)), None)
        if name:
            found.setdefault(name, at)
    return found


def _of_words(heading: str) -> Severity | None:
    """The badness a section's heading gives to what stands below: `3 critical issues`."""
    from scoring.severity import said

    levels = {said(word) for word in heading.split()} - {None}
    return levels.pop() if len(levels) == 1 else None
