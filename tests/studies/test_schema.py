"""A study file that is wrong is told so with file, line, what is allowed and what was likely meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.llm import LiteLlm
from bot.reviewers.choose import models_of
from bot.studies.plan import open_study
from bot.studies.schema import StudyError, parse_study, shipped, shipped_names, spec_of

GOOD = """study: tried
title: A study that is tried out
suites:
- smoke
reviewers:
- name: static
  spec: static
judges:
- lexical
"""


def problems(text: str) -> list[str]:
    with pytest.raises(StudyError) as caught:
        parse_study(text.encode(), "s.yaml")
    return [str(one) for one in caught.value.problems]


def opened(tmp_path: Path, text: str) -> str:
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        open_study(str(tmp_path / "s.yaml"))
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_an_unknown_field_is_named_with_its_line_and_what_was_meant() -> None:
    (told,) = problems(GOOD.replace("  spec: static", "  spec: static\n  repeat: 3"))
    assert told.startswith("s.yaml:8: reviewers[0].repeat: unknown field; allowed: name, spec, prompts, repeats")
    assert told.endswith("did you mean 'repeats'?")


def test_every_problem_is_told_at_once() -> None:
    told = problems(GOOD.replace("title: A study that is tried out\n", "").replace("- lexical", "- judge: 3"))
    assert len(told) == 2
    assert any("title: missing" in one for one in told)
    assert any("judges[0].judge: must be text" in one for one in told)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("tables: [leaderbord]\n", "did you mean 'leaderboard'?"),
        ("tolerances: [3, 3]\n", "a tolerance is there twice"),
        ("repeats: 0\n", "greater than or equal to 1"),
        ("budget: {max_cost: -1}\n", "greater than 0"),
        ("budget: {max_cost: much}\n", "must be a number"),
        ("prices: {a/b: {input: 1}}\n", "prices.a/b.output: missing"),
        ("conditions: [{name: one}, {name: one}]\n", "is there already, on line 10"),
    ],
)
def test_what_cannot_be_is_refused(more: str, told: str) -> None:
    found = problems(GOOD + more)
    assert any(told in one and one.startswith("s.yaml:1") for one in found), found


def test_two_reviewers_of_one_name_are_refused() -> None:
    (told,) = problems(GOOD.replace("judges:", "- name: static\n  spec: static+\njudges:"))
    assert told == "s.yaml:8: reviewers[1].name: is there already, on line 6"


def test_a_prompt_cannot_say_again_what_the_spec_says() -> None:
    text = GOOD.replace("spec: static", "spec: cold:scripted/careful?prompt=A\n  prompts: {B: {prompt: B}}")
    (told,) = problems(text)
    assert told == "s.yaml:8: reviewers[0].prompts.B.prompt: prompt is in the spec already"


def test_a_misspelt_suite_and_pull_request_are_told_with_what_there_is(tmp_path: Path) -> None:
    assert "s.yaml:4: suites[0]: no suite 'smok'" in opened(tmp_path, GOOD.replace("smoke", "smok"))
    text = GOOD.replace("- smoke", "- suite: smoke\n  pulls: [order-total]")
    assert "no pull request 'order-total'; did you mean 'order-totals'?" in opened(tmp_path, text)
    text = GOOD.replace("- smoke", "- suite: smoke\n  sample: {count: 99}")
    assert "99 of 8 pull requests cannot be drawn" in opened(tmp_path, text)


def test_a_condition_on_a_suite_that_is_not_there(tmp_path: Path) -> None:
    told = opened(tmp_path, GOOD + "conditions:\n- name: half\n  suites: [synthetic]\n")
    assert "s.yaml:12: conditions[0].suites[0]: the study has no suite 'synthetic'; allowed: smoke" in told


def test_a_name_that_is_no_file_is_looked_up_among_those_that_ship() -> None:
    with pytest.raises(StudyError) as caught:
        open_study("vibops-small")
    assert "did you mean 'vibeops-small'?" in str(caught.value)


def test_only_what_can_answer_otherwise_is_asked_again(tmp_path: Path) -> None:
    text = GOOD.replace("judges:", "- name: m\n  spec: raw:scripted/eager\n- name: t\n  spec: command:tool\njudges:")
    (tmp_path / "s.yaml").write_text(text + "repeats: 2\n", encoding="utf-8")
    names = [one.id for one in open_study(str(tmp_path / "s.yaml")).conditions]
    assert names == ["static", "m#1", "m#2", "t#1", "t#2"]


def test_samples_are_nested_and_the_same_for_everybody(tmp_path: Path) -> None:
    text = GOOD + "conditions:\n- name: few\n  sample: {count: 3, seed: 42}\n- name: all\n"
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    few, everything = open_study(str(tmp_path / "s.yaml")).nested
    assert len(few.pulls) == 3
    assert set(few.pulls) <= set(everything.pulls)
    assert open_study(str(tmp_path / "s.yaml")).nested == (few, everything)


@pytest.mark.parametrize("name", shipped_names())
def test_every_study_that_ships_can_be_opened_and_its_models_have_a_price(name: str) -> None:
    made = open_study(name)
    model = LiteLlm()
    for one in made.file.reviewers:
        for asked in models_of(spec_of(one, "")):
            known = asked in made.file.prices or asked.startswith("scripted/")
            assert known or model.price(asked, 1, 1) is not None, asked


def test_every_study_has_a_small_one_that_asks_nobody() -> None:
    names = set(shipped_names())
    large = {"vibeops", "codevetter", "swe-cold", "cpp16", "crbench"}
    assert large | {f"{name}-small" for name in large} <= names
    for name in sorted(large):
        text = (shipped() / f"{name}-small.yaml").read_text(encoding="utf-8")
        made = open_study(f"{name}-small")
        asked = {model for one in made.file.reviewers for model in models_of(one.spec)}
        assert {model.partition("/")[0] for model in asked} == {"scripted"}
        assert "litellm:" not in text.replace("litellm:scripted/", "")
