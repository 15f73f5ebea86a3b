"""Who may do what in a repository."""

from __future__ import annotations

from bot.sandbox.state import ROLES, Account, Repo, Role


def role_of(repo: Repo, account: Account | None) -> Role:
    """The strongest role an account has: owner, member of the organisation, collaborator, or the public."""
    found: Role = "none" if repo.private else "read"
    if account is None:
        return found
    login = account.login.lower()
    candidates: list[Role] = [found, repo.collaborators.get(login, "none")]
    if repo.owner is account or repo.owner.members.get(login) == "admin":
        candidates.append("admin")
    elif login in repo.owner.members:
        candidates.append("read")
    return max(candidates, key=ROLES.index)


def at_least(role: Role, wanted: Role) -> bool:
    """Whether a role includes another."""
    return ROLES.index(role) >= ROLES.index(wanted)


def coarse(role: Role) -> str:
    """The old names: maintain is write and triage is read."""
    names: dict[Role, str] = {"maintain": "write", "triage": "read"}
    return names.get(role, role)


def flags(role: Role) -> dict[str, bool]:
    """`permissions` of a repository object."""
    wanted: tuple[tuple[str, Role], ...] = (
        ("admin", "admin"),
        ("maintain", "maintain"),
        ("push", "write"),
        ("triage", "triage"),
        ("pull", "read"),
    )
    return {name: at_least(role, needed) for name, needed in wanted}


def association(repo: Repo, account: Account) -> str:
    """`author_association`."""
    login = account.login.lower()
    if repo.owner is account:
        return "OWNER"
    if login in repo.owner.members:
        return "MEMBER"
    if login in repo.collaborators:
        return "COLLABORATOR"
    merged = (issue for issue in repo.issues.values() if issue.pull and issue.pull.merged_at)
    return "CONTRIBUTOR" if any(issue.user is account for issue in merged) else "NONE"
