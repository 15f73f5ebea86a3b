"""YAML made to grow, to nest, to run code, or to take for ever."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import yaml

from bot.judging.choosing import _compose
from bot.registry import RegistryError, load_registry
from bot.studies.schema import StudyError, parse_study
from goldens.load import suite_from_text
from goldens.located import SuiteError, read_document
from goldens.mine.config import read_config
from scoring.judges.human import HumanError, read
from tests.attack.targets import registry

BOMB = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (at, at, b", ".join([b"*%c" % (at - 1)] * 9)) for at in range(ord("b"), ord("k"))
)
TRICKS = {
    "bomb": BOMB,
    "self": b"a: &a [*a]\n",
    "merge": b"a: &a {b: c}\nd: {<<: *a}\n",
    "code": b"a: !!python/object/apply:os.system [id]\n",
    "tag": b"a: !x y\n",
    "deep": b"[" * 100_000,
    "deep block": b"".join(b" " * at + b"- \n" for at in range(400)),
    "deep map": b"{a: " * 50_000,
    "twice": b"version: 1\nversion: 1\n",
    "documents": b"a: b\n---\na: b\n",
    "bytes": b"a: \xff\xfe\n",
    "control": b"a: \x07\n",
    "nothing": b"",
    "key": b"? [a, b]\n: c\n",
    "large": b"a: " + b"x" * (9 * 1024 * 1024),
}
READERS: dict[str, tuple[Callable[[bytes], object], type[Exception]]] = {
    "suite": (lambda data: suite_from_text(data, "suite.yaml"), SuiteError),
    "registry": (lambda data: load_registry(("r.yaml", data.decode("utf-8", "replace"))), RegistryError),
    "own": (lambda data: registry().with_own(data.decode("utf-8", "replace")), RegistryError),
    "study": (lambda data: parse_study(data, "study.yaml"), StudyError),
    "mine": (lambda data: read_config(data, "mine.yaml"), SuiteError),
    "verdicts": (lambda data: read(data.decode("utf-8", "replace"), "yaml", {}, compose=_compose), HumanError),
}


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("reader", READERS)
def test_a_trick_is_refused_in_little_time(reader: str, trick: str) -> None:
    run, error = READERS[reader]
    begun = time.process_time()
    with pytest.raises(error):
        run(TRICKS[trick])
    assert time.process_time() - begun < 5


def test_places_are_found_as_quickly_in_a_large_mapping_as_in_a_small_one() -> None:
    def seconds(keys: int) -> float:
        lines = "".join(f"k{at}: b\n" for at in range(keys))
        document = read_document(lines.encode(), "x.yaml")
        begun = time.process_time()
        for _ in range(4_000):
            document.problem((f"k{keys - 1}",), "wrong")
        return time.process_time() - begun

    small = min(seconds(20) for _ in range(2))
    assert min(seconds(2_000) for _ in range(2)) < 4 * small + 0.02


def test_a_pattern_is_checked_in_no_time_however_its_repeats_are_nested() -> None:
    begun = time.process_time()
    for pattern in ("(?:a?)?" * 57, "(?:(?:a?c)?d?)?" * 26, "(?:a|b?)?" * 40):
        text = yaml.safe_dump({"version": 1, "reviewers": [{"id": "coderabbit", "signals": {"done": [pattern]}}]})
        with pytest.raises(RegistryError, match="ways from one position"):
            registry().with_own(text)
    assert time.process_time() - begun < 3


def test_many_patterns_that_are_each_allowed_are_not_allowed_together() -> None:
    one = ".{0,60}a.{0,60}b"
    patterns = [f"{one}{letter}" for letter in "cdefghijkl"]
    text = yaml.safe_dump({"version": 1, "reviewers": [{"id": "coderabbit", "signals": {"done": patterns}}]})
    with pytest.raises(RegistryError, match="ways in all"):
        registry().with_own(text)


@pytest.mark.parametrize("facts", ["5", "null", "x", "{a: b}"])
def test_facts_that_are_no_list_are_named_and_not_a_crash(facts: str) -> None:
    with pytest.raises(RegistryError):
        registry().with_own(f"version: 1\nreviewers:\n  - {{id: coderabbit, facts: {facts}}}\n")
