"""Names, branches, authors and dates that tell nothing and are the same on every retry."""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest

from bot.model import ForkId
from bot.neutral import _FIRST, _SECOND, _SUFFIX, TELLTALE, Identity, branches, identity, messages, repository_names
from tests.shared import case

SECRET, OTHER = b"s" * 32, b"t" * 32
FORKS = [ForkId(f"pull-{number}") for number in range(300)]


def test_the_shared_case_of_names_that_give_nothing_away() -> None:
    shared = case("65")
    for wanted in shared["input"]["wanted"]:
        fork = ForkId(f"{wanted['upstream'].replace('/', '-')}-{wanted['pull']}~{wanted['tool']}")
        for number in range(50):
            secret = bytes([number]) * 32
            for name in repository_names(secret, fork):
                assert re.fullmatch(shared["expected"]["name_regex"], name)
                assert not [bad for bad in shared["expected"]["must_not_contain"] if bad in name]
            assert repository_names(secret, fork) == repository_names(secret, fork)


def test_no_word_and_no_name_holds_a_telltale_word() -> None:
    assert not [word for word in chain(_FIRST, _SECOND) if any(bad in word for bad in TELLTALE)]
    assert not set(_SUFFIX) & set("aeiouy0123456789")
    for word in chain(_FIRST, _SECOND):
        assert re.fullmatch(r"[a-z]{3,9}", word)
    names = [name for fork in FORKS for name in repository_names(SECRET, fork)]
    assert not [name for name in names if any(bad in name for bad in TELLTALE)]


def test_a_word_of_the_fork_id_or_of_the_upstream_never_comes_back_in_a_name() -> None:
    fork = ForkId("green-harbor-amber-77~quiet-meadow")
    told = ("green", "harbor", "amber", "quiet", "meadow", "river", "stone")
    for number in range(60):
        secret = bytes([number]) * 32
        names = repository_names(secret, fork, forbidden=["River/stone"])
        author = identity(secret, fork)
        shown = (*names, branches(secret, fork)[1], author.name.lower(), author.email)
        assert not [bad for bad in told[:5] for text in shown if bad in text]
        assert not [bad for bad in told[5:] for name in names if bad in name]


def test_forks_of_one_run_never_meet_and_another_run_shares_no_name() -> None:
    ours = [name for fork in FORKS for name in repository_names(SECRET, fork)]
    theirs = [name for fork in FORKS for name in repository_names(OTHER, fork)]
    assert len(set(ours)) == len(ours) == 8 * len(FORKS)
    assert not set(ours) & set(theirs)


def test_a_different_run_has_other_branches_authors_and_dates() -> None:
    fork = FORKS[0]
    assert branches(SECRET, fork) != branches(OTHER, fork)
    assert identity(SECRET, fork) != identity(OTHER, fork)
    assert identity(SECRET, fork).base_date != identity(SECRET, FORKS[1]).base_date
    assert identity(SECRET, fork) == identity(bytes(SECRET), ForkId("pull-0"))


def test_names_are_the_same_in_every_release_so_that_a_retry_after_an_upgrade_finds_its_fork() -> None:
    # HMAC-SHA256 of `branches`, NUL, `0`, NUL, `pull-0` under 32 times `s` begins with 3e96fafda986c221 (openssl dgst):
    # 4510068044235981345, which modulo the 109 first words is 11, and that is "cedar".
    assert branches(SECRET, FORKS[0]) == ("main", "change/cedar-lever")
    assert repository_names(SECRET, FORKS[0], count=3) == (
        "quiet-relay-bwzhkw",
        "west-fountain-qvjgsx",
        "teal-nest-lever-rbqn",
    )
    assert identity(SECRET, FORKS[0]) == Identity(
        name="Tiny Pier",
        email="tiny.pier@example.net",
        base_date=datetime(2023, 6, 22, 12, 52, 37, tzinfo=UTC),
        head_date=datetime(2023, 7, 3, 2, 3, 16, tzinfo=UTC),
    )


def test_branches_are_what_git_takes() -> None:
    for fork in FORKS[:20]:
        base, head = branches(SECRET, fork)
        assert base == "main" and re.fullmatch(r"(change|patch|update|work)/[a-z]+-[a-z]+", head)
        subprocess.run(["git", "check-ref-format", f"refs/heads/{head}"], check=True)


def test_the_author_is_nobody_and_wrote_in_the_past_head_after_base() -> None:
    for fork in FORKS:
        who = identity(SECRET, fork)
        assert re.fullmatch(r"[a-z]+\.[a-z]+@example\.(com|net|org)", who.email)
        assert who.base_date.utcoffset() == timedelta(0) and who.base_date.microsecond == 0
        assert datetime(2023, 1, 1, tzinfo=UTC) < who.base_date
        assert who.base_date + timedelta(hours=1) <= who.head_date < datetime(2025, 7, 1, tzinfo=UTC)


def test_commit_messages_are_one_neutral_line() -> None:
    assert messages("Fix double discount (regression from #860)\n\nSigned-off-by: A <a@b.co>") == (
        "Initial import",
        "Fix double discount (regression from an earlier change)",
    )
    assert messages("#12").head == "an earlier change"
    assert messages("https://github.com/acme/widgets/").head == "Update"


@pytest.mark.parametrize("secret", [b"", b"short", b"x" * 15])
def test_a_secret_that_could_be_guessed_is_refused(secret: bytes) -> None:
    with pytest.raises(ValueError, match="at least 16"):
        repository_names(secret, FORKS[0])
    assert repository_names(b"x" * 16, FORKS[0])


def test_forbidding_every_word_is_an_error_and_no_endless_search() -> None:
    with pytest.raises(ValueError, match="too much is forbidden"):
        repository_names(SECRET, FORKS[0], forbidden=list(_FIRST))
    with pytest.raises(ValueError, match=r"\Aevery neutral word is a part of this fork's id\Z"):
        branches(SECRET, ForkId("-".join(_FIRST)))
