"""What goes into git and what comes out, as bytes and values: streams, listings, addresses, environments. No I/O."""

from __future__ import annotations

import base64
import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from bot.model import Sha
from bot.neutral_preflight import TreeFinding
from bot.neutral_push import PushKind

SHA: Final = re.compile(r"[0-9a-f]{40}")
_URL_CHARACTERS: Final = re.compile(r"[A-Za-z0-9._~:/\[\]@!$&'()*+,;=%-]{1,2000}")
_HFS_IGNORED: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_DOTGIT: Final = re.compile(r"\.git[ .]*(?::.*)?|git~1[ .]*(?::.*)?", re.IGNORECASE)
_LONGEST_NAME: Final = 255
_LONGEST_PATH: Final = 4000


class GitKind(StrEnum):
    """What went wrong where no remote refused us; refusals are `PushKind`."""

    BAD_INPUT = "bad_input"
    NO_GIT = "no_git"
    BUSY = "busy"
    MISSING_COMMIT = "missing_commit"
    REFUSED_TREE = "refused_tree"
    TIMEOUT = "timeout"
    OUTPUT_LIMIT = "output_limit"
    UNPROVEN = "unproven"
    FAILED = "failed"


class GitError(Exception):
    """Git could not do what was asked. The message is fit for a reader: no token, no control characters."""

    def __init__(
        self,
        kind: GitKind | PushKind,
        message: str,
        retryable: bool = False,
        findings: tuple[TreeFinding, ...] = (),
    ) -> None:
        super().__init__(kind, message, retryable)
        self.findings = findings
        """What the trees were found to hold, where that is why."""
        self.kind = kind
        self.message = message
        self.retryable = retryable

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a tree, as `git ls-tree -r -l -z` lists it."""

    mode: str
    sha: str
    size: int
    """0 for what has none (a submodule)."""
    path: str


# --- addresses --------------------------------------------------------------------------------------------------


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked_url(url: str, *, allow_http: bool, allow_file: bool) -> str:
    """The address itself, if git may be given it.

    Raises:
        GitError: another protocol than allowed, user information, a query, or anything git could read as an option.
    """
    parts = urlsplit(url) if _URL_CHARACTERS.fullmatch(url) else None
    scheme = parts.scheme if parts else ""
    if parts is None or not scheme or url.startswith("-") or "@" in parts.netloc:
        raise GitError(GitKind.BAD_INPUT, f"{redacted(url)!r} is no address git may use; write https://host/owner/name")
    plain = scheme == "http" and (allow_http or _loopback(parts.hostname or ""))
    if scheme == "file" and allow_file and not parts.netloc and parts.path.startswith("/"):
        return url
    if (scheme == "https" or plain) and parts.hostname and not parts.hostname.startswith("-"):
        return url
    raise GitError(GitKind.BAD_INPUT, f"{redacted(url)!r}: git may use https only (http on loopback, file if set up)")


# --- secrets and the environment --------------------------------------------------------------------------------

_SECRETS: Final = (
    (re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9._-]{10,}|github_pat_\w{10,})"), "[token]"),
    (re.compile(r"(?i)\b(authorization:\s{0,3}\w{1,20}\s{1,3})\S{1,4000}"), r"\1[token]"),
    (re.compile(r"(?i)(\w{1,20}://)[^/\s@]{1,4000}@"), r"\1[token]@"),
    (re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,8000}"), "[key]"),
)


def _basic(token: str) -> str:
    return base64.b64encode(f"x-access-token:{token}".encode()).decode("ascii")


def redacted(text: str, token: str | None = None) -> str:
    """The text without the token in any of its forms, and without whatever looks like one."""
    if token:
        text = text.replace(token, "[token]").replace(_basic(token), "[token]")
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


_INHERITED: Final = (
    "PATH", "TMPDIR", "SYSTEMROOT", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
    "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
)  # fmt: skip
_FIXED: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PROTOCOL_FROM_USER": "0",
    "LC_ALL": "C",
    "TZ": "UTC",
}
_CONFIG: Final = {
    "advice.pushUpdateRejected": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.logAllRefUpdates": "false",
    "credential.helper": "",
    "fetch.fsckObjects": "true",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    # A push of ordinary size goes out in one piece with its length, which every server and proxy understands.
    "http.postBuffer": str(32 * 1024 * 1024),
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "protocol.https.allow": "always",
    "push.recurseSubmodules": "no",
    "submodule.recurse": "false",
    "transfer.credentialsInUrl": "die",
    "transfer.fsckObjects": "true",
}


def _network(url: str, token: str | None) -> dict[str, str]:
    parts = urlsplit(url)
    config = {f"protocol.{parts.scheme}.allow": "always"}
    if token is None or parts.scheme == "file":
        return config
    if not token.isascii() or not token.isprintable() or " " in token:
        raise GitError(PushKind.AUTH, "the token holds characters that no token has")
    # Bound to the host, and never carried along by a redirect.
    header = {f"http.{parts.scheme}://{parts.netloc}/.extraHeader": f"Authorization: Basic {_basic(token)}"}
    return config | header | {"http.followRedirects": "false"}


def environment(inherited: Mapping[str, str], home: str, *, url: str | None, token: str | None) -> dict[str, str]:
    """The whole environment of one git process: an allow-list, our fixed settings, and the token if there is one.

    Settings travel as `GIT_CONFIG_*`, so that they are on no command line and in no file.
    """
    config = _CONFIG | (_network(url, token) if url else {})
    kept = {name: inherited[name] for name in _INHERITED if name in inherited}
    bypass = [inherited.get("no_proxy") or inherited.get("NO_PROXY", ""), "localhost", "127.0.0.1", "::1"]
    numbered = {"GIT_CONFIG_COUNT": str(len(config))}
    for index, (key, value) in enumerate(config.items()):
        numbered |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    protocols = ":".join(["https", urlsplit(url).scheme] if url else ["https"])
    return (
        kept
        | _FIXED
        | numbered
        | {"HOME": home, "XDG_CONFIG_HOME": home, "no_proxy": ",".join(filter(None, bypass))}
        | {"GIT_ALLOW_PROTOCOL": protocols}
    )


# --- paths ------------------------------------------------------------------------------------------------------


def _name_problem(name: str) -> str | None:
    if name in ("", ".", ".."):
        return "has an empty, `.` or `..` part"
    if len(name.encode("utf-8", "surrogateescape")) > _LONGEST_NAME:
        return f"has a name of more than {_LONGEST_NAME} bytes"
    if any(_DOTGIT.fullmatch(_HFS_IGNORED.sub("", part)) for part in name.split("\\")):
        return "reaches into .git"
    return None


def path_problem(path: str) -> str | None:
    """What is wrong with a path in a tree; None if git and every file system can be given it."""
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "holds text that is not Unicode"
    if b"\0" in raw or len(raw) > _LONGEST_PATH:
        return f"holds a NUL or more than {_LONGEST_PATH} bytes"
    return next(filter(None, map(_name_problem, path.split("/"))), None)


def check_paths(paths: Iterable[str]) -> None:
    """Make sure that these paths can be one tree.

    Raises:
        GitError: one of them cannot be in a tree, or is both a file and a folder.
    """
    files = set(paths)
    for path in sorted(files):
        problem = path_problem(path)
        if problem is None and any(path[:at] in files for at in range(len(path)) if path[at] == "/"):
            problem = "lies under what is itself a file"
        if problem:
            raise GitError(GitKind.BAD_INPUT, f"{path[:200]!r} {problem}")


def escapes(path: str, target: str) -> bool:
    """Whether a symbolic link leads out of the tree, as far as its text tells."""
    if target.startswith("/") or "\0" in target or not target:
        return True
    depth = path.count("/")
    for part in target.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False


# --- streams and listings ---------------------------------------------------------------------------------------


def quoted_path(path: str) -> bytes:
    """A path as git's C-style quoting writes it; safe in a line-based stream whatever it holds."""
    out = bytearray(b'"')
    for byte in path.encode("utf-8", "surrogateescape"):
        out += b"\\%03o" % byte if byte < 0x20 or byte in b'"\\' or byte == 0x7F else bytes([byte])
    return bytes(out + b'"')


def _person(name: str, email: str, date: datetime) -> bytes:
    if not re.fullmatch(r"[^<>\x00-\x1f]{1,100}", name) or not re.fullmatch(r"[^<>\s\x00-\x1f]{3,100}", email):
        raise GitError(GitKind.BAD_INPUT, f"{name!r} <{email!r}> cannot be the author of a commit")
    if date.utcoffset() is None:
        raise GitError(GitKind.BAD_INPUT, f"the commit date {date.isoformat()} has no time zone")
    return f"{name} <{email}> {int(date.timestamp())} +0000".encode()


@dataclass(frozen=True, slots=True)
class NewCommit:
    """One commit to make: either from files, or from a tree that is there already."""

    ref: str
    message: str
    author: str
    email: str
    date: datetime
    files: Mapping[str, bytes] | None = None
    tree: Sha | None = None
    parent: str | None = None
    """The ref of a commit earlier in the same stream."""


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _message(text: str) -> bytes:
    if "\0" in text or not text.strip():
        raise GitError(GitKind.BAD_INPUT, "a commit message is empty or holds a NUL")
    return text.rstrip("\n").encode("utf-8", "replace") + b"\n"


def import_stream(commits: Iterable[NewCommit]) -> bytes:
    """The commits as `git fast-import` reads them: one process for all blobs, trees and commits of a fork."""
    out = [b"feature done\n"]
    for commit in commits:
        person = _person(commit.author, commit.email, commit.date)
        out.append(b"commit %s\nauthor %s\ncommitter %s\n" % (commit.ref.encode("ascii"), person, person))
        out.append(_data(_message(commit.message)))
        if commit.parent:
            out.append(b"from %s\n" % commit.parent.encode("ascii"))
        out.append(b"deleteall\n")
        if commit.tree:
            out.append(b'M 040000 %s ""\n' % commit.tree.encode("ascii"))
        for path, content in sorted((commit.files or {}).items()):
            out += (b"M 100644 inline %s\n" % quoted_path(path), _data(content))
    out.append(b"done\n")
    return b"".join(out)


def tree_entries(listing: bytes) -> tuple[Entry, ...]:
    """The output of `git ls-tree -r -l -z`."""
    entries = []
    for line in listing.split(b"\0")[:-1]:
        meta, _, path = line.partition(b"\t")
        mode, _, sha, size = meta.split()
        count = int(size) if size != b"-" else 0
        entries.append(Entry(mode.decode("ascii"), sha.decode("ascii"), count, path.decode("utf-8", "surrogateescape")))
    return tuple(entries)


def blobs(batch: bytes) -> tuple[bytes, ...]:
    """The output of `git cat-file --batch`, in the order asked.

    Raises:
        GitError: an object is missing.
    """
    contents, at = [], 0
    while at < len(batch):
        end = batch.index(b"\n", at)
        header = batch[at:end].split()
        if len(header) != 3:
            raise GitError(GitKind.FAILED, f"object {header[0].decode('ascii', 'replace')} is missing", True)
        start, size = end + 1, int(header[2])
        contents.append(batch[start : start + size])
        at = start + size + 1
    return tuple(contents)
