"""Titles and bodies without anything that points back: references, links, mentions, trailers, addresses, commit ids.

The rewriting keeps the meaning ("regression from #860" becomes "regression from an earlier change") and leaves code
alone, except that what is in code may not lead anywhere either. What counts as code is what a CommonMark parser says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from markdown_it import MarkdownIt

_MARKDOWN: Final = MarkdownIt("commonmark", {"maxNesting": 40}).enable("table")

# A removed stretch and a code span are stood for by characters that no text has: they are taken out of it first.
_GONE: Final = "\ue000"
_OPEN, _CLOSE = "\ue001", "\ue002"
_PRIVATE: Final = str.maketrans("", "", _GONE + _OPEN + _CLOSE)
_SPAN: Final = re.compile(f"{_OPEN}(\\d{{1,6}}){_CLOSE}")

_OWNER: Final = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}"
_REPO: Final = r"[A-Za-z0-9._-]{1,100}"
_TAIL: Final = r"[^\s<>\"`)\]\ue000-\ue002]{0,2000}[^\s<>\"`)\]\ue000-\ue002.,;:!?'*_]"
_SCHEME: Final = r"\b(?:https?|ftps?|ssh|git|git\+ssh|file)://"
_URL: Final = (
    rf"(?:<?(?:(?i:{_SCHEME}{_TAIL})|\b(?i:www)\.{_TAIL}|\bgit@[\w.-]{{1,100}}:{_TAIL}"
    rf"|(?<![\w.@/-])(?:[\w-]{{1,60}}\.){{0,3}}(?i:github|gitlab|bitbucket|codeberg)\.(?:com|org|io)/{_TAIL})>?)"
)
_THREAD_URL: Final = (
    rf"(?:<?(?i:{_SCHEME})[^\s/<>]{{1,200}}/[^\s<>()]{{0,300}}?"
    rf"/(?:issues|pull|pulls|commit|commits|merge_requests|discussions)/{_TAIL}>?)"
)
_END: Final = r"(?![A-Za-z0-9])"
_NUMBER: Final = (
    rf"(?<![A-Za-z0-9&#])(?![CFcf]\#){_OWNER}(?:/{_REPO})?\#\d{{1,9}}{_END}"
    rf"|(?<![A-Za-z0-9&#])\#\d{{1,9}}{_END}"
    rf"|(?<![A-Za-z0-9-])(?i:gh)-\d{{1,9}}{_END}"
    rf"|(?<![A-Za-z0-9]){_OWNER}(?:/{_REPO})?@[0-9a-f]{{7,40}}{_END}"
)
_HEX: Final = r"(?:[0-9a-f]{40}|(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,39})(?![\w-])"
_COMMIT: Final = rf"(?<![\w#/@=.-]){_HEX}(?:\.{{2,3}}{_HEX})?"
_EMAIL: Final = r"<?(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}>?"
_MENTION: Final = rf"(?<![A-Za-z0-9])@{_OWNER}(?:/{_REPO})?(?:\[bot\])?"
_AND: Final = r"(?:\s{0,3}(?:,|&|;|/|\+|\band\b|\bor\b)\s{0,3}(?:and\s{1,3})?|\s{1,3})"
_NOUN: Final = r"(?:(?:issue|bug|ticket|pr|pull request|change|commit)s?\s{0,3}:?\s{0,3})?"


def _list(item: str, joint: str = _AND) -> str:
    return rf"(?:{item})(?:{joint}(?:{item})){{0,50}}"


_THREAD: Final = f"(?:{_THREAD_URL}|{_NUMBER})"
_KNOWN_AT: Final = re.compile(
    r"(?<![\w/])@(?:Override|Deprecated|Nullable|NonNull|NotNull|Test|Inject|Autowired|Transactional|Component"
    r"|property|staticmethod|classmethod|dataclass|abstractmethod|contextmanager|param|return|returns|throws|see"
    r"|media|import|supports|types/[\w.-]{1,60}|angular/[\w.-]{1,60}|babel/[\w.-]{1,60}|vue/[\w.-]{1,60})(?![\w/-])"
)
"""Words of programming languages that GitHub would read as people. They become code, which notifies nobody."""

_MOST_PASSES: Final = 50
_Change = str | Callable[[re.Match[str]], str]


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    change: _Change


def _rule(pattern: str, change: _Change = _GONE, flags: re.RegexFlag = re.IGNORECASE | re.MULTILINE) -> _Rule:
    return _Rule(re.compile(pattern, flags), change)


_EXACT: Final = re.MULTILINE
_RULES: Final = (
    _rule(r"&(?:#0{0,6}64|#x0{0,6}40|commat);", "@"),
    _rule(r"&(?:#0{0,6}35|#x0{0,6}23|num);", "#"),
    _rule(r"\\(?=@\w|#\d)", ""),
    _rule(r"<!--[\s\S]{0,5000}?-->"),
    _rule(r"^[ \t>]{0,12}(?:[a-z]{2,30}(?:-[a-z]{2,30}){0,4}-by|cc|change-id|pr-url|original-commit)\s{0,3}:.*$"),
    _rule(r"\(?\bcherry[- ]picked from (?:commit )?[0-9a-f]{7,40}\)?"),
    _rule(r"^[ \t>]{0,12}\[[^\]\n]{1,200}\]:\s{0,3}\S{1,2000}.*$"),
    _rule(r"</?(?:a|img|picture|source|video|iframe)\b[^>]{0,3000}>"),
    _rule(r"!?\[([^\[\]\n]{0,500})\]\(\s{0,3}<?[^\s()<>]{0,2000}>?(?:\s{1,3}[\"'(][^\n)]{0,300})?\s{0,3}\)", r"\1"),
    _rule(
        rf"\b(?:clos(?:e|es|ed)|fix(?:es|ed)?|resolv(?:e|es|ed))\b\s{{0,3}}:?\s{{0,3}}{_NOUN}"
        rf"{_list(rf'{_THREAD}|{_COMMIT}')}"
    ),
    _rule(rf"[(\[]\s{{0,3}}(?:(?:see|cf\.?|ref|refs|via)\s{{0,3}}:?\s{{0,3}})?{_NOUN}{_list(_THREAD)}\s{{0,3}}[)\]]"),
    _rule(rf"{_NOUN}{_list(_THREAD)}", "an earlier change"),
    _rule(_list(_URL)),
    _rule(rf"\b(?:commit|revision|rev)s?\s{{1,3}}{_list(_COMMIT)}", "an earlier commit"),
    _rule(_list(_COMMIT), "an earlier commit", _EXACT),
    _rule(_list(_EMAIL)),
    _rule(rf"(?:^|(?<=\s))/?(?:cc|r\?|ping|fyi|attn)\s{{0,3}}:?\s{{0,3}}{_list(_MENTION)}"),
    _rule(rf"\(\s{{0,3}}(?:(?:by|via|thanks|h/t)\s{{1,3}})?{_list(_MENTION)}\s{{0,3}}\)"),
    _rule(_list(_MENTION), "a colleague"),
)

_LEAD: Final = re.compile(
    r"(?:\b(?:see|also|cc|via|per|as|at|in|from|by|to|of|on|and|or|ref|refs|references?|related|link|links|here|more"
    r"|details?|is|follow-?up)\b[ \t:,]{0,3}){1,5}\ue000",
    re.IGNORECASE,
)
_TIDY: Final = (
    (re.compile(r"[(\[<][\s,;]{0,3}(?:\ue000[\s,;]{0,3}){1,50}[)\]>]"), _GONE),
    (_LEAD, _GONE),
    (re.compile(r"(?<=\S)[ \t]{0,9}(?:\ue000[ \t]{0,9}){1,50}"), " "),
    (re.compile(r"(?:\ue000[ \t]{0,9}){1,50}"), ""),
    (re.compile(r"[ \t]{1,9}([,.;:!?)])"), r"\1"),
    (re.compile(r"([,;:(])(?:[ \t]{0,3}[,;:]){1,20}"), r"\1"),
    (re.compile(r"[,;:][ \t]{0,3}(?=[.!?])"), ""),
    (re.compile(r"^([ \t>]{0,12}(?:[-*+][ \t]|\d{1,4}[.)][ \t]|#{1,6}[ \t])?)[ \t]{0,9}"
                r"(?:(?:[,;:.&\u2013\u2014]|-(?=[ \t]))[ \t]{0,9}){1,9}"), r"\1"),
    (re.compile(r"[ \t,;:&\u2013\u2014-]{1,20}$"), ""),
)  # fmt: skip
_CODE_URL: Final = re.compile(
    rf"(?i:{_SCHEME})(?P<host>[^\s/<>\"'`:?#)\],;]{{1,253}})?[^\s<>\"'`)\]]{{0,2000}}|\bgit@{_TAIL}"
)
_RESERVED: Final = re.compile(
    r"(?:.{0,200}\.)?(?:example(?:\.(?:com|net|org))?|test|invalid|localhost)|127\.0\.0\.1|0\.0\.0\.0", re.IGNORECASE
)
_CODE_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?P<host>[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5})")
_CODE_THREAD: Final = re.compile(rf"(?<![\w&#@/.-]){_OWNER}/{_REPO}\#\d{{1,9}}(?!\w)")
_CODE_COMMIT: Final = re.compile(r"(?<!\w)(?!0{40})[0-9a-f]{40}(?!\w)")
_BARE_THREAD: Final = re.compile(rf"\s?(?:{_NUMBER})\s?")
_BARE_COMMIT: Final = re.compile(rf"\s?{_HEX}\s?")


def _reserved(replacement: str) -> Callable[[re.Match[str]], str]:
    def change(match: re.Match[str]) -> str:
        return match[0] if _RESERVED.fullmatch(match["host"] or "") else replacement

    return change


def _code(text: str) -> str:
    """Code as it was, but leading nowhere: mentions stay, foreign hosts become reserved ones."""
    text = _CODE_EMAIL.sub(_reserved("user@example.com"), _CODE_URL.sub(_reserved("https://example.com"), text))
    return _CODE_COMMIT.sub("0" * 40, _CODE_THREAD.sub("", text))


def _span(span: str) -> str:
    """An inline code span; one that is nothing but a reference is a reference."""
    inner = span.strip("`")
    if _BARE_THREAD.fullmatch(inner):
        return "an earlier change"
    return "an earlier commit" if _BARE_COMMIT.fullmatch(inner) else _code(span)


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where CommonMark's code spans are: a run of backticks up to the next run of the same length."""
    runs = [match.span() for match in re.finditer("`+", text)]
    at = 0
    while at < len(runs):
        start, end = runs[at]
        start += _escaped(text, start)
        length = end - start
        later = range(at + 1, len(runs)) if length else ()
        close = next((i for i in later if runs[i][1] - runs[i][0] == length), None)
        if close is None:
            at += 1
            continue
        yield start, runs[close][1]
        at = close + 1


def _escaped(text: str, at: int) -> bool:
    """Whether an odd number of backslashes stands before a place."""
    first = at
    while first and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


def _tidy(line: str) -> str | None:
    """A line of which something was removed; None if nothing is left that says anything."""
    for pattern, replacement in _TIDY:
        line = pattern.sub(replacement, line)
    return line if re.search(rf"[^\W_]|{_OPEN}", line) else None


def _prose(text: str, spans: bool) -> list[str | None]:
    """The lines of one stretch of prose; None for each that is gone."""
    kept: list[str] = []

    def hold(code: str) -> str:
        kept.append(code)
        return f"{_OPEN}{len(kept) - 1}{_CLOSE}"

    masked, last = "", 0
    for start, end in _code_spans(text) if spans else ():
        masked += text[last:start] + hold(_span(text[start:end]))
        last = end
    masked += text[last:]
    if spans and "`" not in masked:
        masked = _KNOWN_AT.sub(lambda match: hold(f"`{match[0]}`"), masked)
    for rule in _RULES:
        masked = rule.pattern.sub(rule.change, masked)
    lines = [_tidy(line) if _GONE in line else line for line in masked.split("\n")]
    return [None if line is None else _SPAN.sub(lambda match: kept[int(match[1])], line) for line in lines]


def _blocks(lines: Sequence[str]) -> Iterator[tuple[bool, int, int]]:
    """(is code, first line, end) of the stretches of a text, in order, together all of it."""
    owner: list[tuple[bool, int]] = [(False, -1)] * len(lines)
    for number, token in enumerate(_MARKDOWN.parse("\n".join(lines))):
        if token.map and token.type in ("fence", "code_block", "inline"):
            first, end = token.map
            owner[first:end] = [(token.type != "inline", number)] * len(owner[first:end])
    start = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or owner[at] != owner[start]:
            yield owner[start][0], start, at
            start = at


def _join(lines: Sequence[str | None]) -> str:
    """The lines that are left, without the double blanks that the removed ones leave behind."""
    out: list[str] = []
    removed = False
    for line in lines:
        if line is None:
            removed = True
        elif line.strip() or not removed or (out and out[-1].strip()):
            out.append(line)
            removed = removed and not line.strip()
    while removed and out and not out[-1].strip():
        out.pop()
    return "\n".join(out)


def _once(text: str, spans: bool) -> str:
    lines = text.split("\n")
    result: list[str | None] = []
    for is_code, start, end in _blocks(lines):
        stretch = "\n".join(lines[start:end])
        result += _code(stretch).split("\n") if is_code else _prose(stretch, spans)
    return _join(result)


def _settled(text: str, spans: bool) -> str:
    """Rewrite until nothing changes: what a removal joins may itself be a reference."""
    for _ in range(_MOST_PASSES):
        again = _once(text, spans)
        if again == text:
            return text
        text = again
    raise ValueError(f"the text still changes after {_MOST_PASSES} rewritings; it cannot be made neutral")


_PINGS: Final = re.compile(f"{_MENTION}|{_NUMBER}|{_URL}")


def _pings(text: str) -> bool:
    """Whether a Markdown parser finds a mention, a reference or a link outside code."""
    for token in _MARKDOWN.parse(text):
        shown = token.children if token.children is not None else [token]
        said = " ".join(part.content for part in shown if part.type in ("text", "html_inline", "html_block"))
        if _PINGS.search(said) or any(part.type in ("link_open", "image") for part in shown):
            return True
    return False


def neutral_text(text: str) -> str:
    """A title or body that points nowhere and notifies nobody. Idempotent; text that is neutral comes back as it is.

    Where our reading of code spans and the parser's differ, the parser wins and the spans are treated as prose.
    """
    clean = text.translate(_PRIVATE).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    neutral = _settled(clean, spans=True)
    return _settled(neutral, spans=False) if _pings(neutral) else neutral
