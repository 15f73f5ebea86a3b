"""The App, unchanged and set up by settings alone, at a GitHub stand-in that is not ours."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.demo import story
from bot.demo.app import AppProcess, running
from bot.sandbox.ports import free_port
from tests.flows.foreign import (
    APP_ID,
    AUTHOR_TOKEN,
    CONTROL,
    SECRET,
    Foreign,
    Manners,
    Opened,
    Said,
)
from tests.flows.foreign_bots import BOTS, EXPECTED, REGISTRY, script
from tests.flows.foreign_http import foreign

pytestmark = pytest.mark.timeout(300)

FORM = """### Suite

smoke

### Reviewers

{reviewers}

### Pull requests

order-totals, ring-buffer
"""


@dataclass(slots=True)
class Place:
    """The other stand-in with the App beside it."""

    world: Foreign
    app: AppProcess
    data: Path

    def run(self) -> Mapping[str, Any]:
        """Follow the run to its end; its report."""
        outcome = story.follow(self.data, self.app, lambda _line: None, 100)
        assert outcome.stage == "done", self.app.tail(60)
        report: Mapping[str, Any] = json.loads(outcome.report or "")
        return report


@contextmanager
def place(
    folder: Path,
    manners: Manners | None = None,
    *,
    webhooks: bool = True,
    bots: tuple[Opened, Said] | None = None,
    registry: str = REGISTRY,
    first: str = "",
    extra: Mapping[str, str] | None = None,
) -> Iterator[Place]:
    """Both, up; with `first`, an issue with that body is there before the App is."""
    with foreign(folder / "there", manners) as world:
        world.on_pull, world.on_comment = bots or script(0.3)
        hook = f"127.0.0.1:{free_port()}"
        world.hook = f"http://{hook}/webhooks/github" if webhooks else None
        data = folder / "app"
        data.mkdir()
        (data / "key.pem").write_text(world.pem)
        (data / "reviewers.yaml").write_text(registry)
        if first:
            world.open_issue("Benchmark", first)
        with running(_settings(world, data, hook) | dict(extra or {}), data / "log.txt") as app:
            yield Place(world, app, data)


def _settings(world: Foreign, data: Path, hook: str) -> dict[str, str]:
    return {
        "ASSAY_GITHUB_API_URL": world.url + world.manners.prefix,
        "ASSAY_APP_ID": str(APP_ID),
        "ASSAY_PRIVATE_KEY_FILE": str(data / "key.pem"),
        "ASSAY_WEBHOOK_SECRET": SECRET,
        "ASSAY_AUTHOR_TOKEN": AUTHOR_TOKEN,
        "ASSAY_CONTROL_REPO": CONTROL.lower(),
        "ASSAY_DATA_DIR": str(data),
        "ASSAY_BIND": hook,
        "ASSAY_REGISTRY": str(data / "reviewers.yaml"),
        "ASSAY_WRITE_SPACING_SECONDS": "0",
        "ASSAY_POLL_SECONDS": "2",
        "ASSAY_ISSUE_POLL_SECONDS": "2",
        "ASSAY_RECHECK_SECONDS": "0.2",
        "ASSAY_NUDGE_SECONDS": "1",
        "ASSAY_PROGRESS_SECONDS": "1",
        "ASSAY_QUEUE_POLL_SECONDS": "0.25",
    }


def form(*reviewers: str) -> str:
    """A filled form."""
    return FORM.replace("{reviewers}", ", ".join(reviewers or BOTS))


def check_world(here: Place) -> None:
    """Check runs on every fork, the leaderboard on the issue, and nothing written twice."""
    world = here.world
    pulls = [repo for repo in world.repos.values() if any("sha" in issue for issue in repo.issues.values())]
    assert len(pulls) == 2
    for repo in pulls:
        ours = [one["name"] for one in repo.checks if one["external_id"]]
        assert len(ours) == len(set(ours)) == len(BOTS) + 1, ours
    said = [one["body"] for one in world.repo(*CONTROL.split("/")).comments[1]]
    kinds = Counter(body.partition(" ")[2].partition(" ")[0] for body in said)
    assert kinds == {"assay:progress": 1, "assay:leaderboard": 1} or len(said) == 2, said
    made = Counter(one.rpartition(" ")[0] for one in world.made if one.startswith("POST") and "/pulls" in one)
    assert set(made.values()) == {1}


def check_report(report: Mapping[str, Any]) -> None:
    """The figures that the bots' script implies."""
    found = {row["reviewer"]: (row["tp"], row["fp"], row["fn"]) for row in report["reviewers"]}
    assert found == EXPECTED


def test_a_run_at_a_poorer_stand_in_ends_as_the_bots_script_says(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        deadline = time.monotonic() + 30
        while "takes deliveries" not in here.app.tail(30):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        here.world.open_issue("Benchmark", form())
        check_report(here.run())
        check_world(here)


def test_an_issue_that_was_there_before_the_app_is_found_without_webhooks_and_without_what_is_optional(
    tmp_path: Path,
) -> None:
    manners = Manners(optional=False, prefix="/x/y", git="file")
    with place(tmp_path, manners, webhooks=False, bots=script(3), first=form()) as here:
        check_report(here.run())
        check_world(here)


def test_repositories_that_stand_there_already_are_used_only_where_they_are_empty(tmp_path: Path) -> None:
    with place(tmp_path, Manners(repositories="auto"), first=form()) as here:
        check_report(here.run())
        check_world(here)


def test_a_repository_of_somebody_under_our_name_is_left_alone(tmp_path: Path) -> None:
    with place(tmp_path, Manners(repositories="taken"), first=form()) as here:
        check_report(here.run())
        check_world(here)
        theirs = [repo for repo in here.world.repos.values() if repo.created_at.startswith("2020")]
        assert [(repo.issues, len(here.world.head(repo, "main"))) for repo in theirs] == [({}, 40)]
