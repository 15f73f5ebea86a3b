"""What a plan warns of, before money is spent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.model import Isolation, Publish, TriggerKind, Visibility
from bot.registry import Cost, Fact, Quota, Wait
from tests.bot.test_plan import ONE, TWO, plan, request, reviewer, said, suite
from tests.shared import case


def test_a_plain_run_has_nothing_to_warn_of() -> None:
    assert said(request("one"), [ONE]) == ""


@pytest.mark.parametrize("judge", ["litellm:anthropic/claude-opus-4-5", "panel:lexical, litellm:bedrock/claude-3"])
def test_a_judge_of_a_reviewers_own_house_is_warned_of(judge: str) -> None:
    known = [reviewer("one", vendor="anthropic"), reviewer("two", vendor="openai"), reviewer("three")]
    told = said(replace(request("one", "two", "three"), judge=judge), known)
    assert "No maximum LLM cost" in told
    warned = [line for line in told.splitlines() if "own kind" in line]
    assert len(warned) == 1 and warned[0].startswith("One: ") and "both from Anthropic" in warned[0]


def test_reviewers_that_ignore_bots_are_named_as_in_the_shared_case() -> None:
    tools = {tool["name"]: tool for tool in case("67")["input"]["tools"]}
    known = [
        reviewer("acme", reviews_bot_authors=tools["acme"]["answers_bot_authored"]),
        reviewer("zeta", reviews_bot_authors=tools["zeta"]["answers_bot_authored"]),
        reviewer("pilot", TriggerKind.REVIEW_REQUEST, "pilot-login[bot]"),
        reviewer("wake", TriggerKind.COMMENT, "@wake review"),
    ]
    asked = request(*(one.id for one in known))
    as_bot = plan(asked, suite("a"), known, user=False).warnings
    for name, words in (("Acme", "does not review"), ("Pilot", "review request"), ("Wake", "comment")):
        (warning,) = [text for text in as_bot if name in text]
        assert words in warning
        assert "ASSAY_AUTHOR_TOKEN" in warning
    assert not any("Zeta" in text for text in as_bot)
    as_user = "\n".join(plan(asked, suite("a"), known, user=True).warnings)
    assert not [name for name in ("Acme", "Pilot", "Wake", "Zeta") if name in as_user]


def test_an_unconfirmed_reviewer_is_not_said_to_skip_nor_to_answer() -> None:
    assert "unconfirmed" in said(request("one"), [reviewer("one", reviews_bot_authors=None)], user=False)


def test_a_wait_shorter_than_a_reviewers_floor_is_said() -> None:
    patient = reviewer("one", wait=Wait(floor=300))
    assert "4 minutes is shorter than the 5 minutes" in said(replace(request("one"), wait_minutes=4), [patient])
    assert "5 minutes is used instead of the 60" in said(replace(request("one"), wait_minutes=5), [patient])
    assert said(replace(request("one"), wait_minutes=60), [patient]) == ""


def test_a_quota_spreads_the_trials_and_the_plan_says_over_how_many_hours() -> None:
    slow = reviewer("one", quotas=(Quota(reviews=5, hours=1, plan="Pro"), Quota(reviews=1, hours=1)))
    made = plan(request("one"), suite(*(f"p{number}" for number in range(16))), [slow])
    [budget] = made.budgets
    assert (budget.trials, budget.hours, budget.least_cost) == (16, 3.0, None)
    assert made.minutes >= 180
    assert any("5 reviews an hour (Pro): its 16 trials are spread over 3 hours." in text for text in made.warnings)
    assert plan(request("one"), suite("a"), [slow]).budgets[0].hours == 0


def test_a_stock_of_reviews_is_not_waited_for_but_told() -> None:
    stock = reviewer("one", quotas=(Quota(reviews=2, hours=720),))
    made = plan(request("one"), suite("a", "b", "c"), [stock])
    assert made.budgets[0].hours == 0
    assert "this run asks for 3: the rest will likely be refused" in "\n".join(made.warnings)


def test_what_a_vendor_charges_is_told_for_all_trials() -> None:
    dear = reviewer("one", cost=Cost(least=0.5, most=10))
    made = plan(request("one"), suite("a", "b"), [dear])
    assert "about 1.00 to 20.00 US dollars for 2 trials." in "\n".join(made.warnings)
    assert (made.budgets[0].least_cost, made.budgets[0].most_cost) == (1.0, 20.0)


def test_many_repositories_take_hours_and_that_is_told() -> None:
    made = plan(request("one"), suite(*(f"p{number}" for number in range(201))), [ONE])
    assert "100 an hour at most, so the last one is made after 2 hours" in "\n".join(made.warnings)
    assert made.minutes >= 120


@pytest.mark.parametrize("publish", [Publish.ANONYMOUS, Publish.NAMED])
def test_terms_about_publishing_are_said_before_anything_is_published(publish: Publish) -> None:
    strict = reviewer("one", publish_terms="No comparisons\nwithout consent.")
    warning = said(replace(request("one"), publish=publish), [strict])
    assert "No comparisons without consent." in warning
    assert publish.value in warning
    assert said(request("one"), [strict]) == ""


def test_choices_that_cost_secrecy_or_fairness_are_said() -> None:
    assert "public" in said(replace(request("one"), visibility=Visibility.PUBLIC), [ONE])
    assert "share a fork" in said(request("one", "two"), [ONE, TWO])
    isolated = replace(request("one", "two"), isolation=Isolation.PER_REVIEWER)
    assert "selected repositories" in said(isolated, [ONE, TWO])
    assert "no longer offered" in said(request("one"), [reviewer("one", retired=True)])
    assert "cost" in said(replace(request("one"), judge="litellm:a/b"), [ONE])
    assert said(replace(request("one"), judge="litellm:a/b", max_cost=0.0), [ONE]) == ""


def test_no_warning_holds_a_login_or_a_command_that_would_wake_a_bot() -> None:
    known = [
        reviewer("acme", TriggerKind.COMMENT, "@acme full review", reviews_bot_authors=False, retired=True),
        reviewer("wake", TriggerKind.COMMENT, "/review", reviews_bot_authors=None, publish_terms="None known."),
        reviewer("pilot", TriggerKind.REVIEW_REQUEST, "pilot-login[bot]"),
    ]
    asked = replace(
        request("acme", "wake", "pilot"),
        wait_minutes=0.5,
        visibility=Visibility.PUBLIC,
        publish=Publish.NAMED,
        judge="litellm:a/b",
    )
    for isolation in Isolation:
        warnings = plan(replace(asked, isolation=isolation), suite("a"), known, user=False).warnings
        assert len(warnings) >= 9
        for one in known:
            shunned = ("@", one.trigger.text, one.logins[0].login)
            assert not [text for text in warnings for bad in shunned if bad in text]


def test_what_nobody_confirmed_about_a_bot_is_told_and_an_operators_own_word_is_not_doubted() -> None:
    doubted = Fact(about=("trigger",), source="one report", confidence="unconfirmed")
    marked = reviewer("alpha").model_copy(update={"facts": (doubted,)})
    told = said(request("alpha"), [marked])
    assert told.startswith("How to ask is unconfirmed for Alpha")
    confirmed = marked.model_copy(update={"facts": (doubted.model_copy(update={"confidence": "observed"}),)})
    assert said(request("alpha"), [confirmed]) == ""
    assert said(request("alpha"), [reviewer("alpha")]) == ""
