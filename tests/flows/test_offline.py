"""A finished run's bundle is enough: the same report comes out of it, with nothing else around."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from bot.cli import cli
from scoring.records import json_schema
from tests.flows.world import bench, content


def test_a_bundle_gives_the_report_again_and_a_changed_one_is_refused(tmp_path: Path, reference: str) -> None:
    with bench(tmp_path) as here:
        here.ask()
        here.finish()
        [bundle] = (here.data / "bundles").glob("[!.]*")
    done = CliRunner().invoke(cli, ["rescore", str(bundle), "--json"])
    assert done.exit_code == 0
    assert content(done.output).strip() == reference.strip()
    trials = bundle / "trials.json"
    trials.write_bytes(trials.read_bytes().replace(b"reviewed_clean", b"reviewed_clear"))
    refused = CliRunner().invoke(cli, ["rescore", str(bundle)])
    assert refused.exit_code != 0
    assert "trials.json" in refused.output


def test_the_report_keeps_the_contract(reference: str) -> None:
    from jsonschema import Draft202012Validator

    report = json.loads(reference)
    Draft202012Validator(json_schema()).validate(report)
    assert set(report) >= {"schema", "profile", "suite", "judge", "reviewers", "trials"}
    assert set(report["suite"]) == {"id", "version", "hash"}
    for row in report["reviewers"]:
        assert set(row) >= {"reviewer", "tp", "fp", "fn", "valid", "duplicate", "unscored", "coverage"}
        for figure in ("precision", "recall", "f1"):
            assert set(row[figure]) == {"value", "low", "high", "n", "reason"}
        assert set(row["coverage"]) == {"trials", "scored", "by_status"}
    for trial in report["trials"]:
        counts = trial["counts"]
        kinds = ("tp", "fp", "valid", "duplicate", "unscored")
        assert sum(counts[kind] for kind in kinds) == len(trial["candidates"])
