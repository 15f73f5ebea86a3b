"""Rules of pull requests and of who is asked to review them."""

from __future__ import annotations

from collections.abc import Iterable

from bot.sandbox import conversation, gitstore, shapes_account
from bot.sandbox.errors import ApiError, invalid, not_found
from bot.sandbox.ids import SHORT
from bot.sandbox.roles import role_of
from bot.sandbox.state import Account, Issue, Pull, Repo
from bot.sandbox.world import World


def find_pull(repo: Repo, number: int) -> Pull:
    """A pull request by number."""
    issue = repo.issues.get(number)
    if issue is None or issue.pull is None:
        raise not_found()
    return issue.pull


def _head_branch(repo: Repo, head: str) -> str:
    owner, colon, branch = head.partition(":")
    if not colon:
        return head
    if owner.lower() != repo.owner.login.lower():
        raise invalid("PullRequest", "head")
    return branch


def _branch_sha(repo: Repo, field: str, branch: str) -> str:
    sha = gitstore.refs(repo.path, "refs/heads/").get(f"refs/heads/{branch}")
    if sha is None:
        raise invalid("PullRequest", field)
    return sha


def _refuse(message: str) -> ApiError:
    problem = {"resource": "PullRequest", "code": "custom", "message": message}
    return ApiError(422, "Validation Failed", errors=[problem])


def _check_new(repo: Repo, base: str, head: str, base_sha: str, head_sha: str) -> None:
    for issue in repo.issues.values():
        pull = issue.pull
        if pull and issue.state == "open" and (pull.head_ref, pull.base_ref) == (head, base):
            raise _refuse(f"A pull request already exists for {repo.owner.login}:{head}.")
    start = gitstore.merge_base(repo.path, base_sha, head_sha)
    if start is None:
        raise _refuse(f"The {head} branch has no history in common with {base}")
    if start == head_sha:
        raise _refuse(f"No commits between {base} and {head}")


def open_pull(
    world: World,
    repo: Repo,
    author: Account,
    *,
    title: str,
    body: str | None,
    head: str,
    base: str,
    draft: bool = False,
    maintainer_can_modify: bool = False,
) -> Pull:
    """Open a pull request between two branches of one repository."""
    conversation.check_body("PullRequest", body)
    branch = _head_branch(repo, head)
    base_sha, head_sha = _branch_sha(repo, "base", base), _branch_sha(repo, "head", branch)
    _check_new(repo, base, branch, base_sha, head_sha)
    number, now = conversation.next_number(repo), world.now()
    issue = Issue(world.ids.of(SHORT, "issue", repo.full_name, number), repo, number, title, body, author, now, now)
    pull = Pull(world.ids.of(SHORT, "pull", repo.full_name, number), issue, branch, base, head_sha, base_sha, draft)
    pull.maintainer_can_modify = maintainer_can_modify
    issue.pull = pull
    repo.issues[number] = issue
    gitstore.set_ref(repo.path, f"refs/pull/{number}/head", head_sha)
    conversation.refer(world, issue, author, title, body)
    conversation.emit_issue(world, "opened", issue, author)
    return pull


def request_reviewers(world: World, pull: Pull, actor: Account, logins: Iterable[str]) -> None:
    """Ask for reviews. Unknown logins and bots are passed over in silence, as GitHub does."""
    asked: list[Account] = []
    for login in logins:
        account = world.accounts.get(login.lower()) or world.accounts.get(f"{login.lower()}[bot]")
        if account is None or (account.app is not None and not account.app.requestable):
            continue
        if account is pull.issue.user:
            raise ApiError(422, "Review cannot be requested from pull request author.")
        if account.app is None and role_of(pull.issue.repo, account) == "none":
            name = pull.issue.repo.full_name
            raise ApiError(
                422,
                "Reviews may only be requested from collaborators. One or more of the users or teams you specified is "
                f"not a collaborator of the {name} repository.",
            )
        asked.append(account)
    for account in asked:
        if account not in pull.requested:
            _change_request(world, pull, actor, account, "review_requested")


def unrequest_reviewers(world: World, pull: Pull, actor: Account, logins: Iterable[str]) -> None:
    """Take requests back."""
    names = {login.lower() for login in logins}
    for account in [one for one in pull.requested if one.login.lower() in names]:
        _change_request(world, pull, actor, account, "review_request_removed")


def _change_request(world: World, pull: Pull, actor: Account, account: Account, event: str) -> None:
    if event == "review_requested":
        pull.requested.append(account)
    else:
        pull.requested.remove(account)
    pull.issue.updated_at = world.now()
    conversation.add_event(world, pull.issue, event, actor, reviewer=account)
    told = shapes_account.user(world.links, account)
    conversation.emit_issue(world, event, pull.issue, actor, requested_reviewer=told)
