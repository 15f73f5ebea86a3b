"""Looking at where runs happen: the author, the reviewers that are there, the control repository."""

from __future__ import annotations

from collections.abc import Iterator

from bot.doctor_model import Finding, fail, ok, warn
from bot.installed import Installed, Presence, installed
from bot.model import RepoName
from bot.ports_github import AuthorAccount, GitHub, GitHubApp
from bot.registry import Registry

# --- who opens pull requests ------------------------------------------------------------------------------------


def author_findings(app: GitHubApp, owner: str, *, is_user: bool) -> Iterator[Finding]:
    """Whose the author token is, and whether it reaches what the App will make."""
    check = f"author {owner}"
    author = app.author_account(None if is_user else owner)
    if author is None:
        says = "no author token: the App opens pull requests and asks itself, and reviewers that heed people are silent"
        yield (fail if is_user else warn)(check, says, "set ASSAY_AUTHOR_TOKEN to a token of a person with a seat")
        return
    if author.type != "User":
        yield fail(check, f"{author.login} is a {author.type}, not a person", "use a person's token")
    yield from _scopes(check, author)
    if is_user:
        yield from _own_account(check, owner, author)
    else:
        yield from _reach(check, owner, author)


def _own_account(check: str, owner: str, author: AuthorAccount) -> Iterator[Finding]:
    if author.login.lower() == owner.lower():
        yield ok(check, f"{author.login} makes the repositories of its own account")
    else:
        says = f"the token is {author.login}'s, and only {owner} may make repositories there"
        yield fail(check, says, f"use a token of {owner}")


def _scopes(check: str, author: AuthorAccount) -> Iterator[Finding]:
    if author.kind == "classic" and author.scopes is not None and "repo" not in author.scopes:
        says = f"the token's scopes are {', '.join(author.scopes) or 'none'}: it reaches no private repository"
        yield fail(check, says, "make a token with the scope repo")
    elif author.kind == "fine-grained":
        says = "a fine-grained token: GitHub does not tell what it reaches"
        remedy = "let it have all repositories of the owner, and write contents, issues and pull requests"
        yield warn(check, says, remedy)
    elif author.kind == "user-to-server":
        says = "a user-to-server token: it ends after eight hours, and what it posts is marked as an App's"
        yield warn(check, says, "prefer a personal access token of a person with a seat")


def _reach(check: str, owner: str, author: AuthorAccount) -> Iterator[Finding]:
    """Repositories that are made later: an owner has them all, a member what the organisation lets members have."""
    if author.organisation_role == "admin":
        yield ok(check, f"{author.login} owns {owner}, and so reaches every repository that is made there")
    elif author.organisation_role == "member":
        says = f"{author.login} is a member of {owner}: whether it may push to repositories made later is not known"
        remedy = "set the organisation's base permission to write, or let an owner be the author"
        yield warn(check, says, remedy)
    elif author.kind == "fine-grained":
        says = f"whether {author.login} is a member of {owner} is not told to this token"
        yield warn(check, says, "see that it is, and that members may write to repositories made later")
    else:
        says = f"{author.login} is no member of {owner}, and cannot push to what is made there"
        yield fail(check, says, f"let it join {owner}, or use another person's token")


# --- the reviewers ----------------------------------------------------------------------------------------------


def bot_findings(github: GitHub, owner: str, registry: Registry, ours: str) -> Iterator[Finding]:
    """Which reviewers are there, and where."""
    check = f"reviewers {owner}"
    found = installed(registry.reviewers, github.org_installations(owner), ours=ours)
    if not found.told:
        says = "which review bots are installed is not known"
        remedy = "give the App organization_administration: read; of a personal account nobody is told"
        yield warn(check, says, remedy)
        return
    named = _by_presence(registry, found)
    if not (named[Presence.EVERYWHERE] or named[Presence.SELECTED]):
        yield warn(check, "no reviewer of the registry is installed as an App", "install those you want to measure")
    if named[Presence.EVERYWHERE]:
        yield ok(check, f"on all repositories: {', '.join(named[Presence.EVERYWHERE])}")
    if named[Presence.SELECTED]:
        says = f"on selected repositories only: {', '.join(named[Presence.SELECTED])}"
        yield warn(check, says, "let them have all repositories, or add each fork: forks are new repositories")
    if named[Presence.SUSPENDED]:
        yield warn(check, f"suspended: {', '.join(named[Presence.SUSPENDED])}", "let an owner resume them")
    if named[Presence.UNKNOWN]:
        yield ok(check, f"not in that list, installed or not: {', '.join(named[Presence.UNKNOWN])}")
    if found.others:
        yield ok(check, f"Apps that are no reviewer of the registry: {', '.join(found.others)}")


def _by_presence(registry: Registry, found: Installed) -> dict[Presence, list[str]]:
    return {
        presence: [entry.name for entry in registry.reviewers if found.of(entry.id) is presence]
        for presence in Presence
    }


# --- the control repository -------------------------------------------------------------------------------------


def control_findings(github: GitHub, repo: RepoName, form_path: str, form: bytes) -> Iterator[Finding]:
    """Whether people can ask for runs."""
    check = f"control {repo.owner}"
    raw = github.repository(repo)
    if raw is None:
        says = f"{repo} does not exist, or the App may not see it"
        yield fail(check, says, "make it, let the App have it, or set ASSAY_CONTROL_REPO")
        return
    if raw.get("has_issues") is False or raw.get("archived"):
        yield fail(check, f"{repo} takes no issues", "switch issues on, and take it out of the archive")
    if raw.get("private") is False:
        yield warn(check, f"{repo} is public: it gets no details of results", "make it private to see them there")
    there = github.content(repo, form_path)
    remedy = f"assay setup --control {repo}"
    if there is None:
        yield fail(check, f"{repo} has no issue form at {form_path}", remedy)
    elif there != form:
        yield warn(check, f"the issue form of {repo} is not the one of these settings", remedy)
    else:
        yield ok(check, f"{repo} has the issue form")
