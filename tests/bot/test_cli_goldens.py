"""`assay goldens` as people use it: what it says, what it leaves alone, and how it ends."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from goldens.importers.folder import write_bundle
from goldens.keeping import drafts
from goldens.load import load_suite
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
from scoring.model import (
    Candidate,
    CandidateId,
    GoldenId,
    Judgement,
    Place,
    PullId,
    ReviewerId,
    Shape,
    TrialStatus,
    Verdict,
)
from tests.goldens.importers.test_swebench import FILE, RAW
from tests.goldens.mine.planted import Planted
from tests.goldens.mine.world import World, planted_world
from tests.goldens.written import YAML, write_suite
from tests.judging.server import serving

OTHER = (
    "      - id: other\n        path: shop/prices.py\n        lines: [2, 2]\n        category: performance\n"
    "        severity: low\n        finding: The sum walks the whole list again on every call of total.\n"
)
PULL = PullId("mean-price")
NEWS = "The name prices hides which currency the numbers are in, so callers mix dollars and euros."
ALIKE = "Nothing says which currency the numbers in prices are in, so callers mix euros and dollars."


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Assay = Callable[..., Done]


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Assay:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, said: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["assay", "goldens", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Done(int(ended.value.code or 0), out, err)

    return run


def claim(text: str, identity: str, line: int) -> Candidate:
    place = Place("shop/prices.py", (line, line))
    return Candidate(CandidateId(identity), "x/1", Shape.INLINE, "", text[:40], text, place)


def stored(folder: Path, suite: Path) -> Path:
    """A run of two reviewers: `a` found one golden, `b` found none; both said something that no golden covers."""
    loaded = load_suite(suite)
    said = {"a": [claim("short divisor", "c1", 6), claim(NEWS, "c2", 1)], "b": [claim(ALIKE, "c1", 1)]}
    matches = {("a", "c1", "divisor")}
    goldens = loaded.pulls[0].goldens
    trials = tuple(
        BundleTrial(PULL, ReviewerId(name), TrialStatus.REVIEWED_FINDINGS, candidates=tuple(claims))
        for name, claims in said.items()
    )

    def judged(name: str, one: Candidate, golden: GoldenId) -> Judgement:
        verdict = Verdict.MATCH if (name, one.id, golden) in matches else Verdict.NO_MATCH
        return Judgement(one.id, golden, verdict, "j", "")

    answers = tuple(
        TrialJudgements(
            PULL,
            ReviewerId(name),
            tuple(judged(name, one, golden.id) for one in claims for golden in goldens),
            valid=tuple(one.id for one in claims if one.text in (NEWS, ALIKE)),
        )
        for name, claims in said.items()
    )
    pulls = (BundlePull(PULL, goldens),)
    write_bundle(Bundle(loaded.ref, Card("c", "l", "u"), pulls, trials, (JudgementSet("j", answers),)), folder)
    return folder


# --- looking ----------------------------------------------------------------------------------------------------


def test_every_shipped_suite_is_listed_with_its_hash_and_verifies(assay: Assay) -> None:
    rows = assay("list", "--json").json
    assert {"smoke", "recognition27", "cpp16", "cold"} <= {row["id"] for row in rows}
    smoke = next(row for row in rows if row["id"] == "smoke")
    assert smoke["hash"].startswith("7e7ebe42") and (smoke["pulls"], smoke["clean"]) == (8, 2)
    for name in ("smoke", "cold", "recognition27", "cpp16"):
        assert assay("verify", name).code == 0, name


def test_verify_ends_with_one_on_errors_and_two_where_there_is_no_suite(assay: Assay, tmp_path: Path) -> None:
    write_suite(tmp_path / "bad", YAML.replace("- 1)\n", "- 2)\n"))
    bad = assay("verify", "bad", "--json")
    assert bad.code == 1 and [row["rule"] for row in bad.json] == ["evidence-missing"]
    gone = assay("verify", "smok")
    assert gone.code == 2 and "did you mean 'smoke'" in gone.err and gone.err.count("\n") == 1


def test_stats_and_samples_come_as_json(assay: Assay) -> None:
    assert assay("stats", "smoke", "--json").json["goldens"] == 12
    assert assay("sample", "--seed", "42", "--count", "20", "--json").json[:3] == [12, 13, 15]
    drawn = assay("sample", "smoke", "--seed", "1", "--count", "3").out.split()
    assert len(drawn) == 3 and assay("sample", "smoke", "--seed", "1", "--count", "3").out.split() == drawn
    assert len(assay("sample", "smoke", "--seed", "1", "--count", "8", "--by-repository", "--json").json) == 8
    many = assay("sample", "smoke", "--seed", "1", "--count", "99")
    assert many.code == 2 and "from 1 to 8" in many.err
    assert assay("sample", "--seed", "1", "--count", "2", "--by-repository").code == 2


def test_export_lands_whole_and_never_over_something(assay: Assay, tmp_path: Path) -> None:
    assert assay("export", "smoke", "--format", "parquet", "-o", "data").code == 0
    assert {one.name for one in (tmp_path / "data").iterdir()} == {"data.parquet", "README.md"}
    again = assay("export", "smoke", "-o", "data")
    assert again.code == 2 and {one.name for one in (tmp_path / "data").iterdir()} == {"data.parquet", "README.md"}
    assert len(assay("export", "smoke", "--format", "jsonl").out.splitlines()) == 8
    assert assay("export", "smoke", "--format", "parquet").code == 2


def test_synth_gives_the_same_bytes_twice(assay: Assay, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert assay("synth", "--seed", "7", "--count", "4", "--clean", "1", "-o", name, "--json").json["goldens"] == 4
    files = [
        sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*")) for name in ("one", "two")
    ]
    assert files[0] == files[1]
    assert (tmp_path / "one" / "suite.yaml").read_bytes() == (tmp_path / "two" / "suite.yaml").read_bytes()


# --- keeping ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deed", ["dispute", "retire"])
def test_a_suite_that_ships_is_refused_with_the_way_out(deed: str, assay: Assay) -> None:
    before = load_suite("smoke")
    for which in ("smoke", str(before.path), str(before.path.parent)):
        done = assay(deed, which, "voucher-cents-cut-off", "--reason", "no", "--by", "ada")
        assert done.code == 2 and "cp -r" in done.err
    assert load_suite("smoke").ref == before.ref


def test_retiring_a_golden_tells_what_it_does_to_a_run(assay: Assay, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "shop", YAML + OTHER)
    run = stored(tmp_path / "run", suite)
    done = assay("retire", "shop", "other", "--reason", "It is meant.", "--by", "ada", "--bundle", str(run), "--json")
    assert done.code == 0, done.err
    (first, second) = done.json["scores"]
    assert (first["reviewer"], first["before"]["fn"], first["after"]["fn"]) == ("a", 1, 0)
    assert (first["before"]["recall"], first["after"]["recall"]) == (0.5, 1.0)
    assert (second["before"]["fn"], second["after"]["fn"]) == (2, 1)
    assert done.json["after"]["version"] == "0.1.1" and done.json["after"]["hash"] != done.json["before"]["hash"]
    said = "        status: retired\n        reason:"
    assert said in suite.read_text("utf-8")


def test_nothing_is_changed_where_the_bundle_cannot_be_counted(assay: Assay, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "shop", YAML + OTHER)
    before = suite.read_bytes()
    run = stored(tmp_path / "run", suite)
    (run / "trials.json").write_bytes(b"[]")
    done = assay("dispute", "shop", "other", "--reason", "Hm.", "--by", "ada", "--bundle", str(run))
    assert done.code == 2 and "evidence was changed" in done.err
    assert suite.read_bytes() == before


def test_a_disputed_golden_is_doubted_once(assay: Assay, tmp_path: Path) -> None:
    write_suite(tmp_path / "shop", YAML)
    arguments = ("dispute", "shop/suite.yaml", "divisor", "--reason", "A caller checks it.", "--by", "ada")
    first = assay(*arguments)
    assert first.code == 0 and "0.1.0" in first.out and "0.1.1" in first.out
    assert assay(*arguments).code == 2
    missing = assay("dispute", "shop", "divsor", "--reason", "x", "--by", "ada")
    assert missing.code == 2 and "did you mean 'divisor'" in missing.err


def test_an_audit_needs_two_people_and_is_kept(assay: Assay, tmp_path: Path) -> None:
    write_suite(tmp_path / "shop", YAML + OTHER)
    assert "divisor first" in assay("audit", "shop").out
    assert assay("audit", "shop", "divisor", "--verdict", "bug", "--by", "ada").code == 0
    assert assay("audit", "shop", "divisor", "--confirm", "--by", "ada").code == 2
    assert assay("audit", "shop", "divisor", "--confirm", "--by", "bob").code == 0
    found = assay("audit", "shop", "--json").json
    assert (found["audit"]["confirmed"], found["missing"]) == (1, ["other"])
    assert load_suite(tmp_path / "shop").ref.version == "0.1.0"
    assert assay("audit", "shop", "--verdict", "bug").code == 2


def test_a_run_becomes_drafts_and_a_person_confirms_them(assay: Assay, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "shop", YAML)
    run = stored(tmp_path / "run", suite)
    added = assay("add-from-run", str(run), "--suite", "shop", "--json").json["added"]
    assert [(one["pull"], one["status"], one["lines"]) for one in added] == [("mean-price", "draft", [1, 1])]
    assert assay("add-from-run", str(run), "--suite", "shop", "--json").json["added"] == []
    loaded = load_suite(suite)
    assert loaded.ref.hash == load_suite(write_suite(tmp_path / "plain", YAML)).ref.hash
    (waiting,) = assay("review", "shop", "--by", "ada", "--json").json
    assert waiting["golden"] == added[0]["id"]
    done = assay("review", "shop", "--by", "ada", said="nonsense\nseverity\nhihg\ns\nhigh\nc\n")
    assert done.code == 0 and "1 confirmed, 0 rejected, 0 still wait" in done.out
    assert "is none of confirm" in done.err and "'hihg' is no severity" in done.err
    golden = load_suite(suite).pulls[0].goldens[1]
    assert (golden.severity, golden.status, golden.reason) == ("high", "live", "")
    (by,) = load_suite(suite).pulls[0].confirmed_by
    assert by.startswith("ada, 20") and by.endswith(f"({golden.id})")


# --- mining and reviewing ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = planted_world(tmp_path_factory.mktemp("upstream"))
    answers = made.path.parent / "answers"
    answers.mkdir()
    for name, data in made.answers.items():
        (answers / name).write_bytes(data)
    return made


def mined(assay: Assay, world: World, kind: str, *more: str) -> Done:
    answers = str(world.path.parent / "answers")
    places = ("--clone", str(world.path), "--answers", answers, "--repository", "acme/shop", "-o", "drafts.yaml")
    return assay("mine", kind, *places, *more)


@pytest.mark.parametrize("kind", ["bugfix", "blame"])
def test_mining_counts_every_discard_and_writes_drafts_only(kind: str, assay: Assay, world: World) -> None:
    done = mined(assay, world, kind, "--json")
    assert done.code == 0, done.err
    told = done.json
    assert told["considered"] == told["kept"] + sum(told["discarded"].values())
    suite = load_suite(Path("drafts.yaml"))
    assert suite.pulls == () and len(suite.unconfirmed) == told["drafts"] > 0
    assert mined(assay, world, kind).code == 2
    assert assay("verify", "drafts.yaml").code == 1


def test_mining_that_finds_nothing_writes_nothing(assay: Assay, world: World) -> None:
    done = mined(assay, world, "review")
    assert done.code == 1 and "no drafts" in done.err and not Path("drafts.yaml").exists()


def test_mining_a_place_that_is_no_clone_is_one_line(assay: Assay, world: World, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    answers = str(world.path.parent / "answers")
    done = assay("mine", "blame", "--clone", "empty", "--answers", answers, "--repository", "a/b", "-o", "d.yaml")
    assert done.code in (2, 3) and done.err.count("\n") == 1 and "no git repository" in done.err
    unsure = assay("mine", "blame", "--clone", str(world.path), "--answers", answers, "-o", "d.yaml")
    assert unsure.code == 2 and "--repository" in unsure.err
    config = assay("mine", "blame", "--config", "vibops", "--clone", "empty", "--answers", answers, "-o", "d.yaml")
    assert config.code == 2 and "did you mean 'vibeops'" in config.err


def test_a_model_words_what_blame_finds_and_is_paid_once(
    assay: Assay, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with serving() as models:
        asked = ("--model", "litellm:openai/miner", "--model-base", models.base, "--yes")
        first = mined(assay, world, "blame", "--json", *asked)
        assert first.code == 0, first.err
        assert not [note for note in first.json["notes"] if "no model" in note]
        paid = models.answered
        assert paid == first.json["kept"] and models.seen[0].schema
        again = mined(assay, world, "blame", "--json", "--force", *asked)
        assert (again.json["drafts"], models.answered) == (first.json["drafts"], paid)
    wordings = {golden.finding for _, golden in drafts(load_suite(Path("drafts.yaml")))}
    assert wordings == {"The result is computed with the wrong divisor."}


def test_a_spent_budget_leaves_blame_with_what_the_fixes_say(
    assay: Assay, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with serving() as models:
        asked = ("--model", "litellm:openai/miner", "--model-base", models.base, "--max-calls", "1")
        told = mined(assay, world, "blame", "--json", *asked).json
    assert models.answered == 1 and sum("budget: all 1 calls" in note for note in told["notes"]) == told["kept"] - 1


@pytest.mark.parametrize("name", ["lexical", "openai/gpt-4o", "panel:lexical,litellm:openai/gpt-4o"])
def test_a_judge_that_is_no_model_cannot_mine(name: str, assay: Assay, world: World) -> None:
    done = mined(assay, world, "blame", "--model", name)
    assert done.code == 2 and done.err.count("\n") == 1, done.err


def test_a_review_that_is_broken_off_goes_on_where_it_stopped(assay: Assay, world: World) -> None:
    assert mined(assay, world, "blame").code == 0
    mirror = Path("mirror") / "acme"
    mirror.mkdir(parents=True)
    (mirror / "shop.git").symlink_to(world.path)
    first = assay("review", "drafts.yaml", "--by", "ada", "--mirror", "mirror", said="c\nr\nIt is intended.\n")
    assert first.code == 130
    suite = load_suite(Path("drafts.yaml"))
    assert len(suite.pulls) == 1 and suite.pulls[0].confirmed_by[0].startswith("ada, ")
    rejected = [golden for pull in (*suite.pulls, *suite.unconfirmed) for golden in pull.retired]
    assert [one.reason.partition(" (ada")[0] for one in rejected] == ["rejected: It is intended."]
    second = assay("review", "drafts.yaml", "--by", "bob", said="l\nq\n")
    assert second.code == 0 and "0 confirmed, 0 rejected" in second.out
    assert "It is intended." not in second.out
    assert load_suite(Path("drafts.yaml")).ref == suite.ref


def test_a_draft_cannot_steer_the_terminal(assay: Assay, tmp_path: Path) -> None:
    draft = YAML.replace("severity: high", "severity: high\n        status: draft\n        reason: mined")
    write_suite(tmp_path / "shop", draft.replace("title: Show", 'title: "\\e[31mShow\\u202e'.rstrip()).replace(
        "average\n    body", 'average"\n    body'))  # fmt: skip
    done = assay("review", "shop", "--by", "ada", said="q\n")
    assert done.code == 0 and "\x1b" not in done.out and "\u202e" not in done.out


# --- cold -------------------------------------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> dict[str, Any]:
    """A mirror with the repository of the row, and the row as it is called there."""
    planted = Planted()
    planted.commit("root", {"pkg/core.py": FILE})
    target = tmp_path / "mirror" / "acme" / "shop.git"
    target.parent.mkdir(parents=True)
    return {**RAW, "base_commit": planted.write(target, "root")["root"]}


def test_swebench_rows_become_a_cold_suite(assay: Assay, shop: dict[str, Any], tmp_path: Path) -> None:
    alien = {**shop, "instance_id": "b__b-1", "repo": "b/b"}
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(shop)}\n{json.dumps(alien)}\n", encoding="utf-8")
    done = assay("swebench", "rows.jsonl", "--mirror", "mirror", "-o", "pilot", "--oracle", "strict", "--json")
    assert done.code == 0, done.err
    assert (done.json["pulls"], done.json["goldens"]) == (1, 2)
    assert done.json["skipped"] == [{"instance": "b__b-1", "reason": "no clone in the mirror", "detail": "b/b"}]
    assert assay("verify", "pilot").code == 0
    assert assay("swebench", "rows.jsonl", "--mirror", "mirror", "-o", "pilot").code == 2


def test_a_leak_leaves_no_suite(assay: Assay, shop: dict[str, Any], tmp_path: Path) -> None:
    shop["problem_statement"] = FILE.decode()[:60]
    (tmp_path / "rows.jsonl").write_text(json.dumps(shop), encoding="utf-8")
    done = assay("swebench", "rows.jsonl", "--mirror", "mirror", "-o", "pilot")
    assert done.code == 3 and "would be shown the report" in done.err
    assert not (tmp_path / "pilot").exists()
    shutil.rmtree(tmp_path / "mirror")
