"""A prompt made of untrusted items: opaque shuffled ids, and delimiters that no item can forge.

Everything that looks random derives from a SHA-256 over all that is shown, so that the same contents give the same
bytes. Our own ids are not part of it: a comment that was posted again under another id asks nothing new.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from scoring.judges.shown import SIGIL, Shown

Order = Literal["forward", "backward"]
Kind = Literal["candidate", "golden", "diff"]
_ALPHABET = "bcdfghjkmnpqrstvwxz23456789"
"""No vowels, so that no id is a word, and nothing that looks like another letter."""
_FENCE, _ID = 8, 4
_ORDERED: tuple[Kind, ...] = ("diff", "golden", "candidate")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to show, and what it is to us."""

    kind: Kind
    ours: str
    """Our id, or the path of a diff."""
    shown: Shown
    known: str = ""
    """For a decoy: `no_match`, or `match:` and our id of the golden."""

    @property
    def content(self) -> tuple[str, str, str, str]:
        """What is shown of it."""
        return self.kind, self.shown.text, self.shown.head, self.known


@dataclass(frozen=True, slots=True)
class Sheet:
    """A user message, and what its ids mean."""

    text: str
    candidates: Mapping[str, Item]
    """Opaque id -> candidate, in the order they are shown."""
    goldens: Mapping[str, Item]
    fence: str

    @property
    def offered(self) -> dict[str, str]:
        """Opaque id -> ours."""
        return {name: item.ours for name, item in (*self.candidates.items(), *self.goldens.items())}

    @property
    def decoys(self) -> dict[str, str]:
        """Opaque id of a decoy -> `no_match`, or `match:` and the opaque id of the golden."""
        opaque = {item.ours: name for name, item in self.goldens.items()}
        found = {}
        for name, item in self.candidates.items():
            if item.known:
                verdict, _, golden = item.known.partition(":")
                found[name] = f"{verdict}:{opaque[golden]}" if golden else verdict
        return found


@cache
def prompt(name: str) -> str:
    """A prompt that ships with the library."""
    return resources.files("scoring.judges").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


def lay_out(items: Sequence[Item], order: Order, salt: str) -> Sheet:
    """Put items into a message. The order they are given in does not matter.

    Args:
        items: What to show.
        order: `backward` turns round the order in which `forward` shows the items of each kind.
        salt: What else decides the contents of the call, such as the hash of the instructions.
    """
    ranked = sorted(items, key=lambda item: (item.content, item.ours))
    seed = _digest(salt, json.dumps([item.content for item in ranked], ensure_ascii=False))
    taken = "\n".join(part for item in ranked for part in (item.shown.text, item.shown.head)).casefold()
    fence = fresh(_digest(seed, order, "fence"), _FENCE, taken, set())
    used = {fence}
    names = {}
    for at, item in enumerate(ranked):
        names[at] = item.kind[0] + fresh(_digest(seed, order, f"id {at}"), _ID, taken, used)
    shuffled = sorted(range(len(ranked)), key=lambda at: _digest(seed, f"place {at}"))
    if order == "backward":
        shuffled.reverse()
    placed = [at for kind in _ORDERED for at in shuffled if ranked[at].kind == kind]
    blocks = [_block(fence, names[at], ranked[at].shown) for at in placed]
    return Sheet(
        "\n".join([SIGIL + fence, *blocks, closing(fence)]),
        {names[at]: ranked[at] for at in placed if ranked[at].kind == "candidate"},
        {names[at]: ranked[at] for at in placed if ranked[at].kind == "golden"},
        fence,
    )


def block(fence: str, name: str, text: str) -> str:
    """An item under its delimiter."""
    return f"{SIGIL}{fence} {name}\n{text}"


def closing(fence: str) -> str:
    """What follows the last item."""
    return f"{SIGIL}{fence} end"


def fence_of(message: str) -> str:
    """The marker that a message opened with."""
    return message.partition("\n")[0].removeprefix(SIGIL)


def _block(fence: str, name: str, shown: Shown) -> str:
    return block(fence, f"{name} {shown.head}" if shown.head else name, shown.text)


def fresh(seed: str, length: int, taken: str, used: set[str]) -> str:
    """A word that stands in none of the texts and was not used before."""
    turn = 0
    while True:
        number = int(_digest(seed, str(turn)), 16)
        letters = []
        for _ in range(length + turn // 64):
            number, at = divmod(number, len(_ALPHABET))
            letters.append(_ALPHABET[at])
        word = "".join(letters)
        if word not in used and word not in taken:
            used.add(word)
            return word
        turn += 1


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
