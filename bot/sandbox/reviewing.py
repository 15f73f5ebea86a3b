"""Rules of reviews and inline comments: where they may be, and where a push moves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from bot.sandbox import conversation, gitstore, pulldiffs, shapes_pull
from bot.sandbox.diffs import FileDiff, Hunk, Line, Side, hunk_until, moved, parse
from bot.sandbox.errors import ApiError, invalid, not_found, unreadable
from bot.sandbox.state import Account, Anchor, Pull, Repo, Review, ReviewComment
from bot.sandbox.world import World

Json = dict[str, Any]
State = Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"]
EVENTS: dict[str, State] = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


def find_review(pull: Pull, number: int) -> Review:
    """A review by id."""
    found = next((review for review in pull.reviews if review.id == number), None)
    if found is None:
        raise not_found()
    return found


def find_comment(repo: Repo, number: int) -> ReviewComment:
    """An inline comment by id."""
    pulls = (issue.pull for issue in repo.issues.values() if issue.pull)
    found = next((one for pull in pulls for one in pull.review_comments if one.id == number), None)
    if found is None:
        raise not_found()
    return found


# --- writing ----------------------------------------------------------------------------------------------------


def add_review(
    world: World,
    pull: Pull,
    author: Account,
    *,
    body: str,
    event: str | None,
    commit_id: str | None = None,
    comments: Sequence[Mapping[str, Any]] = (),
) -> Review:
    """Write a review with its inline comments: all of it or, if one place is wrong, nothing."""
    conversation.check_body("PullRequestReview", body)
    state = _state_for(pull, author, event, body, comments)
    commit = _commit(pull, commit_id)
    places = [locate(pull, one) for one in comments]
    review = _start(world, pull, author, body, commit)
    for one, place in zip(comments, places, strict=True):
        _add_comment(world, review, author, str(one["body"]), str(one["path"]), place, commit)
    if state != "PENDING":
        submit(world, review, state)
    return review


def _start(world: World, pull: Pull, author: Account, body: str, commit: str) -> Review:
    number = world.ids.next("review", pull.issue.repo.full_name, pull.issue.number, author.login)
    review = Review(number, pull, author, body, "PENDING", commit, None, world.now())
    pull.reviews.append(review)
    return review


def _state_for(pull: Pull, author: Account, event: str | None, body: str, comments: Sequence[Any]) -> State:
    if event is None or event == "PENDING":
        return "PENDING"
    if event not in EVENTS:
        raise invalid("PullRequestReview", "event", "invalid", f"allowed: {', '.join(EVENTS)}")
    own = author is pull.issue.user
    if own and event != "COMMENT":
        what = "approve" if event == "APPROVE" else "request changes on"
        raise ApiError(422, "Unprocessable Entity", errors=[f"Can not {what} your own pull request"])
    if event != "APPROVE" and not body and not comments:
        raise ApiError(422, "Unprocessable Entity", errors=["Review body can't be blank"])
    return EVENTS[event]


def _commit(pull: Pull, wanted: str | None) -> str:
    if wanted is None:
        return pull.head_sha
    found = gitstore.resolve(pull.issue.repo.path, wanted) if gitstore.SHA.fullmatch(wanted) else None
    if found is None:
        raise invalid("PullRequestReview", "commit_id", "custom", "commitOID is not part of the pull request")
    return found


def submit(world: World, review: Review, state: State, body: str | None = None) -> None:
    """Make a pending review public."""
    if body is not None:
        review.body = body
    review.state = state
    review.submitted_at = review.updated_at = world.now()
    pull = review.pull
    pull.issue.updated_at = world.now()
    if review.user in pull.requested:
        pull.requested.remove(review.user)
    conversation.refer(world, pull.issue, review.user, review.body)
    emit_review(world, "submitted", review, review.user)
    for comment in [one for one in pull.review_comments if one.review is review]:
        emit_review_comment(world, "created", comment, review.user)


def dismiss(world: World, review: Review, actor: Account) -> None:
    """Dismiss a review that approved or asked for changes."""
    if review.state not in {"APPROVED", "CHANGES_REQUESTED"}:
        raise ApiError(422, "Can not dismiss a commented pull request review")
    review.state, review.updated_at = "DISMISSED", world.now()
    emit_review(world, "dismissed", review, actor)


def edit_review(world: World, review: Review, editor: Account, body: str) -> None:
    """Rewrite the body of a review."""
    before, review.body, review.updated_at = review.body, body, world.now()
    emit_review(world, "edited", review, editor, changes={"body": {"from": before}})


def add_comment(world: World, pull: Pull, author: Account, spec: Mapping[str, Any]) -> ReviewComment:
    """Write one inline comment; it gets a review of its own."""
    conversation.check_body("PullRequestReviewComment", spec["body"])
    commit = _commit(pull, spec.get("commit_id"))
    place = locate(pull, spec, alone=True)
    review = _start(world, pull, author, "", commit)
    made = _add_comment(world, review, author, spec["body"], spec["path"], place, commit)
    submit(world, review, "COMMENTED")
    return made


def reply(world: World, root: ReviewComment, author: Account, body: str) -> ReviewComment:
    """Answer in a thread. Answers always hang on its first comment."""
    conversation.check_body("PullRequestReviewComment", body)
    root = root.in_reply_to or root
    pull = root.review.pull
    review = _start(world, pull, author, "", pull.head_sha)
    number = world.ids.next("review comment", pull.issue.repo.full_name, pull.issue.number, author.login)
    now = world.now()
    made = ReviewComment(
        number,
        review,
        author,
        root.path,
        body,
        root.subject_type,
        root.original,
        root.now,
        root.original_commit_id,
        root.commit_id,
        root.diff_hunk,
        now,
        now,
        root,
    )
    pull.review_comments.append(made)
    submit(world, review, "COMMENTED")
    return made


Place = tuple[Anchor, str]


def _add_comment(
    world: World, review: Review, author: Account, body: str, path: str, place: Place, commit: str
) -> ReviewComment:
    pull = review.pull
    anchor, hunk = place
    number = world.ids.next("review comment", pull.issue.repo.full_name, pull.issue.number, author.login)
    kind: Literal["line", "file"] = "line" if anchor.line is not None else "file"
    now = world.now()
    at = (commit, pull.head_sha)
    made = ReviewComment(number, review, author, path, body, kind, anchor, anchor, *at, hunk, now, now)
    pull.review_comments.append(made)
    conversation.refer(world, pull.issue, author, body)
    return made


def edit_comment(world: World, comment: ReviewComment, editor: Account, body: str) -> None:
    """Rewrite an inline comment."""
    conversation.check_body("PullRequestReviewComment", body)
    before, comment.body, comment.updated_at = comment.body, body, world.now()
    emit_review_comment(world, "edited", comment, editor, changes={"body": {"from": before}})


def delete_comment(world: World, comment: ReviewComment, actor: Account) -> None:
    """Remove an inline comment."""
    comment.review.pull.review_comments.remove(comment)
    emit_review_comment(world, "deleted", comment, actor)


def emit_review(world: World, action: str, review: Review, sender: Account, **extra: Any) -> None:
    """Tell the Apps about a review. Webhooks write its state in lower case."""
    told = {**shapes_pull.review(world.links, review), "state": review.state.lower()}
    told["updated_at"] = told.get("submitted_at")
    body = {"review": told, "pull_request": shapes_pull.simple(world.links, review.pull), **extra}
    world.emit("pull_request_review", action, review.pull.issue.repo, sender, body)


def emit_review_comment(world: World, action: str, comment: ReviewComment, sender: Account, **extra: Any) -> None:
    """Tell the Apps about an inline comment."""
    if comment.review.state == "PENDING":
        return
    pull = comment.review.pull
    told = shapes_pull.review_comment(world.links, comment)
    body = {"comment": told, "pull_request": shapes_pull.simple(world.links, pull), **extra}
    world.emit("pull_request_review_comment", action, pull.issue.repo, sender, body)


# --- places in the diff -----------------------------------------------------------------------------------------


def locate(pull: Pull, spec: Mapping[str, Any], *, alone: bool = False) -> Place:
    """Check that a comment lies inside the diff, and say where.

    Raises:
        ApiError: 422, worded for a comment `alone` or for one of a review.
    """
    file = next((one for one in pulldiffs.files(pull) if one.filename == spec["path"]), None)
    if file is None:
        raise _unresolved("path", alone, "Path could not be resolved")
    if spec.get("subject_type") == "file":
        return Anchor(), ""
    position = _whole(spec, "position")
    if spec.get("line") is None and position is not None:
        found = file.at(position)
        if found is None:
            raise _unresolved("position", alone, "Position could not be resolved")
        return _by_position(*found)
    return _by_line(file, spec, alone=alone)


def _by_position(hunk: Hunk, line: Line) -> Place:
    side: Side = "RIGHT" if line.new is not None else "LEFT"
    number = line.new if line.new is not None else line.old
    return Anchor(side, number, None, None, line.position), hunk_until(hunk, line)


def _by_line(file: FileDiff, spec: Mapping[str, Any], *, alone: bool) -> Place:
    side, last = _side(spec, "side", "RIGHT"), _whole(spec, "line")
    found = file.find(side, last) if last is not None else None
    if found is None:
        raise _unresolved("line", alone, "Line could not be resolved")
    hunk, line = found
    first = _whole(spec, "start_line")
    if first is None:
        return Anchor(side, last, None, None, line.position), hunk_until(hunk, line)
    start_side = _side(spec, "start_side", side)
    start = file.find(start_side, first)
    if start is None or start[0] is not hunk or start[1].position >= line.position:
        raise _unresolved("start_line", alone, "Start line must precede the end line and be part of the same hunk")
    return Anchor(side, last, start_side, first, line.position), hunk_until(hunk, line)


def _whole(spec: Mapping[str, Any], name: str) -> int | None:
    found = spec.get(name)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int)):
        raise unreadable(f"For 'properties/{name}', {str(found)[:80]!r} is not an integer.")
    return found


def _side(spec: Mapping[str, Any], name: str, default: Side) -> Side:
    found = spec.get(name) or default
    if found not in {"LEFT", "RIGHT"}:
        raise unreadable(f"{found} is not included in the list: LEFT, RIGHT")
    return cast(Side, found)


def _unresolved(field: str, alone: bool, sentence: str) -> ApiError:
    if not alone:
        return ApiError(422, "Unprocessable Entity", errors=[sentence])
    name = f"pull_request_review_thread.{field}"
    return invalid("PullRequestReviewComment", name, "custom", f"{name} must be part of the diff")


def follow_push(pull: Pull) -> None:
    """After a push: say of every inline comment where its line is now, or that it is outdated."""
    changed = {file.filename: file for file in pulldiffs.files(pull)}
    for comment in pull.review_comments:
        if comment.subject_type == "line":
            comment.now = _now(pull, comment, changed.get(comment.path))
        comment.commit_id = pull.head_sha


def _now(pull: Pull, comment: ReviewComment, file: FileDiff | None) -> Anchor:
    then = comment.original
    line = _mapped(pull, comment, then.side, then.line)
    found = file.find(then.side or "RIGHT", line) if file and line is not None else None
    if found is None:
        return Anchor(side=then.side, start_side=then.start_side)
    start = _mapped(pull, comment, then.start_side, then.start_line)
    return Anchor(then.side, line, then.start_side if start is not None else None, start, found[1].position)


def _mapped(pull: Pull, comment: ReviewComment, side: Side | None, line: int | None) -> int | None:
    """A line of the commented version in the newest one. Lines on the left are those of the merge base and stay."""
    if line is None or side == "LEFT":
        return line
    text = gitstore.diff(pull.issue.repo.path, comment.original_commit_id, pull.head_sha, context=0)
    file = next((one for one in parse(text) if comment.path in {one.filename, one.previous}), None)
    return line if file is None else moved(file.hunks, line)
