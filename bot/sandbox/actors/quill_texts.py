"""Everything quillreview writes. The markup is as rich as that of hosted reviewers; the words are its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from bot.reviewers.finding import Finding
from bot.sandbox.actors.prose import code, counted, fenced, missed, plain, sentence, stopped
from scoring.model import Severity

MARKER = "<!-- quillreview:summary -->"
_END = "<!-- quillreview:end -->"
PLACEHOLDER = f"""\
{MARKER}
> [!NOTE]
> ⏳ **Review in progress.** Quillreview is reading this change; this comment will be replaced by the summary.
{_END}"""
SKIPPED = f"""\
{MARKER}
> [!IMPORTANT]
> ## Review skipped
>
> Quillreview reads Python, TypeScript, JavaScript, Go, C and C++, and this change touches none of them.
{_END}"""
_FACES = {
    Severity.CRITICAL: "🔴 Critical",
    Severity.HIGH: "🟠 High",
    Severity.MEDIUM: "🟡 Medium",
    Severity.LOW: "⚪ Low",
}
_KINDS = (
    ("🧹 Clean-up", ("SIM", "C4")),
    ("⚡ Performance", ("PERF",)),
    ("🔒 Security", ("S", "c-unbounded", "c-format", "c-shell", "go-formatted-sql", "go-insecure-tls")),
    ("🔒 Security", ("typescript-eval", "typescript-inner-html")),
)
"""The first row with a fitting start of the rule's code counts; everything else may be a bug."""


def failed(reason: str) -> str:
    """The summary of a review that could not be made."""
    return f"{MARKER}\n> [!CAUTION]\n> ## Review failed\n>\n> An error ended this review: {plain(reason)}.\n{_END}"


def inline(finding: Finding) -> str:
    """One inline comment."""
    parts = [_head(finding)]
    if finding.fix is not None:
        parts.append(_folded("💡 Suggested change", fenced(finding.fix, "suggestion")))
    parts += [_folded("🧭 Prompt for coding agents", fenced(_prompt(finding))), "<!-- quillreview:remark -->"]
    return "\n\n".join(parts)


def review(findings: Sequence[Finding]) -> str:
    """The review's own text, with the number that is posted inline."""
    parts = [f"**Actionable comments posted: {len(findings)}**"]
    if findings:
        prompts = fenced("\n".join(_prompt(finding) for finding in findings))
        parts.append(_folded("🧭 Prompt for all remarks", prompts))
    return "\n\n".join([*parts, "<!-- quillreview:review -->"])


def summary(inline: Sequence[Finding], aside: Sequence[Finding], unread: tuple[str, ...]) -> str:
    """What the placeholder becomes: the inline remarks once more, and those that stand nowhere else."""
    if unread and not (inline or aside):
        return f"{MARKER}\n> [!WARNING]\n> ## Review incomplete{missed(unread)}\n{_END}"
    parts = [MARKER, "## Quillreview summary", f"Quillreview read this change: {closing(inline)}{missed(unread)}"]
    if not (inline or aside):
        parts.append("🌿 Nothing to act on in this change.")
    if inline:
        parts += ["### Remarks on the diff", "\n".join(_listed(finding) for finding in inline)]
    if aside:
        files = [
            _quoted(f"{plain(path)} ({len(items)})", "\n\n---\n\n".join(_item(finding) for finding in items))
            for path, group in groupby(aside, key=lambda finding: finding.path)
            for items in [list(group)]
        ]
        parts.append(_quoted(f"📎 Outside the diff and minor ({len(aside)})", "\n\n".join(files)))
    return "\n\n".join([*parts, _END])


def closing(findings: Sequence[Finding]) -> str:
    """How much was said, in a sentence."""
    files = len({finding.path for finding in findings})
    return f"{counted(len(findings), 'remark')} on {counted(files, 'file')}." if findings else "no remarks on the diff."


def _head(finding: Finding) -> str:
    note = f"\n\n{plain(finding.note)}" if finding.note else ""
    return f"_{_kind(finding)}_ | _{_face(finding)}_\n\n**{_title(finding)}**{note}"


def _item(finding: Finding) -> str:
    return f"`{_span(finding)}`: {_head(finding)}"


def _listed(finding: Finding) -> str:
    place = code(f"{finding.path}:{_span(finding)}")
    return f"- {place} · {_face(finding)} · **{_title(finding)}** {plain(sentence(finding.note))}".rstrip()


def _prompt(finding: Finding) -> str:
    return f"In {finding.path}, line {_span(finding)}: {_title(finding)} {plain(finding.note)}".rstrip()


def _title(finding: Finding) -> str:
    return plain(stopped(finding.message))


def _span(finding: Finding) -> str:
    return str(finding.line) if finding.end_line == finding.line else f"{finding.line}-{finding.end_line}"


def _face(finding: Finding) -> str:
    return _FACES[finding.severity or Severity.LOW]


def _kind(finding: Finding) -> str:
    return next((kind for kind, starts in _KINDS if finding.rule.startswith(starts)), "🐞 Possible bug")


def _folded(title: str, body: str) -> str:
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"


def _quoted(title: str, body: str) -> str:
    return f"<details>\n<summary>{title}</summary><blockquote>\n\n{body}\n\n</blockquote></details>"
