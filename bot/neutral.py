"""What a fork is called and by whom it was written: nothing here tells the upstream, the tool, the run or the defect.

Every name, branch, author and date is derived from the run's secret and the fork's id by HMAC-SHA256: the same on
every retry, different in every run, and meaningless to whoever lacks the secret. The neighbours hold the rest of the
subject: `neutral_text` (titles and bodies), `neutral_strip` (files that leave both trees), `neutral_push` (refusals).
"""

from __future__ import annotations

import hmac
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from bot.model import ForkId
from bot.neutral_audit import Told, forbidden_for, fork_leaks, leaks, links_back
from bot.neutral_push import PushKind, PushProblem, push_problem
from bot.neutral_strip import Decided, StripResult, StripRules, parse_strip_rules, strip
from bot.neutral_text import neutral_text

__all__ = [
    "Decided",
    "Identity",
    "Messages",
    "PushKind",
    "PushProblem",
    "StripResult",
    "StripRules",
    "Told",
    "branches",
    "forbidden_for",
    "fork_leaks",
    "identity",
    "leaks",
    "links_back",
    "messages",
    "neutral_text",
    "parse_strip_rules",
    "push_problem",
    "repository_names",
    "strip",
]

NAME_PATTERN: Final = re.compile(r"[a-z0-9][a-z0-9-]{3,38}")
"""What every repository name looks like in full."""

TELLTALE: Final = (
    "assay", "bench", "bot", "bug", "clone", "copy", "defect", "demo", "eval", "fork", "golden", "judge", "mirror",
    "review", "sample", "sandbox", "score", "swe", "synth", "test", "trial",
)  # fmt: skip
"""Words that would say what the repository is for. No derived name contains one, not even inside a longer word."""

_FIRST: Final = (
    "able", "agile", "amber", "azure", "basic", "blue", "bold", "brave", "brisk", "broad", "calm", "cedar", "civil",
    "clear", "cobalt", "cool", "coral", "crisp", "deep", "early", "easy", "equal", "fair", "fine", "first", "flat",
    "fleet", "frank", "fresh", "gentle", "glad", "good", "grand", "green", "happy", "hazel", "humble", "indigo",
    "inner", "ivory", "jolly", "keen", "kind", "large", "light", "lively", "local", "lone", "loyal", "lucid", "lunar",
    "maple", "mellow", "merry", "mild", "modest", "narrow", "neat", "new", "noble", "north", "oaken", "olive", "open",
    "outer", "pale", "plain", "polar", "prime", "proud", "pure", "quick", "quiet", "rapid", "ready", "red", "rich",
    "round", "royal", "rural", "sandy", "sharp", "silver", "simple", "slim", "smart", "smooth", "snowy", "soft",
    "solar", "solid", "south", "steady", "still", "stone", "sunny", "swift", "tall", "teal", "tidy", "tiny", "urban",
    "vivid", "warm", "west", "wide", "wild", "wise", "young",
)  # fmt: skip
_SECOND: Final = (
    "anchor", "arch", "arrow", "atlas", "basin", "bay", "beacon", "bell", "birch", "board", "bridge", "brook", "cabin",
    "canal", "canyon", "cargo", "castle", "circle", "cliff", "cloud", "coast", "comet", "compass", "cove", "creek",
    "crest", "dale", "delta", "desk", "dock", "dune", "field", "fjord", "flame", "forest", "fountain", "garden",
    "gate", "glacier", "grove", "gulf", "harbor", "hill", "hollow", "hub", "inlet", "island", "kettle", "lagoon",
    "lake", "lantern", "ledger", "lever", "line", "loom", "lumen", "marsh", "meadow", "mesa", "mill", "moon", "moor",
    "mosaic", "nest", "notch", "oak", "oasis", "orbit", "orchard", "panel", "path", "peak", "pebble", "pier", "pine",
    "planet", "plaza", "pond", "port", "prairie", "quarry", "rail", "rain", "reef", "relay", "ridge", "ring", "river",
    "road", "rocket", "sail", "shelf", "shore", "signal", "slate", "spark", "spring", "spruce", "square", "stream",
    "summit", "table", "thread", "tide", "tower", "trail", "tunnel", "valley", "vault", "vine", "wagon", "wave",
    "wharf", "wheel", "willow", "wind", "window", "yard",
)  # fmt: skip
_SUFFIX: Final = "bcdfghjkmnpqrstvwxz"
"""No vowel, so a suffix spells no word; no digit, so it repeats no pull request number."""
_HEAD_PREFIXES: Final = ("change", "patch", "update", "work")
_MAIL_DOMAINS: Final = ("example.com", "example.net", "example.org")
"""Reserved for examples: an address there belongs to nobody, and no account can claim the commits."""
_WINDOW_START: Final = datetime(2023, 3, 1, tzinfo=UTC)
_WINDOW_DAYS: Final = 730
_LEAST_SECRET: Final = 16


@dataclass(frozen=True, slots=True)
class Identity:
    """Who wrote a fork's two commits, and when. Nobody real."""

    name: str
    email: str
    base_date: datetime
    """Timezone-aware UTC, whole seconds."""
    head_date: datetime
    """Later than `base_date`."""


class Messages(NamedTuple):
    """The two commit messages of a fork."""

    base: str
    head: str


def _draws(secret: bytes, purpose: str, fork: ForkId) -> Iterator[int]:
    """An endless stream of 64-bit numbers that only the holder of `secret` can tell from noise."""
    if len(secret) < _LEAST_SECRET:
        raise ValueError(f"the run secret has {len(secret)} bytes; it needs at least {_LEAST_SECRET}")
    for counter in itertools.count():
        message = f"{purpose}\0{counter}\0{fork}".encode()
        yield int.from_bytes(hmac.digest(secret, message, "sha256")[:8], "big")


def _pick(draws: Iterator[int], choices: Sequence[str]) -> str:
    return choices[next(draws) % len(choices)]


def _letters(draws: Iterator[int], count: int) -> str:
    return "".join(_pick(draws, _SUFFIX) for _ in range(count))


def _shunned(fork: ForkId, forbidden: Sequence[str]) -> tuple[str, ...]:
    """Everything a name of this fork must not contain: the tell-tale words, and each part of the id itself."""
    parts = [part for text in (fork, *forbidden) for part in re.split(r"[^a-z0-9]+", text.lower())]
    return (*TELLTALE, *(part for part in parts if len(part) >= 3))


def _clean_words(draws: Iterator[int], shunned: Sequence[str]) -> tuple[str, str]:
    """Two words, neither of which contains a shunned one."""
    for _ in range(1_000):
        words = (_pick(draws, _FIRST), _pick(draws, _SECOND))
        if not any(bad in word for bad in shunned for word in words):
            return words
    raise ValueError("every neutral word is a part of this fork's id")


def _name(draws: Iterator[int]) -> str:
    words = [_pick(draws, _FIRST), _pick(draws, _SECOND)]
    if next(draws) % 2:
        return "-".join([*words, _pick(draws, _SECOND), _letters(draws, 4)])
    return "-".join([*words, _letters(draws, 6)])


def repository_names(
    secret: bytes, fork_id: ForkId, *, count: int = 8, forbidden: Sequence[str] = ()
) -> tuple[str, ...]:
    """The repository names to try, in order: the next only if GitHub says that one is taken.

    Each has more than forty bits of its own, so that two forks of one organisation do not meet. None contains a
    tell-tale word, a part of the fork's id, or a part of `forbidden` (the upstream's name, the reviewers' names).
    """
    shunned, draws = _shunned(fork_id, forbidden), _draws(secret, "repository", fork_id)
    names: dict[str, None] = {}
    for _ in range(count * 200):
        name = _name(draws)
        if not any(bad in name for bad in shunned):
            names[name] = None
        if len(names) == count:
            return tuple(names)
    raise ValueError(f"no {count} neutral names are left for this fork: too much is forbidden")


def branches(secret: bytes, fork_id: ForkId) -> tuple[str, str]:
    """The base and the head branch."""
    draws = _draws(secret, "branches", fork_id)
    first, second = _clean_words(draws, _shunned(fork_id, ()))
    return "main", f"{_pick(draws, _HEAD_PREFIXES)}/{first}-{second}"


def identity(secret: bytes, fork_id: ForkId) -> Identity:
    """An author that nobody is, with dates in a past window, the same on every retry."""
    draws = _draws(secret, "identity", fork_id)
    first, second = _clean_words(draws, _shunned(fork_id, ()))
    base = _WINDOW_START + timedelta(seconds=next(draws) % (_WINDOW_DAYS * 86_400))
    head = base + timedelta(seconds=3_600 + next(draws) % (20 * 86_400))
    return Identity(
        name=f"{first.title()} {second.title()}",
        email=f"{first}.{second}@{_pick(draws, _MAIL_DOMAINS)}",
        base_date=base,
        head_date=head,
    )


def messages(title: str) -> Messages:
    """The commit messages of a fork whose pull request is called `title`: one line each, no trailers."""
    line = " ".join(neutral_text(title).split())
    return Messages("Initial import", line or "Update")
