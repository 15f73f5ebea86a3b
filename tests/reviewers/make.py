"""Changes to review, and the means to review them with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.llm import LiteLlm
from bot.adapters.replies import SqliteReplies
from bot.judging import store
from bot.judging.budget import Limits
from bot.reviewers.diffs import between, written
from bot.reviewers.means import ReviewMeans
from bot.reviewers.protocol import Change
from tests.judging import server
from tests.judging.server import Models, serving

MODEL = "openai/scripted"
BEFORE = b"""\
def shares(total, people):
    if not people:
        return []
    return [total / len(people) for _ in people]


def names(people):
    return sorted(people)
"""
AFTER = BEFORE.replace(b"    if not people:\n        return []\n", b"")


def change(
    base: Mapping[str, bytes] | None = None, head: Mapping[str, bytes] | None = None, *, title: str = "", body: str = ""
) -> Change:
    before = {"pay/split.py": BEFORE, "README.md": b"# Pay\n"} if base is None else base
    after = {"pay/split.py": AFTER, "README.md": b"# Pay\n"} if head is None else head
    return Change(title, body, written(between(before, after)), before, after)


def finding(**more: Any) -> dict[str, Any]:
    told = {"path": "pay/split.py", "start_line": 2, "end_line": 2, "type": "bug", "severity": "high"}
    shown = {"failing_input": "shares(10, [])", "citation": "len(people)", "suggestion": ""}
    return {**told, "description": "An empty list divides by zero.", **shown, **more}


def findings(*rows: Any) -> str:
    return json.dumps({"findings": list(rows)})


Answer = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class World:
    """A model on loopback, and means that ask it."""

    models: Models
    replies: SqliteReplies
    folder: Path

    def means(self, limits: Limits | None = None, **more: Any) -> ReviewMeans:
        asking = store.means_of(LiteLlm(self.models.base), self.replies, limits or Limits(), sleep=lambda _: None)
        return ReviewMeans(asking, **more)


@contextmanager
def world(tmp_path: Path, answer: Answer | list[str]) -> Iterator[World]:
    """A scripted model: a function of the prompt, or one answer after the other, the last one again and again."""
    turns = iter(answer) if isinstance(answer, list) else None
    last = [""]

    def say(prompt: str, odd: int) -> str:
        if turns is None:
            assert callable(answer)
            return answer(prompt)
        last[0] = next(turns, last[0])
        return last[0]

    with pytest.MonkeyPatch.context() as patch, serving() as models:
        patch.setitem(server._CHARACTERS, "scripted", say)
        patch.setenv("OPENAI_API_KEY", "x")
        replies = SqliteReplies(tmp_path / "replies.db")
        try:
            yield World(models, replies, tmp_path)
        finally:
            replies.close()
