"""What reviewers do to the trees of a fork: files that steer them leave, and a workflow that runs one may come in.

A reviewer that is an Action has nothing to run on in a neutral fork. It takes part only if its registry entry says what
to put into both trees and the operator granted the permission to push that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from bot.neutral_strip import StripRules, more_rules
from bot.registry_entry import Reviewer

NEEDS_ACTION = "needs_action"


@dataclass(frozen=True, slots=True)
class TreeNeeds:
    """What the reviewers of a run change in the trees of its forks."""

    configs: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Reviewer -> patterns of the files that steer it, in the words of the strip manifest."""
    workflows: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Path -> content of what is put into both trees."""

    def rules(self, shipped: StripRules) -> StripRules:
        """The rules that ship, and behind them those of the reviewers: where both name a file, the first decide."""
        return more_rules(shipped, self.configs)


def tree_needs(known: Iterable[Reviewer], chosen: Iterable[Reviewer], *, granted: bool) -> TreeNeeds:
    """What the trees must lack because of any reviewer known, and hold because of those chosen.

    Raises:
        ValueError: two chosen reviewers want different workflows under one name.
    """
    workflows: dict[str, str] = {}
    for reviewer in chosen:
        if granted and reviewer.needs_action and reviewer.workflow is not None:
            path, content = reviewer.workflow.path, reviewer.workflow.content
            if workflows.setdefault(path, content) != content:
                raise ValueError(f"{reviewer.id} and another reviewer want different workflows at {path}")
    return TreeNeeds({one.id: one.configs for one in known if one.configs}, workflows)


def action_problem(reviewer: Reviewer, *, granted: bool) -> str | None:
    """Why a reviewer that is an Action cannot take part; None if it can, or is none."""
    if not reviewer.needs_action:
        return None
    why = "it runs as a GitHub Action, and workflows are taken out of neutral forks"
    if reviewer.workflow is None:
        return f"{NEEDS_ACTION}: {why}; its registry entry names no workflow to put in"
    if not granted:
        return (
            f"{NEEDS_ACTION}: {why}; its registry entry names one to put in, which takes `workflows: write`: grant it "
            "to the App and set ASSAY_WORKFLOWS_GRANTED=true"
        )
    return None
