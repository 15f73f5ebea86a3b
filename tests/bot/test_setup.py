"""Registering the App as a person with a browser does, and what becomes of `.env`."""

from __future__ import annotations

import html
import json
import os
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner, Result

from bot import setup_env
from bot.adapters.github_permissions import needed
from bot.cli import cli
from bot.issue_form import FORM_PATH
from bot.sandbox.server import Sandbox
from bot.settings import load_settings
from bot.setup_flow import Door
from bot.setup_manifest import LONGEST_NAME, Wanted, manifest, proposed_name
from bot.webhooks import EVENTS
from tests.bot.hub import Hub, hub

_INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")


@pytest.fixture
def gh(tmp_path: Path) -> Iterator[Sandbox]:
    with Sandbox(tmp_path / "github") as made:
        made.create_user("alice")
        made.create_org("acme", owner="alice")
        yield made


class Setup:
    """`assay setup` as a process, and the person who waits for its page."""

    def __init__(self, folder: Path, gh: Sandbox, *args: str, env: Mapping[str, str] | None = None) -> None:
        own = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bot", "setup", "--no-browser", *args],
            cwd=folder,
            env={**own, "ASSAY_GITHUB_API_URL": gh.url, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # A process that never says its address would keep the test waiting for it.
        self._watch = threading.Timer(60, self.process.kill)
        self._watch.start()
        assert self.process.stderr is not None
        self.address = next(line.strip() for line in self.process.stderr if line.startswith("http://127.0.0.1:"))

    def form(self) -> tuple[str, dict[str, Any]]:
        """Where the page sends the manifest, and the manifest."""
        page = requests.get(self.address, timeout=10)
        action = re.search(r'action="([^"]+)"', page.text)
        value = re.search(r'name="manifest" value="([^"]+)"', page.text)
        assert action is not None
        assert value is not None
        return html.unescape(action[1]), json.loads(html.unescape(value[1]))

    def submit(self) -> requests.Response:
        """Press the button, and follow GitHub back."""
        address, content = self.form()
        return requests.post(address, data={"manifest": json.dumps(content)}, timeout=10)

    def end(self) -> tuple[int, str, str]:
        out, error = self.process.communicate(timeout=60)
        self._watch.cancel()
        return self.process.returncode, out, error


def run(folder: Path, *args: str, env: Mapping[str, str] | None = None, said: str = "") -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in [name for name in os.environ if name.startswith("ASSAY_")]:
            patch.delenv(name)
        return CliRunner().invoke(cli, list(args), env=dict(env or {}), input=said)


# --- registering ------------------------------------------------------------------------------------------------


def test_an_app_is_registered_and_its_keys_work(tmp_path: Path, gh: Sandbox) -> None:
    kept = "# ours\nASSAY_POLL_SECONDS=30\n\nOTHER='a b'  # as it was\n"
    (tmp_path / ".env").write_text(kept)
    setup = Setup(tmp_path, gh, "--org", "acme", "--url", "https://assay.example.com", "--json")
    _, content = setup.form()
    assert content["default_permissions"] == needed()
    assert content["default_events"] == list(EVENTS)
    assert content["hook_attributes"] == {"url": "https://assay.example.com/webhooks/github", "active": True}
    assert setup.submit().status_code == 200
    code, out, error = setup.end()
    assert code == 0, error
    env = tmp_path / ".env"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    assert env.read_text().startswith(kept)
    assert list(tmp_path.glob(".env*")) == [env]
    settings = load_settings({}, env)
    assert (settings.poll_seconds, settings.public_url) == (30.0, "https://assay.example.com")
    assert settings.github_api_url == gh.url
    from bot.composition import app_of

    assert app_of(settings).details()["id"] == settings.app_id
    assert json.loads(out)["install"].endswith(f"/apps/{app_of(settings).identity().slug}/installations/new")
    assert settings.webhook_secrets
    assert content["callback_urls"] == ["https://assay.example.com/sign-in/callback"]
    assert settings.client_secret is not None
    private = [settings.webhook_secrets[0].decode(), settings.client_secret.get_secret_value()]
    secrets = [*private, "BEGIN RSA PRIVATE KEY"]
    assert not [text for text in secrets if text in out + error]


def test_without_an_address_no_deliveries_are_asked_for(tmp_path: Path, gh: Sandbox) -> None:
    setup = Setup(tmp_path, gh, "--org", "acme", "--name", "Grey Heron")
    _, content = setup.form()
    assert content["hook_attributes"]["active"] is False
    assert content["name"] == "Grey Heron"
    setup.submit()
    code, out, _ = setup.end()
    assert code == 0
    assert "grey-heron" in out


@pytest.mark.parametrize("change", ["state=wrong", "", "state="])
def test_an_answer_that_was_not_asked_for_is_refused(change: str) -> None:
    with Door(Wanted("x", "acme", "https://github.com", None)) as door:
        answer = requests.get(f"{door.redirect_url}?code=abc&{change}", timeout=10)
        assert answer.status_code == 403
        assert door.wait(0.1) is None


def test_the_page_is_found_by_nobody_else_on_the_machine() -> None:
    with Door(Wanted("x", "acme", "https://github.com", None)) as door:
        assert requests.get(door.root, timeout=10).status_code == 404
        assert requests.get(door.address, headers={"Host": "evil.example"}, timeout=10).status_code == 421
        page = requests.get(door.address, timeout=10)
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["Referrer-Policy"] == "no-referrer"


def test_a_code_is_only_taken_as_one() -> None:
    with Door(Wanted("x", "acme", "https://github.com", None)) as door:
        state = re.search(r"state=([\w-]+)", requests.get(door.address, timeout=10).text)
        assert state is not None
        for code, status in (("../../user", 400), ("", 400), ("c0de", 200), ("another", 200)):
            query = {"code": code, "state": state[1]}
            assert requests.get(door.redirect_url, params=query, timeout=10).status_code == status
        assert door.wait(1) == "c0de"


def test_the_manifest_is_harmless_in_the_page() -> None:
    name = '"><script>alert(1)</script>'
    with Door(Wanted(name, None, "https://github.com", None)) as door:
        page = requests.get(door.address, timeout=10).text
    assert "<script>" not in page
    assert 'action="https://github.com/settings/apps/new?state=' in page


def test_the_proposed_name_tells_nothing() -> None:
    names = {proposed_name(bytes([number]) * 32) for number in range(50)}
    assert len(names) > 45
    for name in names:
        assert len(name) <= LONGEST_NAME
        assert not re.search(r"assay|bench|review|bot|golden", name)
        told = manifest(Wanted(name, "acme", "https://github.com", None), "http://127.0.0.1:1/x")
        assert not re.search("(?i)assay|bench|golden|measure", json.dumps(told))


def test_an_enterprise_host_is_asked_on_its_own_address() -> None:
    with Door(Wanted("x", "acme", "https://github.example.com", None)) as door:
        page = requests.get(door.address, timeout=10).text
    assert 'action="https://github.example.com/organizations/acme/settings/apps/new?state=' in page


# --- what stands already ----------------------------------------------------------------------------------------


def test_another_app_is_not_replaced_unasked(tmp_path: Path) -> None:
    before = "ASSAY_APP_ID=1\nASSAY_WEBHOOK_SECRET=old\n"
    (tmp_path / ".env").write_text(before)
    result = run(tmp_path, "setup", "--org", "acme", "--no-browser")
    assert result.exit_code == 2
    assert "names an App already (ASSAY_APP_ID, ASSAY_WEBHOOK_SECRET)" in result.output
    assert (tmp_path / ".env").read_text() == before


def test_the_app_that_is_replaced_is_kept_beside(tmp_path: Path, gh: Sandbox) -> None:
    before = "ASSAY_APP_ID=1\nASSAY_PRIVATE_KEY_FILE=/run/old.pem\nASSAY_CONTROL_REPO=acme/asks\n"
    (tmp_path / ".env").write_text(before)
    (tmp_path / ".env.before-1").write_text("older\n")
    setup = Setup(tmp_path, gh, "--org", "acme", "--yes")
    setup.submit()
    code, _, error = setup.end()
    assert code == 0, error
    old = tmp_path / ".env.before-2"
    assert (old.read_text(), stat.S_IMODE(old.stat().st_mode)) == (before, 0o600)
    settings = load_settings({}, tmp_path / ".env")
    assert (settings.app_id != 1, settings.private_key_file, str(settings.control_repo)) == (True, None, "acme/asks")


@pytest.mark.parametrize(
    ("env", "text", "said"),
    [
        ({"ASSAY_APP_ID": "7"}, "", "ASSAY_APP_ID: set in the environment"),
        ({}, "not an assignment\n", ".env:1: is not NAME=value"),
        ({}, "ASSAY_POL_SECONDS=3\n", "did you mean ASSAY_POLL_SECONDS?"),
    ],
)
def test_what_would_come_to_nothing_is_said_before_anything_is_registered(
    tmp_path: Path, env: dict[str, str], text: str, said: str
) -> None:
    (tmp_path / ".env").write_text(text)
    result = run(tmp_path, "setup", "--org", "acme", "--no-browser", env=env)
    assert (result.exit_code, said in result.output) == (2, True), result.output


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--org", "a/b"], "--org: 'a/b' is no name"),
        (["--url", "ftp://x"], "--url:"),
        (["--name", "x" * 35], "1 to 34 characters"),
        (["--control", "acme/asks", "--org", "acme"], "goes with none of"),
        (["--control", "acme"], "write owner/name"),
    ],
)
def test_bad_options_are_said_in_one_line(tmp_path: Path, args: list[str], said: str) -> None:
    result = run(tmp_path, "setup", "--no-browser", *args)
    assert (result.exit_code, said in result.output, len(result.output.splitlines())) == (2, True, 1), result.output


@pytest.mark.parametrize("value", ["plain", "a b", 'say "x"', "back\\slash", "two\nlines", "#no comment", "$HOME", ""])
@pytest.mark.parametrize("before", ["", "A=1", "X=old\nA=1\n", "A=1\nexport X='old\nlines'\n# end", "X=1\nX=2\n"])
def test_a_value_is_read_as_it_was_written_and_the_rest_stays(value: str, before: str, tmp_path: Path) -> None:
    text = setup_env.changed(before, {"X": value})
    assert setup_env.values(text)["X"] == value
    assert [line.startswith("X=") for line in text.splitlines()].count(True) == 1
    assert ("A=1" in text.splitlines()) == ("A=1" in before)
    assert ("# end" in text) == ("# end" in before)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("A=1\n")
    (tmp_path / ".env").symlink_to("real")
    setup_env.write(tmp_path / ".env", "A=2\n")
    assert (tmp_path / ".env").is_symlink()
    assert (tmp_path / "real").read_text() == "A=2\n"


# --- the control repository -------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Hub]:
    with hub(tmp_path / "github") as made:
        yield made


def test_a_control_repository_gets_form_and_label_once(tmp_path: Path, here: Hub) -> None:
    here.gh.create_repo("acme", "asks", private=True, files={"README.md": b"x\n"})
    env = here.settings(tmp_path)
    first = run(tmp_path, "setup", "--control", "acme/asks", env=env)
    assert first.exit_code == 0, first.output
    assert "the form was added" in first.output
    assert "set ASSAY_CONTROL_REPO=acme/asks" in first.output
    form = run(tmp_path, "form", env=env).stdout
    headers = {"Authorization": f"Bearer {here.owner}", "Accept": "application/vnd.github.raw"}
    there = requests.get(f"{here.gh.url}/repos/acme/asks/contents/{FORM_PATH}", headers=headers, timeout=10)
    assert there.text.strip() == form.strip()
    label = requests.get(f"{here.gh.url}/repos/acme/asks/labels/assay", headers=headers, timeout=10)
    assert label.json()["color"] == "5319e7"
    again = run(tmp_path, "setup", "--control", "acme/asks", "--json", env=env)
    assert "the form is there already" in json.loads(again.stdout)["done"]
    commits = requests.get(f"{here.gh.url}/repos/acme/asks/commits", headers=headers, timeout=10).json()
    assert len(commits) == 2


@pytest.mark.parametrize(
    ("repo", "said"),
    [("acme/nothing", "does not exist"), ("alice/asks", "not installed on alice; it is on acme")],
)
def test_a_control_repository_that_cannot_be_prepared_is_said(tmp_path: Path, here: Hub, repo: str, said: str) -> None:
    result = run(tmp_path, "setup", "--control", repo, env=here.settings(tmp_path))
    assert (result.exit_code, said in result.output) == (3, True), result.output


def test_a_control_repository_needs_a_registered_app(tmp_path: Path) -> None:
    result = run(tmp_path, "setup", "--control", "acme/asks")
    assert (result.exit_code, "ASSAY_APP_ID: is not set" in result.output) == (2, True), result.output
