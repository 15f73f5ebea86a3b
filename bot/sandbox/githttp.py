"""git over smart HTTP: `git http-backend` behind GitHub's rules about who may read and push what."""

from __future__ import annotations

import gzip
import re
import subprocess
import tempfile
import threading
import zlib
from dataclasses import dataclass
from pathlib import Path

from werkzeug.wrappers import Request, Response

from bot.sandbox import access, gitstore, pushing
from bot.sandbox.errors import ApiError
from bot.sandbox.faults import Faults
from bot.sandbox.pushing import RefChange
from bot.sandbox.roles import at_least, role_of
from bot.sandbox.routing import Caller
from bot.sandbox.state import Account, Repo
from bot.sandbox.world import World

PATH = re.compile(
    r"/(?P<owner>[\w.-]+)/(?P<repo>[\w.-]+?)(?:\.git)?/(?P<file>info/refs|git-upload-pack|git-receive-pack)"
)
_READ = (("contents", "read"),)
_WORKFLOWS = ".github/workflows/"
_SIDE_BAND = 65515


@dataclass(frozen=True, slots=True)
class Push:
    """The head of a push: which refs shall move, and what the client understands."""

    changes: tuple[RefChange, ...]
    capabilities: frozenset[str]
    pack: bytes


def read_push(body: bytes) -> Push:
    """Read the commands before the pack."""
    changes: list[RefChange] = []
    capabilities: frozenset[str] = frozenset()
    at = 0
    while at + 4 <= len(body):
        size = int(body[at : at + 4], 16)
        if size == 0:
            at += 4
            break
        line, _, words = body[at + 4 : at + size].partition(b"\0")
        if words:
            capabilities = frozenset(words.decode("utf-8", "replace").split())
        at += size
        if line.startswith(b"shallow "):
            # A client whose history ends somewhere says where, before its commands.
            continue
        old, new, ref = line.decode("utf-8", "replace").rstrip("\n").split(" ", 2)
        changes.append(RefChange(ref, old, new))
    return Push(tuple(changes), capabilities, body[at:])


def _packet(data: bytes) -> bytes:
    return f"{len(data) + 4:04x}".encode() + data


def refusal(push: Push, text: str, reason: str) -> bytes:
    """A report that unpacking went well and every ref was declined."""
    lines = [b"unpack ok\n", *(f"ng {change.ref} {reason}\n".encode() for change in push.changes)]
    report = b"".join(_packet(line) for line in lines) + b"0000"
    if "side-band-64k" not in push.capabilities:
        return report
    told = b"".join(_packet(b"\x02" + line.encode() + b"\n") for line in text.splitlines())
    chunks = [report[at : at + _SIDE_BAND] for at in range(0, len(report), _SIDE_BAND)]
    return told + b"".join(_packet(b"\x01" + chunk) for chunk in chunks) + b"0000"


class GitHttp:
    """Serves clones, fetches and pushes."""

    def __init__(self, world: World, faults: Faults) -> None:
        self._world = world
        self._faults = faults
        self._pushing: dict[int, threading.Lock] = {}

    def serve(self, request: Request, owner: str, name: str, file: str) -> Response:
        """One request of a git client."""
        service = request.args.get("service", "") if file == "info/refs" else file
        writing = service == "git-receive-pack"
        try:
            with self._world.lock:
                caller = access.identify(self._world, request.headers.get("Authorization"))
                repo = self._open(owner, name, caller, writing=writing)
        except ApiError as refused:
            headers = {"WWW-Authenticate": 'Basic realm="GitHub"'} if refused.status == 401 else {}
            return Response(refused.message + "\n", refused.status, headers, content_type="text/plain")
        body = _body(request)
        if file == "git-receive-pack" and caller.account is not None:
            return self._receive(request, repo, caller, caller.account, body)
        return _backend(request, repo, file, caller, body)

    def _open(self, owner: str, name: str, caller: Caller, *, writing: bool) -> Repo:
        repo = self._world.repos.get(f"{owner}/{name}".lower())
        if caller.app is not None:
            raise ApiError(401, "Invalid username or token.")
        if caller.token is None and (writing or repo is None or repo.private):
            raise ApiError(401, "Repository not found.")
        if repo is None or not access.sees(repo, caller):
            raise ApiError(404, "Repository not found.")
        if writing:
            self._may_push(repo, caller)
        elif caller.token and caller.installation and repo.private and not access.granted(caller.token, _READ):
            raise ApiError(403, "Read access to repository not granted.")
        return repo

    def _may_push(self, repo: Repo, caller: Caller) -> None:
        if caller.token and caller.installation:
            covered = access.token_covers(caller.token, caller.installation, repo)
            allowed = covered and access.granted(caller.token, (("contents", "write"),))
        else:
            allowed = at_least(role_of(repo, caller.account), "write")
        if not allowed:
            raise ApiError(403, "Write access to repository not granted.")
        if repo.archived:
            raise ApiError(403, "This repository was archived so it is read-only.")

    # --- pushes -----------------------------------------------------------------------------------------------

    def _receive(self, request: Request, repo: Repo, caller: Caller, pusher: Account, body: bytes) -> Response:
        push = read_push(body)
        with self._world.lock:
            lock = self._pushing.setdefault(repo.id, threading.Lock())
        with lock:
            problem = self._inspect(repo, caller, push)
            if problem is not None:
                kind = "application/x-git-receive-pack-result"
                return Response(refusal(push, *problem), 200, content_type=kind)
            answer = _backend(request, repo, "git-receive-pack", caller, body)
            now = gitstore.refs(repo.path)
            moved = [one for one in push.changes if now.get(one.ref, gitstore.ZERO) == one.new and one.old != one.new]
            with self._world.lock:
                pushing.apply(self._world, repo, pusher, moved)
        return answer

    def _inspect(self, repo: Repo, caller: Caller, push: Push) -> tuple[str, str] | None:
        """What is to be said, and the reason per ref, if the push is refused."""
        fault = self._faults.on_request("push_refusal", "POST", repo.full_name)
        if fault is not None:
            return fault.message, "push declined due to repository rule violations"
        pattern = self._world.secret_pattern if not repo.private and repo.push_protection else None
        limited = (
            caller.token is not None
            and caller.installation is not None
            and (not access.granted(caller.token, (("workflows", "write"),)))
        )
        if not push.pack or not (pattern or limited):
            return None
        with tempfile.TemporaryDirectory() as scratch:
            extra = _quarantine(repo, Path(scratch), push.pack)
            return (_workflow_problem(repo, push, extra) if limited else None) or (
                _secret_problem(repo, push, extra, pattern) if pattern else None
            )


def _quarantine(repo: Repo, scratch: Path, pack: bytes) -> dict[str, str]:
    (scratch / "pack").mkdir()
    alternates = str(repo.path / "objects")
    extra = {"GIT_OBJECT_DIRECTORY": str(scratch), "GIT_ALTERNATE_OBJECT_DIRECTORIES": alternates}
    gitstore.run(repo.path, "index-pack", "--stdin", "--fix-thin", stdin=pack, extra=extra)
    return extra


def _workflows(repo: Repo, commit: str, extra: dict[str, str] | None = None) -> set[tuple[str, str]]:
    listed = gitstore.run(repo.path, "ls-tree", "-r", "-z", commit, "--", _WORKFLOWS, extra=extra)
    entries = [line.decode("utf-8", "replace") for line in listed.split(b"\0") if line]
    return {(entry.partition("\t")[2], entry.split()[2]) for entry in entries}


def _workflow_problem(repo: Repo, push: Push, extra: dict[str, str]) -> tuple[str, str] | None:
    known = {pair for sha in set(gitstore.refs(repo.path, "refs/heads/").values()) for pair in _workflows(repo, sha)}
    for change in push.changes:
        if change.new == gitstore.ZERO:
            continue
        for path, _ in sorted(_workflows(repo, change.new, extra) - known):
            return "", (
                f"refusing to allow a GitHub App to create or update workflow `{path}` without `workflows` permission"
            )
    return None


def _secret_problem(
    repo: Repo, push: Push, extra: dict[str, str], pattern: re.Pattern[bytes]
) -> tuple[str, str] | None:
    wanted = [change.new for change in push.changes if change.new != gitstore.ZERO]
    listed = gitstore.run(repo.path, "rev-list", "--objects", *wanted, "--not", "--all", extra=extra).decode()
    for line in listed.splitlines():
        sha, _, path = line.partition(" ")
        if path and pattern.search(_blob(repo, sha, extra)):
            return _PROTECTED.replace("PATH", path), "push declined due to repository rule violations"
    return None


def _blob(repo: Repo, sha: str, extra: dict[str, str]) -> bytes:
    kind = gitstore.run(repo.path, "cat-file", "-t", sha, extra=extra).strip()
    return gitstore.run(repo.path, "cat-file", "blob", sha, extra=extra) if kind == b"blob" else b""


_PROTECTED = """error: GH013: Repository rule violations found for the pushed refs.

- GITHUB PUSH PROTECTION
  Resolve the following violations before pushing again

  - Push cannot contain secrets

    path: PATH
"""


def _body(request: Request) -> bytes:
    data = request.get_data(cache=False)
    if request.headers.get("Content-Encoding") in {"gzip", "x-gzip"}:
        try:
            return gzip.decompress(data)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            return b""
    return data


def _backend(request: Request, repo: Repo, file: str, caller: Caller, body: bytes) -> Response:
    extra = {
        "GIT_PROJECT_ROOT": str(repo.path),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{file}",
        "QUERY_STRING": request.query_string.decode("ascii", "replace"),
        "REQUEST_METHOD": request.method,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "REMOTE_ADDR": "127.0.0.1",
    }
    if caller.account is not None:
        extra["REMOTE_USER"] = caller.account.login
    if request.headers.get("Git-Protocol"):
        extra["GIT_PROTOCOL"] = request.headers["Git-Protocol"]
    done = subprocess.run(  # nosec B603 B607 # the machine's git, without a word from outside
        ["git", "http-backend"], input=body, capture_output=True, env=gitstore.environment(extra), check=False
    )
    head, _, rest = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if ": " in line)
    status = int(headers.pop("Status", "200").split()[0]) if head else 500
    return Response(rest, status, headers)
