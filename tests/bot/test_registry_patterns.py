"""Patterns over hostile text: what is refused, and that what is accepted stays fast."""

from __future__ import annotations

import time
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.patterns import HEAD, RUN, TAIL, UnboundedPattern, bounded, found, window
from bot.registry import load_registry


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*b",
        "(a|aa)+$",
        r"(\d+)*x",
        r"(?:\s+)*y",
        ".*x",
        "[^x]+y",
        r"\w+@",
        "a{0,5000}b",
        "(?:a{1,9}){1,9}x",
        ".{0,200}.{0,200}x",
        r"(\w{1,50}\s{0,9}){1,8}x",
        r"(a)\1",
        "(?P<n>a)(?P=n)",
        "(",
        "[a",
        "a{9999999999}",
        "(?:" * 3000,
        "x" * 500,
    ],
)
def test_a_pattern_that_could_be_slow_is_refused(pattern: str) -> None:
    with pytest.raises(UnboundedPattern):
        bounded(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "group"),
    [
        (r"posted:\s*(\d+)\*\*", "Posted:   12**", "12"),
        (r"generated\s+(\d+|no)(?:\s+new)?\s+comments?", "and generated no comments.", "no"),
        (r"found .{0,40}(\d) bugs", "found maybe 3 bugs", "3"),
        (r"(?:a|b){1,4}(c)", "ababc", "c"),
        (r"^(#{1,4}) Done", "intro\n## Done", "##"),
    ],
)
def test_ordinary_patterns_are_accepted_and_find(pattern: str, text: str, group: str) -> None:
    match = found((pattern,), window(text))
    assert match is not None
    assert match[1] == group


def test_the_message_says_what_to_write_instead() -> None:
    with pytest.raises(UnboundedPattern, match=r"write \{0,80\}"):
        bounded("finished.*today")


def _hostile() -> list[str]:
    return [
        "a" * 65_536,
        " " * 65_536,
        "1" * 65_536,
        "1 " * 32_768,
        "**Actionable comments posted: " * 2_200,
        "`1-" * 21_845,
    ]


@pytest.mark.parametrize("text", _hostile(), ids=lambda text: repr(text[:6]))
def test_every_real_pattern_is_fast_on_a_hostile_body(text: str) -> None:
    manifest = resources.files("manifests").joinpath("reviewers.yaml").read_text(encoding="utf-8")
    searched = window(text)
    started = time.process_time()
    for entry in load_registry(("reviewers.yaml", manifest)).reviewers:
        for _, patterns in entry.signals:
            if isinstance(patterns, tuple):
                found(patterns, searched)
    assert time.process_time() - started < 5


def test_the_worst_accepted_pattern_is_still_bounded() -> None:
    started = time.process_time()
    assert found((r"\s+\s{0,60}x", r".{0,60}a.{0,60}b"), window("a " * 40_000)) is None
    assert time.process_time() - started < 20


@given(st.text(alphabet="a 1,\n", max_size=400), st.integers(0, 3))
def test_a_window_never_grows_a_text_nor_keeps_a_long_run(text: str, times: int) -> None:
    seen = window(text * (1 + times * 100))
    assert len(seen) <= HEAD + TAIL + 1
    assert " " * (RUN + 1) not in seen
    assert "1" * (RUN + 1) not in seen


def test_the_end_of_a_long_body_is_searched_too() -> None:
    assert found(("last reviewed commit",), window("x" * 60_000 + "Last reviewed commit: abc")) is not None
