"""Issue bodies as GitHub's forms write them, as people edit them, and as people write them by hand."""

from __future__ import annotations

import time
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.issue_form import (
    FORM_LABEL,
    LABELS,
    Fields,
    Label,
    NotAForm,
    parse_form,
    read_checkboxes,
    read_sections,
    render_form,
    reviewer_option,
    split_choices,
    template,
)
from tests.shared import case, case_file

_CASE_LABELS = ("Benchmark set", "Tools to run", "Repeat count", "Judge model", "Publish results", "Anything else?")


def _as_the_case_says(body: str) -> dict[str, object]:
    found = read_sections(body, _CASE_LABELS)
    return {
        "benchmark_set": found["Benchmark set"],
        "tools": list(split_choices(found["Tools to run"])),
        "repeat_count": found["Repeat count"],
        "judge_model": found["Judge model"],
        "publish": read_checkboxes(found["Publish results"]),
        "anything_else": found["Anything else?"],
    }


# --- the shared cases -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["01", "02"])
def test_a_form_is_read_as_the_shared_case_says(number: str) -> None:
    shared = case(number)
    body = case_file(shared["input"]["body_file"]).decode()
    assert _as_the_case_says(body) == shared["expected"]["parsed"]


def test_free_text_cannot_set_a_field_in_the_shared_case() -> None:
    shared = case("04")
    found = _as_the_case_says(case_file(shared["input"]["body_file"]).decode())
    assert found["tools"] == shared["expected"]["parsed_tools"]
    assert all(text in str(found["anything_else"]) for text in shared["expected"]["anything_else_contains"])


def test_issues_without_the_form_are_told_apart_as_in_the_shared_case() -> None:
    shared = case("05")
    for body, expected in zip(shared["input"]["bodies"], shared["expected"]["results"], strict=True):
        form = parse_form(body, _CASE_LABELS)
        if isinstance(expected, str):
            assert isinstance(form, NotAForm)
        else:
            assert isinstance(form, Fields)
            assert form.answers["Benchmark set"] == expected["benchmark_set"]
            assert list(split_choices(form.answers["Tools to run"])) == expected["tools"]


# --- the kinds behind them --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "empty", ["_No response_", "None", "", "   ", "\n\n", "```\n\n```", "```text\n_No response_\n```"]
)
def test_an_empty_answer_is_none_and_never_a_word(empty: str) -> None:
    assert read_sections(f"### A\n\n{empty}\n\n### B\n\nb\n", ["A", "B"]) == {"A": None, "B": "b"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_make_no_difference(end: str) -> None:
    body = "### A\n\none\n\ntwo\n\n### B\n\n- [x] yes\n".replace("\n", end)
    assert read_sections(body, ["A", "B"]) == {"A": "one\n\ntwo", "B": "- [x] yes"}


@pytest.mark.parametrize(
    "text",
    [
        "```\n### B\n\nevil\n```",
        "~~~\n### B\n\nevil\n~~~",
        "````\n```\n### B\n\nevil\n```\n````",
        "```python\n### B\n\nevil\n   ```",
        "   ```\n### B\n```",
        "```\n### B\n~~~\n### B\n```",
    ],
)
def test_a_heading_inside_code_is_no_field(text: str) -> None:
    found = read_sections(f"### A\n\nsee:\n\n{text}\n\n### B\n\nreal\n", ["A", "B"])
    assert found["B"] == "real"
    assert "### B" in str(found["A"])


def test_a_line_of_inline_code_opens_no_fence() -> None:
    found = read_sections("### A\n\n```not a fence```\n\n### B\n\nreal\n", ["A", "B"])
    assert found == {"A": "```not a fence```", "B": "real"}


def test_a_fence_that_never_closes_hides_what_follows_as_it_does_on_the_page() -> None:
    assert read_sections("### A\n\n```\n### B\n\nhidden", ["A", "B"])["B"] is None


def test_the_first_heading_of_a_label_wins_and_earlier_labels_do_not_come_back() -> None:
    found = read_sections("### A\n\n1\n\n### B\n\n2\n\n### A\n\n3\n\n### B\n\n4", ["A", "B"])
    assert found == {"A": "1", "B": "2\n\n### A\n\n3\n\n### B\n\n4"}


@pytest.mark.parametrize(
    "line", ["#### B", "## B", "###B", "\\### B", "> ### B", "### b", "### B:", "x ### B", "### B ###"]
)
def test_a_line_that_is_not_exactly_a_labels_heading_stays_in_the_answer(line: str) -> None:
    assert read_sections(f"### A\n\n1\n\n{line}\n\n2", ["A", "B"]) == {"A": f"1\n\n{line}\n\n2", "B": None}


def test_one_rendered_fence_is_taken_off_and_only_one() -> None:
    assert read_sections("### A\n\n```shell\nls\n\n# x\n```\n", ["A"])["A"] == "ls\n\n# x"
    assert read_sections("### A\n\n```\na\n```\n\n```\nb\n```\n", ["A"])["A"] == "```\na\n```\n\n```\nb\n```"
    assert read_sections("### A\n\n````\n```\na\n```\n````\n", ["A"])["A"] == "```\na\n```"
    assert read_sections("### A\n\n```\nnever closed\n", ["A"])["A"] == "```\nnever closed"


def test_text_before_the_first_heading_is_no_answer() -> None:
    assert read_sections("hello\n\n### A\n\n1", ["A"]) == {"A": "1"}


def test_checkboxes_are_read_whatever_the_case_of_the_x() -> None:
    ticked = read_checkboxes("- [x] one\n* [X] two, too\n- [ ] three\nplain\n- [y] four\n- [x]five")
    assert ticked == {"one": True, "two, too": True, "three": False}


def test_choices_are_split_and_empty_ones_dropped() -> None:
    assert split_choices("a, b,,c ,\n d") == ("a", "b", "c", "d")
    assert split_choices(None) == ()


def test_two_equal_labels_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="differ"):
        read_sections("", ["A", "A"])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(["### A", "### B", "### x", "```", "~~~", "````", "text", "", "\r", "- [x] t"]), max_size=30
    )
)
def test_any_mixture_of_headings_and_fences_is_read_without_a_crash(lines: list[str]) -> None:
    found = read_sections("\n".join(lines), ["A", "B"])
    assert list(found) == ["A", "B"]
    assert all(answer is None or answer.strip() for answer in found.values())


def test_the_largest_body_is_read_in_no_time() -> None:
    started = time.process_time()
    for piece in ("### ", "`", "```\n", "- [x] ", "### A\n", " ", "\r", "#" * 7):
        read_checkboxes(read_sections("### A\n" + piece * (65_536 // len(piece)), ["A", "B"])["A"])
    assert time.process_time() - started < 20


# --- the form itself --------------------------------------------------------------------------------------------

_TYPES = {"markdown", "input", "textarea", "dropdown", "checkboxes"}


def form_problems(form: dict[str, Any]) -> list[str]:
    """What GitHub would refuse in an issue form, from its published rules."""
    found = [f"top level: {name} is missing" for name in ("name", "description", "body") if not form.get(name)]
    found += [
        f"unknown key {key}" for key in set(form) - {"name", "description", "title", "labels", "assignees", "body"}
    ]
    body = form["body"]
    fields = [element for element in body if element["type"] != "markdown"]
    found += [] if fields else ["no field that can be answered"]
    for name, values in (
        ("id", [element["id"] for element in fields if "id" in element]),
        ("label", [element["attributes"]["label"] for element in fields]),
    ):
        found += [f"{name} {value} twice" for value in values if values.count(value) > 1]
    for element in body:
        found += _element_problems(element)
    return found


def _element_problems(element: dict[str, Any]) -> list[str]:
    kind, attributes = element["type"], element["attributes"]
    found = [] if kind in _TYPES else [f"unknown type {kind}"]
    if kind == "markdown":
        return found if isinstance(attributes.get("value"), str) else ["markdown without a value"]
    if not isinstance(attributes.get("label"), str) or not attributes["label"]:
        found.append("a field without a label")
    if not set(element.get("id", "")) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"):
        found.append(f"id {element['id']} has other characters")
    if kind == "dropdown":
        options = attributes.get("options") or []
        found += [] if options else ["a dropdown without options"]
        found += [f"option {option!r} is no text" for option in options if not isinstance(option, str)]
        found += [
            f"option {option!r} is empty or reserved" for option in options if str(option).lower() in ("", "none")
        ]
        found += ["options are not unique"] if len(set(options)) != len(options) else []
        default = attributes.get("default", 0)
        found += (
            [] if isinstance(default, int) and 0 <= default < len(options) else ["the default is no option's index"]
        )
    return found


def test_the_shipped_form_is_one_that_github_takes() -> None:
    assert form_problems(template()) == []


def test_the_checker_of_forms_finds_what_is_wrong() -> None:
    broken = template()
    broken["body"][1]["attributes"]["options"] = ["a", "a", True, "None"]
    broken["body"][2]["id"] = "suite"
    broken["surprise"] = 1
    assert len(form_problems(broken)) >= 5


def test_the_forms_labels_are_those_the_reader_looks_for() -> None:
    fields = [element for element in template()["body"] if element["type"] != "markdown"]
    assert tuple(element["attributes"]["label"] for element in fields) == LABELS
    assert template()["labels"] == [FORM_LABEL]
    required = [element["attributes"]["label"] for element in fields if element.get("validations", {}).get("required")]
    assert required == [Label.SUITE, Label.REVIEWERS]


def test_a_filled_form_is_valid_and_keeps_awkward_options_as_text() -> None:
    suites = ["yes", "1.0", "null", "a: b", "# c", "'quoted\"", "on", "Ω", "{{ x }}"]
    text = render_form(suites, [("zeta-review", "Zeta: the, reviewer"), ("acme", "acme")], ["lexical", "litellm:a/b"])
    form = yaml.safe_load(text)
    assert form_problems(form) == []
    by_id = {element.get("id"): element["attributes"] for element in form["body"]}
    assert by_id["suite"]["options"] == suites
    assert by_id["reviewers"]["options"] == ["Zeta: the reviewer (zeta-review)", "acme"]
    assert by_id["judge"]["options"] == ["lexical", "litellm:a/b"]
    assert by_id["visibility"]["options"][by_id["visibility"]["default"]] == "private"


@pytest.mark.parametrize("options", [[], [""], [" a"], ["a", "A"], ["a,b"], ["None"], ["_No response_"], ["a\nb"]])
def test_an_option_that_the_form_cannot_carry_is_refused_with_a_reason(options: list[str]) -> None:
    with pytest.raises(ValueError, match="suite"):
        render_form(options, [("acme", "Acme")], ["lexical"])


def test_an_option_names_the_reviewer_and_its_id() -> None:
    assert reviewer_option("acme", "Acme,  the one") == "Acme the one (acme)"
    assert reviewer_option("acme", "") == "acme"
