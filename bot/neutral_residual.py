"""What a fork's trees still give away although nothing that we author does: counted by kind, never hidden.

Whoever has seen the upstream knows it by any blob; these counts say how easily it is recognised without that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

KINDS: Final[Mapping[str, str]] = {
    "blobs": "files, each of which can be looked up by its content",
    "upstream_paths": "paths with the upstream's owner or name in them",
    "upstream_texts": "places where a file names owner/name",
    "name_texts": "places where a file names the upstream's name alone",
    "package_files": "package descriptions, which name the package",
    "copyrights": "copyright lines",
    "licences": "licence, notice and author files",
    "forge_links": "links to GitHub, GitLab, Bitbucket or Codeberg",
    "links": "links to anywhere",
    "addresses": "e-mail addresses",
    "unread": "files too large to be looked into",
}
"""Every kind and what is counted, in the order in which they are shown."""

_PACKAGES: Final = re.compile(
    r"(?:\A|/)(?:package\.json|pyproject\.toml|setup\.(?:py|cfg)|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?"
    r"|composer\.json|mix\.exs|Package\.swift|pubspec\.yaml|meson\.build|vcpkg\.json|[^/]{1,100}\.(?:gemspec|csproj"
    r"|cabal|podspec|nuspec))\Z"
)
_LICENCES: Final = re.compile(
    r"(?:\A|/)(?:licen[cs]es?|copying|notice|authors|contributors|maintainers|credits)(?:[.-][^/]{0,40})?\Z",
    re.IGNORECASE,
)
_COPYRIGHT: Final = re.compile(rb"opyright[^\n]{0,20}?(?:\(c\)|\xc2\xa9|\b(?:19|20)\d\d\b)", re.IGNORECASE)
_FORGE: Final = re.compile(rb"\b(?:github|gitlab|bitbucket|codeberg)\.(?:com|org|io)[/:]", re.IGNORECASE)
_LINK: Final = re.compile(rb"\bhttps?://[^\s/]")
_ADDRESS: Final = re.compile(rb"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}")


class Residual:
    """Counts while blobs pass by, one at a time."""

    def __init__(self, upstream: str | None) -> None:
        self._counts: Counter[str] = Counter()
        self._owner, _, self._name = (upstream or "").casefold().partition("/")
        self._full = f"{self._owner}/{self._name}".encode()
        # As one word: `go` is not named by `good`.
        name = re.escape(self._name.encode())
        self._word = re.compile(rb"(?<![a-z0-9])" + name + rb"(?![a-z0-9])") if self._name else None

    def paths(self, paths: Iterable[str]) -> None:
        """Count what the paths tell."""
        words = [word for word in (self._owner, self._name) if word]
        for path in paths:
            parts = re.split(r"[^a-z0-9]+", path.casefold())
            named = any(f" {' '.join(re.split(r'[^a-z0-9]+', word))} " in f" {' '.join(parts)} " for word in words)
            self._counts["blobs"] += 1
            self._counts["upstream_paths"] += named
            self._counts["package_files"] += bool(_PACKAGES.search(path))
            self._counts["licences"] += bool(_LICENCES.search(path))

    def blob(self, content: bytes) -> None:
        """Count what one file tells. A file with a NUL is no text, and is passed by."""
        if b"\0" in content:
            return
        counts = self._counts
        if b"opyright" in content or b"OPYRIGHT" in content:
            counts["copyrights"] += len(_COPYRIGHT.findall(content))
        if b"://" in content or b"git@" in content:
            counts["links"] += len(_LINK.findall(content))
            counts["forge_links"] += len(_FORGE.findall(content))
        if b"@" in content:
            counts["addresses"] += len(_ADDRESS.findall(content))
        if self._word is not None:
            lower = content.lower()
            full = lower.count(self._full)
            counts["upstream_texts"] += full
            if self._name.encode() in lower:
                counts["name_texts"] += max(0, len(self._word.findall(lower)) - full)

    def unread(self) -> None:
        """Note a file that nobody looked into."""
        self._counts["unread"] += 1

    def counted(self) -> Mapping[str, int]:
        """The counts that are not nought, in the order of `KINDS`."""
        return {kind: self._counts[kind] for kind in KINDS if self._counts[kind]}


TELLING: Final = ("upstream_texts", "upstream_paths", "name_texts", "copyrights", "forge_links", "licences")
"""The kinds that name an origin outright."""


def residual_note(forks: Iterable[Mapping[str, int]]) -> tuple[str, ...]:
    """One sentence about what the forks of a run still give away; none where no file names an origin."""
    total: Counter[str] = Counter()
    for counts in forks:
        total.update({kind: counts.get(kind, 0) for kind in TELLING})
    told = "; ".join(f"{KINDS[kind]}: {total[kind]}" for kind in TELLING if total[kind])
    if not told:
        return ()
    return (f"Nothing that we wrote names where the code comes from, but the files themselves still do: {told}.",)
