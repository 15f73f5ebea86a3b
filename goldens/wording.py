"""What texts give away: references that lead back upstream, and words that point a reader at the defect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# Every pattern is linear: no nested repetition, and an unclosed comment or string runs to the end of the text.
_REFERENCES = (
    ("a reference", re.compile(r"(?<![\w&])(?:[\w.-]{1,100}/[\w.-]{1,100})?#\d+\b|\bGH-\d+\b")),
    ("a mention or address", re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]{0,38}")),
    ("a link", re.compile(r"\b[a-zA-Z][a-zA-Z+.-]{1,15}://\S{1,200}|\bwww\.\S{1,200}")),
    ("a commit id", re.compile(r"\b(?=[0-9a-f]{0,39}[0-9])(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b")),
    ("a trailer", re.compile(r"(?im)^[ \t]{0,8}(?:co-authored-by|signed-off-by|reviewed-by|reverts)\b")),
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STOP_WORDS = """
    a about after all also an and any are as at be because been before being between both but by can could do does
    each either else ever every for from further had has have how if in instead into is it its itself just later less
    like made make makes many may more most much must never new no nor not now of off often on once one only onto or
    other otherwise out over own per rather same several should since so some still such than that the their them then
    there these they this those through thus to too two under until up upon use used uses using very via was well were
    what when where whether which while who whole whose why will with within without would yet
"""
_TELLING_WORDS = """
    bug defect flaw mistake wrong incorrect broken vulnerability vulnerable insecure unsafe exploit injection leak
    race racy deadlock overflow underflow regression crash corrupt corruption
"""
_STAGED_WORDS = "golden benchmark planted seeded intentional intentionally deliberate deliberately"
_STOP = frozenset(_STOP_WORDS.split())
_MARKERS = re.compile(r"\b(?:TODO|FIXME|XXX|HACK|BUG)\b")

_HASH_LANGUAGES = frozenset({"python", "ruby", "shell", "yaml", "toml", "r", "perl", "elixir"})
_HASH_COMMENT = re.compile(
    r"(?P<comment>\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)|\#[^\n]*)"
    r"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?"
)
_SLASH_COMMENT = re.compile(
    r"(?P<comment>/\*[\s\S]*?(?:\*/|\Z)|//[^\n]*)"
    r"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|`(?:\\[\s\S]|[^`\\])*`?"
)


def references(text: str) -> Iterator[str]:
    """What in a text leads back to where it came from, or would ping somebody, in words."""
    for what, pattern in _REFERENCES:
        match = pattern.search(text)
        if match:
            yield f"{what} ({match.group().strip()[:60]})"


def words(text: str) -> frozenset[str]:
    """The content words of a text, split at case and underscore, without endings: `retryDelays` -> retry, delay."""
    found = (match.group().lower() for match in _WORD.finditer(text))
    return frozenset(stem(word) for word in found if len(word) > 2 and word not in _STOP)


def stem(word: str) -> str:
    """A word without its English ending; crude, and the same for every form of a regular word."""
    for endings in (("ingly", "edly", "ing", "ies", "ied", "ed", "es", "ly", "s"), ("e", "y")):
        ending = next((ending for ending in endings if word.endswith(ending) and len(word) - len(ending) >= 3), "")
        word = word.removesuffix(ending)
    return word


_TELLING_STEMS = {stem(word): word for word in _TELLING_WORDS.split()}
_STAGED_STEMS = {stem(word): word for word in _STAGED_WORDS.split()}


def staged(text: str) -> tuple[str, ...]:
    """Words that say the change was made to be judged."""
    return tuple(sorted(_STAGED_STEMS[word] for word in words(text) if word in _STAGED_STEMS))


def telling(text: str) -> tuple[str, ...]:
    """Words that name a defect, and the markers people leave at one."""
    named = [_TELLING_STEMS[word] for word in words(text) if word in _TELLING_STEMS]
    return tuple(sorted({*named, *_MARKERS.findall(text)}))


def shared(text: str, finding: str, code: frozenset[str]) -> tuple[str, ...]:
    """Stems that a text has in common with a finding and that the code itself does not already show."""
    return tuple(sorted((words(text) & words(finding)) - code))


def alike(one: str, other: str) -> float:
    """Share of content words two findings have in common (Jaccard), 0 to 1."""
    left, right = words(one), words(other)
    return len(left & right) / len(left | right) if left | right else 0.0


def comments(code: str, language: str) -> list[str]:
    """The comments of a source text, doc strings included, by the comment style of its language."""
    return [match.group() for match in _style(language).finditer(code) if match.group("comment") is not None]


def code_words(texts: Iterable[str], language: str) -> frozenset[str]:
    """The words of the code outside its comments: what any reader of the diff sees anyway."""
    style = _style(language)
    return frozenset().union(*(words(style.sub(_without_comment, text)) for text in texts))


def _without_comment(match: re.Match[str]) -> str:
    return " " if match.group("comment") is not None else match.group()


def _style(language: str) -> re.Pattern[str]:
    return _HASH_COMMENT if language in _HASH_LANGUAGES else _SLASH_COMMENT
