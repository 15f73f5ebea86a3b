"""What a suite says beyond places: strata, doubts, what nobody has checked; and the JSON Schema that tells others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator

import goldens
from goldens.load import content_hash, load_suite, suite_names
from goldens.model import AuthoredBy, Direction, Origin, SourceSignal
from goldens.schema import SuiteError, json_schema, parse_suite, schema_text
from goldens.trees import Size
from scoring.model import Discoverability, GoldenStatus, Impact
from tests.goldens.written import PINNED, YAML, changed, line_of, write_suite

GOLDEN = "        severity: high\n"
PULL = "    source: files\n"
SECOND = """\
      - id: second
        path: shop/prices.py
        lines: [2, 2]
        category: performance
        severity: low
        finding: Something else entirely about caching of results.
"""


def golden_with(*lines: str) -> str:
    return changed(GOLDEN, GOLDEN + "".join(f"        {line}\n" for line in lines))


def pull_with(*lines: str) -> str:
    return changed(PULL, PULL + "".join(f"    {line}\n" for line in lines))


def pinned(*lines: str) -> str:
    pin = f"    source: {{upstream: acme/shop, number: 7, base_sha: {PINNED}, head_sha: {PINNED[::-1]}}}\n"
    return changed(PULL, pin + "".join(f"    {line}\n" for line in lines))


def problem(yaml_text: str) -> str:
    with pytest.raises(SuiteError) as raised:
        parse_suite(yaml_text.encode(), "tiny.yaml")
    return str(raised.value)


def test_every_stratum_of_a_golden_is_read(tmp_path: Path) -> None:
    text = golden_with(
        "impact: reliability",
        "discoverability: diff_plus_repo",
        "label: off_by_one",
        "status: disputed",
        "reason: '  A caller may take the last price out before.  '",
        "fix: pull request 15",
        "unverified: [impact, lines]",
    )
    golden = load_suite(write_suite(tmp_path, text)).pulls[0].goldens[0]
    assert (golden.impact, golden.discoverability) == (Impact.RELIABILITY, Discoverability.DIFF_PLUS_REPO)
    assert (golden.status, golden.reason) == (GoldenStatus.DISPUTED, "A caller may take the last price out before.")
    assert (golden.label, golden.fix, golden.unverified) == ("off_by_one", "pull request 15", ("impact", "lines"))


def test_every_stratum_of_a_pull_request_is_read(tmp_path: Path) -> None:
    text = pull_with(
        "origin: synthetic",
        "source_signal: mutation",
        "authored_by: agent",
        "direction: inverted",
        "date: 2026-01-31",
        "tags: {domain: shop, framework: none}",
        "confirmed_by: [two readers, a test]",
        "unverified: [date]",
    )
    pull = load_suite(write_suite(tmp_path, text)).pulls[0]
    assert (pull.origin, pull.source_signal) == (Origin.SYNTHETIC, SourceSignal.MUTATION)
    assert (pull.authored_by, pull.direction) == (AuthoredBy.AGENT, Direction.INVERTED)
    assert (pull.date, dict(pull.tags)) == ("2026-01-31", {"domain": "shop", "framework": "none"})
    assert (pull.confirmed_by, pull.unverified) == (("two readers", "a test"), ("date",))


def test_what_is_left_out_is_not_made_up(tmp_path: Path) -> None:
    pull = load_suite(write_suite(tmp_path)).pulls[0]
    golden = pull.goldens[0]
    assert (pull.origin, pull.source_signal, pull.authored_by, pull.date) == (None, None, None, "")
    assert (golden.impact, golden.discoverability, golden.label, golden.fix) == (None, None, "", "")
    assert (golden.status, pull.direction) == (GoldenStatus.LIVE, Direction.AS_PUBLISHED)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (golden_with("impact: reliabilty"), "'reliabilty' is not an impact; allowed: functional_suitability, "),
        (golden_with("impact: reliabilty"), "did you mean 'reliability'?"),
        (golden_with("status: dead"), "'dead' is not a status; allowed: live, disputed, retired"),
        (golden_with("discoverability: repo"), "'repo' is not a discoverability; allowed: diff, diff_plus_repo"),
        (golden_with("status: retired"), "pulls[0].goldens[0]: status retired needs a reason"),
        (golden_with("status: disputed", "reason: ' '"), "status disputed needs a reason"),
        (golden_with("reason: just so"), "a reason, but the status is live"),
        (golden_with("label: Off-By-One"), "'Off-By-One' is not a word: small letters, digits and underscores"),
        (golden_with("unverified: [line]"), ".unverified[0]: 'line' is not a field; allowed: path, lines, "),
        (golden_with("unverified: [line]"), "did you mean 'lines'?"),
        (golden_with("unverified: lines"), "goldens[0].unverified: must be a list"),
        (pull_with("origin: mined"), "'mined' is not an origin; allowed: real, synthetic, written"),
        (pull_with("authored_by: robot"), "'robot' is not an authored_by; allowed: agent, human, synthetic"),
        (pull_with("direction: reversed"), "'reversed' is not a direction; allowed: as-published, inverted"),
        (pull_with("source_signal: fixed"), "'fixed' is not a source_signal; allowed: resolved_in_review, "),
        (pull_with("date: 2026-02-30"), "'2026-02-30' is not a day such as 2026-01-31"),
        (pull_with("date: 20260131"), "pulls[0].date: must be text; put it in quotes"),
        (pull_with("date: '20260131'"), "'20260131' is not a day such as 2026-01-31"),
        (pull_with("date: 2026-W05-1"), "'2026-W05-1' is not a day such as 2026-01-31"),
        (pull_with("tags: [shop]"), "pulls[0].tags: must be a mapping of names to texts"),
        (pull_with("tags: {Domain: shop}"), "pulls[0].tags.Domain: 'Domain' is not a word"),
        (pull_with("tags: {domain: ' '}"), "pulls[0].tags.domain: must not be blank"),
        (pull_with("unverified: [severity]"), "pulls[0].unverified[0]: 'severity' is not a field"),
        (pull_with("size: {files: 1, lines: 3}"), "size is counted from the files; leave it out"),
        (pinned("size: {files: 1, lines: -3}"), "pulls[0].size.lines: a count is not negative: -3"),
        (pinned("size: {files: 1}"), "pulls[0].size.lines: missing"),
        (pinned("size: {files: 1, lines: 2, loc: 3}"), "size.loc: unknown field; allowed: files, lines"),
    ],
)
def test_a_bad_stratum_is_told_with_what_is_allowed(text: str, expected: str) -> None:
    assert expected in problem(text)


def test_a_bad_stratum_is_told_with_its_line() -> None:
    text = golden_with("label: fine", "impact: reliabilty")
    assert problem(text).startswith(f"tiny.yaml:{line_of('impact', text)}: pulls[0].goldens[0].impact: ")


# --- retired goldens --------------------------------------------------------------------------------------------


def retired() -> str:
    return golden_with("status: retired", "reason: The caller checks it.") + SECOND


def test_a_retired_golden_is_on_record_and_never_scored(tmp_path: Path) -> None:
    pull = load_suite(write_suite(tmp_path, retired())).pulls[0]
    assert [golden.id for golden in pull.goldens] == ["second"]
    assert [(golden.id, golden.reason) for golden in pull.retired] == [("divisor", "The caller checks it.")]


def test_a_pull_request_whose_goldens_are_all_retired_must_say_that_it_is_clean(tmp_path: Path) -> None:
    text = golden_with("status: retired", "reason: The caller checks it.")
    assert problem(text) == (
        "tiny.yaml:7: pulls[0]: every golden is retired; write clean: true if no defect is left, "
        "or drop the pull request"
    )
    said = text.replace("    source: files\n", "    source: files\n    clean: true\n")
    pull = load_suite(write_suite(tmp_path, said)).pulls[0]
    assert pull.clean
    assert len(pull.retired) == 1


def test_the_hash_names_the_set_that_is_scored(tmp_path: Path) -> None:
    both = load_suite(write_suite(tmp_path / "both", YAML + SECOND)).ref.hash
    one = load_suite(write_suite(tmp_path / "one", retired())).ref.hash
    without = YAML[: YAML.index("      - id: divisor")] + SECOND
    assert one != both
    assert one == load_suite(write_suite(tmp_path / "two", without)).ref.hash


@pytest.mark.parametrize(
    "text",
    [
        golden_with("impact: reliability"),
        golden_with("discoverability: diff"),
        golden_with("label: off_by_one"),
        golden_with("status: disputed", "reason: Somebody doubts it."),
        pull_with("origin: written"),
        pull_with("source_signal: written"),
        pull_with("authored_by: human"),
        pull_with("direction: inverted"),
        pull_with("date: 2026-01-31"),
        pull_with("tags: {domain: shop}"),
    ],
)
def test_the_hash_changes_with_every_stratum(tmp_path: Path, text: str) -> None:
    assert load_suite(write_suite(tmp_path / "a", text)).ref.hash != load_suite(write_suite(tmp_path / "b")).ref.hash


@pytest.mark.parametrize(
    "text",
    [
        golden_with("fix: pull request 15"),
        golden_with("unverified: [impact]"),
        golden_with("status: live"),
        pull_with("confirmed_by: [two readers]"),
        pull_with("unverified: [date]"),
        pull_with("direction: as-published"),
        pull_with("tags: {}"),
    ],
)
def test_how_we_know_is_not_in_the_hash(tmp_path: Path, text: str) -> None:
    assert load_suite(write_suite(tmp_path / "a", text)).ref.hash == load_suite(write_suite(tmp_path / "b")).ref.hash


def test_the_hash_of_a_suite_without_strata_is_the_one_it_had_before_there_were_any() -> None:
    suite = load_suite("smoke")
    assert suite.ref.hash == "7e7ebe42c99ca8a9a7ef12df5859577636a1340f582dd1c44b42faebe9f25d48"
    assert content_hash(suite.pulls) == suite.ref.hash


# --- size -------------------------------------------------------------------------------------------------------


def test_the_size_is_counted_where_the_trees_are_here(tmp_path: Path) -> None:
    assert load_suite(write_suite(tmp_path)).pulls[0].size == Size(files=1, lines=4)


def test_the_size_of_a_pin_is_what_its_source_declares(tmp_path: Path) -> None:
    path = write_suite(tmp_path, pinned("size: {files: 2, lines: 31}"))
    assert load_suite(path).pulls[0].size == Size(2, 31)
    assert load_suite(write_suite(tmp_path, pinned())).pulls[0].size is None


# --- the JSON Schema --------------------------------------------------------------------------------------------


def test_the_exported_schema_is_that_of_the_types() -> None:
    exported = (Path(goldens.__file__).parent / "schema.json").read_text(encoding="utf-8")
    assert exported == schema_text(), "write goldens.schema.schema_text() to goldens/schema.json"
    assert json.loads(exported) == json_schema()


def validator() -> OAS31Validator:
    OAS31Validator.check_schema(json_schema())
    return OAS31Validator(json_schema())


def typed(text: str) -> Any:
    """The document in the small dialect, as the schema sees it."""
    from goldens.located import read_document

    return read_document(text.encode(), "suite.yaml").value


@pytest.mark.parametrize("name", suite_names())
def test_every_packaged_suite_fits_the_exported_schema(name: str) -> None:
    value = typed(load_suite(name).path.read_text(encoding="utf-8"))
    assert [error.message for error in validator().iter_errors(value)] == []


@pytest.mark.parametrize(
    "text",
    [
        golden_with("impact: reliabilty"),
        golden_with("label: Off-By-One"),
        golden_with("colour: red"),
        changed("severity: high", "severity: worst"),
        changed("lines: [5, 6]", "lines: [5]"),
        changed("id: divisor", "id: Divisor"),
        changed("title: A suite for tests", "title: '  '"),
        changed("source: files", "source: file"),
        pull_with("authored_by: robot"),
        pinned("size: {files: 1, lines: -3}"),
    ],
)
def test_the_exported_schema_refuses_what_we_refuse(text: str) -> None:
    assert problem(text)
    assert list(validator().iter_errors(typed(text)))
