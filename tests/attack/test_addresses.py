"""Nobody but the operator says where the App calls, and a token goes to GitHub's own house alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.forks import GitForkBuilder, same_house
from bot.adapters.git_bytes import GitError, checked_url
from bot.adapters.github_client import Client, Fixed, Transport
from bot.adapters.llm import LiteLlm
from bot.composition import judges_of, strip_rules
from bot.model import ForkId, RunId
from bot.ports import GitFailure, ModelError
from bot.ports_github import GitHubError
from bot.registry import load_registry
from bot.registry_entry import Reviewer, Strict
from bot.settings import Settings
from goldens.load import suite_from_text
from goldens.located import SuiteError
from scoring.judges.asks import Ask
from tests.attack.targets import registry
from tests.bot.test_org_suites import text as suite_text

TOKEN = "ghs_" + "a" * 36
GITHUB = ("https", "github.com")


@contextmanager
def listening(status: int = 200, location: str = "") -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that notes the headers of whoever comes."""
    heard: list[dict[str, str]] = []

    class Ear(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            heard.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_POST = do_PUT = _answer

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Ear)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/acme/x.git", "https://github.com.evil.example/x", "http://github.com/acme/x.git",
        "https://github.com:8443/x", "https://127.0.0.1/x", "https://169.254.169.254/latest", "https://[::1]/x",
        "https://github.com@evil.example/x", "ssh://git@github.com/x", "ext::sh -c id", "", "https://",
        "//github.com/x",
        "https://github.com:port/x", "https://api.github.com.evil/x",
    ],
)  # fmt: skip
def test_an_address_that_is_not_of_the_house_gets_no_token(url: str, tmp_path: Path) -> None:
    assert not same_house(url, GITHUB)
    builder = GitForkBuilder(
        tmp_path, upstream="https://github.com", rules=strip_rules(), allow_http=False, token_host="https://github.com"
    )
    for use in (lambda: builder.branches(url, TOKEN), lambda: builder.push(RunId("1-1"), ForkId("a"), url, TOKEN, {})):
        with pytest.raises(GitFailure) as caught:
            use()
        assert "no token is sent there" in str(caught.value)
        assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "house"),
    [
        ("https://github.com/acme/x.git", GITHUB),
        ("https://git.acme.example/acme/x.git", ("https", "git.acme.example")),
        ("https://acme.ghe.com/acme/x.git", ("https", "api.acme.ghe.com")),
        ("http://127.0.0.1:81/acme/x.git", ("http", "127.0.0.1:80")),
        ("file:///srv/x.git", ("http", "127.0.0.1:80")),
    ],
)
def test_the_house_itself_gets_it(url: str, house: tuple[str, str]) -> None:
    assert same_house(url, house)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_of_the_api_takes_no_token_to_another_house(status: int) -> None:
    with (
        listening() as (there, heard_there),
        listening(status, there.replace("127.0.0.1", "localhost") + "/x") as (here, _),
    ):
        client = Client(Transport(here), Fixed(lambda: TOKEN))
        with pytest.raises(GitHubError):
            client.get("/repos/a/b")
        with pytest.raises(GitHubError):
            client.send("POST", "/repos/a/b", {"a": 1})
        assert heard_there == []


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% /tmp/x", "fd::7", "-u./x", "--upload-pack=x", "git://github.com/a/b", "ssh://github.com/a",
        "https://github.com/a\nb", "https://-oProxyCommand=x/a", "file:///etc", "http://169.254.169.254/a",
        "https://user:pw@github.com/a", "https://github.com/a?x", "https://github.com/a#x", "git@github.com:a/b",
        "/etc",
    ],
)  # fmt: skip
def test_git_is_given_no_other_protocol_and_no_option(url: str) -> None:
    with pytest.raises(GitError):
        checked_url(url, allow_http=False, allow_file=False)


MODELS = (
    "huggingface/http://127.0.0.1:9/x", "huggingface/https://evil.example/v1", "oobabooga/https://evil.example",
    "openai/HTTPS://evil.example", "openai/../../x", "replicate/a?b", "cloudflare/a#b", "openai//evil.example/x",
    "http://evil.example/openai/x", "openai/a\\b",
)  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_whoever_asks_for_a_run_cannot_have_a_model_called_at_an_address_of_his(model: str, tmp_path: Path) -> None:
    choose = judges_of(Settings(data_dir=tmp_path))
    for name in (f"litellm:{model}", f"panel:lexical,litellm:{model}"):
        with pytest.raises(ValueError, match="holds an address"):
            choose(name)


def test_and_neither_does_a_call_that_was_planned_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUGGINGFACE_API_KEY", "hf_" + "k" * 30)
    with listening() as (there, heard), pytest.raises(ModelError, match="holds an address"):
        nothing: Any = None
        LiteLlm().complete(Ask("k", f"huggingface/{there}/v1", (), {}, {}, nothing, {}))
    assert heard == []


@pytest.mark.parametrize(
    "name", ["human:/etc/passwd.csv", "human:a.csv", "replay:x", "panel:lexical,human:a.csv", "command:id"]
)
def test_whoever_asks_for_a_run_cannot_have_a_file_of_the_machine_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="judge"):
        judges_of(Settings(data_dir=tmp_path))(name)


@pytest.mark.parametrize(
    "upstream", ["https://evil.example/a/b", "-x/y", "../..", "a/b/c", "a/..", "ext::x/y", "a/b\nc", "file:///etc"]
)
def test_a_suite_names_repositories_and_no_addresses(upstream: str) -> None:
    sha = "0123456789abcdef0123456789abcdef01234567"
    sound = suite_text(base=sha, head=sha[::-1])
    assert suite_from_text(sound, "house.yaml").pulls
    spoiled = sound.replace(b"acme/rates", repr(upstream).replace("'", '"').encode())
    assert spoiled != sound
    with pytest.raises(SuiteError):
        suite_from_text(spoiled, "house.yaml")


def test_no_field_of_a_registry_entry_is_an_address() -> None:
    def names(kind: type[Strict]) -> set[str]:
        return set(kind.model_fields)

    assert not {name for name in names(Reviewer) if "url" in name or "host" in name or "endpoint" in name}
    assert load_registry(("x", "version: 1\nreviewers: []\n")).with_own("version: 1\nreviewers: []\n").reviewers == ()
    assert registry().reviewers
