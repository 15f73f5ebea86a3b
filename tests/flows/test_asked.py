"""What is no run, or none yet: issues that ask for the impossible, of outsiders, or elsewhere; new installations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.demo.world import form_body
from tests.flows.world import SMALL, TINY, Bench, bench

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """An App with nothing to do; only the last test here starts a run."""
    with bench(tmp_path_factory.mktemp("asked")) as one:
        yield one


def test_bad_input_is_answered_once_with_every_problem_and_starts_nothing(here: Bench) -> None:
    before = here.made()
    body = "### Suite\n\nsmok\n\n### Reviewers\n\nlintwardn, quillreview\n\n### Judge\n\nlitellm:acme/model-1\n"
    here.open_issue(body)
    here.wait_for(lambda: len(here.ours("problems")) == 1)
    [answer] = here.ours("problems")
    for wanted in ("smoke", "lintwarden", "litellm:acme/model-1", "lexical"):
        assert wanted in answer
    assert here.made() - before == {"comment": 1}


def test_an_outsider_cannot_spend_money_and_is_told(here: Bench) -> None:
    token = here.world.sandbox.create_user("stranger")
    here.world.add_person("stranger", token, role="read")
    here.open_issue(form_body(SMALL, here.world.registry), login="stranger")
    here.wait_for(lambda: len(here.ours("refusal")) == 1)
    assert here.made()["repository"] == 0


def test_an_issue_that_is_not_the_form_gets_the_link_once(here: Bench) -> None:
    here.open_issue("please run everything")
    here.wait_for(lambda: len(here.ours("not-a-form")) == 1)
    assert "benchmark.yml" in here.ours("not-a-form")[0]


def test_a_new_installation_is_answered_with_the_next_step_once(here: Bench) -> None:
    sandbox = here.world.sandbox
    here.wait_for(lambda: "takes deliveries" in here.app.tail(50))
    sandbox.create_org("southwind", owner="mira-lund")
    sandbox.create_repo("southwind", "assay", private=True, files={"README.md": b"control\n"})
    sandbox.install("northwind-checks", "southwind")
    path = "/repos/southwind/assay/issues?state=all"
    here.wait_for(lambda: len(here.world.get("GET", path)) == 1)
    [issue] = here.world.get("GET", path)
    assert issue["user"]["login"] == "northwind-checks[bot]"
    assert "benchmark.yml" in issue["body"]


def test_an_issue_outside_the_control_repository_is_ignored(here: Bench) -> None:
    here.world.sandbox.create_repo("northwind", "elsewhere", private=True, files={"README.md": b"x\n"})
    issue = {"title": "Benchmark", "body": "### Suite\n\nsmoke\n\n### Reviewers\n\nlintwarden\n"}
    made = here.world.get("POST", "/repos/northwind/elsewhere/issues", body=issue, login="devon-ray")
    here.ask(TINY)
    here.wait_for(lambda: bool(here.ours("progress")))
    assert here.world.get("GET", f"/repos/northwind/elsewhere/issues/{made['number']}/comments") == []
