"""What a command is about: a reviewer, minutes, a judge, a way to clean up; or what would do."""

from __future__ import annotations

import pytest

from bot.commands_arguments import MOST_MINUTES, Cleaning, cleaning, judge_named, more_minutes, one_reviewer
from bot.model import Problem, Problems
from scoring.model import ReviewerId
from tests.bot.render_world import EVIL, registry

ASKED = (ReviewerId("acme"), ReviewerId("zeta"))
HOSTILE = (EVIL, "@" * 200, "\u202eemca", "a" * 200, "'; DROP TABLE runs", "{0.__class__}", "\x00", "١٢")


def one(found: object) -> Problem:
    """The one problem of an answer."""
    assert isinstance(found, Problems)
    (problem,) = found.items
    return problem


@pytest.mark.parametrize("text", ["acme", "ACME", "Acme", "Acme (acme)"])
def test_a_reviewer_goes_by_id_name_or_the_forms_option(text: str) -> None:
    assert one_reviewer(text, ASKED, registry()) == "acme"


def test_a_reviewer_that_is_not_in_the_run_is_not_retried() -> None:
    known = one(one_reviewer("omega", ASKED, registry()))
    assert "omega is not among this run's reviewers" in known.message
    typo = one(one_reviewer("amce", ASKED, registry()))
    assert (typo.did_you_mean, typo.allowed) == ("acme", ASKED)
    assert "say which reviewer" in one(one_reviewer("", ASKED, registry())).message


def test_a_reviewer_that_has_left_the_registry_can_still_be_named() -> None:
    assert one_reviewer("gone", (ReviewerId("gone"),), registry()) == "gone"


@pytest.mark.parametrize(
    ("text", "minutes"), [("30", 30), ("2.5", 2.5), ("5m", 5), ("5 min", 5), ("5 Minutes", 5), ("1440", 1440)]
)
def test_minutes_are_a_number_with_or_without_its_unit(text: str, minutes: float) -> None:
    assert more_minutes(text, 0) == minutes


@pytest.mark.parametrize("text", ["", "0", "-5", "1e3", "soon", "5 hours", "nan", "inf", "1441", "99999", *HOSTILE])
def test_other_minutes_are_refused(text: str) -> None:
    assert isinstance(more_minutes(text, 0), Problems)


def test_deadlines_move_only_so_far_in_all() -> None:
    assert more_minutes("40", MOST_MINUTES - 40) == 40
    assert "at most 40 are left" in one(more_minutes("41", MOST_MINUTES - 40)).message
    assert "none are left" in one(more_minutes("1", MOST_MINUTES)).message


def test_cleaning_archives_unless_deletion_is_said() -> None:
    assert cleaning("") is Cleaning.ARCHIVE
    assert cleaning("Delete") is Cleaning.DELETE
    assert one(cleaning("delte")).did_you_mean == "delete"


def test_a_judge_is_named_and_can_judge() -> None:
    usual = ("lexical",)
    assert judge_named("litellm:acme/model-1", lambda _: None, usual) == "litellm:acme/model-1"
    assert "its key is missing" in one(judge_named("lexical", lambda _: "its key is missing", usual)).message
    assert "/assay rejudge lexical" in one(judge_named("", lambda _: None, usual)).message
    assert one(judge_named("Lexical", lambda _: None, usual)).did_you_mean == "lexical"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_arguments_are_refused_and_only_quoted(text: str) -> None:
    for found in (
        one_reviewer(text, ASKED, registry()),
        cleaning(text),
        judge_named(text, lambda _: None, ("lexical",)),
    ):
        assert len(one(found).message) < 400 or text == EVIL
        assert "\x00" not in one(found).message
