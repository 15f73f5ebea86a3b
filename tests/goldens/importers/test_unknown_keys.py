"""Keys we do not know are kept: byte for byte while nothing changes, and object by object when something does."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goldens.importers import NO_OPTIONS
from scoring.bundle import Bundle
from tests.goldens.importers.material import URL, candidates, evaluation, form, golden_file, log, result

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
UNKNOWN = st.dictionaries(TEXT.map(lambda word: f"x-{word}"), VALUES, min_size=1, max_size=3)


def documents(**files: Any) -> dict[str, bytes]:
    return {name.replace("__", "/") + ".json": json.dumps(value).encode() for name, value in files.items()}


def retitled(bundle: Bundle) -> Bundle:
    """The same bundle with every pull request's title changed, so that nothing may be copied blindly."""
    return dataclasses.replace(bundle, pulls=tuple(dataclasses.replace(p, title="Another title") for p in bundle.pulls))


def has(value: Any, keys: dict[str, Any]) -> bool:
    return isinstance(value, dict) and all(key in value and value[key] == own for key, own in keys.items())


@given(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)
def test_martian_files_keep_them(
    pull: dict[str, Any], golden: dict[str, Any], claim: dict[str, Any], judged: dict[str, Any]
) -> None:
    goldens = golden_file("g1", "g2")
    goldens[0] |= pull
    goldens[0]["comments"][1] |= golden
    said = candidates("a", "b")
    said[URL]["bot"][0] |= claim
    stored = {URL: {"bot": evaluation([("g1", "a", 0.9)], ["b"], ["g2"]) | judged}}
    files = documents(golden_comments__x=goldens, judge__candidates=said, judge__evaluations=stored)
    one = form("martian")
    bundle = one.build(files, NO_OPTIONS)
    kept = dataclasses.replace(bundle, extra={f"extra/martian/{name}": data for name, data in files.items()})
    assert dict(one.documents(kept)) == files
    again = {name: json.loads(data) for name, data in one.documents(retitled(kept)).items()}
    entry = again["golden_comments/x.json"][0]
    assert entry["pr_title"] == "Another title"
    assert has(entry, pull) and has(entry["comments"][1], golden)
    assert has(again["judge/candidates.json"][URL]["bot"][0], claim)
    assert has(again["judge/evaluations.json"][URL]["bot"], judged)


@given(UNKNOWN, UNKNOWN)
def test_a_golden_that_is_gone_takes_its_keys_along_and_no_others(first: dict[str, Any], last: dict[str, Any]) -> None:
    goldens = golden_file("g1", "g2", "g3")
    goldens[0]["comments"][0] |= first
    goldens[0]["comments"][2] |= last
    files = documents(golden_comments__x=goldens)
    one = form("martian")
    bundle = one.build(files, NO_OPTIONS)
    pull = dataclasses.replace(bundle.pulls[0], goldens=bundle.pulls[0].goldens[1:])
    extra = {f"extra/martian/{name}": data for name, data in files.items()}
    smaller = dataclasses.replace(bundle, pulls=(pull,), extra=extra)
    comments = json.loads(one.documents(smaller)["golden_comments/x.json"])[0]["comments"]
    assert [own["comment"] for own in comments] == ["g2", "g3"]
    assert has(comments[1], last)
    assert set(comments[0]) == {"comment", "severity"}


@given(UNKNOWN, UNKNOWN)
def test_cloudaeye_goldens_keep_them(pull: dict[str, Any], golden: dict[str, Any]) -> None:
    own = {"comment": "g", "severity": "Low", "category": "logic_error", "path": "a.c", "line": 3, **golden}
    entry = {"repo": "o/r", "lang": "C", "pr_title": "t", "pr_url": URL, "goldens": [own], **pull}
    files = documents(benchmark_final16=[entry])
    one = form("cloudaeye")
    bundle = retitled(one.build(files, NO_OPTIONS))
    again = json.loads(one.generate(bundle, files)["benchmark_final16.json"])
    assert again == [entry | {"pr_title": "Another title"}]


@given(UNKNOWN, UNKNOWN, UNKNOWN)
def test_codevetter_files_keep_them(top: dict[str, Any], case: dict[str, Any], label: dict[str, Any]) -> None:
    own = {"id": "l", "type": "xss", "severity": "high", "location": {"file": "a", "lines": [1, 2]}, "description": "d"}
    entry = {"id": "c", "title": "t", "language": "go", "category": "security", "expected_findings": [own | label]}
    dataset = {"name": "n", "cases": [entry | case], **top}
    one = form("codevetter")
    bundle = retitled(one.build(documents(d=dataset), NO_OPTIONS))
    again = json.loads(one.generate(bundle, documents(d=dataset))["d.json"])
    assert again["cases"] == [entry | case | {"title": "Another title"}]
    assert has(again, top)


@given(UNKNOWN, UNKNOWN)
def test_rest_dumps_keep_them(comment: dict[str, Any], account: dict[str, Any]) -> None:
    user = {"login": "bot[bot]", "type": "Bot", **account}
    own = {"id": 5, "user": user, "body": "old", "html_url": f"{URL}#discussion_r5", "path": "a.c", "line": 2}
    files = documents(acme_pr_7_comments=[own | comment])
    one = form("rest")
    bundle = one.build(files, NO_OPTIONS)
    trial = bundle.trials[0]
    said = tuple(dataclasses.replace(each, body="new") for each in trial.comments)
    changed = dataclasses.replace(bundle, trials=(dataclasses.replace(trial, comments=said),))
    again = json.loads(one.generate(changed, files)["acme_pr_7_comments.json"])
    assert again[0]["body"] == "new" and again[0]["user"] == user
    assert has(again[0], comment)


@given(UNKNOWN, UNKNOWN, UNKNOWN)
def test_sarif_logs_keep_them(top: dict[str, Any], run: dict[str, Any], finding: dict[str, Any]) -> None:
    files = {"x.sarif": json.dumps(log(result(**finding), **run) | top).encode()}
    one = form("sarif")
    again = json.loads(one.generate(retitled(one.build(files, NO_OPTIONS)), files)["x.sarif"])
    assert has(again, top) and has(again["runs"][0], run) and has(again["runs"][0]["results"][0], finding)


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8))
def test_columns_we_do_not_know_stay_in_a_table(cell: str) -> None:
    sites = f"instance_id,site_id,file,line_start,line_end,colour\na__b-1,site-0001,a.py,1,4,{cell}\n"
    files = {"sites.csv": sites.encode()}
    one = form("swe")
    bundle = one.build(files, NO_OPTIONS)
    assert dict(one.generate(bundle, files)) == files
