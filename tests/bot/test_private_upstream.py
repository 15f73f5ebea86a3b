"""A private upstream is read with a token that is sent to GitHub and to nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.forks import GitForkBuilder
from bot.composition import strip_rules
from bot.model import ForkId, RunId
from bot.neutral_reviewers import TreeNeeds
from bot.org_suites import OwnFiles, read_suites
from bot.ports import ForkCommits, GitFailure
from bot.sandbox import gitstore
from bot.sandbox.server import Sandbox
from goldens.model import GoldenPull
from tests.bot.test_org_suites import text
from tests.sandbox.conftest import BASE, HEAD, new_key

SECRET = b"s" * 32


class World:
    """A private upstream, an App that may read it, and an empty repository for the fork."""

    def __init__(self, gh: Sandbox) -> None:
        self.gh = gh
        self.alice = gh.create_user("alice")
        gh.create_org("acme", owner="alice")
        gh.create_app(
            "assay", permissions={"contents": "write"}, events=[], webhook_secret="x", private_key_pem=new_key()
        )
        gh.install("assay", "acme")
        gh.create_repo("acme", "rates", private=True, files=BASE)
        gh.commit("acme/rates", "topic", HEAD, "Change", by="alice")
        gh.create_repo("acme", "fork", private=True)
        with gh.world.lock:
            refs = gitstore.refs(gh.world.repo("acme", "rates").path, "refs/heads/")
        suite = text(base=refs["refs/heads/main"], head=refs["refs/heads/topic"])
        found = read_suites(OwnFiles("c" * 40, {".assay/suites/house.yaml": suite}))
        (self.pull,) = found.suites["org/house"][1].pulls

    @property
    def token(self) -> str:
        return self.gh.installation_token("assay", "acme")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with Sandbox(tmp_path / "github") as gh:
        yield World(gh)


def build(builder: GitForkBuilder, pull: GoldenPull, token: str | None) -> ForkCommits:
    return builder.build(
        RunId("1-1"), ForkId("one"), pull, secret=SECRET, title="T", needs=TreeNeeds(), upstream_token=token
    )


def builder(folder: Path, world: World, **more: Any) -> GitForkBuilder:
    return GitForkBuilder(folder, upstream=world.gh.url, rules=strip_rules(), allow_http=False, **more)


def test_a_private_upstream_is_read_with_the_token_and_without_it_is_not(world: World, tmp_path: Path) -> None:
    making = builder(tmp_path / "forks", world, token_host=world.gh.url)
    with pytest.raises(GitFailure):
        build(making, world.pull, None)
    made = build(making, world.pull, world.token)
    assert build(making, world.pull, world.token) == made
    target = f"{world.gh.url}/acme/fork.git"
    making.push(RunId("1-1"), ForkId("one"), target, world.token, {"main": made.base_sha, "topic": made.head_sha})
    assert making.branches(target, world.token) == {"main": made.base_sha, "topic": made.head_sha}
    assert "new.py" in making.diff(RunId("1-1"), ForkId("one"), made)


def test_another_host_never_sees_the_token(world: World, tmp_path: Path) -> None:
    elsewhere = builder(tmp_path / "forks", world, token_host="https://github.example.com")
    with pytest.raises(GitFailure) as caught:
        build(elsewhere, world.pull, world.token)
    assert world.token not in str(caught.value)
    with world.gh.world.lock:
        actors = {one.actor for one in world.gh.api.log if "rates.git" in one.path}
    assert "assay[bot]" not in actors
