"""What in a tree a host would refuse, a reviewer could stumble over, or nobody may be given: kinds, rules and verdicts.

Only values come in: listings and the bytes of blobs. What a secret looks like is known by its maker's public format,
so a finding names the kind and the path, and never quotes what was found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MEBIBYTE: Final = 1024 * 1024
WARNED_SIZE: Final = 50 * MEBIBYTE
"""From so many bytes on, the host takes a file but complains."""


class FindingKind(StrEnum):
    """What was found in a tree."""

    LARGE_FILE = "large_file"
    LFS_POINTER = "lfs_pointer"
    SUBMODULE = "submodule"
    SECRET = "secret"  # nosec B105 # the name of a finding
    LINK_OUT = "link_out_of_tree"
    CASE_CLASH = "case_clash"
    HOSTILE_PATH = "hostile_path"


class Verdict(StrEnum):
    """What becomes of the fork."""

    REFUSE = "refuse"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class TreeFinding:
    """One thing found at one path."""

    kind: FindingKind
    verdict: Verdict
    path: str
    detail: str
    """What it means and what was done or is to be done about it."""


@dataclass(frozen=True, slots=True)
class _Secret:
    name: str
    start: bytes
    """Bytes without which there is none: most files are done with after one look for them."""
    pattern: re.Pattern[bytes]


def _secret(name: str, start: bytes, pattern: bytes) -> _Secret:
    return _Secret(name, start, re.compile(rb"(?<![A-Za-z0-9])(?:" + pattern + rb")(?![A-Za-z0-9])"))


_SECRETS: Final = (
    *(_secret("GitHub token", b"gh%c_" % letter, rb"gh%c_[A-Za-z0-9]{36,251}" % letter) for letter in b"pousr"),
    _secret("GitHub token", b"github_pat_", rb"github_pat_[A-Za-z0-9_]{82}"),
    _secret("GitLab token", b"glpat-", rb"glpat-[A-Za-z0-9_-]{20}"),
    *(
        _secret(
            "AWS key with its secret",
            start,
            start + rb"[A-Z0-9]{16}\b[\s\S]{0,200}?(?<![A-Za-z0-9/+])(?=[A-Za-z/+]{0,39}\d)[A-Za-z0-9/+]{40}(?![/+=])",
        )
        for start in (b"AKIA", b"ASIA")
    ),
    _secret("Google API key", b"AIza", rb"AIza[A-Za-z0-9_-]{35}"),
    _secret("Google OAuth secret", b"GOCSPX-", rb"GOCSPX-[A-Za-z0-9_-]{28}"),
    *(_secret("Slack token", b"xox%c-" % one, rb"xox%c-\d{9,14}-[A-Za-z0-9-]{20,250}" % one) for one in b"abprs"),
    _secret(
        "Slack webhook",
        b"hooks.slack.com/services/",
        rb"hooks\.slack\.com/services/T[A-Z0-9]{7,12}/B[A-Z0-9]{7,12}/[A-Za-z0-9]{24}",
    ),
    _secret("Stripe key", b"_live_", rb"[sr]k_live_[A-Za-z0-9]{24,247}"),
    _secret("npm token", b"npm_", rb"npm_[A-Za-z0-9]{36}"),
    _secret("PyPI token", b"pypi-AgE", rb"pypi-AgE[A-Za-z0-9_-]{50,1000}"),
    _secret("SendGrid key", b"SG.", rb"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _secret("OpenAI key", b"T3BlbkFJ", rb"sk-[A-Za-z0-9_-]{16,100}T3BlbkFJ[A-Za-z0-9_-]{16,100}"),
    _secret("Anthropic key", b"sk-ant-", rb"sk-ant-(?:api|admin)\d\d-[A-Za-z0-9_-]{80,110}"),
    _secret("Azure storage key", b"AccountKey=", rb"AccountKey=[A-Za-z0-9+/]{86}=="),
    _secret("DigitalOcean token", b"_v1_", rb"do[opr]_v1_[a-f0-9]{64}"),
    _secret("Hugging Face token", b"hf_", rb"hf_[A-Za-z]{34}"),
    _secret("Databricks token", b"dapi", rb"dapi[a-f0-9]{32}"),
    *(
        _secret("Shopify token", b"shp%s_" % end, rb"shp%s_[a-fA-F0-9]{32}" % end)
        for end in (b"at", b"ca", b"pa", b"ss")
    ),
)


def secrets(content: bytes) -> tuple[str, ...]:
    """The kinds of secrets in a file that push protection is documented to stop."""
    found = (one.name for one in _SECRETS if one.start in content and one.pattern.search(content))
    return tuple(dict.fromkeys(found))


def secret_finding(path: str, kinds: Iterable[str]) -> TreeFinding:
    """A file with what looks like secrets: a warning, because only hosts that look for them refuse it."""
    told = (
        f"it holds what looks like a {' and a '.join(kinds)}: push protection refuses it on public repositories; push "
        "while the fork is private, or leave the pull request out"
    )
    return TreeFinding(FindingKind.SECRET, Verdict.WARN, path, told)


def size_findings(sizes: Iterable[tuple[str, int]], limit: int) -> Iterator[TreeFinding]:
    """Files over the host's limit, and those it complains about."""
    for path, size in sizes:
        if size > limit:
            told = (
                f"it has {size} bytes and the host takes {limit} at most: skip this golden pull request (large-file "
                "storage is not copied)"
            )
            yield TreeFinding(FindingKind.LARGE_FILE, Verdict.REFUSE, path, told)
        elif size > WARNED_SIZE:
            yield TreeFinding(FindingKind.LARGE_FILE, Verdict.WARN, path, f"it has {size} bytes; the host complains")


def clash_findings(paths: Iterable[str]) -> Iterator[TreeFinding]:
    """Paths of one tree that are the same where case or the form of accents does not count."""
    first: dict[str, str] = {}
    for path in paths:
        for place in (*_folders(path), path):
            known = first.setdefault(unicodedata.normalize("NFC", place).casefold(), place)
            if known != place:
                told = f"it is {known[:200]!r} where case does not count: such a checkout holds only one of them"
                yield TreeFinding(FindingKind.CASE_CLASH, Verdict.WARN, place, told)


def _folders(path: str) -> Iterator[str]:
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
