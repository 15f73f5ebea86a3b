from __future__ import annotations

import csv
import io
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scoring.bundle import JudgementSet
from scoring.judges.human import COLUMNS, Form, HumanError, Known, Node, read
from scoring.model import CandidateId, GoldenId, PullId, ReviewerId, Verdict

KNOWN: Known = {
    (PullId("p1"), ReviewerId("acme")): (
        [CandidateId("c#1"), CandidateId("c#2"), CandidateId("c#3")],
        [GoldenId("lock"), GoldenId("loop")],
    ),
    (PullId("p2"), ReviewerId("acme")): ([CandidateId("c#9")], []),
    (PullId("p1"), ReviewerId("other")): ([], [GoldenId("lock"), GoldenId("loop")]),
}
ROWS: list[dict[str, str]] = [
    {"pull": "p1", "reviewer": "acme", "candidate": "c#1", "golden": "lock", "verdict": "match",
     "reason": "It says so, \"clearly\",\nin two lines", "who": "kim", "when": "2026-03-01T10:00:00Z",
     "replaced": "no_match by lexical/3"},
    {"pull": "p1", "reviewer": "acme", "candidate": "c#2", "golden": "", "verdict": "no_match"},
    {"pull": "p1", "reviewer": "acme", "candidate": "c#3", "golden": "loop", "verdict": "undecided"},
    {"pull": "p2", "reviewer": "acme", "candidate": "c#9", "golden": "", "verdict": "valid"},
]  # fmt: skip


def compose(text: str) -> Node | None:
    try:
        return yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def written(rows: list[dict[str, str]], form: Form) -> str:
    if form == "json":
        return json.dumps({"judge": "people", "verdicts": rows}, indent=1)
    if form == "yaml":
        return yaml.safe_dump({"judge": "people", "verdicts": rows})
    target = io.StringIO()
    writer = csv.DictWriter(target, COLUMNS, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def load(text: str, form: Form) -> JudgementSet:
    return read(text, form, KNOWN, judge="people", compose=compose)


def problems(text: str, form: Form) -> str:
    with pytest.raises(HumanError) as caught:
        load(text, form)
    return str(caught.value)


FORMS: list[Form] = ["json", "yaml", "csv"]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(form: Form) -> None:
    found = load(written(ROWS, form), form)
    assert found.judge == "people"
    one, two = found.trials
    assert [(said.candidate, said.golden, said.verdict) for said in one.judgements] == [
        ("c#1", "lock", Verdict.MATCH),
        ("c#2", "lock", Verdict.NO_MATCH),
        ("c#2", "loop", Verdict.NO_MATCH),
        ("c#3", "loop", Verdict.UNDECIDED),
    ]
    assert one.judgements[0].judge == "people:kim"
    assert one.judgements[0].reason == ROWS[0]["reason"]
    assert (two.judgements, two.valid) == ((), ("c#9",))
    assert one.valid is None
    assert found.details["history"] == [ROWS[0]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("change", "field", "meant"),
    [
        ({"verdict": "mach"}, "verdict", "match"),
        ({"verdict": "MATCH"}, "verdict", None),
        ({"candidate": "c#11"}, "candidate", "c#1"),
        ({"golden": "lok"}, "golden", "lock"),
        ({"pull": "p1x"}, "pull", "p1"),
        ({"reviewer": "acne"}, "reviewer", "acme"),
        ({"golden": ""}, "golden", None),
        ({"verdict": ""}, "verdict", None),
        ({"candidate": "  "}, "candidate", None),
        ({"verdict": "valid"}, "golden", None),
    ],
)
def test_a_wrong_field_is_named_with_its_line(
    form: Form, change: dict[str, str], field: str, meant: str | None
) -> None:
    rows = [ROWS[1], ROWS[0] | change]
    text = written(rows, form)
    said = problems(text, form)
    line = 3 if form == "csv" else next(at for at, one in enumerate(text.split("\n"), 1) if _opens(one, form, text, at))
    assert said.startswith(f"line {line}: "), said
    assert f"{field}: " in said
    if meant:
        assert f"did you mean {meant!r}" in said


def _opens(line: str, form: Form, text: str, at: int) -> bool:
    """Whether the second row begins on a line."""
    before = text.split("\n")[: at - 1]
    if form == "json":
        return line.strip() == "{" and sum(one.strip() == "{" for one in before) == 2
    return line.startswith("- ") and sum(one.startswith("- ") for one in before) == 1


@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        ("json", "{", "line 1: no JSON"),
        ("json", '{"verdicts": [],\n\n x}', "line 3: no JSON"),
        ("json", '{"verdict": []}', "did you mean 'verdicts'"),
        ("json", '{"judge": 3, "verdicts": []}', "judge: must be a name"),
        ("json", "3", "must be a list"),
        ("json", '{"verdicts": {}}', "must be a list"),
        ("json", "[3]", "is an object with fields"),
        ("json", '[{"pull": 3, "reviewer": "acme", "candidate": "c#1", "verdict": "match"}]', "pull: must be text"),
        ("json", '[{"pull": "p1", "pull": "p2"}]', "twice"),
        ("json", '[{"pul": "p1"}]', "did you mean 'pull'"),
        ("json", "[" * 100_000, "nested too deep"),
        ("yaml", "a: [", "no YAML"),
        ("yaml", "verdict: []", "did you mean 'verdicts'"),
        ("yaml", "verdicts: 3", "must be a list"),
        ("yaml", "- 3", "is an object with fields"),
        ("yaml", "- pull: [a]\n  reviewer: acme", "pull: must be text"),
        ("yaml", "- pull: a\n  pull: b", "twice"),
        ("yaml", "[" * 5_000, "nested too deep"),
        ("csv", "", "pull: this column is missing"),
        ("csv", "pull,reviewer,candidate,verdct\n", "did you mean 'verdict'"),
        ("csv", "pull,reviewer,candidate,verdict\np1,acme\n", "line 2"),
        ("csv", "pull,reviewer,candidate,verdict\np1,acme,c#1,match,more\n", "line 2"),
        ("csv", 'pull,reviewer,candidate,verdict\n"p1', "no CSV"),
    ],
)
def test_a_broken_file_is_one_clear_error(form: Form, text: str, words: str) -> None:
    assert words in problems(text, form)


@pytest.mark.parametrize("form", FORMS)
def test_two_verdicts_on_one_pair_are_refused(form: Form) -> None:
    assert "there is a verdict on c#1 x lock already" in problems(written([ROWS[0], ROWS[0]], form), form)
    whole = ROWS[1] | {"candidate": "c#1"}
    assert "there is a verdict on c#1 x lock already" in problems(written([ROWS[0], whole], form), form)
    assert "there is a verdict on c#9 already" in problems(written([ROWS[3], ROWS[3]], form), form)


def test_every_problem_is_named_at_once() -> None:
    rows = [ROWS[0] | {"verdict": "x"}, ROWS[1] | {"candidate": "y"}]
    assert len(problems(written(rows, "json"), "json").splitlines()) == 2


def test_yaml_needs_someone_to_read_it() -> None:
    with pytest.raises(ValueError, match="compose"):
        read("[]", "yaml", KNOWN)


def test_lines_are_right_where_rows_stand_on_one_line_or_hold_brackets() -> None:
    first = json.dumps(ROWS[0] | {"reason": "a [ and \n { of it"})
    second = json.dumps(ROWS[1] | {"candidate": "nobody"})
    assert problems(f"[{first},\n\n{second}]", "json").startswith("line 3: verdicts[1].candidate")
    assert problems(f"\n[{first}, {second}]", "json").startswith("line 2: verdicts[1].candidate")


@given(st.text(max_size=60), st.sampled_from(FORMS))
def test_no_text_breaks_the_reading(text: str, form: Form) -> None:
    try:
        found = load(text, form)
    except HumanError as error:
        assert error.problems
    else:
        assert found.trials == ()


@pytest.mark.parametrize("odd", ["\ud800", "\x1b[31m", "\u202e", "\x00"])
def test_text_that_no_file_or_terminal_takes_is_refused_where_it_stands(odd: str) -> None:
    row = {**ROWS[1], "reason": f"because {odd}"}
    assert "verdicts[0].reason: holds characters that are no text" in problems(json.dumps([row]), "json")
    assert "judge: must be a name of at most" in problems(json.dumps({"judge": f"a{odd}", "verdicts": [row]}), "json")


def test_a_number_that_no_reader_takes_is_one_problem() -> None:
    assert problems("[" + "9" * 10_000 + "]", "json") == "no JSON that can be used: a number is too long"
