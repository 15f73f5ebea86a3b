"""Small pieces of Markdown that the actors share. What an analyser quotes from a fork is data, not markup."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(?=[A-Za-z/!])")


def plain(text: str) -> str:
    """One line of text that opens no HTML: tags are spelled out, except in code, where Markdown shows them anyway."""
    pieces = " ".join(text.split()).split("`")
    return "`".join(piece if index % 2 else _TAG.sub("&lt;", piece) for index, piece in enumerate(pieces))


def sentence(text: str) -> str:
    """The first sentence of a paragraph."""
    return re.split(r"(?<=[.!?]) (?=[A-Z`])", text, maxsplit=1)[0]


def stopped(text: str) -> str:
    """The text with a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def counted(number: int, noun: str) -> str:
    """`1 problem`, `2 problems`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def code(text: str) -> str:
    """Text in code marks that it cannot close."""
    one_line = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", one_line)), default=0)
    marks = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{marks}{pad}{one_line}{pad}{marks}"


def fenced(text: str, language: str = "") -> str:
    """Text in a fence that it cannot close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def missed(paths: tuple[str, ...]) -> str:
    """Which files were not read; empty if all were."""
    return f"\n\nNot read: {', '.join(code(path) for path in paths)}." if paths else ""
