"""`assay judge`, `calibrate` and `adjudicate`, as a person runs them, against a model on loopback."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.cli import main
from bot.cli_common import counting
from bot.judging.keeping import keep
from goldens.importers.folder import read_bundle, write_bundle
from scoring.bundle import JudgementSet, TrialJudgements
from scoring.model import CandidateId, GoldenId, Judgement, PullId, ReviewerId, Verdict
from tests.judging.make import bundle
from tests.judging.server import Models, serving

pytestmark = pytest.mark.timeout(240)
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")
_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def models() -> Iterator[Models]:
    with serving() as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bundle(bundle(), tmp_path / "bundle")
    return tmp_path / "bundle"


def environment(models: Models | None = None, **extra: str) -> dict[str, str]:
    found = {name: os.environ[name] for name in _INHERITED if name in os.environ} | {"PYTHONPATH": str(_ROOT)}
    if models is not None:
        found |= {"ASSAY_LLM_API_BASE": models.base, "OPENAI_API_KEY": "x"}
    return found | extra


@dataclass(frozen=True, slots=True)
class Done:
    """What a command did."""

    returncode: int
    stdout: str
    stderr: str


def assay(folder: Path, *arguments: str, env: dict[str, str]) -> Done:
    """A command in this process, where the model's client is loaded once for all tests."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name in [name for name in os.environ if name not in _INHERITED]:
            patch.delenv(name)
        for name, value in env.items():
            patch.setenv(name, value)
        patch.chdir(folder.parent)
        patch.setattr(sys, "argv", ["assay", *arguments])
        patch.setattr(sys, "stdin", io.StringIO())
        with pytest.raises(SystemExit) as ended:
            main()
    code = ended.value.code
    return Done(code if isinstance(code, int) else 1, out.getvalue(), err.getvalue())


def judge(
    folder: Path, models: Models, *more: str, name: str = "litellm:openai/honest"
) -> tuple[int, dict[str, object]]:
    done = assay(folder, "judge", str(folder), "--judge", name, "--json", *more, env=environment(models))
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_judge_then_calibrate_then_again_for_nothing(folder: Path, models: Models) -> None:
    code, told = judge(folder, models)
    assert (code, told["verdicts"]) == (0, {"match": 3, "no_match": 3})
    assert (models.answered, told["calls"], told["trusted"]) == (6, 6, True)
    before = read_bundle(folder)
    assert [one.judge for one in before.judgements] == [told["judge"]]

    refused = assay(folder, "judge", str(folder), "--judge", "litellm:openai/honest", env=environment(models))
    assert refused.returncode == 2
    assert "--again replaces them" in refused.stderr
    code, again = judge(folder, models, "--again")
    assert code == 0
    assert again["spent"] == {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": 0.0}
    assert models.answered == 6
    assert read_bundle(folder) == before

    code, _ = judge(folder, models, name="lexical")
    assert code == 0
    after = read_bundle(folder)
    assert before.judgements[0] in after.judgements
    card = folder.parent / "card.md"
    against = str(told["judge"])
    arguments = ("calibrate", str(folder), "--judge", "lexical", "--against", against, "--json", "--card", str(card))
    done = assay(folder, *arguments, env=environment())
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    wanted = {"judge", "against", "n", "kappa_found", "kappa_candidates", "tau", "calls", "prompt_tokens", "cost"}
    assert set(found) >= wanted
    assert (found["against"], found["n"]) == (against, 6)
    assert card.read_text(encoding="utf-8").startswith("# Judge: lexical")


def test_a_judge_is_measured_without_being_added(folder: Path, models: Models) -> None:
    judge(folder, models, name="lexical")
    before = (folder / "index.json").read_bytes()
    command = ("calibrate", str(folder), "--judge", "litellm:openai/honest", "--json")
    done = assay(folder, *command, env=environment(models))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["calls"], found["against"].partition("/")[0]) == (6, "lexical")
    assert (folder / "index.json").read_bytes() == before


def test_killed_in_the_middle_it_goes_on_and_pays_nothing_twice(folder: Path, models: Models) -> None:
    models.pause = 0.4
    command = [
        sys.executable,
        "-m",
        "bot",
        "judge",
        str(folder),
        "--judge",
        "litellm:openai/honest",
        "--concurrency",
        "1",
    ]
    process = subprocess.Popen(
        command, env=environment(models), cwd=folder.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    give_up = time.monotonic() + 120
    while len(models.seen) < 4:
        assert process.poll() is None, "it ended before it was killed"
        assert time.monotonic() < give_up
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    assert read_bundle(folder) == bundle()
    first = len(models.seen)
    code, told = judge(folder, models)
    assert (code, told["verdicts"]) == (0, {"match": 3, "no_match": 3})
    asked = Counter(one.prompt for one in models.seen)
    assert len(asked) == 6
    # The call that was under way when it was killed had no answer yet; every call before it had one.
    assert [prompt for prompt, count in asked.items() if count > 1] in ([], [models.seen[first - 1].prompt])


def test_interrupted_it_keeps_what_is_under_way(folder: Path, models: Models) -> None:
    models.pause = 0.4
    command = [sys.executable, "-m", "bot", "judge", str(folder), "--judge", "litellm:openai/honest"]
    process = subprocess.Popen(
        command,
        env=environment(models),
        cwd=folder.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts what it puts in the background with interrupts ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    give_up = time.monotonic() + 120
    while len(models.seen) < 2:
        assert process.poll() is None, "it ended before it was interrupted"
        assert time.monotonic() < give_up
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in said
    code, told = judge(folder, models)
    assert (code, told["verdicts"], models.answered) == (0, {"match": 3, "no_match": 3}, 6)


def test_a_budget_stops_and_a_larger_one_goes_on(folder: Path, models: Models) -> None:
    code, told = judge(folder, models, "--max-calls", "2")
    assert (code, models.answered) == (1, 2)
    assert len(told["unscored"]) == 4  # type: ignore[arg-type]
    code, told = judge(folder, models, "--max-calls", "10")
    assert (code, models.answered) == (0, 6)
    assert told["unscored"] == []
    assert len(read_bundle(folder).judgements) == 1


def test_a_dry_run_says_what_it_would_take_and_asks_nobody(folder: Path, models: Models) -> None:
    command = ("judge", str(folder), "--judge", "litellm:openai/gpt-4o", "--dry-run")
    done = assay(folder, *command, env=environment(models))
    assert done.returncode == 0
    assert "6 calls to make" in done.stderr
    assert "at most $" in done.stderr
    assert models.seen == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lexicl", "did you mean lexical?"),
        ("litellm:openai/gpt-4o", "OPENAI_API_KEY"),
        ("litellm:nobody-sells-this/x", "provider/model"),
        ("panel:lexical", "two judges"),
        ("replay:gone", "holds no judge"),
        ("human:missing.csv", "cannot be read"),
        ("human:verdicts.txt", ".csv"),
    ],
)
def test_a_judge_that_cannot_be_asked_is_one_line(folder: Path, name: str, said: str) -> None:
    done = assay(folder, "judge", str(folder), "--judge", name, env=environment())
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_panel_of_judges_is_one_more_judge(folder: Path, models: Models) -> None:
    code, told = judge(folder, models, name="panel:lexical,litellm:openai/honest,litellm:openai/sloppy")
    assert code == 0
    assert str(told["judge"]).startswith("panel:")
    assert told["verdicts"] == {"match": 3, "no_match": 3}


def test_people_judge_from_a_file(folder: Path, models: Models) -> None:
    file = folder.parent / "verdicts.csv"
    file.write_text(
        "pull,reviewer,candidate,golden,verdict,reason,who\npull-0,sharp,sharp-0-0,golden-0,match,plain,mira\n",
        encoding="utf-8",
    )
    code, told = judge(folder, models, name=f"human:{file}")
    assert (code, told["judge"], told["verdicts"]) == (0, "human", {"match": 1})
    file.write_text("pull,reviewer,candidate,golden,verdict\npull-9,sharp,sharp-0-0,golden-0,match\n", encoding="utf-8")
    done = assay(folder, "judge", str(folder), "--judge", f"human:{file}", "--again", env=environment())
    assert done.returncode == 2
    assert "line 2" in done.stderr


# --- adjudicating


def _doubtful(folder: Path) -> None:
    """A judge that leaves two pairs open."""
    trials = []
    for number in range(3):
        for reviewer in ("sharp", "loud"):
            said = Verdict.UNDECIDED if (number, reviewer) in ((0, "sharp"), (1, "loud")) else Verdict.NO_MATCH
            one = Judgement(
                CandidateId(f"{reviewer}-{number}-0"),
                GoldenId(f"golden-{number}"),
                said,
                "doubter",
                "who \x1b[31mknows\x1b[0m",
            )
            trials.append(TrialJudgements(PullId(f"pull-{number}"), ReviewerId(reviewer), (one,)))
    keep(folder, [JudgementSet("doubter", tuple(trials))])


def _typed(folder: Path, keys: str | bytes, who: str = "mira", ends: int = 0) -> str:
    """Run it in a terminal, type, and give what it showed."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "bot", "adjudicate", str(folder), "--who", who]
    process = subprocess.Popen(
        command, env=environment(), cwd=folder.parent, stdin=follower, stdout=follower, stderr=follower, close_fds=True
    )
    os.close(follower)
    os.write(leader, keys.encode() if isinstance(keys, str) else keys)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    assert process.wait(60) == ends, shown.decode(errors="replace")
    return shown.decode(errors="replace")


def test_a_person_decides_in_the_terminal_and_may_undo_and_come_back(folder: Path) -> None:
    _doubtful(folder)
    shown = _typed(folder, "m\nthe same defect\nu\nm\nyes\nq\n")
    assert "\x1b[31m" not in shown
    assert "1 decided, 1 left" in shown
    held = {one.judge: one for one in read_bundle(folder).judgements}
    assert set(held) == {"doubter", "human", "doubter+human"}
    [decision] = held["human"].details["history"]
    assert (decision["who"], decision["verdict"], decision["reason"]) == ("mira", "match", "yes")
    assert decision["replaced"] == "doubter: undecided"
    assert decision["when"].startswith("20")

    assert "1 decided, 0 left" in _typed(folder, "v\nsound\n", who="devon")
    held = {one.judge: one for one in read_bundle(folder).judgements}
    assert [row["who"] for row in held["human"].details["history"]] == ["mira", "devon"]
    merged = {(trial.pull, trial.reviewer): trial.judgements[0].verdict for trial in held["doubter+human"].trials}
    assert merged[PullId("pull-0"), ReviewerId("sharp")] is Verdict.MATCH
    assert merged[PullId("pull-1"), ReviewerId("loud")] is Verdict.NO_MATCH
    assert [trial.valid for trial in held["human"].trials] == [None, ("loud-1-0",)]


def test_what_is_typed_is_kept_as_text_whatever_the_keyboard_sent(folder: Path) -> None:
    _doubtful(folder)
    assert "1 decided, 1 left" in _typed(folder, b"m\nodd \xff \x1b[31m\nq\n", who="mi\udcffra\x1b")
    held = {one.judge: one for one in read_bundle(folder).judgements}
    [decision] = held["human"].details["history"]
    assert decision["who"] == "mi\N{REPLACEMENT CHARACTER}ra"
    assert decision["reason"] == "odd \N{REPLACEMENT CHARACTER} [31m"


def test_interrupted_between_two_questions_the_decision_is_kept(folder: Path) -> None:
    _doubtful(folder)
    assert _typed(folder, b"m\nthe same defect\n\x04", ends=130)
    held = {one.judge: one for one in read_bundle(folder).judgements}
    assert [row["reason"] for row in held["human"].details["history"]] == ["the same defect"]


def test_without_a_terminal_it_refuses_and_says_what_to_do(folder: Path) -> None:
    _doubtful(folder)
    done = assay(folder, "adjudicate", str(folder), "--who", "mira", env=environment())
    assert done.returncode == 2
    assert "--judge human:FILE" in done.stderr
    listed = assay(folder, "adjudicate", str(folder), "--json", env=environment())
    rows = json.loads(listed.stdout)
    assert [(row["candidate"], row["why"]) for row in rows] == [("sharp-0-0", "undecided"), ("loud-1-0", "undecided")]


def test_disagreement_is_open_too(folder: Path, models: Models) -> None:
    _doubtful(folder)
    judge(folder, models)
    listed = json.loads(assay(folder, "adjudicate", str(folder), "--json", env=environment()).stdout)
    assert {row["candidate"] for row in listed} == {"sharp-0-0", "sharp-1-0", "sharp-2-0", "loud-1-0"}
    assert {row["why"] for row in listed} == {"the judges disagree"}


class _Stage:
    """A slow command's stages, on a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.told: list[str] = []
        self.progress = counting(self.told.append, "judging", lambda: self.now)

    def done(self, count: int, total: int, seconds: float) -> None:
        self.now += seconds
        self.progress(count, total)


def test_progress_says_how_fast_and_how_long_and_does_not_fill_a_log() -> None:
    stage = _Stage()
    for count in range(1, 101):
        stage.done(count, 100, 0.5)
    assert stage.told[0] == "judging: 1 of 100 calls, 2.0 a second, about 50 s left"
    assert stage.told[1] == "judging: 21 of 100 calls, 2.0 a second, about 40 s left"
    assert stage.told[-1].startswith("judging: 100 of 100 calls") and len(stage.told) <= 7


def test_the_next_judge_of_a_panel_is_counted_anew() -> None:
    stage = _Stage()
    stage.done(4, 4, 100.0)
    stage.done(1, 4, 1.0)
    stage.done(4, 4, 1.0)
    assert [line.split(",")[0] for line in stage.told] == [f"judging: {n} of 4 calls" for n in (4, 1, 4)]
    assert "4.0 a second" in stage.told[2]


def test_a_slow_judging_tells_its_progress_on_stderr_only(folder: Path, models: Models) -> None:
    models.pause = 1.0
    done = assay(folder, "judge", str(folder), "--judge", "litellm:openai/honest", "--json", "--concurrency", "1",
                 env=environment(models))  # fmt: skip
    assert " of 6 calls, " in done.stderr and "s left" in done.stderr
    assert json.loads(done.stdout)["calls"] == 6
