"""Routes of one repository: itself, who works in it, and labels."""

from __future__ import annotations

from typing import Any

from bot.sandbox import conversation, gitstore
from bot.sandbox import shapes_account as shapes
from bot.sandbox.access import includes
from bot.sandbox.errors import ApiError, forbidden, invalid, not_found
from bot.sandbox.roles import coarse, flags, role_of
from bot.sandbox.routing import Answer, Call, created, page, route
from bot.sandbox.state import ROLES, Account, Repo, Role

Json = dict[str, Any]
_SWITCHES = ("has_issues", "has_projects", "has_wiki", "is_template")


def _full(call: Call) -> Json:
    token = call.caller.token
    if token and call.caller.installation:
        admin = includes(token.permissions.get("administration", "none"), "read")
        return shapes.full_repo(call.links, call.repo, None, admin=admin)
    role = role_of(call.repo, call.caller.account)
    seen = flags(role) if call.caller.account else None
    return shapes.full_repo(call.links, call.repo, seen, admin=role == "admin")


@route("GET", "/repos/<owner>/<repo>", "metadata:read")
def get_repo(call: Call) -> Answer:
    """A repository."""
    return Answer(_full(call))


@route("PATCH", "/repos/<owner>/<repo>", "administration:write", role="admin", on_archived=True)
def edit_repo(call: Call) -> Answer:
    """Change settings; an archived repository can only be taken out of the archive."""
    repo = call.repo
    if repo.archived and call.body.get("archived") is not False:
        raise forbidden("Repository was archived so is read-only.")
    if call.body.get("name") not in (None, repo.name):
        raise invalid("Repository", "name", "custom", "repositories of this sandbox are not renamed")
    for name in ("description", "homepage"):
        if name in call.body:
            setattr(repo, name, call.optional_text(name))
    repo.features |= {name: call.flag(name) for name in _SWITCHES if name in call.body}
    _edit_branch(call, repo)
    _edit_security(call, repo)
    _edit_visibility(call, repo)
    _edit_archived(call, repo)
    repo.updated_at = call.world.now()
    return Answer(_full(call))


def _edit_branch(call: Call, repo: Repo) -> None:
    branch = call.optional_text("default_branch")
    if branch is None:
        return
    if f"refs/heads/{branch}" not in gitstore.refs(repo.path, "refs/heads/"):
        message = f"The branch {branch} was not found. Please push that ref first or create it via the Git Data API."
        raise invalid("Repository", "default_branch", "invalid", message)
    repo.default_branch = branch
    gitstore.set_head(repo.path, branch)


def _edit_security(call: Call, repo: Repo) -> None:
    wanted = call.body.get("security_and_analysis") or {}
    for name in ("secret_scanning_push_protection", "secret_scanning"):
        state = (wanted.get(name) or {}).get("status")
        if state is not None:
            repo.push_protection = state == "enabled"


def _edit_visibility(call: Call, repo: Repo) -> None:
    visibility = call.optional_text("visibility")
    wanted = visibility == "private" if visibility else call.flag("private", repo.private)
    if wanted != repo.private:
        repo.private = wanted
        call.world.emit("repository", "privatized" if wanted else "publicized", repo, call.actor)


def _edit_archived(call: Call, repo: Repo) -> None:
    wanted = call.flag("archived", repo.archived)
    if wanted != repo.archived:
        repo.archived = wanted
        call.world.emit("repository", "archived" if wanted else "unarchived", repo, call.actor)


@route("DELETE", "/repos/<owner>/<repo>", "administration:write", role="admin", on_archived=True)
def delete_repo(call: Call) -> Answer:
    """Remove it."""
    call.world.delete_repo(call.repo, call.actor)
    return Answer(status=204)


@route("GET", "/repos/<owner>/<repo>/actions/permissions", "administration:read", role="admin")
def get_actions(call: Call) -> Answer:
    """Whether workflows may run."""
    return Answer({"enabled": call.repo.actions_enabled, **_allowed(call.repo)})


def _allowed(repo: Repo) -> Json:
    return {"allowed_actions": "all"} if repo.actions_enabled else {}


@route("PUT", "/repos/<owner>/<repo>/actions/permissions", "administration:write", role="admin")
def set_actions(call: Call) -> Answer:
    """Switch workflows on or off."""
    if "enabled" not in call.body:
        raise invalid("Repository", "enabled", "missing_field")
    call.repo.actions_enabled = call.flag("enabled")
    return Answer(status=204)


# --- people -----------------------------------------------------------------------------------------------------


@route("GET", "/repos/<owner>/<repo>/collaborators/<username>/permission", "metadata:read")
def collaborator_permission(call: Call) -> Answer:
    """What somebody may do. On a public repository everybody may read."""
    account = call.world.account(call.params["username"])
    role = role_of(call.repo, account)
    user = {**shapes.user(call.links, account), "permissions": flags(role), "role_name": role}
    return Answer({"permission": coarse(role), "role_name": role, "user": user})


@route("GET", "/repos/<owner>/<repo>/collaborators/<username>", "metadata:read")
def is_collaborator(call: Call) -> Answer:
    """204 for collaborators."""
    account = call.world.account(call.params["username"])
    direct = account.login.lower() in call.repo.collaborators or account.login.lower() in call.repo.owner.members
    if not direct and account is not call.repo.owner:
        raise not_found()
    return Answer(status=204)


@route("PUT", "/repos/<owner>/<repo>/collaborators/<username>", "administration:write", role="admin")
def add_collaborator(call: Call) -> Answer:
    """Give somebody a role; in the sandbox invitations are accepted at once."""
    account = call.world.account(call.params["username"])
    names: dict[str, Role] = {"pull": "read", "push": "write"}
    wanted = call.optional_text("permission") or "push"
    role = names.get(wanted) or next((role for role in ROLES if role == wanted), None)
    if role is None:
        raise invalid("Repository", "permission")
    call.world.add_collaborator(call.repo, account.login, role)
    return Answer(status=204)


@route("DELETE", "/repos/<owner>/<repo>/collaborators/<username>", "administration:write", role="admin")
def remove_collaborator(call: Call) -> Answer:
    """Take the role away."""
    call.repo.collaborators.pop(call.world.account(call.params["username"]).login.lower(), None)
    return Answer(status=204)


@route("GET", "/repos/<owner>/<repo>/assignees", "metadata:read")
def assignees(call: Call) -> Answer:
    """Who can be assigned."""
    logins = {*call.repo.collaborators, *call.repo.owner.members}
    people: list[Account] = [call.world.accounts[login] for login in sorted(logins) if login in call.world.accounts]
    return page(call, people, lambda account: shapes.user(call.links, account))


# --- labels -----------------------------------------------------------------------------------------------------


@route("GET", "/repos/<owner>/<repo>/labels", "issues:read|pull_requests:read")
def list_labels(call: Call) -> Answer:
    """The labels of the repository."""
    return page(call, list(call.repo.labels.values()), lambda one: shapes.label(call.links, one, call.repo))


@route("POST", "/repos/<owner>/<repo>/labels", "issues:write|pull_requests:write", role="write")
def create_label(call: Call) -> Answer:
    """A new label."""
    name = call.text("name", resource="Label")
    if name.lower() in call.repo.labels:
        raise invalid("Label", "name", "already_exists")
    label = conversation.ensure_label(call.world, call.repo, name)
    label.color = (call.optional_text("color") or label.color).lstrip("#")
    label.description = call.optional_text("description")
    return created(shapes.label(call.links, label, call.repo))


@route("GET", "/repos/<owner>/<repo>/labels/<name>", "issues:read|pull_requests:read")
def get_label(call: Call) -> Answer:
    """One label."""
    found = call.repo.labels.get(call.params["name"].lower())
    if found is None:
        raise ApiError(404, "Not Found")
    return Answer(shapes.label(call.links, found, call.repo))
