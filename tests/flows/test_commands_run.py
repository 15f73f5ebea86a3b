"""Commands in an issue and buttons on check runs, while a run goes on and after it has ended."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
import requests

from bot.demo.world import CONTROL, SECRET, Asked
from tests.bot.deliveries import sign
from tests.flows.world import Bench, bench
from tests.judging.server import serving

pytestmark = pytest.mark.timeout(300)

ONE = Asked(reviewers=("lintwarden", "meterbot"), pulls="order-totals")


def answers(here: Bench, issue: int | None = None) -> dict[str, str]:
    """Our answers to commands on an issue, by what they answer."""
    found = {}
    for comment in here.comments(issue):
        head, _, rest = comment["body"].partition("\n")
        if head.startswith("<!-- assay:reply comment="):
            assert head not in found, "a command is answered once"
            found[head.removeprefix("<!-- assay:reply comment=").removesuffix(" -->")] = rest
    return found


def answer(here: Bench, key: str | int, holds: str = "") -> str:
    """The answer to a command, once it is there and holds a text."""
    try:
        here.wait_for(lambda: str(key) in answers(here) and holds in answers(here)[str(key)])
    except AssertionError as late:
        raise AssertionError(f"{holds!r} is not in {answers(here)}") from late
    return answers(here)[str(key)]


def rows(here: Bench, query: str) -> list[Any]:
    """Rows of the App's own database."""
    with closing(sqlite3.connect(here.data / "app.db")) as app:
        tables = app.execute("SELECT name FROM sqlite_master WHERE name = 'trials'").fetchall()
        return app.execute(query).fetchall() if tables else []


def forks(here: Bench, run: str = "%") -> list[tuple[str, str]]:
    """(repository, head commit) of every fork of a run."""
    found = rows(here, f"SELECT repo, commits FROM forks WHERE run LIKE '{run}' AND repo IS NOT NULL")
    return [(repo, json.loads(commits)["head_sha"]) for repo, commits in found]


def checks(here: Bench, repo: str, sha: str) -> list[Any]:
    """Our check runs on a fork, every judgement's."""
    found = here.world.get("GET", f"/repos/{repo}/commits/{sha}/check-runs?per_page=100&filter=all")["check_runs"]
    return [check for check in found if check["name"].startswith("assay / ")]


def press(here: Bench, check: Any, repo: str, identifier: str, login: str = "mira-lund") -> None:
    """What GitHub delivers when somebody presses a button on a check run."""
    owner, _, name = repo.partition("/")
    payload = {
        "action": "requested_action",
        "requested_action": {"identifier": identifier},
        "check_run": {"id": check["id"], "head_sha": check["head_sha"], "app": check["app"]},
        "repository": {"name": name, "full_name": repo, "owner": {"login": owner}},
        "installation": {"id": rows(here, "SELECT installation FROM runs")[0][0]},
        "sender": {"login": login, "type": "User"},
    }
    body = json.dumps(payload).encode()
    settings = here.world.app_settings(here.data)
    sent = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "check_run",
        "X-GitHub-Delivery": f"aaaaaaaa-0000-4000-8000-{abs(hash((identifier, login))) % 10**12:012d}",
        "X-GitHub-Hook-Installation-Target-ID": settings["ASSAY_APP_ID"],
        "X-Hub-Signature-256": sign(body, SECRET.encode()),
    }
    for _ in range(2):
        url = f"http://{settings['ASSAY_BIND']}/webhooks/github"
        assert requests.post(url, data=body, headers=sent, timeout=10).status_code < 300


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A run that has ended: the tests here command it one after another."""
    with ExitStack() as stack:
        models = stack.enter_context(serving())
        extra = {"ASSAY_LLM_API_BASE": models.base, "OPENAI_API_KEY": "x"}
        here = stack.enter_context(bench(tmp_path_factory.mktemp("ended"), extra=extra))
        here.ask(ONE)
        assert here.finish().stage == "done"
        yield here


def test_a_wrong_command_is_answered_once_with_what_would_do(ended: Bench) -> None:
    wrong = {
        ended.say("/assay retry lintwardn"): ("did you mean `lintwarden`?", "`meterbot`"),
        ended.say("/assay retry"): ("say which reviewer",),
        ended.say("/assay rejudge lexicla"): ("lexical",),
        ended.say("/assay extend soon"): ("is not a number of minutes",),
        ended.say("/assay extend 5"): ("no reviewer is waited for",),
        ended.say("/assay cleanup everything"): ("`archive`", "`delete`"),
        ended.say("/assay rejudge lexical"): ("is who judged the run",),
        ended.say("/assay cancel"): ("over already (done)",),
        ended.say("/assay retry lintwarden"): ("nothing is left to retry",),
        ended.say("/assay retyr x"): ("did you mean `retry`?",),
    }
    for key, texts in wrong.items():
        said = answer(ended, key)
        for text in texts:
            assert text in said, said
    assert rows(ended, "SELECT count(*) FROM runs") == [(1,)]


def test_another_judge_gives_new_check_runs_and_both_stand_in_the_leaderboard(ended: Bench) -> None:
    [(repo, sha)] = forks(ended)
    before = checks(ended, repo, sha)
    nothing = ended.say("/assay rejudge deterministic")
    assert "stays as it is: nothing could be judged" in answer(ended, nothing, "was not judged again")
    assert len(checks(ended, repo, sha)) == len(before)
    key = ended.say("/assay rejudge litellm:openai/honest")
    assert "was judged by `litellm:openai/honest/" in answer(ended, key, "new check runs: 3")
    after = checks(ended, repo, sha)
    assert len(after) == len(before) + 3
    assert len({check["external_id"] for check in after}) == len(after)
    [board] = ended.ours("leaderboard")
    assert "judge `litellm:openai/honest/" in board
    table = board.partition("#### F1 by judge")[2].partition("####")[0]
    assert table.index("litellm:openai/honest") < table.index("lexical")
    assert ended.made()["repository"] == 1


def test_a_button_does_what_the_command_does_for_who_may_and_nobody_else(ended: Bench) -> None:
    [(repo, sha)] = forks(ended)
    check = checks(ended, repo, sha)[0]
    world = ended.world.sandbox.world
    with world.lock:
        owner, _, name = repo.partition("/")
        run = next(r for s in world.repo(owner, name).check_suites.values() for r in s.runs if r.id == check["id"])
        assert [one["identifier"] for one in run.actions] == ["rejudge", "cleanup"]
    stranger = ended.world.sandbox.create_user("passer-by")
    ended.world.add_person("passer-by", stranger, role="read")
    press(ended, check, repo, "cleanup", login="passer-by")
    ended.wait_for(lambda: any("button" in key and "no write access" in said for key, said in answers(ended).items()))
    press(ended, check, repo, "rejudge")
    ended.wait_for(lambda: any("button" in key and "was judged by" in said for key, said in answers(ended).items()))
    [board] = ended.ours("leaderboard")
    assert "judge `lexical/2` (preview)" in board or "judge lexical/2 (preview)" in board
    assert "litellm:openai/honest" in board.partition("#### F1 by judge")[2]
    assert len([key for key in answers(ended) if key.startswith("button")]) == 2
    assert not ended.world.get("GET", f"/repos/{repo}")["archived"]


def test_an_edit_after_the_start_is_refused_once_and_changes_nothing(ended: Bench) -> None:
    path = f"/repos/{CONTROL}/issues/{ended.issue}"
    body = ended.world.get("GET", path)["body"]
    ended.world.get("PATCH", path, body={"body": body.replace("\n", "\r\n") + "\r\n"})
    ended.world.get("PATCH", path, body={"body": body.replace("order-totals", "ring-buffer")})
    ended.wait_for(lambda: len(ended.ours("edited")) == 1)
    assert "changes nothing" in ended.ours("edited")[0]
    ended.world.get("PATCH", path, body={"body": "something else"})
    key = ended.say("/assay status")
    answer(ended, key, "done")
    assert len(ended.ours("edited")) == 1
    assert rows(ended, "SELECT count(*) FROM runs") == [(1,)]


def test_cleanup_archives_what_is_ours_and_reports_each(ended: Bench) -> None:
    [(repo, sha)] = forks(ended)
    key = ended.say("/assay cleanup")
    assert f"| `{repo}` | archived |" in answer(ended, key, "archived: 1")
    assert ended.world.get("GET", f"/repos/{repo}")["archived"]
    assert checks(ended, repo, sha), "check runs stay readable"
    again = ended.say("/assay rejudge litellm:openai/honest")
    assert "archived, gone or refused them: 1" in answer(ended, again, "was judged by")


def test_cleanup_leaves_a_repository_that_took_the_place_of_ours(ended: Bench) -> None:
    [(repo, _)] = forks(ended)
    name = repo.partition("/")[2]
    world = ended.world.sandbox.world
    with world.lock:
        world.delete_repo(world.repo("northwind", name), world.account("devon-ray"))
    ended.world.sandbox.create_repo("northwind", name, private=True, files={"keep.txt": b"mine\n"})
    key = ended.say("/assay cleanup delete")
    assert "another repository stands under its name now" in answer(ended, key, "kept: 1")
    assert ended.world.get("GET", f"/repos/{repo}")["name"] == name
