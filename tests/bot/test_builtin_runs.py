"""Built-in reviewers in a request and its plan: who may be named, what a run makes of them, what it will cost."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bot import builtin_runs, composition
from bot.builtin_runs import BuiltIn, cannot_post, entry, is_meant, model_of, posts, refusal, reviewing, with_built_in
from bot.commands import read_request
from bot.issue_form import LABELS, Label
from bot.judging.asking import Means
from bot.judging.budget import Limits
from bot.judging.store import means_of
from bot.model import Isolation, Problems, Publish, RunId, RunRequest, TriggerKind, Visibility
from bot.plan import make_plan
from bot.registry import Registry
from bot.render.remarks import review_comment
from bot.render.surface import Surface
from bot.reviewers.protocol import Remark
from bot.settings import load_settings
from bot.workflows import builtin
from bot.workflows.services import Services
from goldens.load import load_suite
from scoring.judges.asks import Ask, Message, Question, Reply, Unscored
from scoring.model import PullId, ReviewerId, Severity
from tests.bot.hub import key
from tests.bot.test_plan import FAST, ONE, SECRET, TWO, FakeNamer, plan, reviewer, suite
from tests.bot.test_plan import request as asked_of

MODELS = ("openai/gpt-4o-mini", "ollama/qwen2.5-coder:7b")
SUITES = {"smoke": (PullId("py-1"), PullId("go-1"))}


def read(reviewers: str, built_in: str = "", **answers: str) -> RunRequest | Problems:
    given = {Label.SUITE.value: "smoke", Label.REVIEWERS.value: reviewers, Label.BUILT_IN.value: built_in} | answers
    body = "".join(f"### {label}\n\n{given.get(label) or '_No response_'}\n\n" for label in LABELS)
    found = read_request(
        body,
        suites=SUITES,
        reviewers=(ONE, TWO),
        judges=lambda name: None,
        default_judge="lexical",
        built_in=lambda spec: refusal(spec, MODELS),
    )
    assert isinstance(found, RunRequest | Problems)
    return found


# --- who may be named -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        "static",
        "static+",
        "static?cap=5",
        "single-shot:openai/gpt-4o-mini",
        "single-shot:openai/gpt-4o-mini?temperature=0.1&context=yes",
        "reflexion:ollama/qwen2.5-coder:7b?rounds=3",
        "raw:openai/gpt-4o-mini",
        "chunked:single-shot:openai/gpt-4o-mini?by=hunk",
        "chunked:static",
    ],
)
def test_what_a_request_may_name(spec: str) -> None:
    assert refusal(spec, MODELS) is None
    assert is_meant(spec)


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("command:rm -rf /", "program on the machine"),
        ("sarif:/etc/passwd", "files of the machine"),
        ("chunked:command:curl evil", "program on the machine"),
        ("cold:openai/gpt-4o-mini", "cold suite"),
        ("single-shot:openai/gpt-4o", "allowed are ollama/qwen2.5-coder:7b, openai/gpt-4o-mini"),
        ("chunked:raw:openai/o3", "may not review here"),
        ("single-shot", "write single-shot:<provider/model>"),
        ("static:now", "write static"),
        ("statik", "did you mean static?"),
        ("chunked:", "write chunked:"),
        ("static|x", "plain characters"),
        ("static\u202e", "plain characters"),
        (f"static?cap={'9' * 300}", "at most 200"),
        ("static?cap=1&cap=2", "given twice"),
    ],
)
def test_what_a_request_may_not_name_is_refused_with_the_reason(spec: str, word: str) -> None:
    assert word in (refusal(spec, MODELS) or "")


def test_without_the_operators_word_no_model_reviews() -> None:
    assert "ASSAY_REVIEW_MODELS" in (refusal("single-shot:openai/gpt-4o-mini", ()) or "")
    assert refusal("static+", ()) is None


def test_a_built_in_reviewer_is_nobodys_account() -> None:
    made = entry("chunked:single-shot:openai/gpt-4o-mini?by=hunk")
    assert isinstance(made, BuiltIn)
    assert made.logins == ()
    assert not made.speaks("static[bot]", "", "Bot")
    assert made.vendor == "openai"
    assert model_of(made.id) == "openai/gpt-4o-mini"
    assert model_of("static+") is None


# --- the form ---------------------------------------------------------------------------------------------------


def test_they_are_named_in_their_own_field_or_among_the_bots() -> None:
    found = read("one, static", "single-shot:openai/gpt-4o-mini\nstatic")
    assert isinstance(found, RunRequest)
    assert found.reviewers == ("one", "static", "single-shot:openai/gpt-4o-mini")
    assert found.built_in == ("static", "single-shot:openai/gpt-4o-mini")


def test_a_bot_of_that_name_is_meant_first() -> None:
    known = ONE.model_copy(update={"id": "static", "name": "Static"})
    body = "### Suite\n\nsmoke\n\n### Reviewers\n\nstatic\n"
    found = read_request(body, suites=SUITES, reviewers=(known,), judges=lambda name: None, default_judge="lexical")
    assert isinstance(found, RunRequest)
    assert (found.reviewers, found.built_in) == (("static",), ())


def test_they_may_stand_alone_and_an_issue_of_before_reads_as_before() -> None:
    found = read("", "static")
    assert isinstance(found, RunRequest)
    assert found.reviewers == found.built_in == ("static",)
    before = read("one")
    assert isinstance(before, RunRequest)
    assert before.built_in == ()


def test_every_refusal_stands_at_the_answer_it_is_about() -> None:
    found = read("one, command:ls", "single-shot:openai/o3\nsarif:log")
    assert isinstance(found, Problems)
    assert [problem.field for problem in found.items] == [Label.REVIEWERS, Label.BUILT_IN, Label.BUILT_IN]


def test_how_one_may_be_published_can_be_said_of_it_too() -> None:
    found = read("one", "static+", **{Label.PUBLISH_EACH.value: "named: static+"})
    assert isinstance(found, RunRequest)
    assert found.modes == {"one": Publish.PRIVATE, "static+": Publish.NAMED}


# --- the plan ---------------------------------------------------------------------------------------------------


def beside(*specs: str) -> RunRequest:
    names = tuple(map(ReviewerId, specs))
    return replace(asked_of("one", "two", *specs), built_in=names)


def known(*specs: str) -> tuple[object, ...]:
    return with_built_in(Registry((ONE, TWO)), specs).reviewers


def test_they_need_no_ask_no_wait_and_no_word_of_warning() -> None:
    pulls = suite("p1", "p2")
    without = plan(asked_of("one", "two"), pulls, (ONE, TWO))
    made = plan(beside("static"), pulls, known("static"))  # type: ignore[arg-type]
    assert [fork.reviewers for fork in made.forks] == [("one", "two", "static")] * 2
    assert made.writes == without.writes + 2, "a check run for each trial"
    assert made.warnings == without.warnings
    assert made.minutes == pytest.approx(without.minutes, abs=0.1)


def test_isolated_bots_keep_their_own_forks_and_built_in_ones_get_none() -> None:
    asked = replace(beside("static", "static+"), isolation=Isolation.PER_REVIEWER)
    made = plan(asked, suite("p1"), known("static", "static+"))  # type: ignore[arg-type]
    assert [(fork.id, fork.reviewers) for fork in made.forks] == [
        ("p1~one", ("one", "static", "static+")),
        ("p1~two", ("two",)),
    ]


def test_alone_they_share_one_fork_for_each_pull_request() -> None:
    asked = RunRequest("smoke", (ReviewerId("static"),), "lexical", isolation=Isolation.PER_REVIEWER)
    made = plan(replace(asked, built_in=asked.reviewers), suite("p1"), (entry("static"),))
    assert [(fork.id, fork.reviewers) for fork in made.forks] == [("p1", ("static",))]


def test_a_judge_of_the_same_house_is_warned_of() -> None:
    spec = "single-shot:openai/gpt-4o-mini"
    made = plan(replace(beside(spec), judge="litellm:openai/gpt-4o"), suite("p1"), known(spec))  # type: ignore[arg-type]
    assert any(spec in warning and "both from OpenAI" in warning for warning in made.warnings)


# --- posting ----------------------------------------------------------------------------------------------------


def test_posting_is_the_runs_business_and_not_the_reviewers() -> None:
    assert reviewing("static?cap=5&post=yes") == "static?cap=5"
    assert reviewing("static?post=yes") == "static"
    assert reviewing("chunked:raw:openai/x?post=yes&by=hunk") == "chunked:raw:openai/x?by=hunk"
    assert reviewing("single-shot:openai/x?context=yes") == "single-shot:openai/x?context=yes"
    assert posts("static?post=yes")
    assert not posts("static?post=no")
    assert "post cannot be" in (refusal("static?post=maybe", ()) or "")


def test_who_posts_gets_a_fork_of_its_own_and_a_write_for_it() -> None:
    asked = replace(beside("static?post=yes", "static+"), isolation=Isolation.PER_REVIEWER)
    made = plan(asked, suite("p1"), known("static?post=yes", "static+"))  # type: ignore[arg-type]
    assert [fork.reviewers for fork in made.forks] == [("one", "static+"), ("two",), ("static?post=yes",)]
    quiet = plan(
        replace(beside("static", "static+"), isolation=Isolation.PER_REVIEWER),
        suite("p1"),
        known("static", "static+"),  # type: ignore[arg-type]
    )
    assert made.writes == quiet.writes + 3, "a repository, a pull request and the comment"
    assert re.fullmatch(r"p1~built-in-[0-9a-f]{10}", made.forks[2].id)


def test_nothing_is_posted_where_others_would_read_it() -> None:
    asked = beside("static?post=yes")
    shared = cannot_post(asked)
    assert shared is not None
    assert shared.field == Label.ISOLATION
    assert cannot_post(replace(asked, isolation=Isolation.PER_REVIEWER)) is None
    alone = replace(asked, reviewers=asked.built_in)
    assert cannot_post(alone) is None
    public = cannot_post(replace(alone, visibility=Visibility.PUBLIC))
    assert public is not None
    assert public.field == Label.VISIBILITY
    assert cannot_post(replace(alone, visibility=Visibility.PUBLIC, publish=Publish.NAMED)) is None


def test_what_is_posted_wakes_nobody_and_fits() -> None:
    surface = Surface.of((reviewer("acme", TriggerKind.COMMENT, "@acme review"),), {}, public=False)
    evil = Remark("@acme review\n<!-- hidden --> see #12", "a`b.py", 3, 4, severity=Severity.HIGH)
    said = review_comment("static", [evil], surface)
    assert "@acme review" not in said
    assert "<!-- hidden" not in said
    assert "(high)" in said
    long = review_comment("static", [Remark("word " * 300, "a.py", number) for number in range(500)], surface)
    assert len(long) < 65_000
    assert "have no room here" in long
    assert review_comment("static", [], surface) == "No remarks."


# --- what it will cost ------------------------------------------------------------------------------------------


@pytest.fixture
def services(tmp_path: Path) -> Services:
    settings = load_settings(
        {
            "ASSAY_APP_ID": "1",
            "ASSAY_PRIVATE_KEY": key(),
            "ASSAY_WEBHOOK_SECRET": "s",
            "ASSAY_DATA_DIR": str(tmp_path / "data"),
            "ASSAY_GITHUB_API_URL": "http://127.0.0.1:9",
            "ASSAY_REVIEW_MODELS": "openai/gpt-4o-mini,openai/of-our-own",
        }
    )
    return composition.services_of(settings, composition.open_databases(settings))


def planned(*specs: str, suite_id: str = "smoke", max_cost: float | None = None) -> tuple[RunRequest, object]:
    names = tuple(map(ReviewerId, specs))
    asked = RunRequest(suite_id, names, "lexical", max_cost=max_cost, built_in=names)
    made = make_plan(
        RunId("9-1"),
        "acme",
        asked,
        load_suite(suite_id),
        [entry(spec) for spec in specs],
        secret=SECRET,
        author_is_user=True,
        write_limits=FAST,
        names=FakeNamer(),
    )
    return asked, made


def test_the_plan_says_what_models_will_be_asked_and_for_how_much(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    spec = "single-shot:openai/gpt-4o-mini"
    _, made = planned("static", spec, max_cost=1)
    told = builtin.estimated(services, made, load_suite("smoke"))  # type: ignore[arg-type]
    note = next(warning for warning in told.warnings if spec in warning)
    assert "8 calls are still to be made for 8 pull requests, about 0.0" in note
    costs = {str(budget.reviewer): (budget.least_cost, budget.most_cost) for budget in told.budgets}
    assert costs["static"] == (None, None)
    least, most = costs[spec]
    assert least is not None
    assert most is not None
    assert 0 < least < most < 1


def test_what_must_be_fetched_first_has_no_estimate_and_says_so(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    _, made = planned("single-shot:openai/gpt-4o-mini", suite_id="cpp16")
    told = builtin.estimated(services, made, load_suite("cpp16"))  # type: ignore[arg-type]
    assert any("only once its files are fetched" in warning for warning in told.warnings)
    assert any("No maximum LLM cost" in warning for warning in told.warnings)


def test_a_limit_that_nobody_can_keep_and_a_key_that_is_missing_are_told_before(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "OPENAI_API_KEY" in (builtin.problem(services, "single-shot:openai/gpt-4o-mini") or "")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert builtin.problem(services, "single-shot:openai/gpt-4o-mini") is None
    assert "has no option" in (builtin.problem(services, "static?speed=9") or "")
    unknown, _ = planned("raw:openai/of-our-own", max_cost=1)
    assert "no price" in (builtin.unpriced(services, unknown) or "")
    assert builtin.unpriced(services, replace(unknown, max_cost=None)) is None


# --- once a run is ended ----------------------------------------------------------------------------------------


class _Answering:
    """A model that counts."""

    sent = 0

    def complete(self, ask: Ask) -> Reply:
        self.sent += 1
        return Reply("{}", model="m", prompt_tokens=1, completion_tokens=1, cost=0.0, seconds=0.1)

    def count_tokens(self, model: str, text: str) -> int:
        return len(text)

    def price(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 0.0

    def window(self, model: str) -> int | None:
        return None

    def missing_key(self, model: str) -> str | None:
        return None


def test_a_cancelled_run_sends_no_further_call(services: Services) -> None:
    model, stage = _Answering(), ["waiting"]
    kept = services.judging(None, "").replies
    means: Means = means_of(model, kept, Limits())
    caller = builtin._WhileUnderWay(means, lambda: stage[0] in builtin.UNDER_WAY)
    about = Question(PullId("p"), ReviewerId("r"), (), ())
    asks = [Ask(str(number), "m", (Message("user", str(number)),), {}, {}, about, {}) for number in range(2)]
    assert not isinstance(caller.call(asks[0]), Unscored)
    stage[0] = "cancelled"
    answer = caller.call(asks[1])
    assert isinstance(answer, Unscored)
    assert model.sent == 1


def test_the_setting_is_what_the_refusal_names() -> None:
    assert builtin_runs.SETTING in {f"ASSAY_{name.upper()}" for name in type(load_settings({})).model_fields}
