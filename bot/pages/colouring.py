"""Source code as HTML with classes for its syntax, line by line. Colours stand in the stylesheet."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePosixPath

from markupsafe import Markup, escape
from pygments.lexer import Lexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from bot.pages.markdown import visible

LEXERS = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".jsx": "jsx", ".ts": "typescript", ".tsx": "tsx", ".go": "go", ".rs": "rust", ".java": "java", ".kt": "kotlin",
    ".c": "c", ".h": "cpp", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".hh": "cpp", ".cs": "csharp",
    ".rb": "ruby", ".php": "php", ".swift": "swift", ".scala": "scala", ".sh": "bash", ".sql": "sql",
    ".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".css": "css", ".html": "html",
}  # fmt: skip
"""Ending of a file -> its language, as the highlighter calls it. Others are shown without colours."""
MOST = 100_000
"""Characters that are coloured at once; more is shown plainly."""
LONGEST_LINE = 1_000
_CLASSES: Sequence[tuple[_TokenType, str]] = (
    (Comment, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (String, "s"),
    (Number, "m"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Decorator, "f"),
    (Name.Tag, "k"),
    (Name.Attribute, "f"),
)


def coloured(path: str, lines: Sequence[str]) -> tuple[Markup, ...]:
    """Lines of one file, without their ends, as HTML."""
    lexer = _lexer(LEXERS.get(PurePosixPath(path).suffix.lower(), ""))
    text = "\n".join(lines)
    if lexer is None or len(text) > MOST or any(len(line) > LONGEST_LINE for line in lines):
        return tuple(escape(visible(line)) for line in lines)
    made: list[list[tuple[str, str]]] = [[]]
    for kind, piece in lexer.get_tokens(text):
        name = _class(kind)
        for number, part in enumerate(piece.split("\n")):
            if number:
                made.append([])
            if part:
                made[-1].append((name, part))
    # The highlighter may end a text with a line of its own; a line it loses would shift all that follow.
    found = tuple(_line(pieces) for pieces in made)
    return found[: len(lines)] + tuple(escape(visible(line)) for line in lines[len(found) :])


def _line(pieces: Sequence[tuple[str, str]]) -> Markup:
    """Neighbours of one colour stand in one element."""
    runs = groupby(pieces, key=lambda piece: piece[0])
    return Markup().join(_span(name, "".join(part for _, part in run)) for name, run in runs)


def _span(name: str, part: str) -> Markup:
    words = escape(visible(part))
    return Markup('<span class="{}">{}</span>').format(name, words) if name else words


@functools.cache
def _class(kind: _TokenType) -> str:
    return next((name for known, name in _CLASSES if kind is known or known in kind.split()), "")


@functools.cache
def _lexer(name: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False, stripall=False, ensurenl=False) if name else None
