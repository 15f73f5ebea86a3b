"""The time of no reader grows faster than its input: each is fed one unit over and over, and then four times as often.

Ratios, not seconds: a slow machine is slow for both.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest

from tests.attack.targets import TARGETS

SMALL, TIMES = 2_000, 4
FLOOR = 0.06
"""Seconds below which a ratio says nothing."""
MOST = 9.0
"""Four times the input may take so many times the time; what grows with the square takes sixteen times."""

_TEXTS = (
    b"a", b" ", b"\n", b"*", b"**a", b"_a_ ", b"[", b"![", b"[a](", b"<", b"<!--", b"<details>", b"`", b"```\n",
    b"~~~ \n",
    b"> ", b"- ", b"1. a\n", b"|a", b"|-|\n", b"&#x", b"http://a", b"a@b.", b"### Suite\n", b"/assay ", b"a, ",
    b"named: a; ",
    b"- [x] a\n", b"{\"a\":", b"[{", b"\"", b"\\", b"\r", b"\xe2\x80\x8b", b"a:1 ", b"not the ", b"same problem ",
    b"<b",
    b"</details>",
)  # fmt: skip
_DIFFS = (
    b"@@ -1 +1 @@\n",
    b"diff --git a/a b/a\n",
    b"--- a\n+++ b\n",
    b"+a\n",
    b"-",
    b'"\\303',
    b"rename from a\n",
    b" a",
    b"\\ \n",
)
_YAMLS = (
    b"a: b\n", b"- a\n", b"[", b"{", b"? a\n", b"a: {b: c}, ", b"'", b"\"\\x41", b"# a\n", b"| \n", b"- - ", b"a ",
    b"reviewers: []\n",
    b"%A\n", b"---\n", b"&a ", b"!a ",
)  # fmt: skip
_JSONS = (
    b"[",
    b'{"a":',
    b'{"a":1},',
    b"1",
    b'"a",',
    b"\\u",
    b"[],",
    b" ",
    b'{"candidate":"a","golden":"none"}\n',
    b"}",
    b"-",
)
_LINES = (b"k%d: {a: b}\n", b"k%d: b\n", b"- {id: k%d}\n")
"""With a number in each, so that no key stands twice."""


def _families(name: str) -> list[Callable[[int], bytes]]:
    heads = {
        "webhook": b"issues\n",
        "bundle": b"pulls.json\n",
        "import": b"sarif\na\n",
        "rows": b"jsonl\n",
        "verdicts": b"yaml\n",
    }
    units = {
        **dict.fromkeys(("diff", "patch"), (*_DIFFS, *_TEXTS[:4])),
        # All of them read YAML with the same reader.
        **dict.fromkeys(("registry", "study"), ()),
        **dict.fromkeys(("suite", "verdicts"), _YAMLS),
        **dict.fromkeys(("webhook", "bundle", "import", "rows", "manifest", "answer"), _JSONS),
        "reply": (*_JSONS, *_TEXTS),
    }.get(name, _TEXTS)
    head = heads.get(name, b"")
    plain: list[Callable[[int], bytes]] = [partial(_repeated, head, unit) for unit in units]
    if name not in ("suite", "registry", "study", "verdicts"):
        return plain
    start = b"version: 1\nreviewers: []\n" if name == "registry" else b""
    return [*plain, *(partial(_counted, head + start, line) for line in _LINES)]


def _repeated(head: bytes, unit: bytes, size: int) -> bytes:
    return head + unit * (size // len(unit))


def _counted(head: bytes, line: bytes, size: int) -> bytes:
    return head + b"".join(line % at for at in range(size // len(line)))


def _seconds(run: Callable[[bytes], None], data: bytes) -> float:
    begun = time.process_time()
    run(data)
    return time.process_time() - begun


@pytest.mark.parametrize("name", sorted(set(TARGETS) - {"archive", "pattern"}))
def test_four_times_the_input_takes_no_sixteen_times_the_time(name: str) -> None:
    run = TARGETS[name].run
    for family in _families(name):
        small, large = family(SMALL), family(SMALL * TIMES)
        _seconds(run, small[:100])
        after = _seconds(run, large)
        if after < FLOOR:
            continue
        before = min(_seconds(run, small) for _ in range(2))
        again = min(after, _seconds(run, large))
        assert again < MOST * max(before, FLOOR / TIMES), f"{large[:60]!r}: {before:.3f} s, then {again:.3f} s"
