"""A repository's name is exactly an owner and a name."""

from __future__ import annotations

import pytest

from bot.model import RepoName


@pytest.mark.parametrize("text", ["", "acme", "/x", "acme/", "acme/x/y", "//"])
def test_text_that_is_no_repository_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a repository; write owner/name\Z"):
        RepoName.parse(text)


def test_a_repository_is_the_same_in_any_case_and_no_other() -> None:
    assert RepoName.parse("acme/Shop") == RepoName("acme", "Shop")
    assert RepoName("Acme", "shop").same_as(RepoName("acme", "SHOP"))
    assert not RepoName("acme", "shop").same_as(RepoName("acme", "shop2"))
