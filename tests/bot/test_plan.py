"""A plan is the same every time, says what it costs, and warns before money is spent."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot import neutral
from bot.model import ForkId, Isolation, Publish, RunId, RunPlan, RunRequest, TriggerKind, Visibility, WriteLimits
from bot.plan import least_minutes, make_plan
from bot.registry import Cost, Login, Quota, Reviewer, TriggerSpec, Wait
from goldens.model import GitPin, GoldenPull, Suite, TreeFiles
from scoring.model import PullId, ReviewerId, SuiteRef
from tests.shared import case

SECRET = b"secret of this run"
FAST = WriteLimits()


def pull(name: str) -> GoldenPull:
    trees = (TreeFiles({"a.py": b"1\n"}), TreeFiles({"a.py": b"2\n"}))
    return GoldenPull(PullId(name), "python", f"Title of {name}", f"Body of {name}", (), trees)


def suite(*pulls: str, name: str = "smoke") -> Suite:
    return Suite(SuiteRef(name, "1", "hash-of-it"), name, "MIT", tuple(map(pull, pulls)), Path("smoke.yaml"))


def reviewer(name: str, trigger: TriggerKind = TriggerKind.AUTO, text: str = "", **changed: object) -> Reviewer:
    base = Reviewer(
        id=name,
        name=name.title(),
        logins=(Login(login=f"{name}-login[bot]"),),
        trigger=TriggerSpec(kind=trigger, text=text),
        reviews_bot_authors=True,
    )
    return base.model_copy(update=changed)


@dataclass
class FakeNamer:
    """Names that say which secret and fork they are for."""

    count: int = 3
    forbidden: list[tuple[str, ...]] = field(default_factory=list)

    def repository_names(self, secret: bytes, fork_id: ForkId, *, forbidden: Sequence[str] = ()) -> tuple[str, ...]:
        self.forbidden.append(tuple(forbidden))
        digest = hashlib.sha256(secret + fork_id.encode()).hexdigest()
        return tuple(f"r-{digest[at * 8 : at * 8 + 8]}" for at in range(self.count))

    def branches(self, secret: bytes, fork_id: ForkId) -> tuple[str, str]:
        return "main", f"topic/{hashlib.sha256(secret + fork_id.encode()).hexdigest()[:6]}"


def request(*reviewers: str, suite: str = "smoke") -> RunRequest:
    return RunRequest(suite, tuple(map(ReviewerId, reviewers)), "lexical")


def plan(
    asked: RunRequest,
    of: Suite,
    known: Sequence[Reviewer],
    *,
    secret: bytes = SECRET,
    user: bool = True,
    limits: WriteLimits = FAST,
) -> RunPlan:
    return make_plan(
        RunId("9-1"),
        "acme",
        asked,
        of,
        known,
        secret=secret,
        author_is_user=user,
        write_limits=limits,
        names=FakeNamer(),
    )


ONE, TWO = reviewer("one"), reviewer("two")


# --- forks ------------------------------------------------------------------------------------------------------


def test_shared_isolation_makes_one_fork_for_each_pull_request_in_suite_order() -> None:
    made = plan(request("two", "one"), suite("b", "a", "c"), [ONE, TWO])
    assert [(fork.id, fork.pull, fork.reviewers) for fork in made.forks] == [
        ("b", "b", ("two", "one")),
        ("a", "a", ("two", "one")),
        ("c", "c", ("two", "one")),
    ]
    assert made.trials == 6
    assert (made.run, made.org, made.suite_hash) == ("9-1", "acme", "hash-of-it")


def test_per_reviewer_isolation_makes_a_fork_for_each_trial() -> None:
    asked = replace(request("two", "one"), isolation=Isolation.PER_REVIEWER)
    made = plan(asked, suite("b", "a"), [ONE, TWO])
    assert [(fork.id, fork.reviewers) for fork in made.forks] == [
        ("b~two", ("two",)),
        ("b~one", ("one",)),
        ("a~two", ("two",)),
        ("a~one", ("one",)),
    ]
    names = [name for fork in made.forks for name in fork.names]
    assert len(names) == len(set(names)) == 12
    assert made.trials == 4


def test_a_fork_says_what_the_suite_pinned_and_the_namer_derived() -> None:
    (fork,) = plan(request("one"), suite("a"), [ONE]).forks
    assert (fork.title, fork.body, fork.base_branch) == ("Title of a", "Body of a", "main")
    assert fork.names == FakeNamer().repository_names(SECRET, ForkId("a"))


def test_a_subset_keeps_the_suites_order() -> None:
    asked = replace(request("one"), pulls=(PullId("c"), PullId("b")))
    assert [fork.id for fork in plan(asked, suite("b", "a", "c"), [ONE]).forks] == ["b", "c"]


def test_a_reviewer_named_twice_is_planned_once() -> None:
    assert plan(request("one", "one"), suite("a"), [ONE]).trials == 1


def test_the_same_request_gives_the_same_plan_and_another_secret_other_names() -> None:
    asked = replace(request("one", "two"), isolation=Isolation.PER_REVIEWER)
    first = plan(asked, suite("a", "b"), [ONE, TWO])
    assert first == plan(asked, suite("a", "b"), [TWO, ONE])
    other = plan(asked, suite("a", "b"), [ONE, TWO], secret=b"another secret of a run")
    assert not {name for fork in first.forks for name in fork.names} & {
        name for fork in other.forks for name in fork.names
    }


def test_what_would_give_a_fork_away_is_forbidden_in_its_name() -> None:
    pinned = replace(pull("a"), source=GitPin("acme/widgets", 123, "0" * 40, "1" * 40))
    namer = FakeNamer()
    make_plan(
        RunId("9-1"), "org", request("one", "two"), replace(suite("a"), pulls=(pinned,)), [ONE, TWO],
        secret=SECRET, author_is_user=True, write_limits=FAST, names=namer,
    )  # fmt: skip
    assert namer.forbidden == [("acme/widgets", "123", "one", "two")]


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        (request("nobody"), "nobody"),
        (request(), "no reviewer"),
        (request("one", suite="other"), "other"),
        (replace(request("one"), pulls=(PullId("zzz"),)), "zzz"),
        (replace(request("one"), pulls=()), "no pull request"),
    ],
)
def test_a_request_that_does_not_fit_its_suite_or_registry_is_an_error(asked: RunRequest, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        plan(asked, suite("a"), [ONE])


def test_ids_that_would_collide_are_an_error() -> None:
    with pytest.raises(ValueError, match="a~one"):
        asked = replace(request("one"), isolation=Isolation.PER_REVIEWER)
        plan(asked, suite("a", "a"), [ONE])


def test_two_forks_never_hold_the_same_name_in_reserve() -> None:
    class Narrow(FakeNamer):
        def repository_names(self, secret: bytes, fork_id: ForkId, *, forbidden: Sequence[str] = ()) -> tuple[str, ...]:
            return ("same", f"own-{fork_id}")

    made = make_plan(
        RunId("9-1"), "acme", request("one"), suite("a", "b"), [ONE],
        secret=SECRET, author_is_user=True, write_limits=FAST, names=Narrow(),
    )  # fmt: skip
    assert [fork.names for fork in made.forks] == [("same", "own-a"), ("own-b",)]


# --- with the real names ----------------------------------------------------------------------------------------


def test_the_real_names_are_neutral_as_in_the_shared_case() -> None:
    shared = case("65")
    wanted = shared["input"]["wanted"]
    pulls = tuple(
        replace(pull(f"p{at}"), source=GitPin(one["upstream"], one["pull"], "0" * 40, "1" * 40))
        for at, one in enumerate(wanted)
    )
    tool = reviewer(wanted[0]["tool"])
    for isolation in Isolation:
        asked = replace(request(tool.id), isolation=isolation)
        arguments = (RunId("9-1"), "org", asked, replace(suite(), pulls=pulls), [tool])
        first, again = (
            make_plan(*arguments, secret=SECRET, author_is_user=True, write_limits=FAST, names=neutral)
            for _ in range(2)
        )
        assert first == again
        names = [name for fork in first.forks for name in fork.names]
        assert len(set(names)) == len(names) >= 4
        for name in names:
            assert re.fullmatch(shared["expected"]["name_regex"], name)
            assert not [bad for bad in shared["expected"]["must_not_contain"] if bad in name]


# --- time and writes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("writes", "minutes"),
    [
        (0, 0),
        (1, 0),
        (2, 1 / 60),
        (80, 79 / 60),
        (81, 80 / 60),
        (500, 499 / 60),
        (501, 60),
        (1001, 120),
    ],
)
def test_the_least_time_follows_spacing_and_the_hours_budget(writes: int, minutes: float) -> None:
    assert least_minutes(WriteLimits(80, 500, 1.0), writes) == pytest.approx(minutes)


def test_without_spacing_the_minutes_budget_binds() -> None:
    # 80 at once, 80 after a minute, the 161st after two.
    assert [least_minutes(WriteLimits(80, 500, 0), count) for count in (80, 81, 160, 161)] == [0, 1, 1, 2]


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 90), st.integers(1, 600), st.floats(0, 5))
def test_more_writes_never_take_less_time(per_minute: int, per_hour: int, spacing: float) -> None:
    limits = WriteLimits(per_minute, per_hour, spacing)
    times = [least_minutes(limits, count) for count in range(0, 3 * limits.per_hour, 7)]
    assert all(earlier <= later + 1e-9 for earlier, later in pairwise(times))


def test_writes_are_repositories_pulls_asks_check_runs_and_two_comments() -> None:
    asks = reviewer("asked", TriggerKind.COMMENT, "/go")
    made = plan(request("one", "asked"), suite("a", "b", "c"), [ONE, asks])
    # 3 repositories + 3 pull requests + 3 asks + 6 check runs + 2 comments
    assert made.writes == 17
    isolated = replace(request("one", "asked"), isolation=Isolation.PER_REVIEWER)
    # 6 + 6 + 3 + 6 + 2
    assert plan(isolated, suite("a", "b", "c"), [ONE, asks]).writes == 23


def test_the_estimate_waits_for_the_slowest_reviewer_unless_the_request_limits_it() -> None:
    slow = reviewer("slow", wait=Wait(deadline=7200))
    quick = reviewer("quick", wait=Wait(deadline=600))
    limits = WriteLimits(80, 500, 0)
    assert plan(request("slow", "quick"), suite("a"), [slow, quick], limits=limits).minutes == 120
    asked = replace(request("slow", "quick"), wait_minutes=7.5)
    assert plan(asked, suite("a"), [slow, quick], limits=limits).minutes == 7.5


def test_two_accounts_share_the_writes_and_one_needs_longer() -> None:
    many = suite(*(f"p{number}" for number in range(90)))
    asked = replace(request("one"), wait_minutes=1)
    assert plan(asked, many, [ONE], user=False).minutes > plan(asked, many, [ONE], user=True).minutes


def test_an_hour_that_the_content_limits_make_impossible_is_said() -> None:
    many = suite(*(f"p{number}" for number in range(300)))
    asked = replace(request("one"), wait_minutes=1)
    made = plan(asked, many, [ONE])
    # The App makes 300 repositories, 300 check runs and 2 comments: the 602nd write is in the second hour.
    assert made.minutes >= 60
    assert any("602 content writes" in warning and "62 minutes" in warning for warning in made.warnings)
    small = plan(asked, suite("a"), [ONE])
    assert not any("content writes" in warning for warning in small.warnings)


# --- warnings ---------------------------------------------------------------------------------------------------


def said(asked: RunRequest, known: Sequence[Reviewer], user: bool = True) -> str:
    return "\n".join(plan(asked, suite("a"), known, user=user).warnings)


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
