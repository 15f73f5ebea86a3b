"""Mining through GitHub: every page once, patient with limits, resumable, and the same again from the files."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.clones import Clone
from bot.adapters.gathering import Gatherer, GatherError, Outside, forget, graphql_path
from bot.adapters.git_bytes import GitError
from bot.adapters.github_client import Client, Fixed, Transport
from goldens.mine.answers import read_answers
from tests.goldens.mine.hub import Hub, serving
from tests.goldens.mine.planted import Planted, git, rows
from tests.goldens.mine.world import World, pull

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
Open = Callable[..., Gatherer]


class Talk:
    """Remembers what was said and slept."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.slept: list[float] = []

    @property
    def outside(self) -> Outside:
        return Outside(lambda: NOW, self.slept.append, self.said.append)


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.fixture
def hub(world: World) -> Iterator[Hub]:
    told = read_answers(world.answers)
    listed = [one for name in ("pulls-1.json", "pulls-2.json") for one in _flat(json.loads(world.answers[name]))]
    commits = {commit: [pull(n, world.ids, None) for n in sorted(held)] for commit, held in told.by_commit.items()}
    with serving(Hub(listed, commits, page=5)) as made:
        yield made


def _flat(value: Any) -> list[Any]:
    return [one for part in value for one in (_flat(part) if isinstance(part, list) else [part])]


@pytest.fixture
def opened(hub: Hub, talk: Talk, tmp_path: Path) -> Open:
    def make(repository: str = "acme/shop", api: str | None = None) -> Gatherer:
        client = Client(Transport(api or hub.url), Fixed(lambda: "ghp_token"))
        return Gatherer(client, api or hub.url, repository, tmp_path / "answers", talk.outside)

    return make


def test_every_pull_request_is_there_however_short_the_pages(opened: Open, hub: Hub) -> None:
    gatherer = opened()
    gatherer.pulls()
    assert set(gatherer.answers().pulls) == {one["number"] for one in hub.pulls}
    assert len(hub.asked) == -(-len(hub.pulls) // 5) and hub.tokens == {"token ghp_token"}
    opened().pulls()
    assert len(hub.asked) == -(-len(hub.pulls) // 5), "what is here is not asked again"


def test_a_run_that_is_killed_goes_on_at_the_page_it_had_not(opened: Open, hub: Hub) -> None:
    hub.dies_after = 2
    with pytest.raises(GatherError, match="404 Not Found"):
        opened().pulls()
    hub.dies_after = None
    again = opened()
    again.pulls()
    assert re.findall(r"[?&]page=(\d+)", " ".join(hub.asked)) == ["1", "2", "3", "3", "4"]
    assert set(again.answers().pulls) == {one["number"] for one in hub.pulls}


def test_a_half_written_answer_is_never_read(opened: Open, hub: Hub, tmp_path: Path) -> None:
    opened().pulls()
    (tmp_path / "answers" / "pulls-00009.json.part").write_text("[{", encoding="ascii")
    assert opened().answers().pulls


def test_limits_are_waited_for_as_github_asks_and_said_aloud(opened: Open, hub: Hub, talk: Talk) -> None:
    reset = str(int(NOW.timestamp()) + 1800)
    primary = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    hub.faults = [
        (403, primary, {"message": "API rate limit exceeded"}),
        (429, {"retry-after": "7"}, {"message": "You have exceeded a secondary rate limit"}),
        (502, {}, {"message": "Bad gateway"}),
    ]
    opened().pulls(1)
    assert talk.slept == [1801.0, 7.0, 1.0]
    assert any("rate limited: waiting 1801 s" in line for line in talk.said)


def test_a_server_that_never_recovers_is_given_up_in_one_sentence(opened: Open, hub: Hub, talk: Talk) -> None:
    hub.faults = [(502, {}, {"message": "Bad gateway"})] * 50
    with pytest.raises(GatherError, match="does not answer: GET answered 502"):
        opened().pulls()
    assert len(talk.slept) == 7 and len(hub.asked) == 8


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_is_no_reason_to_ask_again(status: int, opened: Open, hub: Hub, talk: Talk) -> None:
    hub.faults = [(status, {}, {"message": "Resource not accessible"})]
    with pytest.raises(GatherError, match="Resource not accessible"):
        opened().pulls()
    assert len(hub.asked) == 1 and talk.slept == []


def test_answers_about_two_repositories_never_share_a_folder(opened: Open, hub: Hub) -> None:
    opened().pulls()
    with pytest.raises(GatherError, match="answers about acme/shop at http"):
        opened("acme/other")
    for bad in ("acme", "acme/..", "acme/a b", "a/b/c", "-a/b", "acme/x\n"):
        with pytest.raises(GatherError, match="write owner/name"):
            opened(bad)


def test_a_damaged_state_is_named_and_refreshing_mends_it(opened: Open, hub: Hub, tmp_path: Path) -> None:
    opened().pulls()
    kept = tmp_path / "answers" / "mine.txt"
    kept.write_text("not ours", encoding="ascii")
    (tmp_path / "answers" / "gathered.state").write_text("{", encoding="ascii")
    with pytest.raises(GatherError, match="--refresh"):
        opened()
    forget(tmp_path / "answers")
    assert kept.exists() and list((tmp_path / "answers").iterdir()) == [kept]
    opened().pulls()
    assert len(hub.asked) == 8


def test_a_commit_is_asked_once_and_an_unknown_one_has_no_pull_request(
    opened: Open, hub: Hub, world: World, tmp_path: Path
) -> None:
    told = opened().answers()
    commit = world.ids["r50a"]
    assert told.by_commit.get(commit) == told.by_commit.get(commit) == frozenset({50})
    assert told.by_commit.get("1" * 40) == frozenset()
    assert len(hub.asked) == 2 and 50 in told.pulls
    again = opened().answers()
    assert again.by_commit.get(commit) == frozenset({50}) and again.by_commit.get("1" * 40) == frozenset()
    assert len(hub.asked) == 2
    with pytest.raises(GatherError, match="no commit id"):
        again.by_commit.get("../../x")


def test_threads_come_page_by_page_and_a_limit_inside_a_good_answer_is_seen(opened: Open, hub: Hub, talk: Talk) -> None:
    node = {"isResolved": True, "path": "a.py", "originalLine": 1, "diffSide": "RIGHT", "comments": {"nodes": []}}
    hub.threads = {10: [{**node, "id": f"T{at}"} for at in range(3)]}
    gatherer = opened()
    gatherer.pulls()
    hub.faults = [(200, {"retry-after": "5"}, {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit"}]})]
    gatherer.threads()
    assert [one.id for one in gatherer.answers().threads] == ["T0", "T1", "T2"]
    assert talk.slept == [5.0]
    asked = len(hub.asked)
    opened().threads()
    assert len(hub.asked) == asked


def test_an_error_inside_a_good_answer_is_never_no_threads(opened: Open, hub: Hub) -> None:
    gatherer = opened()
    gatherer.pulls()
    broken = {"data": {"repository": {"pullRequest": {"number": 10, "reviewThreads": "none"}}}}
    refused = {"errors": [{"type": "FORBIDDEN", "message": "no access"}]}
    answers: tuple[Any, ...] = (refused, {"errors": "no"}, {"data": {"repository": None}}, {"data": "x"}, [], broken)
    for answer in answers:
        hub.faults = [(200, {}, answer)]
        with pytest.raises(GatherError):
            gatherer.threads()


@pytest.mark.parametrize(
    "answer",
    [{}, "no", [{"number": "1", "title": "x"}], [{"number": 10**12, "title": "x"}], [None], [{"title": "x"}], None],
)
def test_an_answer_that_is_none_is_told_and_never_kept(answer: Any, opened: Open, hub: Hub, tmp_path: Path) -> None:
    hub.faults = [(200, {}, answer)]
    with pytest.raises(GatherError):
        opened().pulls()
    assert not list((tmp_path / "answers").glob("*.json"))
    opened().pulls()


def test_only_what_was_listed_is_a_candidate_for_a_fix(opened: Open, hub: Hub, world: World) -> None:
    hub.pulls = hub.pulls[:4]
    first = opened()
    first.pulls()
    listed = first.answers().listed
    assert first.answers().by_commit.get(world.ids["r50a"]) == frozenset({50})
    again = opened().answers()
    assert again.listed == listed and 50 in again.pulls and 50 not in listed


def test_enterprise_has_graphql_beside_rest() -> None:
    assert graphql_path("https://api.github.com") == "/graphql"
    assert graphql_path("https://git.example.com/api/v3/") == "https://git.example.com/api/graphql"


# --- the clone --------------------------------------------------------------------------------------------------


def test_a_clone_has_the_main_branch_grows_and_takes_branches_of_pull_requests(tmp_path: Path) -> None:
    planted = Planted()
    planted.commit("root", {"a.py": "a = 1\n"})
    planted.commit("side", {"a.py": "a = 2\n"}, "root")
    upstream = tmp_path / "up" / "acme" / "shop.git"
    upstream.parent.mkdir(parents=True)
    ids = planted.write(upstream, "root")
    git(upstream, "update-ref", "refs/pull/7/head", ids["side"])
    clone = Clone(tmp_path / "clone", f"file://{upstream}", allow_file=True)
    clone.fetch()
    assert git(clone.folder, "rev-parse", "HEAD").decode().strip() == ids["root"]
    assert git(clone.folder, "tag", "-l") == b""
    assert clone.fetch_pulls([7, 8]) == ("refs/pull/7/head",)
    git(upstream, "update-ref", "refs/heads/main", ids["side"])
    clone.fetch()
    assert git(clone.folder, "rev-parse", "HEAD").decode().strip() == ids["side"]


def test_old_histories_with_harmless_sins_are_cloned_and_harmful_ones_are_not(tmp_path: Path) -> None:
    upstream = tmp_path / "up.git"
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(upstream)], check=True)
    tree = git(upstream, "mktree", stdin=b"").decode().strip()

    def commit(author: str) -> str:
        text = f"tree {tree}\nauthor {author}\ncommitter A <a@b.example> 1600000000 +0000\n\nold\n"
        made = git(upstream, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=text.encode())
        return made.decode().strip()

    git(upstream, "update-ref", "refs/heads/main", commit("A <a@b.example> 1600000000 +51800"))
    Clone(tmp_path / "old", f"file://{upstream}", allow_file=True).fetch()
    evil = git(upstream, "mktree", stdin=b"100644 blob " + _blob(upstream) + b"\t.GIT\n").decode().strip()
    text = f"tree {evil}\nauthor A <a@b.example> 1 +0000\ncommitter A <a@b.example> 1 +0000\n\nevil\n"
    made = git(upstream, "hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode()).decode().strip()
    git(upstream, "update-ref", "refs/heads/main", made)
    with pytest.raises(GitError):
        Clone(tmp_path / "evil", f"file://{upstream}", allow_file=True).fetch()


def _blob(repository: Path) -> bytes:
    return git(repository, "hash-object", "-w", "--stdin", stdin=rows("x").encode()).strip()


@pytest.mark.parametrize("url", ["ext::sh -c id", "ssh://host/x.git", "file:///tmp/x.git", "http://example.com/x.git"])
def test_only_safe_addresses_are_cloned(url: str, tmp_path: Path) -> None:
    with pytest.raises(GitError):
        Clone(tmp_path / "c", url)


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x", encoding="ascii")
    with pytest.raises(GitError, match="no bare clone"):
        Clone(tmp_path / "mine", f"file://{tmp_path}", allow_file=True).fetch()
    assert (tmp_path / "mine" / "thesis.txt").exists()
