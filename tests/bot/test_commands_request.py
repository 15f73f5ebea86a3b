"""A form becomes a request, or every problem of it at once."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest
import yaml

from bot.commands import RequestLimits, read_request
from bot.issue_form import LABELS, Label, NotAForm, render_form
from bot.model import Isolation, Problem, Problems, Publish, RunRequest, Visibility
from bot.registry import Login, Reviewer
from scoring.model import PullId

SUITES = {"smoke": tuple(map(PullId, ("py-1", "py-2", "go-1"))), "deep": (PullId("rs-1"),)}


def reviewer(name: str, title: str | None = None, retired: bool = False) -> Reviewer:
    return Reviewer(id=name, name=title or name, logins=(Login(login=f"{name}[bot]"),), retired=retired)


REVIEWERS = (
    reviewer("coderabbit", "CodeRabbit"),
    reviewer("zeta-review", "Zeta, the reviewer"),
    reviewer("old-one", "Old One", retired=True),
    reviewer("twin-a", "Twin"),
    reviewer("twin-b", "Twin"),
)


def judges(name: str) -> str | None:
    if name == "lexical":
        return None
    if name.startswith("litellm:"):
        return "no key for it is set; set ZETA_API_KEY" if "zeta" in name else None
    return "is no judge; allowed are lexical and litellm:provider/model"


def body(answers: Mapping[str, str]) -> str:
    return "".join(f"### {label}\n\n{answers.get(label, '_No response_')}\n\n" for label in LABELS)


GOOD: dict[str, str] = {Label.SUITE: "smoke", Label.REVIEWERS: "coderabbit, zeta-review"}


def read(answers: Mapping[str, str], limits: RequestLimits | None = None) -> RunRequest | Problems | NotAForm:
    return read_text(body({**GOOD, **answers}), limits)


def read_text(text: str | None, limits: RequestLimits | None = None) -> RunRequest | Problems | NotAForm:
    return read_request(
        text,
        suites=SUITES,
        reviewers=REVIEWERS,
        judges=judges,
        default_judge="lexical",
        limits=limits or RequestLimits(),
    )


def problems(answers: Mapping[str, str], limits: RequestLimits | None = None) -> tuple[Problem, ...]:
    answer = read(answers, limits)
    assert isinstance(answer, Problems), answer
    return answer.items


def request(answers: Mapping[str, str], limits: RequestLimits | None = None) -> RunRequest:
    answer = read(answers, limits)
    assert isinstance(answer, RunRequest), answer
    return answer


# --- good requests ----------------------------------------------------------------------------------------------


def test_a_form_with_only_what_is_needed_gets_the_safe_defaults() -> None:
    assert request({}) == RunRequest("smoke", ("coderabbit", "zeta-review"), "lexical")  # type: ignore[arg-type]


def test_every_answer_set_to_something_else_arrives() -> None:
    answers: dict[str, str] = {
        Label.SUITE: "deep",
        Label.REVIEWERS: "CodeRabbit (coderabbit)",
        Label.WAIT: "2.5",
        Label.JUDGE: "litellm:openai/gpt-4o",
        Label.PULLS: "rs-1",
        Label.VISIBILITY: "public",
        Label.ISOLATION: "per-reviewer",
        Label.PUBLISH: "named",
        Label.COST: "5",
    }
    found = request(answers)
    assert (found.suite, found.reviewers, found.wait_minutes) == ("deep", ("coderabbit",), 2.5)
    assert (found.judge, found.pulls, found.max_cost) == ("litellm:openai/gpt-4o", ("rs-1",), 5.0)
    assert found.visibility is Visibility.PUBLIC
    assert found.isolation is Isolation.PER_REVIEWER
    assert found.publish is Publish.NAMED


def test_what_the_rendered_form_offers_is_what_the_reader_takes() -> None:
    active = [one for one in REVIEWERS if not one.retired]
    form = yaml.safe_load(render_form(list(SUITES), [(one.id, one.name) for one in active], ["lexical"]))
    offered = {element["attributes"].get("label"): element["attributes"].get("options") for element in form["body"]}
    found = request({Label.REVIEWERS: ", ".join(offered[Label.REVIEWERS])})
    assert found.reviewers == tuple(one.id for one in active)
    for label in (Label.SUITE, Label.VISIBILITY, Label.ISOLATION, Label.PUBLISH, Label.JUDGE):
        for option in offered[label]:
            assert isinstance(read({label: option}), RunRequest)


@pytest.mark.parametrize(
    "text", ["coderabbit", "CodeRabbit", "CODERABBIT", "CodeRabbit (coderabbit)", "coderabbit,coderabbit, CodeRabbit"]
)
def test_a_reviewer_may_be_written_in_several_ways_and_twice(text: str) -> None:
    assert request({Label.REVIEWERS: text}).reviewers == ("coderabbit",)


def test_pull_requests_keep_the_suites_order_and_the_limit_takes_the_first() -> None:
    assert request({Label.PULLS: "go-1, PY-1, go-1"}).pulls == ("py-1", "go-1")
    assert request({Label.LIMIT: "2"}).pulls == ("py-1", "py-2")
    assert request({Label.PULLS: "go-1, py-2", Label.LIMIT: "1"}).pulls == ("py-2",)
    assert request({Label.LIMIT: "900"}).pulls == SUITES["smoke"]
    assert request({}).pulls is None


def test_the_operators_default_judge_and_publishing_stand_in_for_no_answer() -> None:
    found = read_request(
        body(GOOD),
        suites=SUITES,
        reviewers=REVIEWERS,
        judges=judges,
        default_judge="litellm:openai/x",
        default_publish=Publish.ANONYMOUS,
    )
    assert isinstance(found, RunRequest)
    assert (found.judge, found.publish) == ("litellm:openai/x", Publish.ANONYMOUS)


def test_a_default_judge_without_its_key_is_a_problem_that_names_the_setting() -> None:
    found = read_request(
        body(GOOD), suites=SUITES, reviewers=REVIEWERS, judges=judges, default_judge="litellm:zeta/one"
    )
    assert isinstance(found, Problems)
    assert "set ZETA_API_KEY" in found.items[0].message


# --- problems ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [None, "", "  \n", "please run everything", "# Suite\n\nsmoke", "**Suite**: smoke"])
def test_an_issue_without_the_form_is_no_request_and_no_crash(text: str | None) -> None:
    assert isinstance(read_text(text), NotAForm)


def test_all_problems_are_found_at_once() -> None:
    found = problems(
        {
            Label.SUITE: "smok",
            Label.REVIEWERS: "coderabit, old-one, nobody-knows-it",
            Label.WAIT: "an hour",
            Label.JUDGE: "litellm:",
            Label.LIMIT: "0",
            Label.VISIBILITY: "secret",
            Label.ISOLATION: "per-reviewr",
            Label.PUBLISH: "all",
            Label.COST: "$5",
        }
    )
    assert {problem.field for problem in found} == set(LABELS) - {Label.PULLS, Label.PUBLISH_EACH, Label.BUILT_IN}
    guesses = {problem.field: problem.did_you_mean for problem in found if problem.did_you_mean}
    assert guesses == {Label.SUITE: "smoke", Label.REVIEWERS: "coderabbit", Label.ISOLATION: "per-reviewer"}
    assert all("old-one" not in problem.allowed for problem in found)


def test_missing_answers_say_what_is_allowed() -> None:
    found = problems({Label.SUITE: "_No response_", Label.REVIEWERS: "_No response_"})
    assert [(problem.field, problem.allowed) for problem in found] == [
        (Label.SUITE, ("smoke", "deep")),
        (Label.REVIEWERS, ("coderabbit", "zeta-review", "twin-a", "twin-b")),
    ]


def test_a_name_that_two_reviewers_share_is_not_guessed() -> None:
    (problem,) = problems({Label.REVIEWERS: "Twin"})
    assert problem.field == Label.REVIEWERS
    assert request({Label.REVIEWERS: "twin-b"}).reviewers == ("twin-b",)


@pytest.mark.parametrize(
    "wait", ["0", "0.05", "1441", "-5", "1e3", "30m", "nan", "inf", "٣٠", "1,5", "30 minutes", "9" * 400]
)
def test_a_wait_out_of_range_or_not_a_number_names_the_unit(wait: str) -> None:
    (problem,) = problems({Label.WAIT: wait})
    assert problem.field == Label.WAIT
    assert "minutes" in problem.message
    assert len(problem.message) < 200


@pytest.mark.parametrize("limit", ["1.5", "-1", "ten", "0"])
def test_a_limit_has_to_be_a_whole_positive_number(limit: str) -> None:
    assert {problem.field for problem in problems({Label.LIMIT: limit})} == {Label.LIMIT}


@pytest.mark.parametrize(
    "judge", ["litellm:", "LITELLM:x", "litellm:../../etc passwd", "a b", "litellm:x\n", "x" * 300]
)
def test_a_judge_that_is_no_name_never_reaches_the_check(judge: str) -> None:
    asked: list[str] = []

    def check(name: str) -> str | None:
        asked.append(name)
        return None

    text = body({**GOOD, Label.JUDGE: judge})
    found = read_request(text, suites=SUITES, reviewers=REVIEWERS, judges=check, default_judge="lexical")
    if judge.strip() != judge:
        assert asked == [judge.strip()]
    else:
        assert isinstance(found, Problems)
        assert asked == []


def test_unknown_pull_requests_are_named_with_a_guess() -> None:
    (problem,) = problems({Label.PULLS: "py-1, py2"})
    assert (problem.field, problem.allowed) == (Label.PULLS, SUITES["smoke"])
    assert problem.did_you_mean in SUITES["smoke"]


def test_more_trials_than_the_operator_allows_says_what_would_fit() -> None:
    (problem,) = problems({}, RequestLimits(max_trials=5))
    assert (problem.field, "at most 2 pull requests" in problem.message) == (Label.LIMIT, True)
    assert isinstance(read({Label.LIMIT: "2"}, RequestLimits(max_trials=5)), RunRequest)


def test_a_mistyped_heading_is_named_and_does_not_swallow_a_limit_in_silence() -> None:
    text = body({**GOOD, Label.COST: "5"}).replace("### Maximum LLM cost (US dollars)", "### Maximum LLM cost")
    found = read_text(text)
    assert isinstance(found, Problems)
    (problem,) = found.items
    assert problem.did_you_mean == Label.COST


def test_headings_out_of_order_are_named() -> None:
    found = read_text("### Reviewers\n\ncoderabbit\n\n### Suite\n\nsmoke\n")
    assert isinstance(found, Problems)
    assert {problem.field for problem in found.items} == {Label.SUITE, Label.REVIEWERS}
    assert any("order" in problem.message for problem in found.items)


@pytest.mark.parametrize(
    "hostile",
    [
        "{0.__class__}",
        "%s%n",
        "$(rm -rf /)",
        "../../etc/passwd",
        "@everyone",
        "<!-- x -->",
        "'; DROP TABLE runs;--",
        "\u202e\u200b",
    ],
)
def test_hostile_text_is_only_ever_an_unknown_name(hostile: str) -> None:
    for label in (Label.SUITE, Label.REVIEWERS, Label.PULLS, Label.VISIBILITY, Label.WAIT, Label.JUDGE):
        assert label in {problem.field for problem in problems({label: hostile})}


def test_a_thousand_unknown_names_are_answered_briefly_and_in_no_time() -> None:
    started = time.process_time()
    found = problems(
        {
            Label.REVIEWERS: ",".join(f"r{n}" for n in range(10_000)),
            Label.PULLS: ",".join(f"p{n}" for n in range(10_000)),
        }
    )
    assert time.process_time() - started < 20
    assert len(found) <= 24
    assert any("9990 more" in problem.message for problem in found)


def test_a_problem_repeats_only_a_few_words_of_the_text_on_one_line() -> None:
    for problem in problems({Label.SUITE: "x\n" * 5_000, Label.VISIBILITY: "y" * 5_000}):
        assert len(problem.message) < 200
        assert "\n" not in problem.message


# --- how each reviewer may be published -------------------------------------------------------------------------


def test_reviewers_may_be_published_in_different_ways() -> None:
    found = request({Label.PUBLISH: "anonymous", Label.PUBLISH_EACH: "Named: CodeRabbit; private: zeta-review"})
    assert found.publish is Publish.ANONYMOUS
    assert found.modes == {"coderabbit": Publish.NAMED, "zeta-review": Publish.PRIVATE}
    one = request({Label.PUBLISH_EACH: "named: coderabbit\n"})
    assert one.modes == {"coderabbit": Publish.NAMED, "zeta-review": Publish.PRIVATE}
    assert request({}).modes == {"coderabbit": Publish.PRIVATE, "zeta-review": Publish.PRIVATE}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("coderabbit", "is no mode with reviewers"),
        ("named:", "is no mode with reviewers"),
        ("naemd: coderabbit", "is no mode with reviewers"),
        ("named: coderabit", "is not a reviewer we know"),
        ("named: twin-a", "twin-a is not among this run's reviewers"),
        ("named: coderabbit; private: coderabbit", "is there twice"),
    ],
)
def test_a_slip_in_how_a_reviewer_may_be_published_starts_nothing(text: str, told: str) -> None:
    (problem,) = problems({Label.PUBLISH_EACH: text})
    assert problem.field == Label.PUBLISH_EACH
    assert told in problem.message


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", ["a," * 30_000, "named: " + "x," * 30_000, "x: y;" * 12_000, "named: @org/team"])
def test_endless_or_hostile_publishing_answers_are_refused_quickly(text: str) -> None:
    found = problems({Label.PUBLISH_EACH: text})
    assert {problem.field for problem in found} == {Label.PUBLISH_EACH}
    assert all(len(problem.message) < 200 for problem in found)
