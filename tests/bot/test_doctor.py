"""Each thing that can be wrong with an installation is found, with what to do; and a whole one has nothing wrong."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bot import composition
from bot.adapters.github_permissions import OPTIONAL, needed
from bot.cli import cli
from bot.doctor import Expected, Patient, examine
from bot.doctor_model import Finding, Level
from bot.issue_form import FORM_PATH
from bot.registry import Registry
from bot.sandbox.faults import Fault
from bot.sandbox.registration import new_key
from bot.settings import load_settings
from bot.webhooks import EVENTS
from tests.bot.hub import NOWHERE, ORG, SLUG, Hub, hub, taker

FORM = b"name: Benchmark run\n"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Hub]:
    with taker() as url, hub(tmp_path / "github", webhook_url=url) as made:
        made.gh.create_repo(ORG, "assay", private=True, files={FORM_PATH: FORM})
        yield made


@cache
def registry() -> Registry:
    """Reading it takes a while."""
    return composition.registry_of(load_settings({}))


def look(here: Hub, folder: Path, *, now: timedelta = timedelta(), **more: str) -> dict[str, Finding]:
    """The worst finding of each check."""
    settings = load_settings({name: value for name, value in here.settings(folder, **more).items() if value})
    expected = Expected(needed(), OPTIONAL, EVENTS, "/webhooks/github", FORM_PATH, FORM)
    patient = Patient(
        composition.app_of(settings),
        settings.app_id or 0,
        registry(),
        settings.public_url,
        settings.control_repo,
        lambda: datetime.now(UTC) + now,
        expected,
    )
    levels = list(Level)
    found: dict[str, Finding] = {}
    for one in examine(patient):
        if one.check not in found or levels.index(one.level) > levels.index(found[one.check].level):
            found[one.check] = one
    assert all(one.do for one in found.values() if one.level is not Level.OK), "a finding that says nothing to do"
    return found


def install(here: Hub, slug: str, *, repos: list[str] | None = None) -> None:
    here.gh.create_app(slug, permissions={"pull_requests": "write"}, events=())
    here.gh.install(slug, ORG, "all" if repos is None else repos)


def deliver(here: Hub, url: str) -> None:
    """Have something happen, with deliveries going to an address."""
    here.gh.set_webhook(SLUG, url, "s")
    here.gh.open_issue(f"{ORG}/assay", "T", "B", by="alice")
    assert here.gh.deliveries.wait_idle()


def test_a_whole_installation_has_nothing_wrong(here: Hub, tmp_path: Path) -> None:
    install(here, "coderabbitai")
    found = look(here, tmp_path)
    assert {name: one.says for name, one in found.items() if one.level is Level.FAIL} == {}
    assert {name for name, one in found.items() if one.level is Level.WARN} == set()
    assert set(found) == {
        "clock", "key", "permissions", "events", "webhook", "deliveries", f"installation {ORG}", f"rate {ORG}",
        f"author {ORG}", f"reviewers {ORG}", f"control {ORG}",
    }  # fmt: skip
    assert found["key"].says == f"signs as {SLUG}"


# --- key and clock ----------------------------------------------------------------------------------------------


def test_a_wrong_key_is_the_one_thing_that_is_said(here: Hub, tmp_path: Path) -> None:
    found = look(here, tmp_path, ASSAY_PRIVATE_KEY=new_key())
    assert set(found) == {"clock", "key"}
    assert found["key"].level is Level.FAIL
    assert found["clock"].level is Level.OK


def test_the_key_of_another_app_is_told_by_its_number(here: Hub, tmp_path: Path) -> None:
    found = look(here, tmp_path, ASSAY_APP_ID="4")["key"]
    assert (found.level, f"ASSAY_APP_ID={here.keys.app_id}" in found.do) == (Level.FAIL, True)


def test_a_server_that_is_not_there_is_one_finding(here: Hub, tmp_path: Path) -> None:
    found = look(here, tmp_path, ASSAY_GITHUB_API_URL="http://127.0.0.1:9")
    assert set(found) == {"clock", "key"}
    assert "ASSAY_GITHUB_API_URL" in found["key"].do


@pytest.mark.parametrize(
    ("seconds", "level", "said"),
    [(0, Level.OK, "agrees"), (-30, Level.WARN, "behind"), (30, Level.WARN, "ahead"), (-90, Level.FAIL, "NTP")],
)
def test_a_clock_that_is_off_is_told(here: Hub, tmp_path: Path, seconds: int, level: Level, said: str) -> None:
    found = look(here, tmp_path, now=timedelta(seconds=seconds))["clock"]
    assert (found.level, said in found.says + found.do) == (level, True)


# --- permissions, events, deliveries ----------------------------------------------------------------------------


@pytest.mark.parametrize(("lacking", "level"), [("checks", Level.FAIL), ("organization_administration", Level.WARN)])
def test_a_permission_that_is_not_given_is_named(tmp_path: Path, lacking: str, level: Level) -> None:
    held = {name: access for name, access in needed().items() if name != lacking}
    with hub(tmp_path / "github", permissions=held) as here:
        found = look(here, tmp_path)
    assert (found["permissions"].level, lacking in found["permissions"].says) == (level, True)
    assert found[f"installation {ORG}"].level is level


def test_a_permission_that_is_only_to_read_is_not_enough(tmp_path: Path) -> None:
    with hub(tmp_path / "github", permissions={**needed(), "contents": "read"}) as here:
        found = look(here, tmp_path)["permissions"]
    assert (found.level, "contents: write" in found.says) == (Level.FAIL, True)


def test_a_permission_too_many_is_named(tmp_path: Path) -> None:
    with hub(tmp_path / "github", permissions={**needed(), "workflows": "write"}) as here:
        found = look(here, tmp_path)["permissions"]
    assert (found.level, "workflows" in found.says) == (Level.WARN, True)


def test_an_event_that_is_not_heard_of_is_named(tmp_path: Path) -> None:
    with hub(tmp_path / "github", events=[event for event in EVENTS if event != "issues"]) as here:
        found = look(here, tmp_path)["events"]
    assert (found.level, "hear of issues;" in found.says) == (Level.WARN, True)


@pytest.mark.parametrize(
    ("url", "public", "level"),
    [
        (None, "", Level.WARN),
        ("http://127.0.0.1:9/hooks", "", Level.FAIL),
        ("http://127.0.0.1:9/webhooks/github", "https://assay.example.com", Level.FAIL),
        ("http://127.0.0.1:9/webhooks/github", "http://127.0.0.1:9", Level.OK),
    ],
)
def test_deliveries_that_go_astray_are_told(tmp_path: Path, url: str | None, public: str, level: Level) -> None:
    with hub(tmp_path / "github", webhook_url=url) as here:
        assert look(here, tmp_path, ASSAY_PUBLIC_URL=public)["webhook"].level is level


def test_deliveries_that_never_arrive_fail_and_those_that_do_pass(here: Hub, tmp_path: Path) -> None:
    whole = look(here, tmp_path)["deliveries"]
    assert (whole.level, "0 did not" in whole.says) == (Level.OK, True)
    deliver(here, NOWHERE)
    some = look(here, tmp_path)["deliveries"]
    assert (some.level, "among them the last one: 502" in some.says) == (Level.WARN, True)
    with hub(tmp_path / "other") as other:
        none = look(other, tmp_path)["deliveries"]
    assert (none.level, none.says.startswith("0 arrived")) == (Level.FAIL, True)


def test_a_server_without_deliveries_is_no_failure(here: Hub, tmp_path: Path) -> None:
    for path in ("/app/hook/config", "/app/hook/deliveries"):
        here.gh.faults.add(Fault("refuse", path=path, status=404, message="Not Found", times=9))
    assert look(here, tmp_path)["webhook"].level is Level.WARN


# --- where runs happen ------------------------------------------------------------------------------------------


def test_an_app_that_is_nowhere_installed_says_so(tmp_path: Path) -> None:
    with hub(tmp_path / "github") as here:
        here.gh.uninstall(SLUG, ORG)
        assert look(here, tmp_path)["installations"].level is Level.FAIL


def test_a_control_repository_elsewhere_says_so(here: Hub, tmp_path: Path) -> None:
    found = look(here, tmp_path, ASSAY_CONTROL_REPO="others/asks")
    assert (found["installations"].level, f"control {ORG}" in found) == (Level.FAIL, False)


@pytest.mark.parametrize(
    ("files", "level"), [(None, Level.FAIL), ({"x": b"x"}, Level.FAIL), ({FORM_PATH: b"name: old\n"}, Level.WARN)]
)
def test_a_control_repository_without_its_form_says_so(
    tmp_path: Path, files: Mapping[str, bytes] | None, level: Level
) -> None:
    with hub(tmp_path / "github") as here:
        if files is not None:
            here.gh.create_repo(ORG, "assay", private=True, files=files)
        found = look(here, tmp_path)[f"control {ORG}"]
    assert (found.level, f"{ORG}/assay" in found.says) == (level, True)


def test_who_the_author_is_and_what_it_reaches(here: Hub, tmp_path: Path) -> None:
    check = f"author {ORG}"
    here.gh.create_org("others", owner="alice")
    outsider, member = here.gh.create_user("otto"), here.gh.create_user("mia")
    with here.gh.world.lock:
        here.gh.world.account(ORG).members["mia"] = "member"
    said = {
        token: look(here, tmp_path, ASSAY_AUTHOR_TOKEN=token)[check] for token in ("", here.owner, member, outsider)
    }
    assert [one.level for one in said.values()] == [Level.WARN, Level.OK, Level.WARN, Level.FAIL]
    assert "mia is a member" in said[member].says
    assert "otto is no member" in said[outsider].says
    assert look(here, tmp_path, ASSAY_AUTHOR_TOKEN="ghp_wrong")[check].level is Level.FAIL


def test_reviewers_are_shown_with_where_they_are(here: Hub, tmp_path: Path) -> None:
    check = f"reviewers {ORG}"
    assert look(here, tmp_path)[check].level is Level.WARN
    install(here, "coderabbitai")
    assert "CodeRabbit" in look(here, tmp_path)[check].says
    install(here, "greptile-apps", repos=["assay"])
    found = look(here, tmp_path)[check]
    assert (found.level, "selected" in found.says, "Greptile" in found.says) == (Level.WARN, True, True)


# --- the command ------------------------------------------------------------------------------------------------


def run(folder: Path, *args: str, env: Mapping[str, str]) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in [name for name in os.environ if name.startswith("ASSAY_")]:
            patch.delenv(name)
        return CliRunner().invoke(cli, ["doctor", *args], env=dict(env))


def test_the_command_shows_and_counts(here: Hub, tmp_path: Path) -> None:
    env = here.settings(tmp_path)
    shown = run(tmp_path, env=env)
    assert re.search(r"^warn  control acme ", shown.stdout, re.MULTILINE)
    assert "-> assay setup --control acme/assay" in shown.stdout
    assert shown.exit_code == 0, shown.stdout
    assert shown.stdout.rstrip().endswith("0 fail")
    told: dict[str, Any] = json.loads(run(tmp_path, "--json", env=env).stdout)
    assert told["ok"] is True
    assert {one["check"] for one in told["findings"]} >= {"data", "database", "engine", "judge", "key"}


def test_the_command_fails_where_something_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    env = {"ASSAY_DATA_DIR": str(tmp_path / "file" / "data"), "ASSAY_ENGINE_URL": "postgresql://127.0.0.1:9/none"}
    result = run(tmp_path, "--json", env=env)
    told = {one["check"]: one for one in json.loads(result.stdout)["findings"]}
    assert result.exit_code == 1
    levels = {name: one["level"] for name, one in told.items()}
    assert levels | {"data": "fail", "engine": "fail", "key": "fail", "webhook secret": "fail"} == levels


def test_a_readable_env_file_is_a_failure(here: Hub, tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text("")
    env.chmod(0o644)
    assert "chmod 600 .env" in run(tmp_path, env=here.settings(tmp_path)).output
