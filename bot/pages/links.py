"""Where pages are: as paths of the web server, or as files that are found from one another."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode

_UNSAFE = re.compile(r"[^a-z0-9]+")
_LONGEST = 60


def slug(name: str) -> str:
    """A name as one part of a path. Two names never share one: what was changed carries a hash of the original."""
    plain = _UNSAFE.sub("-", name.lower()).strip("-")[:_LONGEST]
    if plain == name:
        return plain
    return f"{plain or 'x'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def anchor(reviewer: str) -> str:
    """The id of a reviewer's part on the page of a pull request; a cell of the matrix leads there."""
    return f"reviewer-{slug(reviewer)}"


class Links(Protocol):
    """Gives the address of a page, as seen from the page that is being written."""

    @property
    def is_static(self) -> bool:
        """Whether there is no server behind the pages: nothing can be asked, chosen or written then."""
        ...

    def page(self, *parts: str, **query: str) -> str:
        """The page at a path, for example `page("runs", "run-7", "leaderboard")`; parts are slugs."""
        ...

    def picture(self, *parts: str, **query: str) -> str:
        """The picture at a path, without its ending."""
        ...

    def static(self, name: str) -> str:
        """A file of ours, for example `app.css`."""
        ...


@dataclass(frozen=True, slots=True)
class ServedLinks:
    """Paths of the web server."""

    root: str = ""

    @property
    def is_static(self) -> bool:
        """There is a server."""
        return False

    def page(self, *parts: str, **query: str) -> str:
        """A path with its query."""
        return _with(self.root + "/" + "/".join(parts), query)

    def picture(self, *parts: str, **query: str) -> str:
        """A path that ends with `.svg`."""
        return _with(self.root + "/" + "/".join(parts) + ".svg", query)

    def static(self, name: str) -> str:
        """A path below `/static`."""
        return f"{self.root}/static/{name}"


@dataclass(frozen=True, slots=True)
class FileLinks:
    """Files, from a page that lies `depth` folders below the top. A variant of a page lies beside it."""

    depth: int

    @property
    def is_static(self) -> bool:
        """There are only files."""
        return True

    def page(self, *parts: str, **query: str) -> str:
        """A relative path to a file."""
        return self._up() + file_of(parts, query)

    def picture(self, *parts: str, **query: str) -> str:
        """A relative path to a picture."""
        return self._up() + file_of(parts, query, ".svg")

    def static(self, name: str) -> str:
        """A relative path below `static`."""
        return f"{self._up()}static/{name}"

    def _up(self) -> str:
        return "../" * self.depth


def file_of(parts: tuple[str, ...], query: Mapping[str, str], ending: str = ".html") -> str:
    """The file a page lies in, from the top: `runs/run-7/leaderboard.html`, `..._by-language.html` with a query."""
    name = "/".join(parts) or "index"
    chosen = "".join(f"_{slug(key)}-{slug(value)}" for key, value in sorted(query.items()) if value)
    return f"{name}{chosen}{ending}"


def _with(path: str, query: Mapping[str, str]) -> str:
    given = {key: value for key, value in sorted(query.items()) if value}
    return f"{path}?{urlencode(given)}" if given else path
