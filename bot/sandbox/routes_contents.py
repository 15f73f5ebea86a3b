"""Writing a file by REST."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from bot.sandbox import gitstore
from bot.sandbox import shapes_checks as shapes
from bot.sandbox.errors import ApiError, invalid
from bot.sandbox.routes_git import entry_shape
from bot.sandbox.routing import Answer, Call, route
from bot.sandbox.seeding import commit_to_branch

Json = dict[str, Any]


@route("PUT", "/repos/<owner>/<repo>/contents/<path:path>", "contents:write", role="write")
def put_contents(call: Call) -> Answer:
    """Create a file, or change one whose `sha` is given."""
    name, message = call.params["path"].strip("/"), call.text("message", resource="Commit")
    data = _decoded(call)
    branch = call.optional_text("branch") or call.repo.default_branch
    files = _files(call, branch)
    before = files.get(name)
    _check_sha(call, name, before)
    contents = {path: gitstore.blob(call.repo.path, sha) for path, sha in files.items()}
    sha = commit_to_branch(call.world, call.repo, call.actor, {**contents, name: data}, message, branch)
    return Answer(_told(call, branch, sha, name), 200 if before else 201)


def _decoded(call: Call) -> bytes:
    text = call.optional_text("content")
    if text is None:
        raise invalid("Content", "content", "missing_field")
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ApiError(422, "content is not valid Base64") from None


def _files(call: Call, branch: str) -> dict[str, str]:
    path = call.repo.path
    heads = gitstore.refs(path, "refs/heads/")
    head = heads.get(f"refs/heads/{branch}")
    if head is None:
        if heads:
            raise ApiError(404, f"Branch {branch} not found")
        return {}
    return {one.path: one.sha for one in gitstore.listing(path, head, recursive=True) if one.type == "blob"}


def _check_sha(call: Call, name: str, before: str | None) -> None:
    given = call.optional_text("sha")
    if before is None or given == before:
        return
    if given is None:
        raise ApiError(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    raise ApiError(409, f"{name} does not match {given}")


def _told(call: Call, branch: str, sha: str, name: str) -> Json:
    found = gitstore.entry(call.repo.path, sha, name)
    assert found is not None
    whole = shapes.commit(call.links, call.repo, gitstore.log(call.repo.path, sha, limit=1)[0])
    inner = whole["commit"]
    kept = ("author", "committer", "message", "tree", "verification")
    commit = {
        **{key: inner[key] for key in kept},
        "sha": sha,
        "node_id": whole["node_id"],
        "url": inner["url"],
        "html_url": whole["html_url"],
        "parents": whole["parents"],
    }
    return {"content": entry_shape(call, branch, found), "commit": commit}
