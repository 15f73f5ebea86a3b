"""The commands that count, as people use them: published totals, every format, gates, bad bundles, seeds."""

from __future__ import annotations

import csv
import io
import json
import re
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bot import cli_bundles, cli_common, cli_scoring
from bot.analysis import strata
from bot.analysis.drawing import Picture
from bot.analysis.formats import Form
from bot.cli import cli
from goldens.importers import FORMATS
from scoring import schemas
from scoring.model import TrialStatus
from scoring.profiles import PROFILES
from tests.bot.analysis.evidence import bundle, live_bundle, put, unrun
from tests.shared import SHARED

MARTIAN = SHARED / "data" / "martian"
JUDGES = ("anthropic_claude-opus-4-5-20251101", "anthropic_claude-sonnet-4-5-20250929")


def assay(*arguments: object) -> Result:
    """Run a command; a crash is a failure of the test, not an exit code."""
    result = CliRunner().invoke(cli, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def record(*arguments: object) -> dict[str, Any]:
    done = assay(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(name="smoke", scope="module")
def _smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put(bundle(), tmp_path_factory.mktemp("cli") / "smoke")


# --- published systems


@pytest.mark.parametrize("judge", JUDGES)
def test_an_imported_judge_gives_the_published_totals_to_the_digit(judge: str, tmp_path: Path) -> None:
    if not MARTIAN.exists():
        pytest.skip(f"no {MARTIAN}: the shared reference material is not here")
    assert assay("import", "martian", MARTIAN / judge, "-o", tmp_path / "B").exit_code == 0
    found = record("rescore", tmp_path / "B", "--profile", "martian")
    totals = {row["reviewer"]: {name: row[name] for name in ("tp", "fp", "fn")} for row in found["reviewers"]}
    assert totals == json.loads((MARTIAN / "expected_totals.json").read_text())[judge]
    assert found["judge"] == judge


def test_both_judges_in_one_bundle_give_their_own_totals(tmp_path: Path) -> None:
    if not MARTIAN.exists():
        pytest.skip(f"no {MARTIAN}: the shared reference material is not here")
    assert assay("import", "martian", MARTIAN, "-o", tmp_path / "B").exit_code == 0
    refused = assay("rescore", tmp_path / "B", "--profile", "martian", "--json")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert all(judge in refused.stderr for judge in (*JUDGES, "--judge"))
    expected = json.loads((MARTIAN / "expected_totals.json").read_text())
    for judge in JUDGES:
        rows = record("rescore", tmp_path / "B", "--profile", "martian", "--judge", judge)["reviewers"]
        assert {row["reviewer"]: row["tp"] for row in rows} == {
            name: one["tp"] for name, one in expected[judge].items()
        }


@pytest.mark.parametrize("profile", list(PROFILES))
def test_every_profile_scores_a_bundle(profile: str, smoke: Path) -> None:
    found = record("rescore", smoke, "--profile", profile)
    assert found["profile"] == profile
    assert {row["reviewer"] for row in found["reviewers"]} == {"sharp", "dull", "middling"}


def test_the_record_of_our_own_profile_is_the_report(smoke: Path) -> None:
    found = record("rescore", smoke)
    assert found["schema"] == "assay.report/1"
    assert {"card", "unit", "dedup", "judges", "versions"} <= set(found)


def test_options_of_a_profile_are_read_and_misspelt_ones_named(smoke: Path) -> None:
    swept = record("rescore", smoke, "--profile", "swe", "-O", "sweep=[0, 7]", "-O", "tolerance=1")
    assert swept["options"]["sweep"] == [0, 7]
    assert swept["options"]["tolerance"] == 1
    for options, said in (
        (("-O", "tolerence=1"), "did you mean tolerance?"),
        (("-O", "tolerance"), "KEY=VALUE"),
        (("-O", "tolerance=1", "-O", "tolerance=2"), "twice"),
        (("-O", "sweep=[0,"), "no JSON"),
        (("-O", "tolerance=many"), "option tolerance"),
    ):
        done = assay("rescore", smoke, "--profile", "swe", *options)
        assert done.exit_code == 2
        assert said in done.stderr


def test_a_gate_of_a_profile_that_is_not_met_ends_with_its_code(smoke: Path) -> None:
    gate = ("rescore", smoke, "--profile", "codevetter", "-O", "reviewer=dull")
    assert assay(*gate, "-O", "min_rate=0.1").exit_code == 0
    failed = assay(*gate, "-O", "min_rate=0.9")
    assert failed.exit_code == 2
    assert "dull" in failed.stderr


# --- every format, every command

COMMANDS = {
    "rescore": ("rescore", "{}"),
    "published": ("rescore", "{}", "--profile", "martian"),
    "leaderboard": ("leaderboard", "{}", "--by", "severity"),
    "pulls": ("leaderboard", "{}", "--per-pr"),
    "compare": ("compare", "{}", "sharp", "dull", "--by", "category"),
    "overlap": ("overlap", "{}"),
    "power": ("power", "{}"),
    "supposed": ("power", "--difference", "0.1", "--discordance", "0.3"),
}


def told(name: str, smoke: Path) -> list[str]:
    return [str(smoke) if one == "{}" else one for one in COMMANDS[name]]


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_writes_every_format(name: str, form: Form, smoke: Path, tmp_path: Path) -> None:
    file = tmp_path / "out"
    done = assay(*told(name, smoke), "--format", form.value, "-o", file)
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    content = file.read_bytes()
    if form is Form.XLSX:
        assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
        return
    text = content.decode()
    if form is Form.JSON:
        assert json.loads(text)["schema"].startswith("assay.")
    elif form is Form.CSV:
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) > 1
    else:
        assert {"html": "<caption>", "markdown": "| --- ", "table": "\n\n"}[form.value] in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_draws_a_picture(name: str, smoke: Path, tmp_path: Path) -> None:
    done = assay(*told(name, smoke), "--plot", tmp_path / "p.svg", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)
    assert (tmp_path / "p.svg").read_text().startswith("<svg ")


@pytest.mark.parametrize("picture", cli_scoring.PICTURES)
def test_a_leaderboard_has_every_picture(picture: str, smoke: Path, tmp_path: Path) -> None:
    done = assay("leaderboard", smoke, "--picture", picture, "--plot", tmp_path / "p.svg", "--json")
    assert done.exit_code == 0, done.output
    assert "sharp" in (tmp_path / "p.svg").read_text()


def test_what_cannot_be_drawn_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    free = replace(bundle(), trials=tuple(replace(one, cost=None) for one in bundle().trials))
    folder = put(free, tmp_path / "b")
    done = assay("leaderboard", folder, "--picture", "cost", "--plot", tmp_path / "p.svg")
    assert done.exit_code == 2
    assert "what a review cost" in done.stderr
    assert not (tmp_path / "p.svg").exists()


def test_a_files_name_chooses_the_format(smoke: Path, tmp_path: Path) -> None:
    assert assay("leaderboard", smoke, "-o", tmp_path / "board.csv").exit_code == 0
    assert (tmp_path / "board.csv").read_text().startswith("rank,worst_rank,reviewer,f1,f1_low")


def test_output_that_makes_no_sense_is_a_usage_error(smoke: Path, tmp_path: Path) -> None:
    for arguments, said in (
        (("--format", "xlsx"), "-o FILE.xlsx"),
        (("--json", "--format", "csv"), "leave one out"),
        (("--plot", tmp_path / "p.png"), "p.svg"),
        (("--format", "csv", "--by", "size", "--per-pr"), "CSV holds one table"),
    ):
        done = assay("leaderboard", smoke, *arguments)
        assert done.exit_code == 2
        assert said in done.stderr


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(smoke: Path) -> None:
    first, again, other = (assay("leaderboard", smoke, "--json", "--seed", seed).stdout for seed in (5, 5, 6))
    assert first == again
    assert first != other
    compared = [assay("compare", smoke, "middling", "dull", "--json", "--seed", 5).stdout for _ in range(2)]
    assert compared[0] == compared[1]


# --- the gate for releases


def test_worse_fails_and_nothing_else_does(smoke: Path, tmp_path: Path) -> None:
    assert assay("compare", smoke, "dull", "sharp", "--fail-if-worse").exit_code == 1
    assert assay("compare", smoke, "dull", "sharp").exit_code == 0
    assert assay("compare", smoke, "sharp", "dull", "--fail-if-worse").exit_code == 0
    twins = put(bundle({"one": (5, 1), "two": (5, 1)}), tmp_path / "twins")
    same = assay("compare", twins, "one", "two", "--fail-if-worse")
    assert same.exit_code == 0
    assert "not separated" in same.stdout


def test_a_gate_that_cannot_be_held_is_no_pass(tmp_path: Path) -> None:
    folder = put(unrun(bundle(), "dull", TrialStatus.TIMEOUT), tmp_path / "b")
    done = assay("compare", folder, "dull", "sharp", "--fail-if-worse")
    assert done.exit_code == 3
    assert "no shared pull requests" in done.stderr
    assert assay("compare", folder, "dull", "sharp").exit_code == 0


def test_a_release_is_guarded_against_the_one_before(tmp_path: Path) -> None:
    new, old = put(bundle({"bot": (2, 2)}), tmp_path / "new"), put(bundle({"bot": (10, 0)}), tmp_path / "old")
    done = assay("compare", new, "bot", "bot", "--against", old, "--fail-if-worse")
    assert done.exit_code == 1
    assert "bot@old is ahead of bot" in done.stdout
    assert assay("compare", old, "bot", "bot", "--against", new, "--fail-if-worse").exit_code == 0


# --- bad input is one line with the fix


def test_a_misspelt_reviewer_is_named_with_those_there_are(smoke: Path) -> None:
    for arguments in (("compare", smoke, "sharp", "dul"), ("overlap", smoke, "--first", "dul"),
                      ("power", smoke, "sharp", "dul")):  # fmt: skip
        done = assay(*arguments)
        assert done.exit_code == 2
        assert "Did you mean dull?" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("command", ["rescore", "leaderboard", "overlap", "power"])
def test_a_changed_part_is_named_by_every_command(command: str, tmp_path: Path) -> None:
    folder = put(bundle(), tmp_path / "b")
    (folder / "pulls.json").write_bytes((folder / "pulls.json").read_bytes() + b" ")
    done = assay(command, folder)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "pulls.json" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("junk", [b"", b"[]", b"{", b'{"schema": "assay.bundle/9", "parts": {}}', b"\xff\xfe"])
def test_what_is_no_bundle_is_one_line(junk: bytes, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.json").write_bytes(junk)
    done = assay("leaderboard", tmp_path / "b")
    assert done.exit_code == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_power_without_a_pilot_says_what_to_suppose() -> None:
    done = assay("power", "--difference", "0.1")
    assert done.exit_code == 2
    assert "--discordance" in done.stderr
    assert assay("power", "--difference", "7", "--discordance", "0.3").exit_code == 2


# --- bundles as files


def test_packed_and_unpacked_it_is_the_same(smoke: Path, tmp_path: Path) -> None:
    first = assay("bundle", "pack", smoke, tmp_path / "a.zip")
    assert assay("bundle", "pack", smoke, tmp_path / "b.zip").stdout.split()[0] == first.stdout.split()[0]
    assert assay("bundle", "unpack", tmp_path / "a.zip", tmp_path / "again", "--json").exit_code == 0
    assert record("leaderboard", tmp_path / "again") == record("leaderboard", tmp_path / "a.zip")
    taken = assay("bundle", "unpack", tmp_path / "a.zip", tmp_path / "again")
    assert taken.exit_code == 2
    assert "there already" in taken.stderr
    assert assay("bundle", "unpack", tmp_path / "a.zip", tmp_path / "again", "--force").exit_code == 0


def test_verify_ends_with_one_where_a_check_fails_and_two_where_there_is_none(smoke: Path, tmp_path: Path) -> None:
    assert json.loads(assay("bundle", "verify", smoke, "--json").stdout)["sound"] is True
    folder = put(bundle(), tmp_path / "b")
    (folder / "card.json").unlink()
    done = assay("bundle", "verify", folder)
    assert done.exit_code == 1
    assert "card.json: missing" in done.stdout
    assert assay("bundle", "verify", tmp_path).exit_code == 2


def test_a_submission_is_checked_and_a_vendor_of_its_own_flagged(tmp_path: Path) -> None:
    folder = put(live_bundle(), tmp_path / "b")
    done = assay("bundle", "verify", folder, "--submission", "--submitter", "Acme Inc", "--json")
    assert done.exit_code == 0
    assert [one["rule"] for one in json.loads(done.stdout)["findings"]] == ["coverage", "vendor"]
    assert assay("bundle", "verify", put(bundle(), tmp_path / "c"), "--submission").exit_code == 1


def test_a_malformed_import_writes_nothing_and_names_the_place(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "golden_comments").mkdir(parents=True)
    (source / "golden_comments" / "shop.json").write_text('[{"pr_title": "x", "url": 7, "comments": []}]')
    done = assay("import", "martian", source, "-o", tmp_path / "B")
    assert done.exit_code == 2
    assert "shop.json: $[0].url" in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["source"]


def test_another_format_is_recognised_and_a_bundle_never_overwritten_unasked(tmp_path: Path) -> None:
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [
        {"tool": {"driver": {"name": "linter"}}, "results": []}]}  # fmt: skip
    (tmp_path / "log.sarif").write_text(json.dumps(log))
    done = assay("import", "sarif", tmp_path / "log.sarif", "-o", tmp_path / "B", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["reviewers"] == ["linter"]
    again = assay("import", "sarif", tmp_path / "log.sarif", "-o", tmp_path / "B")
    assert again.exit_code == 2
    assert assay("import", "sarif", tmp_path / "log.sarif", "-o", tmp_path / "B", "--force").exit_code == 0
    assert assay("import", "sarif", tmp_path / "nothing.sarif", "-o", tmp_path / "C").exit_code == 2
    back = assay("export", "sarif", tmp_path / "B", tmp_path / "out.sarif")
    assert back.exit_code == 0, back.output
    assert json.loads((tmp_path / "out.sarif").read_text()) == log


def test_what_a_schema_command_prints_is_the_file_that_ships() -> None:
    for name in cli_bundles.SCHEMAS:
        assert assay("bundle", "schema", name).stdout == schemas.text(name)


# --- names that are written twice so that --help loads nothing


def test_the_names_in_the_help_are_those_there_are() -> None:
    assert tuple(FORMATS) == cli_bundles.FORMATS
    assert tuple(schemas.ALL) == cli_bundles.SCHEMAS
    assert tuple(PROFILES) == cli_scoring.PROFILES
    assert tuple(Form) == cli_scoring.FORMS
    assert cli_scoring.KEYS == strata.KEYS
    assert tuple(Picture) == cli_scoring.PICTURES


# --- patience


def test_what_takes_long_is_said_on_stderr_and_what_is_quick_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with cli_common.working("thinking"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(cli_common, "PATIENCE", 0.05)
    with cli_common.working("thinking") as stage:
        time.sleep(0.2)
        stage("drawing")
        time.sleep(0.8)
    said = capsys.readouterr()
    assert said.out == ""
    assert re.findall(r"assay: (\w+) \(\d+ s\)", said.err) == ["thinking", "drawing"]
