"""Places that reviewers write into their text: `src/a.py:12-14`, a link to a line, `12-14:` below a file's name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from scoring.model import Place

_SEGMENT = r"[\w@.+$~-]{1,120}"
_ENDINGS = (
    "adoc astro bash bat bazel bzl c cc cfg cjs clj cmake conf cpp cs css csv cts cu cxx dart diff ejs el erb "
    "erl ex exs fs ftl gemspec go gradle graphql groovy h hbs hcl hh hpp hrl hs htm html hxx ini ipynb java "
    "jl js json jsx kt kts less lock lua m markdown md mdx mjs ml mm mts nim nix php pl pm po proto ps1 py "
    "pyi pyx r rake rb rs rst sass scala scss sh sol sql svelte swift tcl tf tmpl toml ts tsx txt vb vue xml "
    "yaml yml zig zsh"
)
_PATH = (
    rf"(?:(?:\.{{0,2}}/)?(?:{_SEGMENT}/){{1,20}}{_SEGMENT}"
    rf"|[\w@.+$~-]{{1,100}}\.(?:{'|'.join(sorted(_ENDINGS.split(), key=len, reverse=True))})(?![\w(])"
    r"|Makefile|Dockerfile|Jenkinsfile|Gemfile|Rakefile|CMakeLists\.txt|LICENSE|README|CHANGELOG|BUILD|WORKSPACE)"
)
_RANGE = r"(?P<first>\d{1,7})(?:\s{0,2}(?:-|\u2013|\u2014|to|~)\s{0,2}L?(?P<last>\d{1,7}))?"
_PATH_LINE = (
    rf"@?(?P<path>{_PATH})`?(?::|\#)?\s{{0,2}}[(\[]?(?::?L|(?:at |on |around )?lines?\s{{0,2}}|(?<=:))\s?{_RANGE}"
    r"(?:[,:]\s?\d{1,7}){0,5}[)\]]?"
)
_HEAD = r"^[\s`(\[*•>-]{0,6}"
_TAIL = r"[`)\]*]{0,3}\s{0,2}"
_AT_START = re.compile(rf"{_HEAD}{_PATH_LINE}{_TAIL}(?:[:\uff1a\u2013\u2014|-]\s?)?", re.IGNORECASE)
_PATH_AT_START = re.compile(rf"{_HEAD}@?(?P<path>{_PATH}){_TAIL}(?::|\uff1a|\u2013|\u2014|-\s|\|)\s?")
_ANYWHERE = re.compile(rf"(?<![\w/.]){_PATH_LINE}", re.IGNORECASE)
_PATH_ANYWHERE = re.compile(rf"(?<![\w/.:]){_PATH}(?![\w/])")
_LINES_AT_START = re.compile(
    rf"{_HEAD}(?:(?:around |at |on )?lines?\s|L)?\s?{_RANGE}{_TAIL}(?::|\uff1a|\u2013|\u2014|-\s)\s?", re.IGNORECASE
)
_FILE_NAME = re.compile(rf"^\W{{0,6}}?@?`?(?P<path>{_PATH})`?\*{{0,2}}:?\s{{0,2}}(?:\(\d{{1,4}}[^()]{{0,20}}\))?:?$")
_BLOB = re.compile(
    r"^https?://[^\s#?]{1,200}/blob/[^\s/#?]{1,120}/(?P<path>[^\s#?]{1,400})#L(?P<first>\d{1,7})(?:-L?(?P<last>\d{1,7}))?"
)
_LONGEST = 2_000
"""Places are looked for in the first characters of a line only."""


@dataclass(frozen=True, slots=True)
class Located:
    """A place, and the text without it."""

    place: Place
    rest: str


def at_start(text: str, path: str | None = None) -> Located | None:
    """The place a line begins with. `path`: the file named above it, so that bare line numbers are a place too."""
    head = text[:_LONGEST]
    if blob := _BLOB.match(head):
        return Located(_place(blob), text[blob.end() :].strip())
    if hit := _AT_START.match(head):
        return Located(_place(hit), text[hit.end() :].strip())
    if path and (lines := _LINES_AT_START.match(head)):
        return Located(Place(path, _lines(lines)), text[lines.end() :].strip())
    if (name := _PATH_AT_START.match(head)) and "." in name["path"].rsplit("/", 1)[-1]:
        return Located(Place(_clean(name["path"])), text[name.end() :].strip())
    return None


def anywhere(text: str) -> Place | None:
    """The first place with lines that a text names; else its file, if it names exactly one with a folder."""
    head = text[:_LONGEST]
    if hit := _ANYWHERE.search(head):
        return _place(hit)
    paths = {_clean(path) for path in _PATH_ANYWHERE.findall(head) if "/" in path}
    paths = {path for path in paths if "." in path.rsplit("/", 1)[-1]}
    return Place(paths.pop()) if len(paths) == 1 else None


def linked(address: str) -> Place | None:
    """The place a link to lines of a file points at."""
    hit = _BLOB.match(address)
    return _place(hit) if hit else None


def file_name(text: str) -> str | None:
    """The path, where a text is nothing but a file's name with an optional count: `src/a.py (2)`."""
    hit = _FILE_NAME.match(text[:_LONGEST])
    return _clean(hit["path"]) if hit else None


def _place(hit: re.Match[str]) -> Place:
    return Place(_clean(unquote(hit["path"])), _lines(hit))


def _lines(hit: re.Match[str]) -> tuple[int, int]:
    first = int(hit["first"])
    last = int(hit["last"]) if hit["last"] else first
    return min(first, last), max(first, last)


def _clean(path: str) -> str:
    return path.removeprefix("./").lstrip("@").rstrip(".,:;")
