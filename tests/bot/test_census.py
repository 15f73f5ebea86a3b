"""What a run learns of who is there: for its plan, and as evidence about those who stay silent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.adapters.github_permissions import needed
from bot.composition import app_of
from bot.model import RepoName
from bot.ports import GitHub, RunRow
from bot.registry import Login, Registry, Reviewer
from bot.sandbox.faults import Fault
from bot.settings import load_settings
from bot.workflows.census import evidence, homeless
from bot.workflows.services import Services
from tests.bot.hub import ORG, Hub, hub

REGISTRY = Registry(
    tuple(Reviewer(id=name, name=name, logins=(Login(login=f"{name}[bot]"),)) for name in ("quill", "otter", "lark"))
)


@dataclass(frozen=True, slots=True)
class Row:
    """Of a run, what is looked at here."""

    installation: int
    plan: Any


def ask(here: Hub, folder: Path) -> Any:
    app = app_of(load_settings(here.settings(folder)))
    services = SimpleNamespace(github=app.installation, registry_of=lambda _: REGISTRY)
    run = Row(app.installations()[0][0], SimpleNamespace(org=ORG))
    return evidence(cast("Services", services), cast("RunRow", run))


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Hub]:
    with hub(tmp_path / "github") as made:
        made.gh.create_repo(ORG, "one")
        for slug, where in (("quill", "all"), ("lark", ["one"])):
            made.gh.create_app(slug, permissions={"metadata": "read"}, events=())
            made.gh.install(slug, ORG, "all" if where == "all" else where)
        yield made


def test_silence_is_told_from_absence(here: Hub, tmp_path: Path) -> None:
    known = ask(here, tmp_path)
    assert [known(name) for name in ("quill", "otter", "lark", "nobody")] == [True, False, None, None]


def test_github_is_asked_once_and_only_if_somebody_is_silent(here: Hub, tmp_path: Path) -> None:
    known = ask(here, tmp_path)
    here.gh.faults.add(Fault("refuse", path=f"/orgs/{ORG}/installations", times=1))
    assert here.gh.faults.left() == 1
    assert [known("quill"), known("otter")] == [None, None]
    assert here.gh.faults.left() == 0


def test_an_app_that_may_not_look_proves_nothing(tmp_path: Path) -> None:
    held = {name: access for name, access in needed().items() if name != "organization_administration"}
    with hub(tmp_path / "github", permissions=held) as here:
        assert ask(here, tmp_path)("otter") is None


def _github(here: Hub, folder: Path, account: str, token: str) -> GitHub:
    given = here.settings(folder) | {"ASSAY_AUTHOR_TOKEN": token}
    app = app_of(load_settings({name: value for name, value in given.items() if value}))
    return app.installation(next(number for number, login in app.installations() if login == account))


def test_a_personal_account_without_its_own_token_is_refused_before_anything_is_made(here: Hub, tmp_path: Path) -> None:
    here.gh.install("grey-heron", "alice")
    other = here.gh.create_user("bob")
    repo = RepoName("alice", "assay")
    assert homeless(_github(here, tmp_path, "alice", here.owner), repo) is None
    assert homeless(_github(here, tmp_path, ORG, ""), RepoName(ORG, "assay")) is None
    for token in ("", other):
        refused = homeless(_github(here, tmp_path, "alice", token), repo)
        assert refused is not None
        assert "ASSAY_AUTHOR_TOKEN to a token of alice" in refused.items[0].message


def test_the_clock_of_the_stand_in_is_ours(here: Hub, tmp_path: Path) -> None:
    theirs = app_of(load_settings(here.settings(tmp_path))).server_time()
    assert theirs is not None
    assert abs((theirs - datetime.now(UTC)).total_seconds()) < 5
