"""Which reviewers are there at all: for the plan's warnings, and as evidence that one who said nothing was never there.

Nothing here may keep a run from going on: what GitHub does not tell is not known, and said to be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bot import installed
from bot.installed import Installed
from bot.issue_form import Label
from bot.model import Problem, Problems, RepoName, RunPlan
from bot.ports import GitHub, GitHubError, RunRow
from bot.registry import Reviewer
from bot.workflows.services import Services


def census(reviewers: Sequence[Reviewer], github: GitHub, org: str, ours: str) -> Installed:
    """Who is installed in an organisation."""
    try:
        listed = github.org_installations(org)
    except GitHubError:
        listed = None
    return installed.installed(reviewers, listed, ours=ours)


def with_notes(plan: RunPlan, github: GitHub, reviewers: Sequence[Reviewer]) -> RunPlan:
    """The plan, with what it cannot know of itself: who acts, and who is there."""
    author = github.author()
    found = census(reviewers, github, plan.org, github.identity().slug)
    chosen = [reviewer for reviewer in reviewers if reviewer.id in plan.request.reviewers]
    owner_is_user = github.owner_is_user()
    told = installed.author_notes(
        plan.org, owner_is_user=owner_is_user, author=author.login, author_is_user=author.is_user
    )
    return replace(plan, warnings=(*plan.warnings, *told, *installed.notes(chosen, found)))


def homeless(github: GitHub, repo: RepoName) -> Problems | None:
    """Why no fork can be made where the control repository is."""
    author = github.author()
    if not github.owner_is_user() or (author.is_user and author.login.lower() == repo.owner.lower()):
        return None
    message = (
        f"{repo.owner} is a personal account, where no App may make repositories; the App's operator has to set "
        f"ASSAY_AUTHOR_TOKEN to a token of {repo.owner}, or the control repository has to be an organisation's"
    )
    return Problems((Problem(Label.SUITE.value, message),))


def evidence(services: Services, run: RunRow) -> Callable[[str], bool | None]:
    """Whether a reviewer is known to be installed; GitHub is asked when the first answer is wanted, and once."""
    found: list[Installed] = []

    def known(reviewer: str) -> bool | None:
        if not found:
            github, registry = services.github(run.installation), services.registry_of(run)
            found.append(census(registry.reviewers, github, run.plan.org, github.identity().slug))
        return found[0].evidence(reviewer)

    return known
