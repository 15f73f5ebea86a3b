"""Pushes: only those to the default branch, and only while there is something to read."""

from __future__ import annotations

from typing import Any

import pytest

from bot.model import Actor, Ignored, Pushed, Rejected, RepoName
from tests.bot.deliveries import SHA, payload
from tests.bot.test_webhooks import read


def test_a_push_to_the_default_branch_is_read() -> None:
    assert read("push", payload("push")) == Pushed(77, RepoName("acme", "control"), SHA, Actor("dev-one", "User"))


@pytest.mark.parametrize(
    "changes",
    [
        {"ref": "refs/heads/topic"},
        {"ref": "refs/tags/main"},
        {"ref": "main"},
        {"ref": None},
        {"deleted": True},
        {"after": "0" * 40},
        {"after": "x"},
        {"after": None},
        {"repository": {"full_name": "acme/control"}},
    ],
)
def test_any_other_push_is_nobodys_business(changes: dict[str, Any]) -> None:
    assert isinstance(read("push", {**payload("push"), **changes}), Ignored)


def test_a_push_of_a_repository_without_a_name_is_refused_and_not_a_crash() -> None:
    content = payload("push")
    content["repository"] = {"default_branch": "main", "full_name": "a/b/../c"}
    assert isinstance(read("push", content), Rejected | Ignored)
