"""What reviewing takes: a model to ask, where answers are kept, the limits of tools, and who guards what is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bot.judging.asking import Caller, Means
from bot.reviewers.protocol import Change

TEMPERATURE = 0.0
MEGABYTE = 1024 * 1024

Admit = Callable[[Change, str, str, str], None]
"""Takes the change, a path, all that is about to be shown and the source within it. Raises `goldens.leakage.Leak`
where that would give away what must be found. The reviewer learns nothing else from it."""


def nobody_guards(change: Change, path: str, shown: str, source: str) -> None:
    """Lets everything pass: where there are no goldens, there is nothing to give away."""


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """What a command of somebody else's may take."""

    seconds: float = 600.0
    memory: int = 4096 * MEGABYTE
    """Bytes of address space for each of its processes."""
    output: int = 10 * MEGABYTE
    """Bytes of its answer that are read; what follows is cut, with a note."""
    processes: int = 256
    """How many it may have at a time, itself among them."""
    file: int = 1024 * MEGABYTE
    """Bytes that each file it writes may have."""


@dataclass(frozen=True, slots=True)
class ReviewMeans:
    """What reviewers are given to do their work. Nothing of it can hold a golden."""

    asking: Means | None = None
    """Model, cache, budget and patience, as for judges; None: no model can be asked."""
    temperature: float = TEMPERATURE
    """Where the reviewer's own options do not say."""
    context: bool = False
    """Whether reviewers are shown conventions and surrounding files, where their own options do not say."""
    limits: ToolLimits = field(default_factory=ToolLimits)
    repeat: int = 0
    """Which repetition this is: another one asks anew instead of taking the kept answers."""
    admit: Admit = nobody_guards
    """Guards what cold reviewers are shown."""
    caller: Caller | None = None
    """Who makes the calls, for all reviewers together, so that they keep to one pace. Made of `asking` where None."""

    def __post_init__(self) -> None:
        """Have one caller from the start; `dataclasses.replace` passes it on."""
        if self.caller is None and self.asking is not None:
            object.__setattr__(self, "caller", Caller(self.asking))
