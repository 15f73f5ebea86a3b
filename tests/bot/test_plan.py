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
from bot.model import ForkId, Isolation, RunId, RunPlan, RunRequest, TriggerKind, WriteLimits
from bot.plan import least_minutes, make_plan
from bot.registry import Login, Reviewer, TriggerSpec, Wait
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
