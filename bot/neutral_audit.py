"""The leak audit: does anything we authored name what must stay unnamed, or point back to it?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.neutral_text import neutral_text

_SQUASH_LEAST: Final = 5
"""From so many letters on, a forbidden word is found inside longer words too."""


def _words(text: str) -> list[str]:
    """Lower-case words, with look-alike forms folded and invisible characters gone."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    visible = "".join(char for char in folded if unicodedata.category(char) not in ("Cf", "Mn"))
    return re.findall(r"[^\W_]+", visible)


def _holds(text: str, forbidden: str) -> bool:
    """Whether `forbidden` occurs: as whole words with any separators, or, if long enough, inside a word."""
    wanted = _words(forbidden)
    if not wanted:
        return False
    if f" {' '.join(wanted)} " in f" {' '.join(_words(text))} ":
        return True
    squashed = "".join(wanted)
    return len(squashed) >= _SQUASH_LEAST and any(squashed in "".join(_words(chunk)) for chunk in text.split())


def leaks(texts: Sequence[tuple[str, str]], forbidden: Sequence[str]) -> tuple[str, ...]:
    """One line for each forbidden word found; `texts` are (where, text). Spelling variants count.

    `acme/widgets` is found in `Acme-Widgets` and `acme widgets`, and inside `myacmewidgets`; a word of fewer than five
    letters only where it stands alone, so that `go` is not found in `good`.
    """
    words = tuple(dict.fromkeys(word for word in forbidden if word.strip()))
    return tuple(f"{where}: contains {word!r}" for where, text in texts for word in words if _holds(text, word))


def links_back(texts: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """One line for each pinned text that is not neutral as it stands: something in it points somewhere."""
    return tuple(
        f"{where}: has a reference, link, mention, address or trailer; neutral would be {neutral!r}"
        for where, text in texts
        if (neutral := neutral_text(text)) != text
    )


def forbidden_for(upstream: str | None, others: Iterable[str] = ()) -> tuple[str, ...]:
    """What must not be named in a fork: the upstream `owner/name` and its halves, then `others`, each once."""
    halves = (upstream, *upstream.split("/")) if upstream else ()
    return tuple(dict.fromkeys((*halves, *others)))


@dataclass(frozen=True, slots=True)
class Told:
    """What a fork must not tell, by what it would be."""

    upstream: str | None
    """`owner/name`; None where the suite ships its files."""
    run: str
    tool: tuple[str, ...] = ("assay",)
    derived_only: tuple[str, ...] = ()
    """The suite and the reviewers: no name that we make up holds these. In a pinned title they are ordinary words."""


def fork_leaks(derived: Sequence[tuple[str, str]], pinned: Sequence[tuple[str, str]], told: Told) -> tuple[str, ...]:
    """One line for each text of a fork that names what it must not; it does not repeat the word, for bots may read it.

    Args:
        derived: (where, text) of what we make up: repository names, branches, authors.
        pinned: (where, text) of what the suite pins: title, body, commit messages.
        told: what must stay unnamed.
    """
    kinds = (
        ("the upstream", forbidden_for(told.upstream), (*derived, *pinned)),
        ("the tool", told.tool, (*derived, *pinned)),
        ("the run", (told.run,), (*derived, *pinned)),
        ("the suite or a reviewer", told.derived_only, derived),
    )
    found = [
        f"{where} names {kind}"
        for kind, words, texts in kinds
        for where, text in texts
        if leaks([(where, text)], words)
    ]
    back = [f"{line.partition(':')[0]} points back to somewhere" for line in links_back(pinned)]
    return tuple(dict.fromkeys((*found, *back)))
