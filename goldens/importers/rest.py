"""Plain dumps of GitHub's REST comment lists, one file per pull request, with golden lists beside them if there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from goldens.importers import martian_files, words
from goldens.importers.form import DocumentFormat, Documents, json_files
from goldens.importers.martian_files import Draft
from goldens.importers.rest_write import generate
from goldens.importers.strict import Node, finish
from goldens.importers.words import Options
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card
from scoring.model import Comment, Place, ReviewerId, Shape, Side, TrialStatus

CARD = Card(
    corpus="comments as dumped from pull requests",
    labelled_by="whoever made the golden lists beside the dumps; nobody, where there are none",
    unit="claim x golden",
    not_proven=("A dump does not say whether a reviewer ran, was refused, or was still at it.",),
)
_SILENT = "the dump holds no comment of it; it does not say whether the reviewer ran"
_GOLDENS = "_golden_comments.json"
_DUMP = re.compile(r"(?P<group>.{0,150}?)_?pr_?(?P<number>[0-9]{1,9})(?:_comments)?\.json\Z")
_API_PULL = re.compile(r"https?://[^/\s]+/(?:api/v3/)?repos/([^/\s]+)/([^/\s]+)/(?:pulls|issues)/([0-9]{1,9})(?:/|\Z)")
_PAGE = re.compile(r"(https?://[^/\s]+/[^/\s]+/[^/\s]+/pull/[0-9]{1,9})(?:[#/?]|\Z)")
_BOT = "[bot]"


def gather(path: Path) -> dict[str, Path]:
    """A dump, or a folder of dumps."""
    return json_files(path)


def looks(name: str, value: Any) -> bool:
    """Whether a file is a list of comments as GitHub gives them."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and "body" in first and "user" in first


@dataclass(slots=True)
class _Dump:
    """One pull request's comments."""

    name: str
    draft: Draft
    said: dict[str, list[Comment]] = field(default_factory=dict)
    """By reviewer."""
    others: int = 0
    """Comments of people, and of accounts that are gone."""

    @property
    def group(self) -> str:
        """What the file's name says it belongs to."""
        hit = _DUMP.match(self.name)
        return hit["group"] if hit else ""

    @property
    def number(self) -> int:
        """The number in the file's name."""
        hit = _DUMP.match(self.name)
        return int(hit["number"]) if hit else 0


def build(documents: Documents, options: Options) -> Bundle:
    """Read the documents of an import."""
    nodes = {name: Node.of(data, name) for name, data in documents.items()}
    lists = {name.removesuffix(_GOLDENS): node for name, node in nodes.items() if name.endswith(_GOLDENS)}
    dumps = [_dump(node, name, options) for name, node in nodes.items() if not name.endswith(_GOLDENS)]
    dumps.sort(key=lambda dump: (dump.group, dump.number, dump.name))
    _same_pull_twice(dumps, nodes)
    notes = [_pair(node, [dump for dump in dumps if dump.group == group]) for group, node in lists.items()]
    finish(nodes.values())
    reviewers = list(dict.fromkeys(reviewer for dump in dumps for reviewer in dump.said))
    if options.reviewer and options.reviewer not in reviewers:
        reviewers = [options.reviewer]
    others = sum(dump.others for dump in dumps)
    notes += [f"{others} comments are of people or of accounts that are gone: no reviewer's"] if others else []
    pulls = tuple(_pull(dump.draft) for dump in dumps)
    goldens = [(pull.url, golden) for pull in pulls for golden in pull.goldens]
    suite = words.content_suite(options.suite or "comment-dumps", "imported", goldens)
    return Bundle(suite, replace(CARD, notes=tuple(notes)), pulls, tuple(_trials(dumps, reviewers)))


def _pull(draft: Draft) -> BundlePull:
    return BundlePull(draft.id, tuple(draft.goldens), draft.language, draft.title, draft.url, None, "real", draft.tags)


def _trials(dumps: Sequence[_Dump], reviewers: Sequence[str]) -> Iterator[BundleTrial]:
    for dump in dumps:
        for reviewer in reviewers:
            said = tuple(dump.said.get(reviewer, ()))
            status = TrialStatus.REVIEWED_FINDINGS if said else TrialStatus.REVIEWED_CLEAN
            reason = "" if said else _SILENT
            yield BundleTrial(dump.draft.id, ReviewerId(reviewer), status, reason=reason, comments=said)


def _dump(node: Node, name: str, options: Options) -> _Dump:
    items = node.items()
    urls = dict.fromkeys(url for item in items if (url := _pull_url(item)))
    if len(urls) > 1:
        node.wrong("the comments of one pull request", f"comments of {', '.join(list(urls)[:3])}")
    url = next(iter(urls), options.pull or name.removesuffix(".json").removesuffix("_comments"))
    dump = _Dump(name, Draft(url, tags={"file": name}))
    for item in items:
        login = _login(item)
        reviewer = _reviewer(item, login, options)
        if reviewer:
            dump.said.setdefault(reviewer, []).append(_comment(item, login))
        else:
            dump.others += 1
    return dump


def _same_pull_twice(dumps: Sequence[_Dump], nodes: Mapping[str, Node]) -> None:
    seen: dict[str, str] = {}
    for dump in dumps:
        if dump.draft.url in seen:
            nodes[dump.name].wrong("each pull request once", f"{dump.draft.url} again (see {seen[dump.draft.url]})")
        seen[dump.draft.url] = dump.name


def _pull_url(item: Node) -> str:
    """The pull request's page, from whichever address a comment has."""
    for key in ("html_url", "pull_request_url", "issue_url"):
        address = item.get(key).text("") if item.has(key) else ""
        if page := _PAGE.match(address):
            return page[1]
        if api := _API_PULL.match(address):
            return f"https://github.com/{api[1]}/{api[2]}/pull/{api[3]}"
    return ""


def _login(item: Node) -> str:
    """Who wrote it; empty where the account is gone."""
    user = item.need("user", _KNOWN)
    return user.need("login").text() if user.value is not None else ""


_KNOWN = frozenset({"id", "url", "html_url", "body", "path", "created_at", "updated_at"})


def _reviewer(item: Node, login: str, options: Options) -> str:
    """Whose claim a comment may be: a bot's, or that of the account that was named."""
    short = login.removesuffix(_BOT)
    if options.reviewer:
        return options.reviewer if options.reviewer.lower() in (login.lower(), short.lower()) else ""
    kind = item.get("user").get("type").value if login else None
    return short.lower() if login.endswith(_BOT) or kind == "Bot" else ""


def _comment(item: Node, author: str) -> Comment:
    body = item.need("body", _KNOWN).text("")
    surface, shape = _surface(item)
    outdated = surface == "review_comment" and not _lines(item, "") and bool(_lines(item, "original_"))
    moment = item.get("created_at").text("") or item.get("submitted_at").text("")
    return Comment(
        id=f"{surface}/{item.need('id', _KNOWN).whole()}",
        shape=shape,
        author=author,
        body=body,
        permalink=item.get("html_url").text(""),
        place=_place(item, outdated),
        commit=item.get("original_commit_id" if outdated else "commit_id").text("") or None,
        outdated=outdated,
        revision=words.revision(body),
        created_at=moment,
        updated_at=item.get("updated_at").text("") or moment,
    )


def _surface(item: Node) -> tuple[str, Shape]:
    if item.has("path"):
        return "review_comment", Shape.FILE if item.get("subject_type").value == "file" else Shape.INLINE
    if item.has("state") or item.has("submitted_at"):
        return "review", Shape.REVIEW_BODY
    return "issue_comment", Shape.ISSUE_COMMENT


def _place(item: Node, outdated: bool) -> Place | None:
    if not item.has("path"):
        return None
    lines = None if item.get("subject_type").value == "file" else _lines(item, "original_" if outdated else "")
    side = Side.LEFT if item.get("side").value == "LEFT" else Side.RIGHT
    return Place(item.get("path").text(), lines, side)


def _lines(item: Node, prefix: str) -> tuple[int, int] | None:
    last = item.get(f"{prefix}line").whole(least=1)
    first = item.get(f"{prefix}start_line").whole(least=1) or last
    return (min(first, last), last) if first and last else None


def _pair(node: Node, dumps: Sequence[_Dump]) -> str:
    """Give the entries of a golden list to the dumps of its group, by position: the lists name no pull request."""
    items = node.items()
    if len(items) != len(dumps):
        node.wrong(f"as many entries as there are dumps beside it ({len(dumps)})", f"{len(items)}")
    for item, dump in zip(items, dumps, strict=False):
        dump.draft.title = item.get("pr_title").text("")
        dump.draft.tags["goldens"] = node.file
        martian_files.golden_list(dump.draft, item.need("comments"))
    return f"{node.file}: its {len(items)} entries are paired with the dumps by position"


REST = DocumentFormat("rest", gather, build, generate, looks)
