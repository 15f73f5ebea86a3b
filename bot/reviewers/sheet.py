"""Messages to a model under test: what a change holds stands between delimiters that nothing in it can forge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources

from scoring.judges.prompt import block, closing, fresh
from scoring.judges.shown import SIGIL

_FENCE = 8

Part = tuple[str, str]
"""What it is, in our words, and the text."""


@cache
def prompt(name: str) -> str:
    """A prompt that ships with the package."""
    return resources.files("bot.reviewers").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


@cache
def prompt_hash(*names: str) -> str:
    """What tells these prompts from later ones under the same names."""
    return digest(*(prompt(name) for name in names))[:12]


def sheet(parts: Sequence[Part], salt: str) -> str:
    """Texts, each under a delimiter.

    The delimiter derives from everything shown, and stands in none of it. The same contents give the same bytes.

    Args:
        parts: What is shown, in order. What a name holds of a path must be quoted already.
        salt: What else decides the contents of the call.
    """
    shown = [(name, whole_text(text)) for name, text in parts]
    taken = "\n".join(part for pair in shown for part in pair).casefold()
    fence = fresh(digest(salt, json.dumps(shown)), _FENCE, taken, set())
    blocks = [block(fence, name, text) for name, text in shown]
    return "\n".join([SIGIL + fence, *blocks, closing(fence)])


def named(kind: str, path: str) -> str:
    """The name of a part that is about a file; a path cannot end the line."""
    return f"{kind} {json.dumps(whole_text(path), ensure_ascii=False)}"


def listing(text: str) -> str:
    """A file with its line numbers; blank lines have none, so that a number always stands before its line."""
    rows = text.removesuffix("\n").split("\n")
    width = len(str(len(rows)))
    return "\n".join(f"{number:>{width}}: {row}" if row.strip() else "" for number, row in enumerate(rows, 1))


def whole_text(text: str) -> str:
    """The text without halves of characters, which no encoding can carry."""
    return text.encode("utf-8", "surrogateescape" if _escaped(text) else "replace").decode("utf-8", "replace")


def _escaped(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" and not "\udc80" <= letter <= "\udcff" for letter in text)


def digest(*parts: str) -> str:
    """SHA-256 over texts, in hex."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode("ascii")).hexdigest()
