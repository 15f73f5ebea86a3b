"""Programs of other people: what they see, what they may take, and that nothing of them is left."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.reviewers.choose import choose
from bot.reviewers.means import MEGABYTE, ReviewMeans, ToolLimits
from bot.reviewers.protocol import Change, Review
from bot.reviewers.record import status_of
from scoring.model import Severity, TrialStatus
from tests.reviewers.make import change, finding, world


def review(
    code: str, *arguments: str, options: str = "", limits: ToolLimits | None = None, of: Change | None = None
) -> Review:
    """What a program in Python says."""
    words = shlex.join([sys.executable, "-c", code, *arguments])
    means = ReviewMeans(limits=limits or ToolLimits(seconds=20))
    return choose(f"command:{words}?{options}", means).review(change() if of is None else of)


def alive(mark: str) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "pid,stat,args"], capture_output=True, text=True, check=True).stdout
    return [row for row in listed.splitlines() if mark in row and " Z" not in row[:16] and "ps -eo" not in row]


def gone(mark: str) -> bool:
    until = time.monotonic() + 5
    while alive(mark) and time.monotonic() < until:
        time.sleep(0.05)
    return not alive(mark)


def test_it_sees_two_trees_and_says_json() -> None:
    code = (
        "import json, os, pathlib\n"
        "seen = sorted(str(p) for p in pathlib.Path('.').rglob('*') if p.is_file())\n"
        "print(json.dumps([{'path': 'head/pay/split.py', 'line': 2, 'severity': 'high', 'message': ' '.join(seen)}]))\n"
    )
    (one,) = review(code).remarks
    assert one.text == "base/README.md base/pay/split.py head/README.md head/pay/split.py"
    assert (one.path, one.start_line, one.severity) == ("pay/split.py", 2, Severity.HIGH)


def test_paths_may_be_absolute() -> None:
    said = "{'path': os.path.abspath('head/pay/split.py'), 'line': 1, 'message': 'm'}"
    code = f"import json, os; print(json.dumps([{said}]))"
    assert [one.path for one in review(code).remarks] == ["pay/split.py"]


def test_its_environment_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_AUTHOR_TOKEN", "ghp_secretsecretsecret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("TOOL_KEY", "given on purpose")
    code = "import json, os; print(json.dumps([{'message': json.dumps(dict(os.environ))}]))"
    told = json.loads(review(code).remarks[0].text)
    assert set(told) <= {"PATH", "LANG", "LC_ALL", "TZ", "HOME", "TMPDIR", "NO_COLOR", "LC_CTYPE", "PWD"}
    assert Path(told["HOME"]) != Path.home()
    more = json.loads(review(code, options="pass=TOOL_KEY").remarks[0].text)
    assert more["TOOL_KEY"] == "given on purpose" and "secret" not in json.dumps(more)


def test_nothing_of_its_arguments_means_anything_to_a_shell(tmp_path: Path) -> None:
    made = tmp_path / "made"
    code = "import json, sys; print(json.dumps([{'message': json.dumps(sys.argv[1:])}]))"
    words = [
        f"; touch {made}",
        f"$(touch {made})",
        f"`touch {made}`",
        "| cat",
        "&& ls",
        "$HOME",
        "*",
        f"> {made}",
        "a\nb",
    ]
    assert json.loads(review(code, *words).remarks[0].text) == words
    assert not made.exists()


def test_a_runaway_is_ended_with_all_it_started_even_what_cut_itself_off() -> None:
    mark = f"43217.{os.getpid()}"
    code = (
        "import subprocess, time\n"
        f"subprocess.Popen(['sleep', '{mark}'])\n"
        f"subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n"
        f"subprocess.run(['sh', '-c', '(setsid sh -c \"sleep {mark} & sleep {mark}\" &) &'])\n"
        "time.sleep(0.5)\nprint('[]', flush=True)\ntime.sleep(600)\n"
    )
    begun = time.monotonic()
    found = review(code, options="seconds=2")
    assert time.monotonic() - begun < 15
    assert "did not end within 2 s" in found.failed and status_of(found) is TrialStatus.ERROR
    assert gone(mark)


def test_what_a_command_leaves_behind_is_ended_when_it_ends() -> None:
    mark = f"43218.{os.getpid()}"
    code = f"import subprocess; subprocess.Popen(['setsid', 'sleep', '{mark}']); print('[]')"
    found = review(code)
    assert not found.failed and found.remarks == ()
    assert gone(mark)


def test_a_program_that_multiplies_is_ended() -> None:
    mark = f"43219{os.getpid()}"
    code = "import os, time\nwhile True:\n    os.fork()\n    time.sleep(0.05)\n"
    found = review(code, mark, limits=ToolLimits(seconds=20, processes=40))
    assert "more than 40 processes" in found.failed
    assert gone(mark)


def test_too_much_memory_ends_the_one_that_took_it() -> None:
    found = review(
        "x = bytearray(900 * 1024 * 1024); print('[]')", limits=ToolLimits(seconds=20, memory=400 * MEGABYTE)
    )
    assert "status 1" in found.failed and "MemoryError" in found.failed


def test_more_than_ten_megabytes_of_output_are_cut_with_a_note() -> None:
    row = json.dumps(finding())
    code = f"import sys\nrow = {row!r} + ','\nsys.stdout.write('[' + row * 60000)\nprint('{{}}]')"
    found = review(code)
    assert any("first 10485760 bytes" in text for text in found.unread)
    assert found.remarks and found.invalid and not found.failed


def test_endless_output_that_is_no_answer_is_an_error_that_tells_of_the_cut() -> None:
    found = review("while True: print('x' * 1000)", options="seconds=1.5")
    assert "did not end" in found.failed and "cut after 10485760 bytes" in found.failed


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("pass", "wrote nothing"),
        ("print('all good')", "no SARIF and no JSON"),
        ("import sys; sys.exit('oops, no licence')", "oops, no licence"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "status -11"),
        ('print(\'{"version": "2.1.0", "runs": [{"tool": 7}]}\')', "no log that can be read"),
    ],
)
def test_a_program_that_says_nothing_useful_has_not_said_that_all_is_well(code: str, why: str) -> None:
    found = review(code)
    assert why in found.failed and status_of(found) is TrialStatus.ERROR


def test_findings_with_a_status_of_one_are_findings() -> None:
    code = f"import json, sys; print(json.dumps([{finding()!r}])); sys.exit(1)"
    assert len(review(code).remarks) == 1


def _log(path: str) -> dict[str, object]:
    region = {"startLine": 2, "endLine": 3}
    place = {"physicalLocation": {"artifactLocation": {"uri": path}, "region": region}}
    result = {"ruleId": "R1", "level": "error", "message": {"text": "Divides by zero."}, "locations": [place]}
    return {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": [result]}]}


@pytest.mark.parametrize("path", ["head/pay/split.py", "pay/split.py", "./head/pay/split.py"])
def test_a_log_may_be_written_to_a_file(path: str) -> None:
    code = f"import json; print('busy ...'); json.dump({_log(path)!r}, open('report.sarif', 'w'))"
    (one,) = review(code, options="output=report.sarif").remarks
    assert (one.path, one.start_line, one.end_line, one.kind) == ("pay/split.py", 2, 3, "R1")
    assert one.severity is Severity.HIGH


def test_an_output_file_that_leads_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(json.dumps([finding()]), encoding="ascii")
    code = f"import os; os.symlink({str(tmp_path)!r}, 'out')"
    found = review(code, options="output=out/secret.json")
    assert not found.remarks and "wrote nothing to out/secret.json" in found.failed


def test_trees_with_hostile_names_stay_in_their_folder() -> None:
    of = change({}, {"ok.py": b"1\n", "../../evil.py": b"2\n", "a/../b.py": b"3\n"})
    found = review("print('[]')", of=of)
    assert len(found.unread) == 2 and all("no name that a file" in text for text in found.unread)


def test_a_review_is_kept_so_that_a_command_is_not_run_twice(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    code = f"open({str(runs)!r}, 'a').write('x'); print('[]')"
    words = shlex.join([sys.executable, "-c", code])
    with world(tmp_path, [""]) as found:
        for _ in range(2):
            assert not choose(f"command:{words}?", found.means()).review(change()).failed
        assert runs.read_text(encoding="ascii") == "x"
        choose(f"command:{words}?", found.means()).review(change({}, {"new.py": b"1\n"}))
        choose(f"command:{words}?keep=no", found.means()).review(change())
        choose(f"command:{words}?", found.means(repeat=1)).review(change())
    assert runs.read_text(encoding="ascii") == "xxxx"


def test_a_command_ends_when_the_process_that_wanted_it_is_killed(tmp_path: Path) -> None:
    mark = f"43220.{os.getpid()}"
    code = (
        "from bot.reviewers.choose import choose\nfrom bot.reviewers.means import ReviewMeans\n"
        "from bot.reviewers.protocol import Change\n"
        f"choose('command:sleep {mark}', ReviewMeans()).review(Change('', '', '', {{}}, {{}}))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).resolve().parents[2])
    until = time.monotonic() + 20
    while not _sleeping(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert _sleeping(mark)
    process.kill()
    process.wait()
    assert gone(f"sleep {mark}")


def _sleeping(mark: str) -> bool:
    """Whether the command itself is there, not only the program that names it."""
    return any(row.rstrip().endswith(f"sleep {mark}") for row in alive(mark))
