"""What a reviewer could have read of the others before it spoke, and whether reviewers kept apart stayed apart.

Reviewers read what stands on a pull request. On a shared fork each can read the findings made before its first; that
depends on who was quicker on that day, so it stands beside a score and not in it. Where each reviewer was to have a
fork of its own, who commented there tells whether it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.scrape import Scraped
from scoring.model import ReviewerId


@dataclass(frozen=True, slots=True)
class ForkSeen:
    """One fork."""

    fork: str
    meant_for: tuple[ReviewerId, ...]
    foreign_before_first: Mapping[ReviewerId, int]
    """Findings of others that stood there before a reviewer's first; reviewers that found nothing are left out."""
    intruders: tuple[str, ...]
    """Reviewers and bots that spoke there though the fork was not meant for them."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """One reviewer over all forks."""

    reviewer: ReviewerId
    forks: int
    """On which it found something."""
    exposed: int
    """On how many of them others had found something before."""
    findings: int
    """Findings of others before its first, over all forks."""
    most: int
    """The same on the worst fork."""


def of_fork(fork: str, meant_for: Sequence[ReviewerId], scraped: Scraped) -> ForkSeen:
    """What one fork's conversation says."""
    spoke = sorted(who for who, texts in scraped.spoke.items() if texts and who not in meant_for)
    return ForkSeen(fork, tuple(meant_for), dict(scraped.foreign_before_first), (*spoke, *scraped.unknown_bots))


def exposures(forks: Iterable[ForkSeen]) -> tuple[Exposure, ...]:
    """Each reviewer's exposure, by id."""
    counts: dict[ReviewerId, list[int]] = {}
    for fork in forks:
        for who, number in fork.foreign_before_first.items():
            counts.setdefault(who, []).append(number)
    return tuple(
        Exposure(who, len(found), sum(number > 0 for number in found), sum(found), max(found))
        for who, found in sorted(counts.items())
    )


def isolated(forks: Sequence[ForkSeen]) -> bool:
    """Whether every fork was meant for one reviewer, and nobody else's bot spoke there."""
    return bool(forks) and all(len(fork.meant_for) == 1 and not fork.intruders for fork in forks)


def broken(forks: Iterable[ForkSeen]) -> tuple[str, ...]:
    """A sentence for each fork that was to be one reviewer's and was not."""
    return tuple(
        f"Fork {fork.fork} was meant for {fork.meant_for[0]} alone, and {', '.join(fork.intruders)} commented there."
        for fork in forks
        if len(fork.meant_for) == 1 and fork.intruders
    )
