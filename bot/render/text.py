"""Making hostile text inert, and keeping ours within GitHub's limits.

GitHub looks for mentions, references and bare commit ids in the text *after* Markdown has been rendered, so a backslash
or an HTML entity before an `@` does not stop a notification. It skips code, so a word that could become
anything but itself is shown as a code span; the other words stay prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from urllib.parse import quote, urlsplit

from bot.model import TriggerKind
from bot.registry import Reviewer

CHECK_BYTES = 65_535
"""Most bytes of a check run's summary: GitHub counts bytes there, whatever its message says."""
COMMENT_BYTES = 60_000
"""Most bytes of an issue comment. GitHub allows 65,536 characters; the rest is room for markers."""
SENTENCE = 300
"""Characters of a hostile sentence that are shown before it is shortened."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUIET = re.compile(r"(?:[^\x00-\x7f]|[A-Za-z0-9.,;?'\"()%:!-])+")
_LOUD = re.compile(r"www\.|[A-Za-z]-\d|ghsa-|[0-9a-f]{7}|:[\w+-]+:", re.IGNORECASE)
_NO_WORD = re.compile(r"[.,;?'\"()%:!]+")
_ORDINAL = re.compile(r"(\d{1,20})([.)])")
_TICKED = re.compile(r"`[^`]+`")
_PIPE = "<code>&#124;</code>"
_BREAK = "·"


def clean(text: str, limit: int = 0) -> str:
    """One line of what a reader would see: no control, direction or zero-width characters, single spaces.

    Args:
        text: anything.
        limit: most characters, an ellipsis included; 0 for no limit.
    """
    spaced = _CONTROL.sub(" ", _INVISIBLE.sub("", text))
    line = " ".join(_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", spaced).split())
    return line if not limit or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def forbidden(registry: Iterable[Reviewer]) -> tuple[str, ...]:
    """What may stand in no text of ours: the words that wake a reviewer, and its accounts with an `@`."""
    return tuple(sorted({word for reviewer in registry for word in _wakers(reviewer)}))


def _wakers(reviewer: Reviewer) -> Iterator[str]:
    for login in reviewer.logins:
        yield "@" + login.login.lower().removesuffix("[bot]")
    for trigger in filter(None, (reviewer.trigger, reviewer.rerun)):
        words = trigger.text.lower().split()
        if words and trigger.kind is TriggerKind.COMMENT:
            yield " ".join(words)
        if words and trigger.kind is TriggerKind.REVIEW_REQUEST:
            yield "@" + words[0].removesuffix("[bot]").removeprefix("@")
        yield from (word for word in words if word.startswith("@") and len(word) > 1)


@lru_cache(maxsize=16)
def _pattern(triggers: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_one(trigger) for trigger in triggers if trigger.split()) or r"(?!)", re.IGNORECASE)


def _one(trigger: str) -> str:
    literal = r"\s+".join(re.escape(word) for word in trigger.split())
    if trigger.startswith("@"):
        return literal
    before = r"(?<![\w/])" if trigger.startswith("/") else r"(?<!\w)"
    return before + literal + (r"(?!\w)" if trigger[-1].isalnum() else "")


def trigger_leaks(text: str, registry: Iterable[Reviewer]) -> tuple[str, ...]:
    """Every place of `text` that would wake a reviewer of the registry. Empty where it is safe to send."""
    return tuple(sorted({match.group() for match in _pattern(forbidden(registry)).finditer(text)}))


def defused(line: str, triggers: tuple[str, ...]) -> str:
    """A cleaned line with a visible dot put into everything that would wake a reviewer."""
    pattern = _pattern(triggers)
    while pattern.search(line):
        line = pattern.sub(_broken, line)
    return line


def _broken(match: re.Match[str]) -> str:
    found = match.group()
    if found[0].isalnum() and " " in found:
        return found.replace(" ", _BREAK, 1)
    return found[0] + _BREAK + found[1:]


def plain(text: str, limit: int = 0, triggers: tuple[str, ...] = ()) -> str:
    """Hostile text for a place that is not Markdown, such as an annotation.

    Shortened first: a cut can make a word of a longer one. What is broken up may then pass `limit` by half.
    """
    return defused(clean(text, limit), triggers)


def inert(text: str, limit: int = SENTENCE, triggers: tuple[str, ...] = ()) -> str:
    """Hostile text as one line of GitHub Markdown that shows its words and does nothing else.

    No mention, reference, link, image, markup, list or table cell comes of it. Safe inside a table, a list item, a
    link's label and emphasis.
    """
    words = plain(text, limit, triggers).split(" ")
    return " ".join(
        " ".join(map(_prose, run)) if quiet else code(" ".join(map(_unticked, run)), triggers)
        for quiet, run in groupby(words, _is_quiet)
    )


def _is_quiet(word: str) -> bool:
    if word in ("-", "+", "=", ""):
        return True
    if not _QUIET.fullmatch(word) or _LOUD.search(word):
        return False
    return bool(_NO_WORD.fullmatch(word)) or any(c.isalnum() or c > "\x7f" for c in word)


def _unticked(word: str) -> str:
    """A word that was a code span already need not show its backticks."""
    return word[1:-1] if _TICKED.fullmatch(word) else word


def _prose(word: str) -> str:
    if word in ("-", "+", "="):
        return "\\" + word
    return _ORDINAL.sub(r"\1\\\2", word) if _ORDINAL.fullmatch(word) else word


def code(text: str, triggers: tuple[str, ...] = ()) -> str:
    """A code span. Pipes stand beside it as entities, so that a table row stays one."""
    pieces = re.split(r"(\|)", plain(text, triggers=triggers))
    return "".join(_PIPE if piece == "|" else _span(piece) for piece in pieces if piece)


def _span(piece: str) -> str:
    fence = "`" * (max((len(run) for run in re.findall("`+", piece)), default=0) + 1)
    pad = " " if piece.startswith("`") or piece.endswith("`") else ""
    return f"{fence}{pad}{piece}{pad}{fence}"


def link(label: str, url: str | None) -> str:
    """A link with an inert label, or the label alone where the address is missing or not plain http(s).

    Args:
        label: Markdown that is already inert.
        url: an address, possibly hostile.
    """
    target = web_address(url or "")
    return f"[{label}]({target})" if target else label


def web_address(url: str) -> str | None:
    """The address in characters that end no Markdown link and mention nobody; None if it is not plain http(s)."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or len(url) > 2000:
        return None
    return quote(_SURROGATE.sub("", url), safe="-._~:/?#&=%+,;")


def cut_bytes(text: str, limit: int) -> str:
    """As many whole characters of `text` as fit into `limit` bytes of UTF-8."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def cut(text: str, max_bytes: int, url: str | None, instead: str = "the run in Assay") -> str:
    """`text`, or its first whole lines with a note, in at most `max_bytes` bytes of UTF-8.

    A code fence or details block that the cut left open is closed.

    Args:
        text: Markdown.
        max_bytes: what GitHub accepts.
        url: where the whole text can be read.
        instead: where it is to be found if there is no address; words of ours.

    Raises:
        ValueError: `max_bytes` leaves no room for the note.
    """
    if len(text.encode()) <= max_bytes:
        return text
    note = f"\n\n_Cut, full report: {web_address(url or '') or f'see {instead}'}_"
    room = max_bytes - len(note.encode())
    if room < 0:
        raise ValueError(f"{max_bytes} bytes leave no room for the note that a text was cut")
    return _head(text, room) + note


def _head(text: str, room: int) -> str:
    """The longest run of first lines that fits, together with what closes it."""
    kept: list[str] = []
    open_blocks: tuple[str, ...] = ()
    best, closing, size = 0, "", 0
    for line in text.split("\n"):
        size += len(line.encode()) + 1
        if size - 1 > room:
            break
        kept.append(line)
        open_blocks = _blocks(open_blocks, line)
        tail = "".join(f"\n{end}" for end in reversed(open_blocks))
        if size - 1 + len(tail.encode()) <= room:
            best, closing = len(kept), tail
    return ("\n".join(kept[:best]).rstrip() + closing) or _first_words(text.split("\n", 1)[0], room)


def _blocks(open_blocks: tuple[str, ...], line: str) -> tuple[str, ...]:
    """What must be written to close everything that is open after `line`, outermost first."""
    bare = line.strip()
    fence = re.match(r"`{3,}|~{3,}", bare)
    inside = open_blocks[-1] if open_blocks and open_blocks[-1][0] in "`~" else ""
    if inside:
        closes = fence and fence.group()[0] == inside[0] and len(fence.group()) >= len(inside) and bare == fence.group()
        return open_blocks[:-1] if closes else open_blocks
    if fence:
        return (*open_blocks, fence.group())
    if bare.startswith("<details"):
        return open_blocks if bare.endswith("</details>") else (*open_blocks, "\n</details>")
    return open_blocks[:-1] if bare.startswith("</details") and open_blocks else open_blocks


def _first_words(line: str, room: int) -> str:
    """The beginning of a line that is too long by itself, without a half-open code span or tag."""
    head = cut_bytes(line, room).rpartition(" ")[0] or cut_bytes(line, room)
    if head.count("`") % 2:
        head = head[: head.rindex("`")]
    for opening, closing in (("<code>", "</code>"), ("<", ">"), ("[", ")")):
        if head.rfind(opening) > head.rfind(closing):
            head = head[: head.rindex(opening)]
    return head.rstrip()
