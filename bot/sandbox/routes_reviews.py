"""Routes of reviews and inline comments."""

from __future__ import annotations

from bot.sandbox import reviewing, shapes_pull
from bot.sandbox.errors import ApiError, forbidden, invalid, unreadable
from bot.sandbox.routes_issues import list_reactions, may_edit, react
from bot.sandbox.routes_pulls import find
from bot.sandbox.routing import Answer, Call, changed_since, created, page, route, sorted_by
from bot.sandbox.state import Review, ReviewComment

_READ = "pull_requests:read"
_WRITE = "pull_requests:write"
_ONE = "/repos/<owner>/<repo>/pulls/<int:number>/reviews/<int:review_id>"


def _visible(call: Call, review: Review) -> bool:
    """Only its author sees a pending review."""
    return review.state != "PENDING" or review.user is call.caller.account


def _review(call: Call) -> Review:
    found = reviewing.find_review(find(call), call.params["review_id"])
    if not _visible(call, found):
        raise ApiError(404, "Not Found")
    return found


def _answer(call: Call, review: Review) -> Answer:
    return Answer(shapes_pull.review(call.links, review))


@route("POST", "/repos/<owner>/<repo>/pulls/<int:number>/reviews", _WRITE)
def create_review(call: Call) -> Answer:
    """A review with inline comments, submitted at once unless `event` is missing."""
    comments = call.objects("comments")
    for one in comments:
        for name in ("path", "body"):
            if not isinstance(one.get(name), str) or not one[name]:
                raise unreadable(f'"{name}" wasn\'t supplied.')
    review = reviewing.add_review(
        call.world,
        find(call),
        call.actor,
        body=call.optional_text("body") or "",
        event=call.optional_text("event"),
        commit_id=call.optional_text("commit_id"),
        comments=comments,
    )
    return _answer(call, review)


@route("GET", "/repos/<owner>/<repo>/pulls/<int:number>/reviews", _READ)
def list_reviews(call: Call) -> Answer:
    """Reviews, oldest first."""
    shown = [review for review in find(call).reviews if _visible(call, review)]
    return page(call, shown, lambda review: shapes_pull.review(call.links, review))


@route("GET", _ONE, _READ)
def get_review(call: Call) -> Answer:
    """One review."""
    return _answer(call, _review(call))


@route("PUT", _ONE, _WRITE)
def edit_review(call: Call) -> Answer:
    """Rewrite its body."""
    review = _review(call)
    may_edit(call, review.user)
    reviewing.edit_review(call.world, review, call.actor, call.text("body", resource="PullRequestReview"))
    return _answer(call, review)


@route("POST", f"{_ONE}/events", _WRITE)
def submit_review(call: Call) -> Answer:
    """Make a pending review public."""
    review = _review(call)
    event = call.text("event", resource="PullRequestReview")
    if review.user is not call.actor:
        raise forbidden("Must be the author of the review to submit it.")
    if review.state != "PENDING" or event not in reviewing.EVENTS:
        raise invalid("PullRequestReview", "event")
    reviewing.submit(call.world, review, reviewing.EVENTS[event], call.optional_text("body"))
    return _answer(call, review)


@route("PUT", f"{_ONE}/dismissals", _WRITE, role="write")
def dismiss_review(call: Call) -> Answer:
    """Dismiss it."""
    call.text("message", resource="PullRequestReview")
    review = _review(call)
    reviewing.dismiss(call.world, review, call.actor)
    return _answer(call, review)


@route("GET", f"{_ONE}/comments", _READ)
def comments_of_review(call: Call) -> Answer:
    """Its inline comments."""
    review = _review(call)
    found = [one for one in find(call).review_comments if one.review is review]
    return page(call, found, lambda one: shapes_pull.review_comment(call.links, one))


# --- inline comments --------------------------------------------------------------------------------------------


def _comment(call: Call) -> ReviewComment:
    return reviewing.find_comment(call.repo, call.params["comment_id"])


@route("POST", "/repos/<owner>/<repo>/pulls/<int:number>/comments", _WRITE)
def create_comment(call: Call) -> Answer:
    """One inline comment, or with `in_reply_to` an answer."""
    body = call.text("body", resource="PullRequestReviewComment")
    if call.body.get("in_reply_to") is not None:
        root = reviewing.find_comment(call.repo, call.body["in_reply_to"])
        made = reviewing.reply(call.world, root, call.actor, body)
    else:
        for name in ("path", "commit_id"):
            call.text(name, resource="PullRequestReviewComment")
        made = reviewing.add_comment(call.world, find(call), call.actor, call.body)
    return created(shapes_pull.review_comment(call.links, made))


@route("POST", "/repos/<owner>/<repo>/pulls/<int:number>/comments/<int:comment_id>/replies", _WRITE)
def create_reply(call: Call) -> Answer:
    """Answer in a thread."""
    made = reviewing.reply(
        call.world, _comment(call), call.actor, call.text("body", resource="PullRequestReviewComment")
    )
    return created(shapes_pull.review_comment(call.links, made))


def _list(call: Call, comments: list[ReviewComment]) -> Answer:
    public = [one for one in comments if one.review.state != "PENDING"]
    keys = {"created": lambda one: one.created_at, "updated": lambda one: one.updated_at}
    found = changed_since(call, public, lambda one: one.updated_at)
    ordered = sorted_by(call, found, keys, default_direction="asc")
    return page(call, ordered, lambda one: shapes_pull.review_comment(call.links, one))


@route("GET", "/repos/<owner>/<repo>/pulls/<int:number>/comments", _READ)
def list_comments(call: Call) -> Answer:
    """The inline comments of a pull request."""
    return _list(call, find(call).review_comments)


@route("GET", "/repos/<owner>/<repo>/pulls/comments", _READ)
def list_all_comments(call: Call) -> Answer:
    """The inline comments of the repository."""
    pulls = (issue.pull for issue in call.repo.issues.values() if issue.pull)
    return _list(call, [one for pull in pulls for one in pull.review_comments])


@route("GET", "/repos/<owner>/<repo>/pulls/comments/<int:comment_id>", _READ)
def get_comment(call: Call) -> Answer:
    """One inline comment."""
    return Answer(shapes_pull.review_comment(call.links, _comment(call)))


@route("PATCH", "/repos/<owner>/<repo>/pulls/comments/<int:comment_id>", _WRITE)
def edit_comment(call: Call) -> Answer:
    """Rewrite it."""
    comment = _comment(call)
    may_edit(call, comment.user)
    reviewing.edit_comment(call.world, comment, call.actor, call.text("body", resource="PullRequestReviewComment"))
    return Answer(shapes_pull.review_comment(call.links, comment))


@route("DELETE", "/repos/<owner>/<repo>/pulls/comments/<int:comment_id>", _WRITE)
def delete_comment(call: Call) -> Answer:
    """Remove it."""
    comment = _comment(call)
    may_edit(call, comment.user)
    reviewing.delete_comment(call.world, comment, call.actor)
    return Answer(status=204)


@route("GET", "/repos/<owner>/<repo>/pulls/comments/<int:comment_id>/reactions", _READ)
def reactions(call: Call) -> Answer:
    """On an inline comment."""
    return list_reactions(call, _comment(call).reactions)


@route("POST", "/repos/<owner>/<repo>/pulls/comments/<int:comment_id>/reactions", _WRITE)
def react_to_comment(call: Call) -> Answer:
    """On an inline comment."""
    return react(call, _comment(call).reactions, _comment(call).id)
