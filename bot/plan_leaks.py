"""The leak audit of a plan: it fails if anything that we author for a fork names the upstream, the tool or the run."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import ForkPlan, RunId
from bot.neutral import Told, fork_leaks, identity, messages
from goldens.model import GitPin, Suite


class LeakError(ValueError):
    """The plan would tell what a fork must not tell. The message does not tell it either."""


def check_leaks(run: RunId, suite: Suite, forks: Sequence[ForkPlan], secret: bytes) -> None:
    """Make sure that nothing we author names the upstream, the tool or the run.

    Raises:
        LeakError: something does; a line for each.
    """
    upstreams = {pull.id: pull.source.upstream for pull in suite.pulls if isinstance(pull.source, GitPin)}
    lines = [
        f"{fork.pull}: {line}"
        for fork in forks
        for line in leaks_of(fork, upstreams.get(fork.pull), run, (suite.ref.id, *fork.reviewers), secret)
    ]
    if lines:
        raise LeakError("the forks would not be neutral:\n" + "\n".join(dict.fromkeys(lines)))


def leaks_of(
    fork: ForkPlan, upstream: str | None, run: str, derived_only: Sequence[str], secret: bytes
) -> tuple[str, ...]:
    """What the texts that we author for one fork tell and must not."""
    who, said = identity(secret, fork.id), messages(fork.title)
    derived = [*(("a repository name", name) for name in fork.names), ("the base branch", fork.base_branch)]
    derived += [("the head branch", fork.head_branch), ("the commits' author", f"{who.name} {who.email}")]
    pinned = [("the title", fork.title), ("the body", fork.body), ("a commit message", f"{said.base} {said.head}")]
    return fork_leaks(derived, pinned, Told(upstream, run, derived_only=tuple(derived_only)))
