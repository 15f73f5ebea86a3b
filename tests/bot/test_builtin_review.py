"""One review of a built-in reviewer: what it is shown, that it is kept before it counts, and when nothing is done."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot import composition, neutral
from bot.adapters.git import Git
from bot.builtin_runs import entry
from bot.bundle import Evidence, freeze
from bot.model import ForkId, RepoName, RunId, RunRequest
from bot.plan import make_plan
from bot.ports import RunRow
from bot.registry import Registry
from bot.reviewers.claims import body_of
from bot.reviewers.record import status_of
from bot.settings import load_settings
from bot.workflows import builtin, fork
from bot.workflows.services import Services, use
from goldens.load import load_suite
from scoring.model import PullId, ReviewerId, TrialStatus
from tests.bot.hub import key
from tests.bot.test_git_adapter_files import BASE, HEAD, build
from tests.bot.test_plan import FAST, SECRET

RUN, PULL, STATIC = RunId("9-1"), PullId("order-totals"), ReviewerId("static")
PLACE = ForkId(PULL)
NOW = datetime(2026, 5, 4, tzinfo=UTC)


# --- what is shown ----------------------------------------------------------------------------------------------


def test_the_trees_are_those_of_the_fork_whole_or_what_the_change_touches(tmp_path: Path) -> None:
    made = build(tmp_path, BASE, HEAD)
    whole = Git().trees(tmp_path, made.base_sha, made.head_sha)
    assert whole.whole
    assert whole.base == {path: data for path, data in BASE.items() if path != "AGENTS.md"}
    assert whole.head == {path: data for path, data in HEAD.items() if path != "AGENTS.md"}
    touched = Git(whole_limit=10).trees(tmp_path, made.base_sha, made.head_sha)
    assert not touched.whole
    assert touched.base == {"src/a.py": b"x = 1\n"}
    assert touched.head == {"src/a.py": b"x = 2\n", "src/new.py": b"y = 3"}


# --- a review ---------------------------------------------------------------------------------------------------


@pytest.fixture
def services(tmp_path: Path) -> Services:
    """A worker's services with one run whose only fork stands."""
    settings = load_settings(
        {
            "ASSAY_APP_ID": "1",
            "ASSAY_PRIVATE_KEY": key(),
            "ASSAY_WEBHOOK_SECRET": "s",
            "ASSAY_DATA_DIR": str(tmp_path / "data"),
            "ASSAY_GITHUB_API_URL": "http://127.0.0.1:9",
        }
    )
    made = composition.services_of(settings, composition.open_databases(settings))
    use(made)
    request = RunRequest("smoke", (STATIC,), "lexical", pulls=(PULL,), built_in=(STATIC,))
    plan = make_plan(
        RUN,
        "acme",
        request,
        load_suite("smoke"),
        [entry(STATIC)],
        secret=SECRET,
        author_is_user=True,
        write_limits=FAST,
        names=neutral,
    )
    run = RunRow(RUN, 9, 1, RepoName("acme", "assay"), 3, plan, SECRET, "forking", NOW)
    made.store.create_run(run, request.reviewers)
    commits = fork.built(run, plan.forks[0])
    row = replace(
        made.store.fork(RUN, PLACE),
        state="open",
        repo=RepoName("acme", "calm-meadow"),
        repo_id=7,
        pull=1,
        commits=commits,
        opened_at=NOW,
    )
    made.store.fork_opened(row, {STATIC: NOW})
    return made


def test_a_review_is_kept_before_it_counts_and_made_once_though_the_scratch_is_lost(services: Services) -> None:
    [plan] = services.store.run(RUN).plan.forks
    commits = services.store.fork(RUN, PLACE).commits
    assert commits is not None
    shown = builtin._change(services, services.store.run(RUN), plan, commits)
    pull = next(one for one in load_suite("smoke").pulls if one.id == PULL)
    assert shown.title == plan.title
    assert not any(golden.finding in shown.body + shown.diff for golden in pull.goldens)
    shutil.rmtree(services.bundles.parent / "forks")
    assert builtin._review(services, RUN, PLACE, STATIC)
    [trial] = services.store.trials(RUN)
    assert trial.status is None
    path = builtin._path(services, RUN, PULL, STATIC)
    before = path.stat().st_mtime_ns
    assert builtin._review(services, RUN, PLACE, STATIC)
    assert path.stat().st_mtime_ns == before, "what is kept is not made again"
    assert builtin._end(services, RUN, PLACE, STATIC, "")
    assert not builtin._review(services, RUN, PLACE, STATIC)
    [trial] = services.store.trials(RUN)
    assert (trial.status, trial.complete) == (TrialStatus.REVIEWED_FINDINGS, True)
    said = builtin.kept(services, RUN)[PULL, STATIC].review
    made = freeze(_evidence(services))
    assert [comment.body for comment in made.trials[0].comments] == [body_of(remark) for remark in said.remarks]
    assert made.trials[0].cost == 0.0
    assert made.extra["evidence/registry.json"] == b"[]"
    path.unlink()
    with pytest.raises(OSError, match="No such file"):
        builtin.kept(services, RUN)


def _evidence(services: Services) -> Evidence:
    run = services.store.run(RUN)
    return Evidence(
        suite=load_suite("smoke"),
        plan=run.plan,
        our_logins=("grey-heron[bot]",),
        registry=Registry((services.reviewer(STATIC, run),)),
        forks=services.store.forks(RUN),
        trials=services.store.trials(RUN),
        snapshots={PLACE: ()},
        reviews=builtin.kept(services, RUN),
    )


def test_nothing_is_reviewed_for_a_run_that_was_cancelled(services: Services) -> None:
    services.store.set_stage(RUN, "cancelled")
    assert not builtin._review(services, RUN, PLACE, STATIC)
    assert not services.reviews.exists()


def test_a_model_that_the_operator_no_longer_allows_is_unable_and_not_clean(services: Services) -> None:
    row, run = services.store.fork(RUN, PLACE), services.store.run(RUN)
    said = builtin._said(services, run, row, ReviewerId("raw:openai/gpt-4o"))
    assert status_of(said) is TrialStatus.UNABLE
    assert "ASSAY_REVIEW_MODELS" in said.failed
