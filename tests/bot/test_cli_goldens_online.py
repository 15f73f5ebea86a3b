"""`assay goldens mine --github`: the same drafts as offline, over real HTTP and git, and resumable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from goldens.load import load_suite
from tests.bot.test_cli_goldens import Assay, Done, assay, mined, world
from tests.goldens.mine.hub import Hub, serving
from tests.goldens.mine.planted import git
from tests.goldens.mine.test_online import _flat
from tests.goldens.mine.test_review import reviewed
from tests.goldens.mine.world import World, pull
from tests.judging import server

__all__ = ["assay", "mined", "reviewed", "world"]
Online = Callable[..., Done]


def hub_of(made: World) -> Hub:
    parts = [one for data in made.answers.values() for one in _flat([json.loads(data)])]
    listed = [one for one in parts if "number" in one]
    held = {commit: [pull(number, made.ids, None) for number in sorted(held)] for commit, held in _held(made).items()}
    by_commit = held | {commit: answer for part in parts if not _field(part) for commit, answer in part.items()}
    hub = Hub(listed, by_commit, page=4)
    for one in parts:
        if "data" in one:
            asked = one["data"]["repository"]["pullRequest"]
            hub.threads.setdefault(asked["number"], []).extend(asked["reviewThreads"]["nodes"])
    return hub


def _field(part: dict[str, Any]) -> bool:
    return "number" in part or "data" in part


def _held(made: World) -> dict[str, frozenset[int]]:
    """What GitHub would say of each commit: the merges and squashes that the planted history tells."""
    with made.quarry() as quarry:
        return {sha: frozenset(quarry.pulls._found(number)) for sha, number in quarry.history.numbers.items()}


@pytest.fixture
def online(assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Online]:
    def run(kind: str, hub: Hub, made: World, *more: str) -> Done:
        upstream = tmp_path / "hosted" / "acme" / "shop.git"
        if not upstream.exists():
            upstream.parent.mkdir(parents=True)
            upstream.symlink_to(made.path)
        monkeypatch.setenv("ASSAY_GITHUB_API_URL", hub.url)
        monkeypatch.setenv("ASSAY_UPSTREAM_URL", f"file://{tmp_path}/hosted")
        monkeypatch.setenv("ASSAY_AUTHOR_TOKEN", "ghp_secret")
        return assay("mine", kind, "--github", "acme/shop", "-o", "online.yaml", *more)

    yield run


def _keys(path: str) -> set[tuple[str, str, str, str]]:
    suite = load_suite(Path(path))
    return {
        (str(pull.source.head_sha), golden.place.path, str(golden.place.lines), golden.finding)  # type: ignore[union-attr]
        for pull in suite.unconfirmed
        for golden in pull.drafts
    }


def test_bugfix_online_finds_what_offline_finds_and_offline_can_go_on_from_the_files(
    online: Online, assay: Assay, world: World
) -> None:
    assert mined(assay, world, "bugfix").code == 0
    with serving(hub_of(world)) as hub:
        done = online("bugfix", hub, world, "--json")
        assert done.code == 0, done.err
        assert hub.tokens == {"token ghp_secret"}
    assert _keys("online.yaml") == _keys("drafts.yaml")
    assert "again without the network: --clone upstream/acme/shop/clone.git" in done.err
    places = ("--clone", "upstream/acme/shop/clone.git", "--answers", "upstream/acme/shop/answers")
    again = assay("mine", "bugfix", *places, "--repository", "acme/shop", "-o", "again.yaml", "--json")
    assert again.json["drafts"] == done.json["drafts"] and _keys("again.yaml") == _keys("online.yaml")
    assert "ghp_secret" not in "".join(
        path.read_text("utf-8", "replace") for path in Path("upstream").rglob("*") if path.is_file()
    )


def test_blame_online_asks_github_which_pull_request_brought_a_commit(online: Online, world: World) -> None:
    with serving(hub_of(world)) as hub:
        done = online("blame", hub, world, "--json")
        assert done.code == 0, done.err
        asked = [one for one in hub.asked if "/commits/" in one]
        assert asked and len(asked) == len(set(asked))
        fifty = [draft for draft in load_suite(Path("online.yaml")).unconfirmed if draft.source.number == 50]  # type: ignore[union-attr]
        assert len(fifty) == 1, "two rebased commits that only GitHub can join"
        before = len(hub.asked)
        again = online("blame", hub, world, "--json", "--force")
        assert again.json == done.json and len(hub.asked) == before, "nothing is asked twice"
        assert again.json["considered"] == again.json["kept"] + sum(again.json["discarded"].values())


def test_review_online_fetches_the_branches_that_were_squashed_away(online: Online, reviewed: World) -> None:
    git(reviewed.path, "update-ref", "refs/pull/7/head", reviewed.ids["b5"])
    with serving(hub_of(reviewed)) as hub:
        done = online("review", hub, reviewed, "--json")
        assert done.code == 0, done.err
        assert done.json["kept"] >= 2 and any(one.startswith("POST") for one in hub.asked)


def test_a_name_that_is_no_repository_and_a_lost_token_are_one_line_each(
    online: Online, assay: Assay, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(hub_of(world)) as hub:
        hub.faults = [(401, {}, {"message": "Bad credentials"})]
        refused = online("bugfix", hub, world)
        assert refused.code == 3 and "Bad credentials" in refused.err and refused.err.count("\n") == 1
        for bad in ("acme", "../../etc", "acme/..", "https://github.com/a/b"):
            done = assay("mine", "bugfix", "--github", bad, "-o", "x.yaml")
            assert done.code in (2, 3) and "write owner/name" in done.err, (bad, done.err)
        assert not Path("../etc").exists() and not Path("upstream/acme/..").joinpath("answers").exists()
    monkeypatch.delenv("ASSAY_AUTHOR_TOKEN")
    done = assay("mine", "bugfix", "--github", "acme/shop", "-o", "x.yaml")
    assert done.code == 2 and "ASSAY_AUTHOR_TOKEN" in done.err


@pytest.mark.parametrize(
    "arguments",
    [(), ("--clone", "."), ("--github", "a/b", "--repository", "a/b"), ("--clone", ".", "--answers", ".", "--refresh")],
)
def test_offline_and_online_are_never_mixed(arguments: tuple[str, ...], assay: Assay) -> None:
    done = assay("mine", "bugfix", *arguments, "-o", "x.yaml")
    assert done.code == 2 and "--" in done.err


def test_what_is_there_is_found_before_anybody_is_asked(online: Online, world: World) -> None:
    Path("online.yaml").write_text("mine", encoding="utf-8")
    with serving(hub_of(world)) as hub:
        done = online("bugfix", hub, world)
    assert done.code == 2 and "--force" in done.err and hub.asked == []


# --- the estimate of blame --model ------------------------------------------------------------------------------


def test_blame_says_what_a_model_will_take_and_asks_nothing_without_a_yes(
    assay: Assay, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with server.serving() as models:
        priced = ("--model", "litellm:openai/gpt-4o", "--model-base", models.base)
        done = mined(assay, world, "blame", *priced)
        assert done.code == 2 and "calls to make" in done.err and "about $" in done.err and "--yes" in done.err
        assert models.seen == [] and not Path("drafts.yaml").exists()
        asked = ("--model", "litellm:openai/miner", "--model-base", models.base)
        assert mined(assay, world, "blame", *asked, "--yes").code == 0
        paid = models.answered
        free = mined(assay, world, "blame", *asked, "--force")
        assert free.code == 0 and "calls to make" not in free.err and models.answered == paid
