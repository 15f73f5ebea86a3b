"""A pinned suite against a real repository: commits, merge base, fixes, places and evidence."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.git_bytes import GitError
from bot.adapters.mirrors import read_pins
from goldens.load import load_suite
from goldens.model import GitPin, Suite
from goldens.trees import Size
from goldens.verify import verify
from scoring.model import GoldenId, PullId
from tests.goldens.written import BASE, HEAD, PINNED, changed, write_suite

PULL = PullId("mean-price")


def git(at: Path, *args: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@shop.example", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *args], cwd=at, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(at: Path, text: str, name: str = "prices.py") -> str:
    (at / "shop").mkdir(exist_ok=True)
    (at / "shop" / name).write_bytes(text.encode())
    git(at, "add", "--all")
    git(at, "commit", "--quiet", "--message", "work")
    return git(at, "rev-parse", "HEAD")


@pytest.fixture
def world(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A mirror with acme/store: main goes base, other; a branch goes base, head, fix."""
    clone = tmp_path / "mirror" / "acme" / "store"
    clone.mkdir(parents=True)
    git(clone, "init", "--quiet", "--initial-branch=main")
    commit(clone, "x = 1\n", "naïve name.py")
    found = {"base": commit(clone, BASE)}
    git(clone, "switch", "--quiet", "--create", "feature")
    found["head"] = commit(clone, HEAD)
    found["fix"] = commit(clone, HEAD.replace(" - 1", ""))
    git(clone, "switch", "--quiet", "main")
    found["other"] = commit(clone, "y = 1\n", "other.py")
    git(clone, "switch", "--quiet", "--orphan", "island")
    found["island"] = commit(clone, HEAD)
    return tmp_path / "mirror", found


def suite_of(folder: Path, base: str, head: str) -> Suite:
    pin = f"source: {{upstream: acme/store, number: 7, base_sha: {base}, head_sha: {head}}}"
    return load_suite(write_suite(folder, changed("source: files", pin)))


def rules(suite: Suite, mirror: Path) -> list[str]:
    return [finding.rule for finding in verify(suite, *read_pins(suite, mirror))]


def test_a_sound_pin_has_no_findings(tmp_path: Path, world: tuple[Path, dict[str, str]]) -> None:
    mirror, at = world
    suite = suite_of(tmp_path, at["base"], at["head"])
    assert rules(suite, mirror) == []
    trees, pins = read_pins(suite, mirror)
    assert (pins[PULL].merge_base, trees[PULL][1].files) == (at["base"], {"shop/prices.py": HEAD.encode()})


def test_a_base_that_moved_on_is_not_the_merge_base(tmp_path: Path, world: tuple[Path, dict[str, str]]) -> None:
    mirror, at = world
    suite = suite_of(tmp_path, at["other"], at["head"])
    assert rules(suite, mirror) == ["not-merge-base"]
    found = verify(suite, *read_pins(suite, mirror))
    assert f"it is {at['base']}" in found[0].message
    assert rules(suite_of(tmp_path, at["base"], at["island"]), mirror)[0] == "not-merge-base"


def test_a_fix_run_backwards_is_sound_and_the_other_way_round_is_not(
    tmp_path: Path, world: tuple[Path, dict[str, str]]
) -> None:
    mirror, at = world
    pin = f"source: {{upstream: acme/store, number: 7, base_sha: {at['fix']}, head_sha: {at['head']}}}"
    text = changed("source: files", f"{pin}\n    direction: inverted")
    back = load_suite(write_suite(tmp_path / "back", text))
    assert rules(back, mirror) == []
    text = changed("source: files", pin)
    assert rules(load_suite(write_suite(tmp_path / "forth", text)), mirror) == ["not-merge-base"]
    swapped = pin.replace(at["fix"], "x").replace(at["head"], at["fix"]).replace("x", at["head"], 1)
    text = changed("source: files", f"{swapped}\n    direction: inverted")
    assert "not-merge-base" in rules(load_suite(write_suite(tmp_path / "swapped", text)), mirror)


def test_a_commit_that_is_not_there_is_told(tmp_path: Path, world: tuple[Path, dict[str, str]]) -> None:
    mirror, at = world
    assert rules(suite_of(tmp_path, at["base"], PINNED), mirror) == ["no-such-commit", "not-checked"]
    tree = git(mirror / "acme" / "store", "rev-parse", f"{at['head']}^{{tree}}")
    assert rules(suite_of(tmp_path, at["base"], tree), mirror) == ["no-such-commit", "not-checked"]


def test_a_golden_that_is_already_put_right_at_head_is_told(tmp_path: Path, world: tuple[Path, dict[str, str]]) -> None:
    mirror, at = world
    suite = suite_of(tmp_path, at["base"], at["fix"])
    pull = suite.pulls[0]
    known = replace(pull, goldens=(replace(pull.goldens[0], fix=f"commit {at['fix']}"),))
    assert rules(replace(suite, pulls=(known,)), mirror) == ["already-fixed", "evidence-missing"]
    live = suite_of(tmp_path, at["base"], at["head"])
    same = replace(live.pulls[0], goldens=known.goldens)
    assert rules(replace(live, pulls=(same,)), mirror) == []
    assert read_pins(replace(suite, pulls=(known,)), mirror)[1][PULL].fixed == {GoldenId("divisor")}


def test_a_declared_size_is_counted_again(tmp_path: Path, world: tuple[Path, dict[str, str]]) -> None:
    mirror, at = world
    suite = suite_of(tmp_path, at["base"], at["head"])
    wrong = replace(suite, pulls=(replace(suite.pulls[0], declared_size=Size(3, 99)),))
    assert rules(wrong, mirror) == ["size-differs"]


@pytest.mark.parametrize("place", ["acme/store.git", "store", "store.git", "."])
def test_a_clone_is_found_where_mirrors_put_it(tmp_path: Path, world: tuple[Path, dict[str, str]], place: str) -> None:
    mirror, at = world
    elsewhere = tmp_path / "elsewhere" / place
    elsewhere.parent.mkdir(parents=True, exist_ok=True)
    bare = ["--bare"] if place.endswith(".git") else []
    git(tmp_path, "clone", "--quiet", *bare, str(mirror / "acme" / "store"), str(elsewhere))
    if not bare:
        git(elsewhere, "fetch", "--quiet", "origin", "feature")
    suite = suite_of(tmp_path / "suite", at["base"], at["head"])
    assert rules(suite, tmp_path / "elsewhere") == []


def test_an_upstream_without_a_clone_stays_unchecked(tmp_path: Path, world: tuple[Path, dict[str, str]]) -> None:
    mirror, at = world
    suite = suite_of(tmp_path, at["base"], at["head"])
    pull = suite.pulls[0]
    assert isinstance(pull.source, GitPin)
    foreign = replace(suite, pulls=(replace(pull, source=replace(pull.source, upstream="acme/elsewhere")),))
    assert rules(foreign, mirror) == ["not-checked"]


def test_a_damaged_clone_is_one_clear_error(tmp_path: Path, world: tuple[Path, dict[str, str]]) -> None:
    _, at = world
    broken = tmp_path / "broken" / "store"
    (broken / "objects").mkdir(parents=True)
    (broken / "HEAD").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(GitError):
        read_pins(suite_of(tmp_path, at["base"], at["head"]), tmp_path / "broken")


def test_the_suite_with_many_upstreams_only_loses_its_notes_where_a_clone_is(
    world: tuple[Path, dict[str, str]],
) -> None:
    mirror, _ = world
    suite = load_suite("cpp16")
    counted = Counter(finding.rule for finding in verify(suite, *read_pins(suite, mirror)))
    assert counted == {"not-checked": 16, "disputed": 7}
