"""Pushing and listing over real HTTP: only the server sees the token, and nothing is overwritten."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from bot.adapters.git import Git, GitError, GitKind
from bot.adapters.git_bytes import checked_url, environment, redacted
from bot.model import Sha
from bot.neutral import PushKind
from bot.ports import ForkCommits
from tests.bot.test_git_adapter_files import BASE, HEAD, build

TOKEN = "ghs_" + "12345_eyJhbGciOi.J9" * 25
BASIC = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
GIT = Git()


@dataclass
class Host:
    """A git host on loopback: git's own http-backend behind a token, watching who else can read it."""

    root: Path
    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """(path with query, Authorization header) of each."""
    command_lines: set[bytes] = field(default_factory=set)
    """Every process's arguments at the moment of each authorised request, while git waits for the answer."""
    answer: tuple[int, str] | None = None
    """A status to give instead, with a Location."""

    def watch(self) -> None:
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.command_lines.add(process.read_bytes())
            except OSError:
                continue


class _Handler(BaseHTTPRequestHandler):
    host: Host

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _status(self) -> int:
        self.host.requests.append((self.path, self.headers.get("Authorization", "")))
        if self.host.answer:
            return self.host.answer[0]
        return 200 if self.headers.get("Authorization") == f"Basic {BASIC}" else 401

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status = self._status()
        if status != 200:
            self.send_response(status)
            self.send_header("WWW-Authenticate", "Basic")
            self.send_header("Location", self.host.answer[1] if self.host.answer else "")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.host.watch()
        head, _, content = self._backend(body).partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def _backend(self, body: bytes) -> bytes:
        path, _, query = self.path.partition("?")
        env = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.host.root), "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": "x",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }  # fmt: skip
        return subprocess.run(["git", "http-backend"], env=env, input=body, check=True, capture_output=True).stdout


@contextmanager
def serving(root: Path) -> Iterator[Host]:
    host = Host(root)
    handler = type("Handler", (_Handler,), {"host": host})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        host.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield host
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    root = tmp_path / "host"
    for name in ("fork", "other"):
        (root / "o").mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "-q", "--bare", str(root / "o" / f"{name}.git")], check=True)
        subprocess.run(["git", "-C", str(root / "o" / f"{name}.git"), "config", "http.receivepack", "true"], check=True)
    with serving(root) as served:
        yield served


@pytest.fixture
def made(tmp_path: Path) -> ForkCommits:
    return build(tmp_path / "w", BASE, HEAD)


def refs_of(made: ForkCommits) -> dict[str, Sha]:
    return {"main": made.base_sha, "update/calm-bay": made.head_sha}


def pushes(host: Host) -> int:
    return sum(path.endswith("git-receive-pack") and "?" not in path for path, _ in host.requests)


def test_a_push_creates_two_branches_once_and_repeated_does_nothing(
    tmp_path: Path, host: Host, made: ForkCommits
) -> None:
    url, refs = f"{host.url}/o/fork.git", refs_of(made)
    assert GIT.ls_remote(url, TOKEN) == {}
    assert GIT.push(tmp_path / "w", url, TOKEN, refs) == ("main", "update/calm-bay")
    assert GIT.ls_remote(url, TOKEN) == refs
    assert GIT.push(tmp_path / "w", url, TOKEN, refs) == () and pushes(host) == 1
    assert GIT.push(tmp_path / "nothing-here", url, TOKEN, refs) == (), "what is there needs no working directory"


def test_half_a_push_is_completed(tmp_path: Path, host: Host, made: ForkCommits) -> None:
    url = f"{host.url}/o/fork.git"
    GIT.push(tmp_path / "w", url, TOKEN, {"main": made.base_sha})
    assert GIT.push(tmp_path / "w", url, TOKEN, refs_of(made)) == ("update/calm-bay",)
    assert GIT.ls_remote(url, TOKEN) == refs_of(made)


def test_a_branch_at_another_commit_is_never_overwritten(tmp_path: Path, host: Host, made: ForkCommits) -> None:
    url = f"{host.url}/o/fork.git"
    GIT.push(tmp_path / "w", url, TOKEN, {"main": made.base_sha})
    with pytest.raises(GitError, match=r"^main: .*not overwritten") as caught:
        GIT.push(tmp_path / "w", url, TOKEN, {"main": made.head_sha, "update/x": made.head_sha})
    assert caught.value.kind is PushKind.CONFLICT and not caught.value.retryable
    assert GIT.ls_remote(url, TOKEN) == {"main": made.base_sha}


def test_a_branch_made_between_the_look_and_the_push_is_not_overwritten(
    tmp_path: Path, host: Host, made: ForkCommits
) -> None:
    url = f"{host.url}/o/fork.git"
    GIT.push(tmp_path / "w", url, TOKEN, {"main": made.base_sha})
    with pytest.raises(GitError) as caught:
        GIT._create(tmp_path / "w", url, TOKEN, {"main": made.head_sha})
    assert caught.value.kind is PushKind.CONFLICT
    assert GIT.ls_remote(url, TOKEN) == {"main": made.base_sha}


def test_the_token_is_in_no_command_line_no_file_and_no_url(tmp_path: Path, host: Host, made: ForkCommits) -> None:
    GIT.push(tmp_path / "w", f"{host.url}/o/fork.git", TOKEN, refs_of(made))
    assert any(b"git-remote-http" in line or b"remote-http" in line for line in host.command_lines), "git was seen"
    secrets = (TOKEN.encode(), BASIC.encode())
    assert not [line for line in host.command_lines if any(secret in line for secret in secrets)]
    assert not [path for path, _ in host.requests if TOKEN in path]
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files and not [file for file in files if any(secret in file.read_bytes() for secret in secrets)]


@pytest.mark.parametrize("secret", [TOKEN, "a-token-of-no-known-form"])
def test_a_refused_token_is_an_error_that_does_not_hold_it(
    tmp_path: Path, host: Host, made: ForkCommits, secret: str
) -> None:
    host.answer = (403, "")
    with pytest.raises(GitError) as caught:
        GIT.push(tmp_path / "w", f"{host.url}/o/fork.git", secret, refs_of(made))
    assert caught.value.kind is PushKind.AUTH and not caught.value.retryable
    assert secret not in repr(caught.value) + str(caught.value)
    host.answer = None
    with pytest.raises(GitError) as nobody:
        GIT.ls_remote(f"{host.url}/o/fork.git", "wrong")
    assert nobody.value.kind is PushKind.AUTH


def test_the_token_does_not_follow_a_redirect(tmp_path: Path, host: Host, made: ForkCommits) -> None:
    with serving(tmp_path / "host") as elsewhere:
        host.answer = (301, f"{elsewhere.url}/o/fork.git/info/refs?service=git-upload-pack")
        with pytest.raises(GitError):
            GIT.ls_remote(f"{host.url}/o/fork.git", TOKEN)
        assert elsewhere.requests == []


@pytest.mark.parametrize(("status", "kind"), [(502, PushKind.NETWORK), (404, PushKind.NOT_FOUND)])
def test_what_may_pass_is_retryable(host: Host, status: int, kind: PushKind) -> None:
    host.answer = (status, "")
    with pytest.raises(GitError) as caught:
        GIT.ls_remote(f"{host.url}/o/fork.git", TOKEN)
    assert (caught.value.kind, caught.value.retryable) == (kind, True)


def test_a_host_that_is_not_there_is_retryable() -> None:
    with pytest.raises(GitError) as caught:
        GIT.ls_remote("http://127.0.0.1:9/o/fork.git", TOKEN)
    assert caught.value.kind is PushKind.NETWORK and caught.value.retryable


def test_a_push_of_what_is_not_built_says_to_build_it(tmp_path: Path, host: Host, made: ForkCommits) -> None:
    with pytest.raises(GitError, match="remake it") as caught:
        GIT.push(tmp_path / "elsewhere", f"{host.url}/o/fork.git", TOKEN, refs_of(made))
    assert caught.value.kind is GitKind.MISSING_COMMIT


def test_a_refusal_of_the_host_is_explained(tmp_path: Path, host: Host, made: ForkCommits) -> None:
    hook = tmp_path / "host" / "o" / "fork.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\necho 'error: GH013: Repository rule violations found' >&2\n"
        "echo '  - Push cannot contain secrets' >&2\necho '   path: fixtures/key.pem:3' >&2\nexit 1\n"
    )
    hook.chmod(0o755)
    with pytest.raises(GitError, match=r"looks like a secret.*fixtures/key\.pem:3") as caught:
        GIT.push(tmp_path / "w", f"{host.url}/o/fork.git", TOKEN, refs_of(made))
    assert caught.value.kind is PushKind.PUSH_PROTECTION
    assert GIT.ls_remote(f"{host.url}/o/fork.git", TOKEN) == {}


@pytest.mark.parametrize(
    "branch",
    [
        "",
        "-f",
        "--delete",
        "a b",
        "a..b",
        "a:b",
        "a~1",
        "a^",
        "a.lock",
        "/a",
        "a/",
        "a//b",
        "@{u}",
        "a\\b",
        "a\nb",
        ".a",
        "*",
    ],
)
def test_a_branch_name_that_git_could_misread_is_refused(branch: str, tmp_path: Path, made: ForkCommits) -> None:
    with pytest.raises(GitError, match="no branch name"):
        GIT.push(tmp_path / "w", "http://127.0.0.1:9/o/fork.git", TOKEN, {branch: made.base_sha})


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c id", "ext::id%", "--upload-pack=id", "-u./x", "ssh://host/o/r", "git://host/o/r", "git@host:o/r",
     "/srv/r.git", "file:///srv/r.git", "http://host.example/o/r.git", "https://user:pw@host/o/r.git", "https://x@host/o/r",
     "https://", "https:///o/r", "https://host/o/r\n--upload-pack=id", "https://host/o r", "ftp://host/x", "",
     "transport::https://host/x", "http://localhost.evil.example/x", "http://127.0.0.1.evil.example/x",
     "https://-oProxyCommand=id/x", "https://host/o?x#y"],
)  # fmt: skip
def test_an_address_that_is_no_plain_https_is_refused_before_git_sees_it(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for call in (lambda: GIT.ls_remote(url, TOKEN), lambda: GIT.push(tmp_path, url, TOKEN, {})):
        with pytest.raises(GitError) as caught:
            call()
        assert caught.value.kind is GitKind.BAD_INPUT and "pw" not in str(caught.value)


def test_a_protocol_that_was_not_asked_for_is_refused_by_git_as_well(tmp_path: Path, made: ForkCommits) -> None:
    marker = tmp_path / "ran"
    with pytest.raises(GitError, match="not allowed"):
        Git()._run(("ls-remote", "--", f"ext::touch {marker}"), url="https://host.example/")
    assert not marker.exists()


def test_only_loopback_may_be_plain_http_unless_set_up() -> None:
    for url in (
        "http://127.0.0.1:8080/o/r.git",
        "http://localhost/o/r.git",
        "http://[::1]:80/o/r",
        "https://h.example/o/r",
    ):
        assert checked_url(url, allow_http=False, allow_file=False) == url
    assert checked_url("http://h.example/x", allow_http=True, allow_file=False)
    assert checked_url("file:///srv/m%20x", allow_http=False, allow_file=True)
    for url in ("file://host/srv", "file:relative"):
        with pytest.raises(GitError):
            checked_url(url, allow_http=True, allow_file=True)


@pytest.mark.parametrize("token", ["a b", "a\nX-Evil: 1", "a\r", "\u00e9", "a\0"])
def test_a_token_cannot_add_a_header(token: str) -> None:
    with pytest.raises(GitError, match="the token holds characters"):
        GIT.ls_remote("http://127.0.0.1:9/o/r.git", token)


def test_git_sees_only_what_is_on_the_list() -> None:
    outside = {
        "PATH": "/bin", "GIT_SSH_COMMAND": "id", "GIT_ASKPASS": "id", "ASSAY_AUTHOR_TOKEN": "t", "GIT_TRACE_CURL": "1",
        "GIT_CONFIG_PARAMETERS": "'core.hooksPath'='/x'", "LD_PRELOAD": "x", "https_proxy": "http://p:1",
    }  # fmt: skip
    env = environment(outside, "/h", url="https://host.example/o/r", token="abc")
    assert {key for key in env if key in outside} == {"PATH", "https_proxy"}
    assert (env["HOME"], env["GIT_TERMINAL_PROMPT"], env["GIT_CONFIG_GLOBAL"]) == ("/h", "0", os.devnull)
    assert "127.0.0.1" in env["no_proxy"] and env["GIT_ALLOW_PROTOCOL"] == "https:https"
    config = {env[f"GIT_CONFIG_KEY_{i}"]: env[f"GIT_CONFIG_VALUE_{i}"] for i in range(int(env["GIT_CONFIG_COUNT"]))}
    assert config["core.hooksPath"] == os.devnull and config["protocol.allow"] == "never"
    assert [key for key in config if key.endswith("extraHeader")] == ["http.https://host.example/.extraHeader"]
    assert "extraHeader" not in str(environment(outside, "/h", url="file:///x", token="abc"))


def test_whatever_looks_like_a_secret_is_taken_out_of_what_git_says() -> None:
    said = (
        f"a {TOKEN} b {BASIC} c https://user:hunter2@host/x Authorization: Basic abc== github_pat_11ABCDEFG0_xyz "
        "gho_abcdefghij1234 opaque-7"
    )
    shown = redacted(said, "opaque-7")
    for secret in (TOKEN, "hunter2", "abc==", "github_pat_11", "gho_", "opaque-7"):
        assert secret not in shown
    assert BASIC not in redacted(said, TOKEN)
