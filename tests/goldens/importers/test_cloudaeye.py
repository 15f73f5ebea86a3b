"""The C/C++ benchmark: rich and slim goldens, forks, and judges that left counts only."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from goldens.importers import FORMATS, ImportProblem
from scoring.model import Category, Discoverability, Severity, TrialStatus
from tests.goldens.importers.material import URL, contents, data, evaluation, form, put

CLOUDAEYE = FORMATS["cloudaeye"]
SHA = "0123456789abcdef0123456789abcdef01234567"
GOLDEN = {
    "comment": "the loop never ends",
    "category": "logic_error",
    "severity": "High",
    "path": "src/a.c",
    "line": 12,
    "root_cause_group": "rc1",
    "discoverability": "diff_plus_repo",
    "expected_evidence": "the counter is not moved",
    "jury_score": 90.5,
}
RICH = {
    "repo": "acme/widgets",
    "lang": "C++",
    "pr_title": "t",
    "pr_url": URL,
    "source_signal": "rejected",
    "base_sha": SHA,
    "head_sha": SHA[::-1],
    "goldens": [GOLDEN],
}
SLIM = {key: RICH[key] for key in ("repo", "lang", "pr_title", "base_sha", "head_sha")}
SLIM |= {"url": URL, "comments": [{key: GOLDEN[key] for key in ("comment", "severity", "category", "path")}]}
FORK = {
    "tool": "bot",
    "original_pr_url": URL,
    "new_repo": "labs/widgets-pr7-ab12",
    "new_pr_url": "https://github.com/labs/widgets-pr7-ab12/pull/1",
    "base_sha": SHA,
    "head_sha": None,
}


def test_a_rich_golden_brings_everything_it_knows(tmp_path: Path) -> None:
    pull = CLOUDAEYE.read(put(tmp_path, {"benchmark.json": [RICH]})).pulls[0]
    golden = pull.goldens[0]
    assert (golden.category, golden.severity, golden.label) == (Category.CORRECTNESS, Severity.HIGH, "logic_error")
    assert golden.place is not None and (golden.place.path, golden.place.lines) == ("src/a.c", (12, 12))
    assert (golden.group, golden.evidence) == ("rc1", "the counter is not moved")
    assert golden.discoverability is Discoverability.DIFF_PLUS_REPO
    assert golden.unverified == ()
    assert (pull.language, pull.tags["source_signal"], pull.tags["base_sha"]) == ("cpp", "rejected", SHA)


def test_slim_goldens_of_the_same_pull_requests_give_way_to_rich_ones(tmp_path: Path) -> None:
    files = {"benchmark.json": [RICH], "goldens/cpp_goldens.json": [SLIM], "manifests/native.json": [FORK]}
    bundle = CLOUDAEYE.read(put(tmp_path / "in", files))
    assert len(bundle.pulls) == 1 and bundle.pulls[0].goldens[0].discoverability is not None
    assert bundle.pulls[0].tags["fork:bot"] == FORK["new_pr_url"]
    CLOUDAEYE.write(bundle, tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "in")


def test_slim_goldens_alone_are_enough(tmp_path: Path) -> None:
    golden = CLOUDAEYE.read(put(tmp_path, {"goldens/cpp_goldens.json": [SLIM]})).pulls[0].goldens[0]
    assert golden.place is not None and golden.place.lines is None


def test_a_judges_folder_beside_the_goldens_is_read_as_the_pipeline_stores_it(tmp_path: Path) -> None:
    one = evaluation([(str(GOLDEN["comment"]), "it spins", 0.9), ("dropped since", "odd", 0.8)], ["noise"], [])
    files = {"benchmark.json": [RICH], "results/openai_gpt/evaluations.json": {URL: {"bot": one}}}
    bundle = CLOUDAEYE.read(put(tmp_path, files))
    assert [judged.judge for judged in bundle.judgements] == ["openai_gpt"]
    stale = [golden.finding for golden in bundle.pulls[0].goldens if f"stale:{golden.id}" in bundle.pulls[0].tags]
    assert stale == ["dropped since"]


def test_counts_per_pull_request_and_totals_are_kept(tmp_path: Path) -> None:
    source = data("cpp16")
    stored = json.loads((source / "judge_totals.json").read_text())
    bundle = CLOUDAEYE.read(source)
    assert {one.judge: one.details["published_totals"] for one in bundle.judgements} == stored["totals"]
    urls = {pull.id: pull.url for pull in bundle.pulls}
    judged = next(one for one in bundle.judgements if one.judge == "openai_gpt-5.2")
    by_pull: dict[str, Any] = {}
    for trial in judged.trials:
        counts = judged.details["published"][f"{trial.pull}|{trial.reviewer}"]
        by_pull.setdefault(urls[trial.pull], {})[trial.reviewer] = counts
    assert by_pull == stored["gpt-5.2_per_pr"]
    assert set(judged.details["counts_only"]) == set(judged.details["published"])


def test_the_shared_facts_are_read_as_they_are() -> None:
    source = data("cpp16")
    rows = list(csv.DictReader((source / "goldens_facts.csv").read_text().splitlines()))
    goldens = [(pull.url, golden) for pull in CLOUDAEYE.read(source).pulls for golden in pull.goldens]
    read = {
        (url, g.place.path, g.place.lines[0], g.label, g.severity.value)
        for url, g in goldens
        if g.place and g.place.lines
    }
    assert read == {
        (
            f"https://github.com/{r['repo']}/pull/{r['pr_number']}",
            r["path"],
            int(r["line"]),
            r["category"],
            r["severity"].lower(),
        )
        for r in rows
    }


def test_a_review_that_is_known_by_its_counts_says_so() -> None:
    statuses = {(str(t.reviewer), t.status): t.reason for t in CLOUDAEYE.read(data("cpp16")).trials}
    assert statuses["cursor", TrialStatus.REVIEWED_FINDINGS] == "only counts are stored"
    assert "does not say whether" in statuses["cursor", TrialStatus.REVIEWED_CLEAN]


MALFORMED: dict[str, tuple[Any, str]] = {
    "a misspelt key": (
        [{**RICH, "goldens": [{"coment": "x", "severity": "Low"}]}],
        "found 'coment'; did you mean 'comment'?",
    ),
    "a short sha": (
        [{**RICH, "base_sha": "abc"}],
        "$[0].base_sha: expected a commit id of 40 hexadecimal digits, found 'abc'",
    ),
    "a severity": (
        [{**RICH, "goldens": [{**GOLDEN, "severity": "Sever"}]}],
        "$[0].goldens[0].severity: expected one of",
    ),
    "a discoverability": (
        [{**RICH, "goldens": [{**GOLDEN, "discoverability": "dif"}]}],
        "expected one of diff, diff_plus_repo, found 'dif'; did you mean 'diff'?",
    ),
    "a pull request twice": ([RICH, RICH], f"$[1]: expected each pull request once, found {URL} again"),
    "something else": ({"a": 1}, "x.json: $: expected goldens (a list with `goldens` or `comments`), a fork manifest"),
    "a fork without origin": ([{**FORK, "tool": 3}], "$[0].tool: expected a text, found the number 3"),
    "totals that are texts": (
        {"totals": {"j": {"bot": {"tp": "1", "fp": 2, "fn": 3}}}},
        "$.totals.j.bot.tp: expected a whole",
    ),
}


@pytest.mark.parametrize(("value", "says"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_file_is_named_with_place_and_expectation(value: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(ImportProblem) as error:
        CLOUDAEYE.read(put(tmp_path, {"x.json": value}) / "x.json")
    assert says in str(error.value)


def test_goldens_from_elsewhere_are_written_rich_with_their_forks(tmp_path: Path) -> None:
    bundle = CLOUDAEYE.read(put(tmp_path, {"benchmark.json": [RICH], "manifests/m.json": [FORK]}))
    made = {name: json.loads(value) for name, value in form("cloudaeye").generate(bundle, {}).items()}
    assert made["manifests/forks.json"] == [FORK | {"head_sha": SHA[::-1]}]
    assert made["benchmark.json"][0]["goldens"][0] == {
        key: value for key, value in GOLDEN.items() if key != "jury_score"
    }
