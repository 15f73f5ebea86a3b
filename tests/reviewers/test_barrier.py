"""What a reviewer is given cannot hold a golden: by its types, by what is put into them, and at run time."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from bot.reviewers import means as means_module
from bot.reviewers import protocol
from bot.reviewers.barrier import barrier_of
from bot.reviewers.changes import change_of
from bot.reviewers.choose import choose
from bot.reviewers.means import ReviewMeans, ToolLimits
from bot.reviewers.offline import reviewed
from bot.reviewers.protocol import Change
from bot.reviewers.running import review_all
from goldens.leakage import Leak
from goldens.load import load_suite
from goldens.model import GitPin, GoldenPull, TreeFiles
from scoring import model as scoring_model
from scoring.bundle import BundlePull
from scoring.model import Category, Golden, GoldenId, Place, PullId, Severity
from tests.reviewers import make
from tests.reviewers.make import MODEL, world

TRUTH = {"Golden", "GoldenPull", "Suite", "BundlePull", "Withheld", "Judgement", "GoldenOutcome", "TrialScore", "Trial"}
LEAVES = {str, bytes, int, float, bool, type(None), Severity}


def held(kind: Any, seen: set[Any]) -> Iterator[Any]:
    """Every type that a value of a type can hold, however deep."""
    if isinstance(kind, list):
        for one in kind:
            yield from held(one, seen)
        return
    if kind in seen:
        return
    seen.add(kind)
    yield kind
    for inner in get_args(kind):
        yield from held(inner, seen)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        spaces = {**vars(means_module), **vars(protocol), **vars(scoring_model)}
        for hint in get_type_hints(kind, localns=spaces).values():
            yield from held(hint, seen)


@pytest.mark.parametrize("kind", [Change, ReviewMeans, ToolLimits])
def test_no_input_of_a_reviewer_can_hold_a_golden(kind: type) -> None:
    names = {getattr(one, "__name__", str(one)) for one in held(kind, set())}
    assert not names & TRUTH


def test_a_change_holds_texts_bytes_and_nothing_else() -> None:
    plain = {one for one in held(Change, set()) if isinstance(one, type) and not get_args(one)}
    assert plain <= LEAVES | {Change}
    assert {field.name for field in dataclasses.fields(Change)} == {"title", "body", "diff", "base", "head", "whole"}


def test_the_walk_would_find_a_golden() -> None:
    assert "Golden" in {getattr(one, "__name__", "") for one in held(BundlePull, set())}


def test_no_word_of_a_golden_reaches_a_change() -> None:
    for name in ("smoke", "recognition27"):
        for pull in load_suite(name).pulls:
            change = change_of(pull)
            told = [change.title, change.body, change.diff, *map(str, change.head), *map(str, change.base)]
            for golden in pull.goldens:
                assert not any(golden.finding in text for text in told)


def _pinned(path: str) -> tuple[GoldenPull, dict[PullId, tuple[TreeFiles, TreeFiles]]]:
    """A pinned pull request whose golden lies in a file that the change does not touch."""
    golden = Golden(GoldenId("g"), "It breaks.", Category.CORRECTNESS, Severity.HIGH, Place(path, (1, 1)))
    pull = GoldenPull(PullId("p"), "python", "T", "", (golden,), GitPin("o/r", 1, "a" * 40, "b" * 40))
    base = TreeFiles({"a.py": b"1\n", path: b"the place\n"})
    return pull, {pull.id: (base, TreeFiles({"a.py": b"2\n", path: b"the place\n"}))}


def test_a_file_that_only_a_golden_names_is_not_shown() -> None:
    pull, trees = _pinned("far/away.py")
    change = change_of(pull, trees)
    assert set(change.head) == set(change.base) == {"a.py"}
    assert "far" not in change.diff and not change.whole


def test_a_pinned_pull_request_without_its_files_is_refused() -> None:
    pull, _ = _pinned("far/away.py")
    with pytest.raises(ValueError, match=r"o/r#1; --mirror"):
        change_of(pull)


def test_cold_reviewers_are_shown_every_file_of_a_cold_suite(tmp_path: Path) -> None:
    suite = load_suite("cold")
    changes = {pull.id: change_of(pull) for pull in suite.pulls}
    with world(tmp_path, lambda prompt: "[]") as found:
        means = found.means(admit=barrier_of(suite, changes))
        reviewers = [choose(f"cold:{MODEL}?prompt={letter}", means) for letter in "ABC"]
        reviews = review_all(reviewers, changes, means, lambda done, total: None)
        assert not [one.review.failed for one in reviews if one.review.failed or one.review.unread]
        prompts = [one.prompt for one in found.models.seen]
    assert len(prompts) == 3 * len(suite.pulls)
    for pull in suite.pulls:
        assert not any(pull.body.strip() in prompt or pull.title in prompt for prompt in prompts)
    assert not any("@@" in prompt or "\n--- a/" in prompt for prompt in prompts)


def test_a_place_that_shows_in_a_path_ends_the_run_before_anything_is_asked(tmp_path: Path) -> None:
    golden = Golden(GoldenId("g"), "It breaks.", Category.CORRECTNESS, Severity.HIGH, Place("v/41.py", (40, 44)))
    base = TreeFiles({"v/41.py": b"x = 1\n" * 60})
    head = TreeFiles({"v/41.py": b"x = 1\n" * 40 + b"x = 2\n" * 20})
    pull = GoldenPull(PullId("p"), "python", "T", "", (golden,), (base, head))
    suite = dataclasses.replace(load_suite("cold"), pulls=(pull,), path=tmp_path / "suite.yaml")
    changes = {pull.id: change_of(pull)}
    with world(tmp_path, lambda prompt: "[]") as found:
        means = found.means(admit=barrier_of(suite, changes))
        with pytest.raises(Leak, match="the number 41"):
            review_all([choose(f"cold:{MODEL}", means)], changes, means, lambda done, total: None)
        assert not found.models.seen


def test_what_a_source_withheld_may_not_show(tmp_path: Path) -> None:
    pull = load_suite("cold").pulls[0]
    told = "The waiting time doubles without any end at all."
    (tmp_path / "withheld.json").write_text(json.dumps({pull.id: {"statement": told}}), encoding="ascii")
    path, head = next(iter(pull.source[1].files.items())) if isinstance(pull.source, tuple) else ("", b"")
    spoiled = dataclasses.replace(
        pull, source=(TreeFiles({path: b"x = 1\n"}), TreeFiles({path: f"# {told}\n".encode() + head}))
    )
    suite = dataclasses.replace(load_suite("cold"), pulls=(spoiled,), path=tmp_path / "suite.yaml")
    changes = {spoiled.id: change_of(spoiled)}
    with world(tmp_path, lambda prompt: "[]") as found:
        means = found.means(admit=barrier_of(suite, changes))
        with pytest.raises(Leak, match="the report"):
            reviewed(choose(f"chunked:cold:{MODEL}?by=hunk", means), str(spoiled.id), changes[spoiled.id])
        assert not found.models.seen


def test_a_description_that_stands_in_the_file_is_a_leak_without_any_suite(tmp_path: Path) -> None:
    body = "Leaves out the check for an empty list of people."
    spoiled = make.change({}, {"a.py": f"# {body}\nx = 2\n".encode()}, body=body)
    with world(tmp_path, lambda prompt: "[]") as found, pytest.raises(Leak):
        reviewed(choose(f"cold:{MODEL}", found.means()), "p", spoiled)
