"""What holds for every command: an example that works, JSON, one-line errors, manners, a quick start."""

from __future__ import annotations

import copy
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

import bot
from bot import cli_common, cli_here
from bot.cli import cli, main
from bot.cli_group import PLACES
from bot.cli_manner import MANNER, coloured
from scoring.bundle import parts
from tests.pages.world import made_bundle

NO_JSON = {("serve",), ("worker",), ("form",), ("completion",)}
"""They have no result: they serve, or print a file in a language of its own."""
HELP_WIDTH = 80


def everything(
    command: click.Command = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if path:
        yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from everything(found, (*path, name))


ALL = dict(everything())
LEAVES = {path: one for path, one in ALL.items() if not isinstance(one, click.Group)}


@pytest.fixture(autouse=True)
def _no_manner() -> Iterator[None]:
    MANNER.reset()
    yield
    MANNER.reset()


# --- help -----------------------------------------------------------------------------------------------------------


def example_of(command: click.Command) -> str:
    text = command.help or ""
    assert "Example: " in text, "no example"
    return " ".join(text.partition("Example: ")[2].split("\n\n")[0].split())


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_the_example_of_every_help_is_a_command_that_exists_with_options_that_exist(path: tuple[str, ...]) -> None:
    words = shlex.split(example_of(ALL[path]))
    words = words[: next((at for at, word in enumerate(words) if word in (">", "|")), len(words))]
    while "=" in words[0]:
        words.pop(0)
    assert words.pop(0) == "assay"
    command: click.Command = cli
    taken: list[str] = []
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, f"there is no {words[0]}"
        command = found
        taken.append(words.pop(0))
    assert tuple(taken[: len(path)]) == path
    # Files and folders of an example need not be there; the command itself stays as it is for whoever comes next.
    command = copy.copy(command)
    command.params = [copy.copy(param) for param in command.params]
    for param in command.params:
        if isinstance(param.type, click.Path):
            param.type = click.Path()
    context = command.make_context(taken[-1], words)
    context.close()


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_command_that_has_a_result_gives_it_as_json(path: tuple[str, ...]) -> None:
    has = any("--json" in param.opts for param in LEAVES[path].params)
    assert has is (path not in NO_JSON)


@pytest.mark.parametrize(
    "path", [(), *(path for path, one in ALL.items() if isinstance(one, click.Group))], ids=" ".join
)
def test_what_a_list_of_commands_says_of_each_fits_into_its_line(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(cli, [*path, "--help"], terminal_width=HELP_WIDTH).output
    assert "..." not in shown.partition("Options:")[2]
    assert max(map(len, shown.splitlines())) <= HELP_WIDTH
    below = {name for one in ALL if one[:-1] == path for name in one[-1:]}
    assert below == set(re.findall(r"^  ([a-z][a-z-]*)  ", shown.partition("Options:")[2], re.MULTILINE))


def test_every_module_of_commands_is_in_the_table_that_loads_them() -> None:
    there: dict[str | None, str] = {}
    for file in Path(bot.__file__).parent.glob("cli_*.py"):
        module = import_module(f"bot.{file.stem}")
        there |= {one.name: file.stem.removeprefix("cli_") for one in getattr(module, "COMMANDS", ())}
    assert there == {name: place.module for name, place in PLACES.items()}


# --- starting -------------------------------------------------------------------------------------------------------


def test_help_loads_no_command_and_no_command_loads_what_only_work_needs(tmp_path: Path) -> None:
    code = """if True:
        import json, sys, time
        from bot.cli import cli
        from bot.cli_group import PLACES
        cli(["--help"], standalone_mode=False)
        early = [name for name in sys.modules if name.startswith("bot.cli_")]
        spent = time.process_time()
        for name in PLACES:
            cli([name, "--help"], standalone_mode=False)
        print("\\n@" + json.dumps([early, sorted(sys.modules), spent]))
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    early, late, seconds = json.loads(done.stdout.rpartition("@")[2])
    assert set(early) == {f"bot.cli_{name}" for name in ("common", "errors", "group", "manner")}
    heavy = ("numpy", "scipy", "github", "dbos", "litellm", "matplotlib", "flask", "sqlalchemy", "pydantic", "rich")
    assert set(heavy) & set(late) == set()
    # Of the processor alone: how busy this machine is says nothing about us.
    assert seconds < 0.5


# --- errors ---------------------------------------------------------------------------------------------------------


def run(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["assay", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("status --jsn", "assay: status: there is no option --jsn; did you mean --json? See: assay status --help"),
        ("status --zzzzzz", "assay: status: there is no option --zzzzzz; see: assay status --help"),
        ("lederboard x", "assay: there is no command lederboard; did you mean leaderboard? See: assay --help"),
        ("goldens mine bugs", "assay: goldens mine: there is no command bugs; did you mean bugfix? See: assay goldens"),
        ("zzzzzzzz", "assay: there is no command zzzzzzzz; see: assay --help"),
        ("export sarif", "assay: export: BUNDLE is missing; for example: assay export sarif bundle findings.sarif"),
        ("goldens synth", "assay: goldens synth: -o / --output is missing; for example: assay goldens synth --seed 42"),
        ("bundle schema reprot", "'reprot' is not one of 'bundle', 'report'; did you mean report? See:"),
        ("demo --port x", "assay: demo: --port: 'x' is not a valid integer; see: assay demo --help"),
        ("status a b", "assay: status: got unexpected extra argument (b); see: assay status --help"),
        ("power", "assay: power: name a bundle as pilot, or suppose one: --discordance SHARE; see: assay power --help"),
        ("--quiet --debug status", "assay: --quiet goes with none of --verbose and --debug; leave it out; see:"),
    ],
)
def test_what_cannot_be_understood_is_one_line_with_the_fix(
    line: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split(), monkeypatch) == cli_common.BAD_INPUT
    (said,) = capsys.readouterr().err.splitlines()
    assert told in said


def falls_over(error: Exception) -> Callable[[], list[str]]:
    def fall() -> list[str]:
        raise error

    return fall


def test_an_error_nobody_thought_of_is_one_line_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli_here, "here", falls_over(ZeroDivisionError("no\nway\x1b[2J")))
    assert run([], monkeypatch) == cli_common.NOT_CARRIED_OUT
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("assay: internal error: ZeroDivisionError: no way")
    assert "--debug" in said and "\x1b" not in said


def test_a_place_that_the_system_refuses_is_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli_here, "here", falls_over(PermissionError(13, "Permission denied", "/etc/shadow")))
    assert run([], monkeypatch) == cli_common.NOT_CARRIED_OUT
    assert capsys.readouterr().err == "assay: /etc/shadow: permission denied\n"


def test_debug_shows_the_trace_of_what_an_error_stands_for_without_a_secret(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_WEBHOOK_SECRET", "correct-horse-battery")
    error = RuntimeError("refused: correct-horse-battery, ghp_0123456789abcdefghij")
    monkeypatch.setattr(cli_here, "here", falls_over(error))
    assert run(["--debug"], monkeypatch) == cli_common.NOT_CARRIED_OUT
    said = capsys.readouterr().err
    trace = said.rpartition("assay: internal error")[0]
    assert trace.startswith("Traceback") and "in fall" in trace
    assert "correct-horse" not in trace and "ghp_" not in trace
    monkeypatch.setattr(cli_here, "here", list)
    assert run(["status", "--debug", "nowhere"], monkeypatch) == cli_common.BAD_INPUT
    assert "LookupError" in capsys.readouterr().err


def test_an_interrupt_ends_with_its_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_here, "here", stop)
    assert run([], monkeypatch) == cli_common.INTERRUPTED


# --- manners --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["--verbose goldens verify smoke", "goldens verify smoke -v", "goldens -v verify smoke"]
)
def test_verbose_before_or_behind_the_command_tells_every_step(line: str) -> None:
    done = CliRunner().invoke(cli, line.split())
    assert done.exit_code == 0
    assert re.search(r"^assay: verifying smoke: [0-9.]+ s$", done.stderr, re.MULTILINE)


def test_quiet_says_results_and_errors_alone(capsys: pytest.CaptureFixture[str]) -> None:
    done = CliRunner().invoke(cli, ["goldens", "verify", "smoke", "--quiet"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert MANNER.quiet
    cli_common.say("by the way")
    with cli_common.working("hardly") as stage:
        stage("anything")
    assert capsys.readouterr().err == ""
    cli_common.Failure("no", 2).show()
    assert capsys.readouterr().err == "assay: no\n"


def test_one_command_in_a_process_does_not_inherit_the_manner_of_the_one_before() -> None:
    CliRunner().invoke(cli, ["--quiet", "bundle", "schema"])
    assert MANNER.quiet
    CliRunner().invoke(cli, ["bundle", "schema"])
    assert not MANNER.quiet


def test_progress_on_a_terminal_is_a_bar_with_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_common, "terminal", lambda: True)
    told: list[str] = []
    seconds = iter((0.0, 1.0, 2.0, 4.0))
    progress = cli_common.counting(told.append, "reading", lambda: next(seconds), unit="forks")
    for done in (0, 2, 8):
        progress(done, 8)
    assert told[0] == f"[{'.' * 20}] reading: 0 of 8 forks, 0.0 a second, no telling how long"
    assert told[1] == f"[{'#' * 5}{'.' * 15}] reading: 2 of 8 forks, 2.0 a second, about 3 s left"
    assert told[2].startswith(f"[{'#' * 20}] reading: 8 of 8 forks")


def test_each_tells_how_many_are_done_before_the_next_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_common, "terminal", lambda: True)
    told: list[str] = []
    assert list(cli_common.each("abc", told.append, "reading", "forks")) == ["a", "b", "c"]
    assert [re.findall(r"\d of \d", line)[0] for line in told] == ["1 of 3", "2 of 3"]


def in_a_terminal(arguments: list[str], cwd: Path, **env: str) -> str:
    """What a command writes where all it has is a terminal."""
    ours, theirs = pty.openpty()
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", *arguments],
        cwd=cwd,
        env={**kept, "TERM": "xterm", **env},
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 4096):
            said += piece
    except OSError:
        # Linux says so when the last writer is gone.
        pass
    finally:
        os.close(ours)
        process.wait(30)
    return said.decode()


@pytest.mark.parametrize(("env", "colours"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_are_for_terminals_and_off_where_somebody_objects(
    env: dict[str, str], colours: bool, tmp_path: Path
) -> None:
    assert ("\x1b[3" in in_a_terminal(["status", "nowhere"], tmp_path, **env)) is colours


def test_there_is_no_colour_where_there_is_no_terminal() -> None:
    assert coloured("assay:", fg="red") == "assay:"


# --- assay alone ----------------------------------------------------------------------------------------------------


def put_bundle(folder: Path) -> None:
    for name, data in parts(made_bundle(pulls=1)).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_alone_where_nothing_is_it_names_the_demo_and_the_setup(place: Path) -> None:
    said = "\n".join(cli_here.here({}))
    assert "No settings here" in said and "assay demo" in said and "assay setup" in said


def test_alone_with_settings_it_names_the_app_and_what_is_missing(place: Path) -> None:
    (place / ".env").write_text("ASSAY_APP_ID=4711\nASSAY_CONTROL_REPO=acme/benchmarks\n")
    said = "\n".join(cli_here.here({}))
    assert "Settings in .env: App 4711, control repository acme/benchmarks" in said
    assert "ASSAY_WEBHOOK_SECRET, ASSAY_PRIVATE_KEY" in said and "assay doctor" in said
    assert "App is made" not in said and "assay demo" not in said


def test_alone_with_settings_that_cannot_be_used_it_says_which(place: Path) -> None:
    said = "\n".join(cli_here.here({"ASSAY_APP_IDD": "1"}))
    assert "the environment cannot be used" in said and "did you mean ASSAY_APP_ID?" in said


def test_alone_it_finds_bundles_and_suites_and_looks_no_further_than_here(place: Path) -> None:
    put_bundle(place / "run-1")
    put_bundle(place / "deep" / "run-2")
    (place / "other").mkdir()
    (place / "other" / "index.json").write_text("{}")
    (place / "shop").mkdir()
    (place / "shop" / "suite.yaml").write_text("")
    said = "\n".join(cli_here.here({}))
    assert "A bundle here:  assay leaderboard run-1" in said
    assert "A suite here:  assay goldens verify shop/suite.yaml" in said
    assert "run-2" not in said and "other" not in said


def test_alone_it_counts_the_runs_of_the_data_directory(place: Path) -> None:
    from bot import composition
    from bot.settings import load_settings

    env = {"ASSAY_DATA_DIR": str(place / "data"), "ASSAY_APP_ID": "1"}
    assert "No run yet" in "\n".join(cli_here.here(env))
    (place / "data").mkdir()
    composition.open_databases(load_settings(env))
    assert f"{place / 'data'}: no run yet" in "\n".join(cli_here.here(env))
    (place / "broken").mkdir()
    (place / "broken" / "app.db").write_bytes(b"this is no database" * 100)
    assert "assay db check" in "\n".join(cli_here.here(env | {"ASSAY_DATA_DIR": str(place / "broken")}))


def test_alone_it_asks_no_database_over_the_network(place: Path) -> None:
    env = {"ASSAY_DATABASE_URL": "postgresql://assay@127.0.0.1:1/assay", "ASSAY_APP_ID": "1"}
    assert "Runs are in the database of ASSAY_DATABASE_URL:  assay status" in cli_here.here(env)


# --- completion -----------------------------------------------------------------------------------------------------


def offered(*words: str, begun: str = "") -> set[str]:
    return {one.value for one in ShellComplete(cli, {}, "assay", "_ASSAY_COMPLETE").get_completions(list(words), begun)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_what_the_shell_reads(shell: str) -> None:
    done = CliRunner().invoke(cli, ["completion", shell])
    assert done.exit_code == 0
    assert f"_ASSAY_COMPLETE={shell}_complete" in done.output


def test_names_are_completed_where_they_are_cheap(tmp_path: Path) -> None:
    put_bundle(tmp_path / "run")
    assert {"leaderboard", "rescore"} <= offered(begun="")
    assert offered(begun="leader") == {"leaderboard"}
    assert offered("goldens", "verify", begun="sm") == {"smoke"}
    assert offered("fork", begun="cpp") == {"cpp16"}
    assert "vibeops-small" in offered("study", begun="vibe")
    assert offered("rescore", "x", "--profile", begun="co") == {"codevetter"}
    assert {"model-x", "lexical"} <= offered("leaderboard", str(tmp_path / "run"), "--judge")
    assert "model-x" not in offered("leaderboard", str(tmp_path), "--judge")
