"""Routes of pull requests and requested reviewers."""

from __future__ import annotations

from bot.sandbox import conversation, gitstore, pulldiffs, pulling, shapes_checks, shapes_pull
from bot.sandbox.errors import invalid
from bot.sandbox.roles import at_least, role_of
from bot.sandbox.routes_git import DIFF, PATCH, plain, wants
from bot.sandbox.routes_issues import change_state, may_edit
from bot.sandbox.routing import Answer, Call, created, page, route, sorted_by
from bot.sandbox.state import Pull

_READ = "pull_requests:read"
_WRITE = "pull_requests:write"


def find(call: Call) -> Pull:
    """The pull request of the path."""
    return pulling.find_pull(call.repo, call.params["number"])


def _full(call: Call, pull: Pull) -> Answer:
    return Answer(shapes_pull.full(call.links, pull, pulldiffs.size_of(pull)))


@route("POST", "/repos/<owner>/<repo>/pulls", _WRITE)
def create_pull(call: Call) -> Answer:
    """A new pull request."""
    made = pulling.open_pull(
        call.world,
        call.repo,
        call.actor,
        title=call.text("title", resource="PullRequest"),
        body=call.optional_text("body"),
        head=call.text("head", resource="PullRequest"),
        base=call.text("base", resource="PullRequest"),
        draft=call.flag("draft"),
        maintainer_can_modify=call.flag("maintainer_can_modify"),
    )
    return created(shapes_pull.full(call.links, made, pulldiffs.size_of(made)))


@route("GET", "/repos/<owner>/<repo>/pulls", _READ)
def list_pulls(call: Call) -> Answer:
    """Pull requests by state, head (`owner:branch`) and base."""
    state = call.choice("state", "open", "closed", "all")
    head, base = call.query.get("head"), call.query.get("base")
    pulls = [issue.pull for issue in call.repo.issues.values() if issue.pull and state in {"all", issue.state}]
    wanted = [pull for pull in pulls if base in {None, pull.base_ref} and (not head or _has_head(pull, head))]
    keys = {
        "created": lambda pull: (pull.issue.created_at, pull.issue.number),
        "updated": lambda pull: (pull.issue.updated_at, pull.issue.number),
        "popularity": lambda pull: (len(pull.issue.comments), pull.issue.number),
    }
    return page(call, sorted_by(call, wanted, keys), lambda pull: shapes_pull.simple(call.links, pull))


def _has_head(pull: Pull, head: str) -> bool:
    """GitHub passes over a head without an owner: such a filter filters nothing."""
    owner, colon, branch = head.partition(":")
    return not colon or (owner.lower() == pull.issue.repo.owner.login.lower() and branch == pull.head_ref)


@route("GET", "/repos/<owner>/<repo>/pulls/<int:number>", _READ)
def get_pull(call: Call) -> Answer:
    """One pull request, as JSON, diff or patch."""
    pull = find(call)
    if wants(call, DIFF):
        return plain(pulldiffs.diff_text(pull), DIFF)
    if wants(call, PATCH):
        return plain(gitstore.patch(call.repo.path, pulldiffs.merge_base(pull), pull.head_sha), PATCH)
    return _full(call, pull)


@route("PATCH", "/repos/<owner>/<repo>/pulls/<int:number>", _WRITE)
def edit_pull(call: Call) -> Answer:
    """Change it, close it, reopen it."""
    pull = find(call)
    may_edit(call, pull.issue.user)
    conversation.edit_issue(
        call.world, pull.issue, call.actor, title=call.optional_text("title"), body=call.optional_text("body")
    )
    base = call.optional_text("base")
    if base is not None:
        sha = gitstore.refs(call.repo.path, "refs/heads/").get(f"refs/heads/{base}")
        if sha is None:
            raise invalid("PullRequest", "base")
        pull.base_ref, pull.base_sha = base, sha
    change_state(call, pull.issue)
    return _full(call, pull)


@route("GET", "/repos/<owner>/<repo>/pulls/<int:number>/files", _READ)
def list_files(call: Call) -> Answer:
    """The changed files."""
    pull = find(call)
    blobs = gitstore.raw_changes(call.repo.path, pulldiffs.merge_base(pull), pull.head_sha)
    return page(
        call,
        pulldiffs.files(pull),
        lambda one: shapes_checks.file(call.links, call.repo, pull.head_sha, blobs[one.filename], one),
    )


@route("GET", "/repos/<owner>/<repo>/pulls/<int:number>/commits", _READ)
def list_commits(call: Call) -> Answer:
    """The commits, oldest first."""
    pull = find(call)
    newest = gitstore.log(call.repo.path, pull.head_sha, f"^{pulldiffs.merge_base(pull)}")
    return page(call, newest[::-1], lambda one: shapes_checks.commit(call.links, call.repo, one))


# --- requested reviewers ----------------------------------------------------------------------------------------


def _may_request(call: Call) -> None:
    pull = find(call)
    if call.caller.installation is None and not at_least(role_of(call.repo, call.actor), "triage"):
        may_edit(call, pull.issue.user)


@route("GET", "/repos/<owner>/<repo>/pulls/<int:number>/requested_reviewers", _READ)
def get_requested(call: Call) -> Answer:
    """Who was asked and has not answered."""
    return Answer(shapes_pull.requested(call.links, find(call).requested))


@route("POST", "/repos/<owner>/<repo>/pulls/<int:number>/requested_reviewers", _WRITE)
def request(call: Call) -> Answer:
    """Ask for reviews."""
    _may_request(call)
    pulling.request_reviewers(call.world, find(call), call.actor, call.names("reviewers"))
    return Answer(shapes_pull.simple(call.links, find(call)), 201)


@route("DELETE", "/repos/<owner>/<repo>/pulls/<int:number>/requested_reviewers", _WRITE)
def unrequest(call: Call) -> Answer:
    """Take requests back."""
    _may_request(call)
    pulling.unrequest_reviewers(call.world, find(call), call.actor, call.names("reviewers"))
    return Answer(shapes_pull.simple(call.links, find(call)))
