"""Routes that read and write git: branches, refs, commits, contents and comparisons."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

from bot.sandbox import gitstore, pushing
from bot.sandbox import shapes_checks as shapes
from bot.sandbox.diffs import parse
from bot.sandbox.errors import ApiError, invalid, not_found
from bot.sandbox.ids import node_id
from bot.sandbox.routing import Answer, Call, created, page, route

Json = dict[str, Any]
DIFF = "application/vnd.github.diff"
PATCH = "application/vnd.github.patch"
_NO_CHECKS: Json = {"enforcement_level": "off", "contexts": [], "checks": []}
RAW = "application/vnd.github.raw"


def plain(text: str | bytes, kind: str) -> Answer:
    """An answer in one of GitHub's other media types."""
    return Answer(text, content_type=f"{kind}; charset=utf-8")


def wants(call: Call, kind: str) -> bool:
    """Whether the client accepts a media type, with or without the version in it."""
    tail = kind.rpartition(".")[2]
    return kind in call.accept or f"application/vnd.github.v3.{tail}" in call.accept


def resolve(call: Call, name: str) -> str:
    """The commit a name means.

    Raises:
        ApiError: 422 as GitHub answers for commits, 409 for an empty repository.
    """
    if not gitstore.refs(call.repo.path, "refs/heads/"):
        raise ApiError(409, "Git Repository is empty.")
    sha = gitstore.resolve(call.repo.path, name)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {name}")
    return sha


# --- branches and refs ------------------------------------------------------------------------------------------


def _branches(call: Call) -> dict[str, str]:
    found = gitstore.refs(call.repo.path, "refs/heads/")
    return {ref.removeprefix("refs/heads/"): sha for ref, sha in found.items()}


@route("GET", "/repos/<owner>/<repo>/branches", "contents:read")
def list_branches(call: Call) -> Answer:
    """All branches."""

    def shape(pair: tuple[str, str]) -> Json:
        url = call.links.repo(call.repo, f"/commits/{pair[1]}")
        return {"name": pair[0], "commit": {"sha": pair[1], "url": url}, "protected": False}

    return page(call, sorted(_branches(call).items()), shape)


@route("GET", "/repos/<owner>/<repo>/branches/<path:branch>", "contents:read")
def get_branch(call: Call) -> Answer:
    """One branch."""
    name = call.params["branch"]
    sha = _branches(call).get(name)
    if sha is None:
        raise ApiError(404, "Branch not found")
    own = call.links.repo(call.repo, f"/branches/{name}")
    return Answer(
        {
            "name": name,
            "commit": shapes.commit(call.links, call.repo, gitstore.log(call.repo.path, sha, limit=1)[0]),
            "_links": {"self": own, "html": call.links.repo_page(call.repo, f"/tree/{name}")},
            "protected": False,
            "protection": {"enabled": False, "required_status_checks": _NO_CHECKS},
            "protection_url": f"{own}/protection",
        }
    )


def _ref(call: Call, ref: str, sha: str) -> Json:
    target = {"sha": sha, "type": "commit", "url": call.links.repo(call.repo, f"/git/commits/{sha}")}
    number = int.from_bytes(ref.encode()[-7:], "big")
    url = call.links.repo(call.repo, f"/git/{ref}")
    return {"ref": ref, "node_id": node_id("REF", number), "url": url, "object": target}


@route("GET", "/repos/<owner>/<repo>/git/ref/<path:ref>", "contents:read")
def get_ref(call: Call) -> Answer:
    """One ref, by its whole name."""
    name = f"refs/{call.params['ref']}"
    sha = gitstore.refs(call.repo.path, name).get(name)
    if sha is None:
        raise not_found()
    return Answer(_ref(call, name, sha))


@route("GET", "/repos/<owner>/<repo>/git/matching-refs/<path:ref>", "contents:read")
def matching_refs(call: Call) -> Answer:
    """The refs that begin so."""
    prefix = f"refs/{call.params['ref']}"
    found = [(ref, sha) for ref, sha in gitstore.refs(call.repo.path).items() if ref.startswith(prefix)]
    return page(call, found, lambda pair: _ref(call, *pair))


@route("POST", "/repos/<owner>/<repo>/git/refs", "contents:write", role="write")
def create_ref(call: Call) -> Answer:
    """A new ref; an empty repository cannot have one."""
    name, sha = call.text("ref", resource="Reference"), call.text("sha", resource="Reference")
    if not gitstore.refs(call.repo.path, "refs/heads/"):
        raise ApiError(409, "Git Repository is empty.")
    if not name.startswith("refs/") or name.count("/") < 2 or name.startswith("refs/pull/"):
        raise ApiError(422, "Reference name must start with 'refs/' and have at least two slashes.")
    if not gitstore.SHA.fullmatch(sha) or gitstore.resolve(call.repo.path, sha) is None:
        raise ApiError(422, "Object does not exist")
    if name in gitstore.refs(call.repo.path):
        raise ApiError(422, "Reference already exists")
    _move(call, name, gitstore.ZERO, sha)
    return created(_ref(call, name, sha))


def _move(call: Call, ref: str, old: str, new: str) -> None:
    gitstore.set_ref(call.repo.path, ref, new)
    pushing.apply(call.world, call.repo, call.actor, [pushing.RefChange(ref, old, new)])


def _existing(call: Call) -> tuple[str, str]:
    name = f"refs/{call.params['ref']}"
    sha = gitstore.refs(call.repo.path, name).get(name)
    if sha is None or name.startswith("refs/pull/"):
        raise ApiError(422, "Reference does not exist")
    return name, sha


@route("PATCH", "/repos/<owner>/<repo>/git/refs/<path:ref>", "contents:write", role="write")
def update_ref(call: Call) -> Answer:
    """Move a ref; backwards or sideways only with `force`."""
    name, old = _existing(call)
    new = call.text("sha", resource="Reference")
    if not gitstore.SHA.fullmatch(new) or gitstore.resolve(call.repo.path, new) is None:
        raise ApiError(422, "Object does not exist")
    if not call.flag("force") and not gitstore.is_ancestor(call.repo.path, old, new):
        raise ApiError(422, "Update is not a fast forward")
    _move(call, name, old, new)
    return Answer(_ref(call, name, new))


@route("DELETE", "/repos/<owner>/<repo>/git/refs/<path:ref>", "contents:write", role="write")
def delete_ref(call: Call) -> Answer:
    """Remove a ref."""
    name, old = _existing(call)
    gitstore.delete_ref(call.repo.path, name)
    pushing.apply(call.world, call.repo, call.actor, [pushing.RefChange(name, old, gitstore.ZERO)])
    return Answer(status=204)


# --- commits and comparisons ------------------------------------------------------------------------------------


@route("GET", "/repos/<owner>/<repo>/commits", "contents:read")
def list_commits(call: Call) -> Answer:
    """History, newest first."""
    sha = resolve(call, call.query.get("sha", call.repo.default_branch))
    return page(call, gitstore.log(call.repo.path, sha), lambda one: shapes.commit(call.links, call.repo, one))


@route("GET", "/repos/<owner>/<repo>/commits/<path:ref>", "contents:read")
def get_commit(call: Call) -> Answer:
    """One commit with its files."""
    sha = resolve(call, call.params["ref"])
    record = gitstore.log(call.repo.path, sha, limit=1)[0]
    parent = record.parents[0] if record.parents else gitstore.EMPTY_TREE
    if wants(call, DIFF):
        return plain(gitstore.diff(call.repo.path, parent, sha), DIFF)
    files = _files(call, parent, sha)
    added, removed = sum(one["additions"] for one in files), sum(one["deletions"] for one in files)
    stats = {"total": added + removed, "additions": added, "deletions": removed}
    return Answer({**shapes.commit(call.links, call.repo, record), "stats": stats, "files": files})


def _files(call: Call, old: str, new: str) -> list[Json]:
    blobs = gitstore.raw_changes(call.repo.path, old, new)
    found = parse(gitstore.diff(call.repo.path, old, new))
    return [shapes.file(call.links, call.repo, new, blobs[one.filename], one) for one in found]


def _compared(call: Call) -> tuple[str, str, str]:
    base_name, dots, head_name = call.params["span"].partition("...")
    names = [name.partition(":")[2] or name for name in (base_name, head_name)]
    found = [gitstore.resolve(call.repo.path, name) for name in names]
    if not dots or found[0] is None or found[1] is None:
        raise not_found()
    start = gitstore.merge_base(call.repo.path, found[0], found[1])
    if start is None:
        raise ApiError(404, f"No common ancestor between {base_name} and {head_name}.")
    return found[0], found[1], start


@route("GET", "/repos/<owner>/<repo>/compare/<path:span>", "contents:read")
def compare(call: Call) -> Answer:
    """What a head has over a base, from their merge base."""
    base, head, start = _compared(call)
    path = call.repo.path
    if wants(call, DIFF):
        return plain(gitstore.diff(path, start, head), DIFF)
    if wants(call, PATCH):
        return plain(gitstore.patch(path, start, head), PATCH)
    ahead, behind = gitstore.count(path, base, head), gitstore.count(path, head, base)
    page_url = call.links.repo_page(call.repo, f"/compare/{quote(call.params['span'])}")
    newest = gitstore.log(path, head, f"^{base}")
    return Answer(
        {
            "url": call.links.repo(call.repo, f"/compare/{quote(call.params['span'])}"),
            "html_url": page_url,
            "permalink_url": page_url,
            "diff_url": f"{page_url}.diff",
            "patch_url": f"{page_url}.patch",
            "base_commit": shapes.commit(call.links, call.repo, gitstore.log(path, base, limit=1)[0]),
            "merge_base_commit": shapes.commit(call.links, call.repo, gitstore.log(path, start, limit=1)[0]),
            "status": _status(ahead, behind),
            "ahead_by": ahead,
            "behind_by": behind,
            "total_commits": ahead,
            "commits": [shapes.commit(call.links, call.repo, one) for one in reversed(newest)],
            "files": _files(call, start, head),
        }
    )


def _status(ahead: int, behind: int) -> str:
    if ahead and behind:
        return "diverged"
    return "ahead" if ahead else ("behind" if behind else "identical")


# --- contents ---------------------------------------------------------------------------------------------------


@route("GET", "/repos/<owner>/<repo>/contents", "contents:read")
@route("GET", "/repos/<owner>/<repo>/contents/", "contents:read")
@route("GET", "/repos/<owner>/<repo>/contents/<path:path>", "contents:read")
def contents(call: Call) -> Answer:
    """A file or a folder."""
    name = call.params.get("path", "").strip("/")
    if not gitstore.refs(call.repo.path, "refs/heads/"):
        raise ApiError(404, "This repository is empty.")
    ref = call.query.get("ref", call.repo.default_branch)
    sha = gitstore.resolve(call.repo.path, ref)
    if sha is None:
        raise ApiError(404, f"No commit found for the ref {ref}")
    found = gitstore.entry(call.repo.path, sha, name) if name else None
    if name and found is None:
        raise not_found()
    if found is None or found.type == "tree":
        return Answer([entry_shape(call, ref, one) for one in gitstore.listing(call.repo.path, sha, name)])
    return _file(call, ref, found)


_KINDS = {"tree": "dir", "blob": "file", "commit": "submodule"}


def entry_shape(call: Call, ref: str, found: gitstore.TreeEntry) -> Json:
    """A file or folder without what is in it."""
    url = call.links.repo(call.repo, f"/contents/{quote(found.path)}?ref={quote(ref)}")
    kind = "trees" if found.type == "tree" else "blobs"
    git = call.links.repo(call.repo, f"/git/{kind}/{found.sha}")
    html = call.links.repo_page(call.repo, f"/blob/{quote(ref)}/{quote(found.path)}")
    raw = call.links.repo_page(call.repo, f"/raw/{quote(ref)}/{quote(found.path)}")
    return {
        "type": _KINDS[found.type],
        "name": found.path.rpartition("/")[2],
        "path": found.path,
        "sha": found.sha,
        "size": found.size or 0,
        "url": url,
        "git_url": git,
        "html_url": html,
        "download_url": raw if found.type == "blob" else None,
        "_links": {"self": url, "git": git, "html": html},
    }


def _file(call: Call, ref: str, found: gitstore.TreeEntry) -> Answer:
    if found.type != "blob":
        raise invalid("Content", "path", "custom", "submodules have no content here")
    data = gitstore.blob(call.repo.path, found.sha)
    if wants(call, RAW):
        return plain(data, RAW)
    text = base64.encodebytes(data).decode()
    return Answer({**entry_shape(call, ref, found), "encoding": "base64", "content": text})
