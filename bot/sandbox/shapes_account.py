"""JSON of accounts, Apps, installations and repositories, as the REST API of 2022-11-28 gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.sandbox.ids import node_id
from bot.sandbox.links import Links, maybe, stamp
from bot.sandbox.state import Account, App, Installation, Label, Reaction, Repo

Json = dict[str, Any]

_USER_PATHS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}


def user(links: Links, account: Account) -> Json:
    """`simple-user`."""
    base = links.api(f"/users/{account.login}")
    page = f"/apps/{account.app.slug}" if account.app else f"/{account.login}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("U", account.id),
        "avatar_url": f"{links.web}/avatars/{account.id}",
        "gravatar_id": "",
        "url": base,
        "html_url": links.web + page,
        **{key: base + rest for key, rest in _USER_PATHS.items()},
        "type": account.type,
        "user_view_type": "public",
        "site_admin": False,
    }


def author(links: Links, account: Account) -> Json | None:
    """`nullable-simple-user`: what an account wrote stays when the account goes."""
    return None if account.deleted else user(links, account)


def full_user(links: Links, account: Account, repos: int) -> Json:
    """`public-user`."""
    nothing = dict.fromkeys(("company", "blog", "location", "email", "hireable", "bio", "twitter_username"))
    counts = {"public_repos": repos, "public_gists": 0, "followers": 0, "following": 0}
    dates = {"created_at": stamp(account.created_at), "updated_at": stamp(account.created_at)}
    return {**user(links, account), "name": account.login, **nothing, **counts, **dates}


def organization(links: Links, account: Account, repos: int) -> Json:
    """`organization-full`."""
    base = links.api(f"/orgs/{account.login}")
    paths = ("hooks", "issues")
    return {
        **organization_simple(links, account),
        "repos_url": f"{base}/repos",
        **{f"{name}_url": f"{base}/{name}" for name in paths},
        "has_organization_projects": False,
        "has_repository_projects": False,
        "public_repos": repos,
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "html_url": f"{links.web}/{account.login}",
        "type": "Organization",
        "created_at": stamp(account.created_at),
        "updated_at": stamp(account.created_at),
        "archived_at": None,
    }


def organization_simple(links: Links, account: Account) -> Json:
    """`organization-simple`, as webhooks carry it."""
    base = links.api(f"/orgs/{account.login}")
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("O", account.id),
        "url": base,
        "repos_url": f"{base}/repos",
        "events_url": f"{base}/events",
        "hooks_url": f"{base}/hooks",
        "issues_url": f"{base}/issues",
        "members_url": f"{base}/members{{/member}}",
        "public_members_url": f"{base}/public_members{{/member}}",
        "avatar_url": f"{links.web}/avatars/{account.id}",
        "description": None,
    }


def app(links: Links, record: App) -> Json:
    """`integration`."""
    return {
        "id": record.id,
        "slug": record.slug,
        "node_id": node_id("A", record.id),
        "client_id": record.client_id,
        "owner": user(links, record.owner),
        "name": record.slug,
        "description": "",
        "external_url": links.web,
        "html_url": f"{links.web}/apps/{record.slug}",
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.created_at),
        "permissions": dict(record.permissions),
        "events": list(record.events),
    }


def installation(links: Links, record: Installation) -> Json:
    """`installation`."""
    base = f"/app/installations/{record.id}"
    organization_page = f"{links.web}/organizations/{record.account.login}/settings/installations/{record.id}"
    return {
        "id": record.id,
        "client_id": record.app.client_id,
        "account": user(links, record.account),
        "repository_selection": record.selection,
        "access_tokens_url": links.api(f"{base}/access_tokens"),
        "repositories_url": links.api("/installation/repositories"),
        "html_url": organization_page,
        "app_id": record.app.id,
        "app_slug": record.app.slug,
        "target_id": record.account.id,
        "target_type": record.account.type,
        "permissions": dict(record.app.permissions),
        "events": list(record.app.events),
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": None,
        "suspended_at": None,
    }


_REPO_PATHS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
_FEATURES = {
    "has_issues": True,
    "has_projects": False,
    "has_wiki": False,
    "has_pages": False,
    "has_downloads": True,
    "has_discussions": False,
    "is_template": False,
}
_MERGING = {
    "allow_rebase_merge": True,
    "allow_squash_merge": True,
    "allow_auto_merge": False,
    "delete_branch_on_merge": False,
    "allow_merge_commit": True,
    "allow_update_branch": False,
    "use_squash_pr_title_as_default": False,
}


def minimal_repo(links: Links, record: Repo) -> Json:
    """`minimal-repository`: what other objects embed."""
    return {
        "id": record.id,
        "node_id": node_id("R", record.id),
        "name": record.name,
        "full_name": record.full_name,
        "private": record.private,
        "owner": user(links, record.owner),
        "html_url": links.repo_page(record),
        "description": record.description,
        "fork": False,
        "url": links.repo(record),
        **{key: links.repo(record, rest) for key, rest in _REPO_PATHS.items()},
    }


def repo(links: Links, record: Repo) -> Json:
    """`repository`."""
    opened = sum(issue.state == "open" for issue in record.issues.values())
    zero = dict.fromkeys(("stargazers_count", "watchers_count", "forks_count", "size", "watchers", "forks"), 0)
    host = links.web.partition("://")[2]
    return {
        **minimal_repo(links, record),
        "git_url": f"git://{host}/{record.full_name}.git",
        "ssh_url": f"git@{host}:{record.full_name}.git",
        "clone_url": links.repo_page(record, ".git"),
        "svn_url": links.repo_page(record),
        "mirror_url": None,
        "homepage": record.homepage,
        "language": None,
        "license": None,
        **zero,
        **_FEATURES,
        **record.features,
        "default_branch": record.default_branch,
        "open_issues_count": opened,
        "open_issues": opened,
        "topics": [],
        "archived": record.archived,
        "disabled": False,
        "visibility": "private" if record.private else "public",
        "pushed_at": maybe(record.pushed_at),
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.updated_at),
        "allow_forking": True,
        "web_commit_signoff_required": False,
    }


def full_repo(links: Links, record: Repo, permissions: Mapping[str, bool] | None, *, admin: bool) -> Json:
    """`full-repository`; administrators see the merge and security settings."""
    told: Json = {**repo(links, record), "network_count": 0, "subscribers_count": 0}
    if permissions is not None:
        told["permissions"] = dict(permissions)
    if record.owner.type == "Organization":
        told["organization"] = user(links, record.owner)
    if admin:
        state = "enabled" if record.push_protection else "disabled"
        told |= _MERGING
        told["security_and_analysis"] = {
            "secret_scanning": {"status": state},
            "secret_scanning_push_protection": {"status": state},
        }
    return told


def label(links: Links, record: Label, owner: Repo) -> Json:
    """`label`."""
    return {
        "id": record.id,
        "node_id": node_id("LA", record.id),
        "url": links.repo(owner, f"/labels/{record.name}"),
        "name": record.name,
        "color": record.color,
        "default": False,
        "description": record.description,
    }


EMOJI = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def reaction(links: Links, record: Reaction) -> Json:
    """`reaction`."""
    return {
        "id": record.id,
        "node_id": node_id("REA", record.id),
        "user": user(links, record.user),
        "content": record.content,
        "created_at": stamp(record.created_at),
    }


def rollup(url: str, reactions: list[Reaction]) -> Json:
    """`reaction-rollup`."""
    counts = {name: sum(one.content == name for one in reactions) for name in EMOJI}
    return {"url": f"{url}/reactions", "total_count": len(reactions), **counts}
