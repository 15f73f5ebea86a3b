"""What is imported can be exported again: the same bytes, and read again the same bundle."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from goldens.importers import FORMATS, NO_OPTIONS, Options, detect
from goldens.importers.folder import pack, read_bundle, unpack, write_bundle
from tests.goldens.importers.material import contents, data, form, typed

OPUS = "anthropic_claude-opus-4-5-20251101"
SONNET = "anthropic_claude-sonnet-4-5-20250929"
SHARED_DATA = [
    ("martian", ("martian", OPUS)),
    ("martian", ("martian", SONNET)),
    ("martian", ("martian",)),
    ("martian", ("martian", "golden_comments")),
    ("cloudaeye", ("cpp16",)),
    ("codevetter", ("codevetter",)),
    ("codevetter", ("codevetter", "codevetter-benchmark-v1.json")),
    ("swe", ("swe",)),
    ("swe", ("swe", "oracle_sites_n100.csv")),
    ("rest", ("real_comments", "droid")),
    ("rest", ("real_comments", "droid", "sentry_pr_7_comments.json")),
]


@pytest.mark.parametrize(
    ("name", "where"), SHARED_DATA, ids=lambda one: "-".join(one) if isinstance(one, tuple) else one
)
def test_import_export_import_is_the_identity(name: str, where: tuple[str, ...], tmp_path: Path) -> None:
    source = data(*where)
    assert name in detect(source)
    first = FORMATS[name].read(source)
    write_bundle(first, tmp_path / "bundle")
    stored = read_bundle(tmp_path / "bundle")
    FORMATS[name].write(stored, tmp_path / "out")
    again = FORMATS[name].read(tmp_path / "out")
    assert typed(again) == typed(first)
    assert again.extra == first.extra
    assert contents(tmp_path / "out") == form(name).originals(first)


@pytest.mark.parametrize(("name", "where"), SHARED_DATA[:3] + SHARED_DATA[4:6] + SHARED_DATA[9:10])
def test_what_is_generated_anew_over_the_originals_says_the_same(name: str, where: tuple[str, ...]) -> None:
    one = form(name)
    bundle = one.read(data(*where))
    originals = one.originals(bundle)
    assert dict(one.generate(bundle, originals)) == originals


@pytest.mark.parametrize(("name", "where"), [SHARED_DATA[0], SHARED_DATA[4], SHARED_DATA[5], SHARED_DATA[9]])
def test_without_the_originals_the_goldens_and_comments_come_back(name: str, where: tuple[str, ...]) -> None:
    one = form(name)
    bundle = one.read(data(*where))
    again = one.build(one.generate(bundle, {}), NO_OPTIONS)
    by_id = {pull.id: pull for pull in again.pulls}
    for pull in bundle.pulls:
        if pull.url and name == "rest" and not any(t.comments for t in bundle.trials if t.pull == pull.id):
            continue
        goldens = () if name == "rest" else pull.goldens
        assert by_id[pull.id].goldens == goldens
    said = {(trial.pull, trial.reviewer): (trial.comments, trial.candidates) for trial in again.trials}
    for trial in bundle.trials if name in ("martian", "rest") else ():
        assert said[trial.pull, trial.reviewer][0] == trial.comments


def test_the_swe_tables_come_back_from_values_alone() -> None:
    one = form("swe")
    bundle = one.read(data("swe"))
    again = one.build(one.generate(bundle, {}), NO_OPTIONS)
    assert [(p.id, [g.place for g in p.goldens]) for p in again.pulls] == [
        (p.id, [g.place for g in p.goldens]) for p in bundle.pulls
    ]
    places = {(t.pull, t.reviewer): [c.place for c in t.candidates or ()] for t in bundle.trials}
    assert {(t.pull, t.reviewer): [c.place for c in t.candidates or ()] for t in again.trials} == places


def test_a_name_given_at_import_survives_the_round_trip(tmp_path: Path) -> None:
    source = data("martian", OPUS)
    first = FORMATS["martian"].read(source, Options(judge="somebody", suite="mine"))
    assert [one.judge for one in first.judgements] == ["somebody"]
    assert first.suite.id == "mine"
    FORMATS["martian"].write(first, tmp_path / "out")
    assert (tmp_path / "out" / OPUS / "evaluations.json").read_bytes() == (source / "evaluations.json").read_bytes()


def test_a_judgement_taken_away_changes_only_its_evaluation() -> None:
    one = form("martian")
    bundle = one.read(data("martian", OPUS))
    judged = bundle.judgements[0]
    at = next(n for n, trial in enumerate(judged.trials) if any(j.verdict.value == "match" for j in trial.judgements))
    changed = dataclasses.replace(judged.trials[at], judgements=judged.trials[at].judgements[:0])
    trials = (*judged.trials[:at], changed, *judged.trials[at + 1 :])
    altered = dataclasses.replace(bundle, judgements=(dataclasses.replace(judged, trials=trials),))
    documents = dict(one.documents(altered))
    originals = one.originals(bundle)
    assert {name for name in documents if documents[name] != originals[name]} == {f"{OPUS}/evaluations.json"}


def test_an_archive_gives_the_bundle_back(tmp_path: Path) -> None:
    bundle = FORMATS["martian"].read(data("martian", SONNET))
    write_bundle(bundle, tmp_path / "bundle")
    pack(tmp_path / "bundle", tmp_path / "bundle.zip")
    assert typed(read_bundle(tmp_path / "bundle.zip")) == typed(bundle)
    unpack(tmp_path / "bundle.zip", tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "bundle")
