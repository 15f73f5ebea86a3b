"""Plain pages for people: no script, nothing from elsewhere, every text escaped or made inert."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from html import escape

from werkzeug.wrappers import Response

from bot.sandbox import gitstore, pulldiffs
from bot.sandbox.checking import runs_at
from bot.sandbox.links import stamp
from bot.sandbox.markup import render, straight
from bot.sandbox.state import CheckRun, Comment, Issue, Pull, Repo, Review, ReviewComment
from bot.sandbox.world import World

_POLICY = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem;color:#1f2328;background:#fff}
h1{font-size:1.5rem}
article,.check{border:1px solid #d0d7de;border-radius:6px;margin:1rem 0;padding:.5rem 1rem;overflow-wrap:break-word}
article.inline{margin-left:2rem}
header.meta{color:#59636e;font-size:.9rem}
summary{cursor:pointer}
.check>summary{font-weight:600}
.check[open]>summary{border-bottom:1px solid #d0d7de;padding-bottom:.5rem}
pre,code{background:#f6f8fa;border-radius:6px;font-size:.85rem}
pre{overflow-x:auto;padding:.75rem}
pre.said{white-space:pre-wrap;margin:.25rem 0}
blockquote{margin:.5rem 0;padding:0 1rem;border-left:.25rem solid #d0d7de;color:#59636e}
table{border-collapse:collapse;display:block;max-width:100%;overflow-x:auto;font-size:.8rem}
td,th{border:1px solid #d0d7de;padding:.25rem .4rem;vertical-align:top;text-align:left}
td.place{white-space:nowrap}
[align=right]{text-align:right}
[align=center]{text-align:center}
:target{outline:2px solid #0969da}
.add{background:#dafbe1}.del{background:#ffebe9}
"""
_PATH = re.compile(r"/(?P<owner>[\w.-]+)/(?P<repo>[\w.-]+)(?P<rest>/.*)?")
_NUMBERED = re.compile(r"/(issues|pull|runs)/(\d{1,18})(\.diff|\.patch)?")


def _csp() -> str:
    return _POLICY.format(base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode())


_HEADERS = {
    "Content-Security-Policy": _csp(),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def page(title: str, body: str, status: int = 200) -> Response:
    """A page around a body that is HTML already."""
    text = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(straight(title))}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f'<body><nav><a href="/">All repositories</a></nav><main><h1>{plain(title)}</h1>{body}</main></body></html>'
    )
    return Response(text, status, _HEADERS, content_type="text/html; charset=utf-8")


def plain(text: object) -> str:
    """A short text of somebody, which cannot turn the words beside it around."""
    return f"<bdi>{escape(straight(str(text)))}</bdi>"


class Pages:
    """Finds and renders pages."""

    def __init__(self, world: World) -> None:
        self._world = world

    def find(self, path: str) -> Response | None:
        """The page at a path, or None. The caller holds the world's lock."""
        if path == "/":
            return self._home()
        parts = _PATH.fullmatch(path)
        repo = self._world.repos.get(f"{parts['owner']}/{parts['repo']}".lower()) if parts else None
        if repo is None or parts is None:
            return None
        rest = (parts["rest"] or "").rstrip("/")
        return _repository(repo) if rest in {"", "/issues", "/pulls"} else self._numbered(repo, rest)

    def _home(self) -> Response:
        rows = [
            f'<li><a href="/{escape(repo.full_name)}">{escape(repo.full_name)}</a> '
            f"{'private' if repo.private else 'public'}{', archived' if repo.archived else ''}</li>"
            for repo in sorted(self._world.repos.values(), key=lambda repo: repo.key)
        ]
        return page("Repositories", f"<ul>{''.join(rows)}</ul>" if rows else "<p>There are none yet.</p>")

    def _numbered(self, repo: Repo, rest: str) -> Response | None:
        found = _NUMBERED.fullmatch(rest)
        if found is None:
            return None
        kind, number, ending = found[1], int(found[2]), found[3]
        if kind == "runs":
            return _run_page(repo, number)
        issue = repo.issues.get(number)
        if issue is None or (ending and issue.pull is None):
            return None
        if ending and issue.pull:
            text = pulldiffs.diff_text(issue.pull).encode() if ending == ".diff" else _patch(issue.pull)
            return Response(text, headers=_HEADERS, content_type="text/plain; charset=utf-8")
        return _conversation(issue)


def _patch(pull: Pull) -> bytes:
    return gitstore.patch(pull.issue.repo.path, pulldiffs.merge_base(pull), pull.head_sha)


def _repository(repo: Repo) -> Response:
    rows = [
        f'<li><a href="/{escape(repo.full_name)}/{"pull" if issue.pull else "issues"}/{issue.number}">'
        f"#{issue.number} {plain(issue.title)}</a> {issue.state}, by {escape(issue.user.login)}</li>"
        for issue in repo.issues.values()
    ]
    about = f"<p>{plain(repo.description)}</p>" if repo.description else ""
    return page(repo.full_name, about + (f"<ul>{''.join(rows)}</ul>" if rows else "<p>No issues yet.</p>"))


def _said(anchor: str, who: str, what: str, when: str, body: str | None, css: str = "") -> str:
    return (
        f'<article id="{anchor}" class="{css}"><header class="meta"><b>{plain(who)}</b> {plain(what)} '
        f"<time>{when}</time></header>{render(body)}</article>"
    )


def _comment(one: Comment) -> str:
    return _said(f"issuecomment-{one.id}", one.user.login, "commented", stamp(one.created_at), one.body)


def _review(one: Review) -> str:
    when = stamp(one.submitted_at) if one.submitted_at else ""
    told = one.state.lower().replace("_", " ")
    inline = "".join(_inline(comment) for comment in one.pull.review_comments if comment.review is one)
    return _said(f"pullrequestreview-{one.id}", one.user.login, f"reviewed: {told}", when, one.body) + inline


def _inline(one: ReviewComment) -> str:
    place = one.path if one.subject_type == "file" else f"{one.path}:{one.original.line}"
    outdated = one.subject_type == "line" and one.now.line is None
    what = f"on {place}{' (outdated)' if outdated else ''}{' in reply' if one.in_reply_to else ''}"
    return _said(f"discussion_r{one.id}", one.user.login, what, stamp(one.created_at), one.body, "inline")


def _conversation(issue: Issue) -> Response:
    start = _said("issue", issue.user.login, "opened this", stamp(issue.created_at), issue.body)
    rows: list[tuple[str, Callable[[], str]]] = []
    rows += [(stamp(one.created_at), partial(_comment, one)) for one in issue.comments]
    if issue.pull:
        rows += [(stamp(one.submitted_at), partial(_review, one)) for one in issue.pull.reviews if one.submitted_at]
    body = start + "".join(render() for _, render in sorted(rows, key=lambda row: row[0]))
    if issue.pull:
        body += _checks(runs_at(issue.repo, issue.pull.head_sha, latest=False)) + _diff(issue.pull)
    state = f"<p>{issue.state}</p>"
    return page(f"{issue.title} #{issue.number} · {issue.repo.full_name}", state + body)


def _checks(runs: Iterable[CheckRun]) -> str:
    ordered = sorted(runs, key=lambda run: (run.name, run.id))
    return "<h2>Checks</h2>" + ("".join(map(_check, ordered)) or "<p>None.</p>")


def _check(run: CheckRun, *, unfolded: bool = False) -> str:
    title = f" · {plain(run.title)}" if run.title else ""
    head = f"{plain(run.name)}: {escape(run.conclusion or run.status)} ({escape(run.suite.app.slug)}){title}"
    texts = render(run.summary) + render(run.text) + _annotations(run)
    is_open = " open" if unfolded else ""
    return f'<details class="check" id="run-{run.id}"{is_open}><summary>{head}</summary>{texts}</details>'


def _annotations(run: CheckRun) -> str:
    rows = "".join(
        f'<tr><td class="place">{plain(one["path"])}:{escape(_lines(one))}</td>'
        f"<td>{plain(one['annotation_level'])}</td>"
        f'<td>{plain(one.get("title") or "")}<pre class="said">{plain(one["message"])}</pre></td></tr>'
        for one in run.annotations
    )
    head = "<thead><tr><th>Place</th><th>Level</th><th>Message</th></tr></thead>"
    return f"<h4>Annotations</h4><table>{head}<tbody>{rows}</tbody></table>" if rows else ""


def _lines(one: Mapping[str, object]) -> str:
    start, end = str(one["start_line"]), str(one["end_line"])
    return start if start == end else f"{start}-{end}"


def _run_page(repo: Repo, number: int) -> Response | None:
    runs = [run for suite in repo.check_suites.values() for run in suite.runs if run.id == number]
    return page(f"{runs[0].name} · {repo.full_name}", _check(runs[0], unfolded=True)) if runs else None


def _diff(pull: Pull) -> str:
    lines = pulldiffs.diff_text(pull).splitlines()
    marked = "\n".join(f'<span class="{_css(line)}">{escape(straight(line))}</span>' for line in lines)
    return f"<h2>Changes</h2><pre>{marked}</pre>"


def _css(line: str) -> str:
    if line.startswith("+"):
        return "add"
    return "del" if line.startswith("-") else ""
