"""Routes of Apps, installations, accounts and of the API itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.sandbox import shapes_account as shapes
from bot.sandbox.access import includes, sees, token_covers
from bot.sandbox.errors import ApiError, forbidden, not_found, unreadable
from bot.sandbox.links import stamp
from bot.sandbox.roles import flags, role_of
from bot.sandbox.routing import Answer, Call, created, page, route
from bot.sandbox.seeding import commit_to_branch
from bot.sandbox.state import Account, App, Installation, Repo

Json = dict[str, Any]


def _app(call: Call) -> App:
    assert call.caller.app is not None
    return call.caller.app


@route("GET", "/app", auth="app")
def get_app(call: Call) -> Answer:
    """The App that asks."""
    app = _app(call)
    count = sum(one.app is app for one in call.world.installations.values())
    return Answer({**shapes.app(call.links, app), "installations_count": count})


@route("GET", "/app/installations", auth="app")
def list_installations(call: Call) -> Answer:
    """Where the App is installed."""
    mine = [one for one in call.world.installations.values() if one.app is _app(call)]
    return page(call, mine, lambda one: shapes.installation(call.links, one))


def _own_installation(call: Call) -> Installation:
    found = call.world.installations.get(call.params["installation_id"])
    if found is None or found.app is not _app(call):
        raise not_found()
    return found


@route("GET", "/app/installations/<int:installation_id>", auth="app")
def get_installation(call: Call) -> Answer:
    """One installation."""
    return Answer(shapes.installation(call.links, _own_installation(call)))


def _installation_on(call: Call, account: Account) -> Answer:
    found = call.world.installation_on(_app(call), account)
    if found is None:
        raise not_found()
    return Answer(shapes.installation(call.links, found))


@route("GET", "/orgs/<org>/installation", auth="app")
def org_installation(call: Call) -> Answer:
    """The App's installation on an organisation."""
    return _installation_on(call, call.world.account(call.params["org"]))


@route("GET", "/users/<username>/installation", auth="app")
def user_installation(call: Call) -> Answer:
    """The App's installation on a user."""
    return _installation_on(call, call.world.account(call.params["username"]))


@route("GET", "/repos/<owner>/<repo>/installation", auth="app")
def repo_installation(call: Call) -> Answer:
    """The App's installation that covers a repository."""
    found = call.world.installation_on(_app(call), call.repo.owner)
    if found is None or not found.covers(call.repo):
        raise not_found()
    return Answer(shapes.installation(call.links, found))


@route("POST", "/app/installations/<int:installation_id>/access_tokens", auth="app")
def create_token(call: Call) -> Answer:
    """A token, narrowed as asked."""
    installation = _own_installation(call)
    permissions = _narrowed(installation, call.body.get("permissions"))
    repos = _chosen(call, installation)
    chosen = None if repos is None else frozenset(repo.id for repo in repos)
    token = call.world.issue_installation_token(installation, permissions, chosen)
    assert token.expires_at is not None
    told: Json = {
        "token": token.value,
        "expires_at": stamp(token.expires_at),
        "permissions": dict(permissions),
        "repository_selection": installation.selection if repos is None else "selected",
    }
    if repos is not None:
        told["repositories"] = [shapes.repo(call.links, repo) for repo in repos]
    return Answer(told, 201)


def _narrowed(installation: Installation, wanted: Any) -> Mapping[str, str]:
    held = installation.app.permissions
    if wanted is not None and not isinstance(wanted, dict):
        raise unreadable("For 'properties/permissions', a value that is not an object was supplied.")
    if not wanted:
        return held
    for name, level in wanted.items():
        if level not in {"read", "write", "admin"} or not includes(held.get(name, "none"), level):
            raise ApiError(422, "The permissions requested are not granted to this installation.")
    return {"metadata": "read", **wanted}


def _chosen(call: Call, installation: Installation) -> list[Repo] | None:
    names, ids = call.body.get("repositories"), call.body.get("repository_ids")
    if names is None and ids is None:
        return None
    covered = call.world.repos_of(installation)
    by_name = {repo.name.lower(): repo for repo in covered}
    by_id = {repo.id: repo for repo in covered}
    found = [by_name.get(str(name).lower()) for name in names or []] + [by_id.get(number) for number in ids or []]
    if len(found) > 500:
        raise unreadable(f"No more than 500 items are allowed; {len(found)} were supplied.")
    known = [repo for repo in found if repo is not None]
    if not found or len(known) < len(found):
        raise ApiError(
            422, "There is at least one repository that does not exist or is not accessible to the parent installation."
        )
    return known


@route("GET", "/installation/repositories", auth="installation")
def installation_repositories(call: Call) -> Answer:
    """What the token reaches."""
    token, installation = call.caller.token, call.caller.installation
    assert token and installation
    repos = [repo for repo in call.world.repos.values() if token_covers(token, installation, repo)]
    extra = {"repository_selection": installation.selection}
    return page(call, repos, lambda repo: shapes.repo(call.links, repo), under="repositories", extra=extra)


@route("DELETE", "/installation/token", auth="installation")
def revoke_token(call: Call) -> Answer:
    """Give a token up."""
    assert call.caller.token
    del call.world.tokens[call.caller.token.value]
    return Answer(status=204)


@route("GET", "/orgs/<org>/installations", auth="someone")
def installations_of_org(call: Call) -> Answer:
    """All Apps of an organisation."""
    org = _organization(call, call.params["org"])
    token = call.caller.token
    if call.caller.installation is None:
        if org.members.get(call.actor.login.lower()) != "admin":
            raise not_found()
    elif (
        call.caller.installation.account is not org
        or not token
        or (not includes(token.permissions.get("organization_administration", "none"), "read"))
    ):
        raise forbidden()
    there = [one for one in call.world.installations.values() if one.account is org]
    return page(call, there, lambda one: shapes.installation(call.links, one), under="installations")


# --- accounts ---------------------------------------------------------------------------------------------------


def _public_repos(call: Call, account: Account) -> int:
    return sum(repo.owner is account and not repo.private for repo in call.world.repos.values())


def _organization(call: Call, login: str) -> Account:
    account = call.world.account(login)
    if account.type != "Organization":
        raise not_found()
    return account


@route("GET", "/user", auth="someone")
def get_self(call: Call) -> Answer:
    """The user behind a token; installation tokens have none."""
    if call.caller.installation is not None:
        raise forbidden()
    counts = dict.fromkeys(("private_gists", "total_private_repos", "owned_private_repos", "disk_usage"), 0)
    private = {**counts, "collaborators": 0, "two_factor_authentication": True, "user_view_type": "private"}
    return Answer({**shapes.full_user(call.links, call.actor, _public_repos(call, call.actor)), **private})


@route("GET", "/users/<username>")
def get_user(call: Call) -> Answer:
    """An account by login."""
    account = call.world.account(call.params["username"])
    return Answer(shapes.full_user(call.links, account, _public_repos(call, account)))


@route("GET", "/orgs/<org>")
def get_org(call: Call) -> Answer:
    """An organisation."""
    account = _organization(call, call.params["org"])
    return Answer(shapes.organization(call.links, account, _public_repos(call, account)))


@route("GET", "/orgs/<org>/members/<username>", auth="someone")
def is_member(call: Call) -> Answer:
    """204 for members."""
    org = _organization(call, call.params["org"])
    if call.params["username"].lower() not in org.members:
        raise not_found()
    return Answer(status=204)


def _membership(call: Call, org: Account, user: Account) -> Answer:
    role = org.members.get(user.login.lower())
    if role is None:
        raise not_found()
    told = {
        "url": call.links.api(f"/orgs/{org.login}/memberships/{user.login}"),
        "state": "active",
        "role": role,
        "organization_url": call.links.api(f"/orgs/{org.login}"),
        "organization": shapes.organization_simple(call.links, org),
        "user": shapes.user(call.links, user),
    }
    return Answer(told)


@route("GET", "/user/memberships/orgs/<org>", auth="someone")
def own_membership(call: Call) -> Answer:
    """What the caller is in an organisation."""
    return _membership(call, _organization(call, call.params["org"]), call.actor)


@route("GET", "/orgs/<org>/memberships/<username>", auth="someone")
def membership(call: Call) -> Answer:
    """What somebody is in an organisation."""
    org = _organization(call, call.params["org"])
    return _membership(call, org, call.world.account(call.params["username"]))


def _create_repo(call: Call, owner: Account) -> Answer:
    name = call.text("name", resource="Repository")
    repo = call.world.add_repo(owner, name, call.actor, private=call.flag("private"))
    repo.description, repo.homepage = call.optional_text("description"), call.optional_text("homepage")
    repo.features = {key: call.flag(key) for key in ("has_issues", "has_projects", "has_wiki") if key in call.body}
    if call.flag("auto_init"):
        commit_to_branch(call.world, repo, call.actor, {"README.md": f"# {name}\n".encode()}, "Initial commit")
    seen = None if call.caller.installation else flags(role_of(repo, call.actor))
    return created(shapes.full_repo(call.links, repo, seen, admin=True))


@route("POST", "/orgs/<org>/repos")
def create_org_repo(call: Call) -> Answer:
    """A new repository in an organisation."""
    org = _organization(call, call.params["org"])
    installation, token = call.caller.installation, call.caller.token
    if installation and token:
        enough = includes(token.permissions.get("administration", "none"), "write")
        if installation.account is not org or token.repo_ids is not None or not enough:
            raise forbidden()
    elif call.actor.login.lower() not in org.members:
        raise forbidden("You need admin access to the organization before adding a repository to it.")
    return _create_repo(call, org)


@route("POST", "/user/repos")
def create_user_repo(call: Call) -> Answer:
    """A new repository of a user."""
    if call.caller.installation is not None:
        raise forbidden()
    return _create_repo(call, call.actor)


@route("GET", "/orgs/<org>/repos")
def list_org_repos(call: Call) -> Answer:
    """What the caller sees of an organisation."""
    org = _organization(call, call.params["org"])
    repos = [repo for repo in call.world.repos.values() if repo.owner is org and sees(repo, call.caller)]
    return page(call, repos, lambda repo: shapes.repo(call.links, repo))


@route("GET", "/meta")
def meta(call: Call) -> Answer:
    """Where hooks come from."""
    here = ["127.0.0.0/8"]
    told: Json = {"hooks": here, "git": here}
    return Answer(told | dict.fromkeys(["verifiable_password_authentication"], False))
