"""What reviewers do to trees: their own files leave as well, and an Action runs only where the operator said so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import manifests
from bot import neutral
from bot.model import ForkPlan, Isolation, RunId, RunRequest, WriteLimits
from bot.neutral_reviewers import NEEDS_ACTION, TreeNeeds, action_problem, tree_needs
from bot.neutral_strip import strip
from bot.plan import make_plan
from bot.plan_leaks import LeakError, leaks_of
from bot.registry import Login, Reviewer, load_registry
from bot.registry_entry import Workflow
from goldens.load import load_suite
from goldens.model import GitPin, Suite
from scoring.model import ReviewerId
from tests.bot.test_git_adapter_files import RULES

SECRET = b"a secret of one run only"
FLOW = Workflow(path=".github/workflows/acme.yml", content="on: pull_request\njobs: {}\n")


def reviewer(name: str = "acme", **fields: object) -> Reviewer:
    return Reviewer(id=name, name=name.title(), logins=(Login(login=f"{name}[bot]"),), **fields)  # type: ignore[arg-type]


def planned(suite: Suite, *chosen: Reviewer, granted: bool = False) -> tuple[ForkPlan, ...]:
    ids = tuple(ReviewerId(one.id) for one in chosen)
    request = RunRequest(suite.ref.id, ids, "lexical", isolation=Isolation.SHARED)
    limits = WriteLimits(spacing_seconds=0)
    made = make_plan(
        RunId("77001-1"), "acme-org", request, suite, chosen, secret=SECRET, author_is_user=True, write_limits=limits,
        names=neutral, workflows_granted=granted,
    )  # fmt: skip
    assert any(NEEDS_ACTION in line for line in made.warnings) == any(
        action_problem(one, granted=granted) is not None for one in chosen
    )
    return made.forks


def test_the_files_of_any_reviewer_known_leave_and_edited_ones_refuse_the_pull_request() -> None:
    known = [reviewer("acme", configs=(".acme/", "/acme.yaml")), reviewer("zeta"), reviewer("none")]
    rules = tree_needs(known, known[1:], granted=False).rules(RULES)
    paths = [".acme/rules", "sub/.Acme/x", "acme.yaml", "sub/acme.yaml", "a.py", "AGENTS.md"]
    done = strip(paths, frozenset({"acme.yaml"}), rules)
    assert [one.path for one in done.removed] == [".acme/rules", "sub/.Acme/x", "AGENTS.md"]
    (refused,) = done.refused
    why = "it configures a reviewer, so the reviewers would not be measured under equal rules"
    assert refused.path == "acme.yaml"
    assert refused.reason == f"the golden pull request changes it; configuration of acme: {why}"
    assert rules.groups[-1].edited == "refuse"


def test_the_rules_that_ship_decide_first() -> None:
    needs = TreeNeeds({"acme": ("AGENTS.md",)})
    done = strip(["AGENTS.md"], frozenset({"AGENTS.md"}), needs.rules(RULES))
    assert [one.path for one in done.kept_both] == ["AGENTS.md"]


def test_a_pattern_that_is_none_is_told_with_its_reviewer() -> None:
    with pytest.raises(ValueError, match=r"registry: acme.*is no pattern"):
        TreeNeeds({"acme": ("a/**/b",)}).rules(RULES)


def test_every_shipped_reviewer_has_patterns_that_are_some() -> None:
    text = Path(manifests.__file__).with_name("reviewers.yaml").read_text(encoding="utf-8")
    registry = load_registry(("reviewers.yaml", text))
    rules = tree_needs(registry.reviewers, (), granted=False).rules(RULES)
    for entry in registry.reviewers:
        for pattern in entry.configs:
            path = pattern.strip("/").replace("*", "x") + ("/file" if pattern.endswith("/") else "")
            assert rules.find(path) is not None, (entry.id, pattern)


def test_an_action_takes_part_only_with_a_workflow_and_the_grant() -> None:
    plain, bare, whole = reviewer(), reviewer(needs_action=True), reviewer(needs_action=True, workflow=FLOW)
    assert action_problem(plain, granted=False) is None
    for one, granted in ((bare, False), (bare, True), (whole, False)):
        problem = action_problem(one, granted=granted)
        assert problem is not None and problem.startswith("needs_action: ")
        assert not tree_needs([one], [one], granted=granted).workflows
    assert action_problem(whole, granted=True) is None
    assert tree_needs([whole], [whole], granted=True).workflows == {FLOW.path: FLOW.content}
    assert not tree_needs([whole], [plain], granted=True).workflows
    why = "needs_action: it runs as a GitHub Action, and workflows are taken out of neutral forks; its registry entry"
    assert action_problem(bare, granted=True) == f"{why} names no workflow to put in"
    assert action_problem(whole, granted=False) == (
        f"{why} names one to put in, which takes `workflows: write`: grant it to the App and set "
        "ASSAY_WORKFLOWS_GRANTED=true"
    )


def test_two_workflows_of_one_name_are_an_error() -> None:
    other = reviewer("zeta", needs_action=True, workflow=Workflow(path=FLOW.path, content="on: push\n"))
    with pytest.raises(ValueError, match="different workflows"):
        tree_needs([], [reviewer(needs_action=True, workflow=FLOW), other], granted=True)


def test_the_plan_says_beforehand_who_cannot_take_part() -> None:
    suite = load_suite("smoke")
    for granted in (False, True):
        planned(suite, reviewer(), reviewer("zeta", needs_action=True, workflow=FLOW), granted=granted)


# --- the leak audit ---------------------------------------------------------------------------------------------


def pinned(suite: Suite, **fields: str) -> Suite:
    """The suite with its first pull request changed and said to come from an upstream."""
    first = suite.pulls[0]
    source = GitPin("octo-corp/gizmos", 4711, "1" * 40, "2" * 40)
    return replace(suite, pulls=(replace(first, source=source, **fields),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "text", "told"),
    [
        ("title", "Speed up gizmos", "the title names the upstream"),
        ("title", "Speed up Octo_Corp's parser", "the title names the upstream"),
        ("title", "Assay: speed it up", "the title names the tool"),
        ("body", "As measured in run 77001-1", "the body names the run"),
        ("body", "Makes MyGizmos faster", "the body names the upstream"),
    ],
)
def test_a_plan_whose_texts_tell_too_much_fails_and_does_not_repeat_the_word(field: str, text: str, told: str) -> None:
    suite = pinned(load_suite("smoke"), **{field: text})
    with pytest.raises(LeakError) as caught:
        planned(suite, reviewer())
    assert told in str(caught.value)
    assert not any(word in str(caught.value).lower() for word in ("gizmo", "octo", "assay", "77001"))


def test_pinned_texts_are_made_neutral_in_the_plan() -> None:
    suite = pinned(load_suite("smoke"), title="Mend totals (#881)", body="Fixes #5 cc @somebody\n\nIt was wrong.")
    (fork,) = planned(suite, reviewer())
    assert (fork.title, fork.body) == ("Mend totals", "It was wrong.")


def test_no_derived_text_of_many_forks_names_what_it_must_not() -> None:
    forks = planned(load_suite("smoke"), reviewer())
    for number in range(30):
        secret, fork = bytes([number]) * 32, forks[number % len(forks)]
        made = replace(fork, names=neutral.repository_names(secret, fork.id))
        assert leaks_of(made, "octo-corp/gizmos", "77001-1", ("smoke", "acme"), secret) == ()


def test_each_text_that_we_author_is_looked_at() -> None:
    (fork, *_) = planned(load_suite("smoke"), reviewer())
    changes = {"names": ("acme-lake-bcdfgh",), "head_branch": "work/acme-x", "base_branch": "acme"}
    for field, value in changes.items():
        changed = replace(fork, **{field: value})  # type: ignore[arg-type]
        assert len(leaks_of(changed, None, "77001-1", ("acme",), SECRET)) == 1, field
    said = leaks_of(replace(fork, title="Gizmos"), "octo-corp/gizmos", "77001-1", (), SECRET)
    assert said == ("the title names the upstream", "a commit message names the upstream")
