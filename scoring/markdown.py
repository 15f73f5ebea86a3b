"""Comment bodies as lines with context: which section, list item and style each piece of text stands in.

GitHub renders a comment as Markdown with HTML inside, and line ends as line breaks. Reviewers build on that: findings
sit in nested `<details>`, in list items, after badges. So a body becomes a flat row of `Block`s, one a line, and each
knows where it stands; whoever looks for claims need not know any markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from scoring.blocks import Block, Document, Item, Kind, Section, Span, Style, said
from scoring.markup import Markup, pieces

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST_BODY = 200_000
"""GitHub allows 65,536 characters; whatever is beyond this limit is cut, so that no body can stall a run."""


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True}).enable("table")


def read(body: str) -> Document:
    """Read a comment's body."""
    builder = _Builder()
    builder.tokens(_parser().parse(body[:LONGEST_BODY]))
    builder.flush()
    return Document(tuple(builder.blocks), tuple(builder.comments))


@dataclass
class _Builder:
    blocks: list[Block] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    lists: list[Item] = field(default_factory=list)
    styles: list[Style] = field(default_factory=list)
    cells: list[str] | None = None
    head_row: bool = False
    paragraph: int = 0
    count: int = 0
    level: int = 0
    small: int = 0
    href: str = ""
    summary_of: int | None = None
    code: list[str] | None = None

    # --- what comes out

    def emit(self, kind: Kind, spans: Sequence[Span], info: str = "", cells: Sequence[str] = ()) -> None:
        where = (tuple(self.sections), tuple(self.items))
        self.blocks.append(Block(kind, tuple(spans), self.paragraph, *where, self.level, info, tuple(cells)))

    def flush(self) -> None:
        """End the line."""
        if self.cells is not None or self.summary_of is not None:
            return
        spans, self.spans = self.spans, []
        if any(span.text.strip() for span in spans):
            self.emit(Kind.HEADING if self.level else Kind.TEXT, spans)

    def new_paragraph(self) -> None:
        self.flush()
        self.paragraph += 1

    def add(self, text: str, style: Style | None = None) -> None:
        if not text or (self.small and style is not Style.IMAGE):
            return
        if self.code is not None and style is None:
            self.code.append(text)
            return
        chosen = style or (self.styles[-1] if self.styles else Style.PLAIN)
        href = self.href or ("strong" if style is Style.CODE and Style.STRONG in self.styles else "")
        self.spans.append(Span(text, chosen, href))

    # --- Markdown

    def tokens(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            if token.type == "inline":
                self.inline(token.children or ())
            elif token.type in ("fence", "code_block"):
                self.fence(token)
            elif token.type == "html_block":
                self.new_paragraph()
                self.html(token.content)
                self.new_paragraph()
            else:
                self.structure(token)

    def structure(self, token: Token) -> None:
        name, _, edge = token.type.rpartition("_")
        if token.type == "hr":
            self.new_paragraph()
            self.emit(Kind.RULE, ())
        elif name == "heading":
            self.heading(int(token.tag[1:]) if edge == "open" else 0)
        elif name in ("bullet_list", "ordered_list"):
            self.list_edge(edge == "open", name == "ordered_list")
        elif name == "list_item":
            self.item_edge(edge == "open")
        elif name in ("thead", "tbody"):
            self.head_row = name == "thead" and edge == "open"
        elif name in ("tr", "th", "td"):
            self.table(name, edge == "open")
        else:
            self.new_paragraph()

    def inline(self, children: Sequence[Token]) -> None:
        for at, child in enumerate(children):
            if _dunder(children, at) or _dunder(children, at - 2):
                self.add("__")
            elif child.type in ("softbreak", "hardbreak"):
                self.line_end()
            elif child.type == "code_inline":
                self.add(child.content, Style.CODE)
            elif child.type == "image":
                self.image(child.content, str(child.attrs.get("src", "")))
            elif child.type == "html_inline":
                self.html(child.content)
            elif child.type.endswith(("_open", "_close")):
                self.style(child.tag, child.type.endswith("_open"), str(child.attrs.get("href", "")))
            else:
                self.add(child.content)

    def fence(self, token: Token) -> None:
        self.new_paragraph()
        info = token.info.strip().lower()
        self.emit(Kind.CODE, (Span(token.content.removesuffix("\n")),), info.split()[0] if info else "")
        self.new_paragraph()

    # --- both

    def heading(self, level: int) -> None:
        self.new_paragraph()
        self.level = level

    def list_edge(self, opens: bool, ordered: bool) -> None:
        self.new_paragraph()
        if opens:
            self.count += 1
            self.lists.append(Item(self.count, 0, ordered))
        elif self.lists:
            self.lists.pop()

    def item_edge(self, opens: bool) -> None:
        self.new_paragraph()
        if opens:
            now = self.lists.pop() if self.lists else Item(0, 0, False)
            self.lists.append(Item(now.list, now.index + 1, now.ordered))
            self.items.append(self.lists[-1])
        elif self.items:
            self.items.pop()

    def table(self, name: str, opens: bool) -> None:
        if name == "tr" and opens:
            self.new_paragraph()
            self.cells = []
        elif name == "tr" and self.cells is not None:
            cells, self.cells, self.spans = self.cells, None, []
            self.emit(Kind.ROW, (Span(" | ".join(cells)),), "|" if self.head_row else "", cells)
        elif not opens and self.cells is not None:
            spans, self.spans = self.spans, []
            badges = [span.text.split("\n")[0] for span in spans if span.style is Style.IMAGE]
            self.cells.append(said(spans) or " ".join(badges))

    def style(self, tag: str, opens: bool, href: str = "") -> None:
        if tag == "a":
            self.href = href if opens else ""
            return
        chosen = Style.STRONG if tag in ("strong", "b") else Style.EMPHASIS
        if opens:
            self.styles.append(chosen)
        elif chosen in self.styles:
            self.styles.reverse()
            self.styles.remove(chosen)
            self.styles.reverse()

    def image(self, alternative: str, source: str) -> None:
        self.add(f"{alternative}\n{source}", Style.IMAGE)

    def line_end(self) -> None:
        if self.cells is not None or self.summary_of is not None:
            self.add(" ")
        else:
            self.flush()

    # --- HTML

    def html(self, source: str) -> None:
        for piece in pieces(source):
            if piece.kind == "text":
                self.html_text(piece.text)
            elif piece.kind == "comment":
                self.comments.append(piece.text)
                self.emit(Kind.MARK, (Span(piece.text),))
            else:
                self.tag(piece)

    def html_text(self, text: str) -> None:
        first, *rest = text.split("\n")
        self.add(first)
        for line in rest:
            self.line_end()
            self.add(line)

    def tag(self, piece: Markup) -> None:
        name, opens = piece.text, piece.kind == "open"
        handler = _TAGS.get(name)
        if handler is not None:
            handler(self, opens, piece)
        elif name[0] == "h" and name[1:].isdigit():
            self.heading(int(name[1:]) if opens else 0)

    def details(self, opens: bool, _: Markup) -> None:
        self.summary_of = None
        self.new_paragraph()
        if opens:
            self.count += 1
            self.sections.append(Section(self.count))
        elif self.sections:
            self.sections.pop()

    def summary(self, opens: bool, _: Markup) -> None:
        if opens and self.sections:
            self.new_paragraph()
            self.summary_of = self.sections[-1].number
        elif not opens and self.summary_of is not None and self.sections:
            spans, self.spans, self.summary_of = self.spans, [], None
            self.sections[-1] = Section(self.sections[-1].number, tuple(spans))

    def code_edge(self, opens: bool, _: Markup) -> None:
        if opens:
            self.code = []
        elif self.code is not None:
            text, self.code = "".join(self.code), None
            self.add(text, Style.CODE)

    def small_edge(self, opens: bool, _: Markup) -> None:
        self.small = self.small + 1 if opens else max(0, self.small - 1)

    def rule(self, _: bool, __: Markup) -> None:
        self.new_paragraph()
        self.emit(Kind.RULE, ())


def _dunder(children: Sequence[Token], at: int) -> bool:
    """Whether bold begins here that is a name someone forgot to quote: `__init__`."""
    if at < 0 or at + 2 >= len(children) or children[at].type != "strong_open" or children[at].markup != "__":
        return False
    return children[at + 1].content.isidentifier() and children[at + 2].type == "strong_close"


def _styled(builder: _Builder, opens: bool, piece: Markup) -> None:
    builder.style(piece.text, opens, piece.attribute("href"))


def _image(builder: _Builder, opens: bool, piece: Markup) -> None:
    if opens:
        builder.image(piece.attribute("alt"), piece.attribute("src"))


_TAGS: dict[str, Callable[[_Builder, bool, Markup], None]] = (
    {
        "details": _Builder.details,
        "summary": _Builder.summary,
        "code": _Builder.code_edge,
        "sub": _Builder.small_edge,
        "sup": _Builder.small_edge,
        "hr": _Builder.rule,
        "img": _image,
        "br": lambda builder, _, __: builder.line_end(),
        "ul": lambda builder, opens, _: builder.list_edge(opens, False),
        "ol": lambda builder, opens, _: builder.list_edge(opens, True),
        "li": lambda builder, opens, _: builder.item_edge(opens),
        "tr": lambda builder, opens, _: builder.table("tr", opens),
        "td": lambda builder, opens, _: builder.table("td", opens),
        "th": lambda builder, opens, _: builder.table("th", opens),
    }
    | dict.fromkeys(("a", "b", "strong", "i", "em"), _styled)
    | dict.fromkeys(
        ("p", "div", "blockquote", "pre", "center", "table"), lambda builder, _, __: builder.new_paragraph()
    )
)
