"""What GitHub said of pull requests, from saved API answers. The only place that knows their JSON.

A saved answer is a JSON file: REST's list of pull requests (or one of them), GraphQL's review threads of one pull
request, or a mapping from commit ids to the answers of REST's "pull requests of a commit". Pages may be separate
files, or lists in one list. Fields that are not needed are passed over: the answers are GitHub's, not ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from goldens.located import Problem, SuiteError


@dataclass(frozen=True, slots=True)
class PullFacts:
    """What is known of one upstream pull request."""

    number: int
    title: str
    body: str = ""
    labels: tuple[str, ...] = ()
    author: str | None = None
    merged_at: str | None = None
    """None: it was not merged."""
    merge_sha: str | None = None
    base_sha: str | None = None
    """The tip of the base branch, which need not be the merge base."""
    head_sha: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadComment:
    """One comment of a review thread."""

    author: str | None
    """None: the account is gone."""
    bot: bool
    body: str
    commit: str | None
    """The commit it was made on."""


@dataclass(frozen=True, slots=True)
class Thread:
    """One review thread."""

    id: str
    pull: int
    resolved: bool
    path: str
    lines: tuple[int, int] | None
    """Closed range in the file at the first comment's commit; None for a remark on the whole file."""
    left: bool
    comments: tuple[ThreadComment, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """Everything that was saved of one repository."""

    pulls: Mapping[int, PullFacts] = field(default_factory=dict)
    threads: tuple[Thread, ...] = ()
    by_commit: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Pull requests that hold a commit; empty where GitHub knows none."""
    listed: frozenset[int] = frozenset()
    """Pull requests that were asked for themselves, and not told of because they hold a commit."""


def _encodable(text: str) -> str:
    """JSON can name halves of characters, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


_Number = Annotated[int, Field(ge=1, lt=2**31)]
_Words = Annotated[str, AfterValidator(_encodable)]


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class _User(_Wire):
    login: str
    typename: str = Field("", alias="__typename")


class _Label(_Wire):
    name: _Words


class _Ref(_Wire):
    sha: str


class _Pull(_Wire):
    number: _Number
    title: _Words
    body: _Words | None = None
    labels: list[_Label] = []
    user: _User | None = None
    merged_at: str | None = None
    merge_commit_sha: str | None = None
    base: _Ref | None = None
    head: _Ref | None = None


class _Oid(_Wire):
    oid: str


class _Comment(_Wire):
    author: _User | None = None
    body: _Words
    originalCommit: _Oid | None = None


class _Comments(_Wire):
    nodes: list[_Comment]


class _Thread(_Wire):
    id: str
    isResolved: bool
    path: str
    originalLine: int | None = None
    originalStartLine: int | None = None
    diffSide: str = "RIGHT"
    comments: _Comments


class _Threads(_Wire):
    nodes: list[_Thread]


class _ThreadedPull(_Wire):
    number: _Number
    reviewThreads: _Threads


class _Repository(_Wire):
    pullRequest: _ThreadedPull


class _Data(_Wire):
    repository: _Repository


def read_answers(files: Mapping[str, bytes]) -> Answers:
    """Read saved answers; the keys are the file names that problems carry.

    Raises:
        SuiteError: a file is not JSON or not an answer that is needed; every such file is told.
    """
    pulls, threads, by_commit = dict[int, PullFacts](), dict[str, Thread](), dict[str, frozenset[int]]()
    problems, listed = list[Problem](), set[int]()
    for name, data in sorted(files.items()):
        try:
            for part in _parts(json.loads(data)):
                _sort(part, pulls, threads, by_commit)
                listed |= {part["number"]} if "number" in part and "data" not in part else set()
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            problems.append(Problem(name, 1, place, f"not as GitHub answers: {first['msg'][:200]}"))
        except (ValueError, RecursionError) as error:
            problems.append(Problem(name, 1, "", f"not a saved answer: {str(error)[:200]}"))
    if problems:
        raise SuiteError(problems)
    return Answers(pulls, tuple(threads.values()), by_commit, frozenset(listed))


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for one in value:
            yield from _parts(one)
    elif isinstance(value, dict):
        yield value
    else:
        raise ValueError(f"a list or an object is needed, not {str(value)[:40]!r}")


def _sort(
    part: dict[str, Any], pulls: dict[int, PullFacts], threads: dict[str, Thread], by_commit: dict[str, frozenset[int]]
) -> None:
    """Put one answer where it belongs, by the fields it has."""
    if "data" in part:
        pull = _Data.model_validate(part["data"]).repository.pullRequest
        threads.update((thread.id, _thread(pull.number, thread)) for thread in pull.reviewThreads.nodes)
    elif "number" in part:
        facts = _facts(_Pull.model_validate(part))
        pulls[facts.number] = facts
    elif part and all(_is_id(key) for key in part):
        for commit, answer in part.items():
            held = [_Pull.model_validate(one) for one in _parts(answer)]
            by_commit[commit] = frozenset(one.number for one in held)
            for one in held:
                pulls.setdefault(one.number, _facts(one))
    else:
        raise ValueError(f"no pull request, review thread or commit is in it; its fields are {sorted(part)[:6]}")


def _is_id(text: str) -> bool:
    return len(text) in (40, 64) and set(text) <= set("0123456789abcdef")


def _facts(pull: _Pull) -> PullFacts:
    return PullFacts(
        pull.number,
        pull.title,
        pull.body or "",
        tuple(label.name for label in pull.labels),
        pull.user.login if pull.user else None,
        pull.merged_at,
        pull.merge_commit_sha,
        pull.base.sha if pull.base else None,
        pull.head.sha if pull.head else None,
    )


def _thread(number: int, thread: _Thread) -> Thread:
    last = thread.originalLine
    lines = None if last is None else (thread.originalStartLine or last, last)
    comments = tuple(_comment(comment) for comment in thread.comments.nodes)
    return Thread(thread.id, number, thread.isResolved, thread.path, lines, thread.diffSide == "LEFT", comments)


def _comment(comment: _Comment) -> ThreadComment:
    author = comment.author.login if comment.author else None
    bot = comment.author is not None and (comment.author.typename == "Bot" or comment.author.login.endswith("[bot]"))
    return ThreadComment(author, bot, comment.body, comment.originalCommit.oid if comment.originalCommit else None)
