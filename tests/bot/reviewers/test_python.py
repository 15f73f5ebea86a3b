"""Ruff, Pylint and Bandit, run for real."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bot.reviewers.bandit_scan import bandit
from bot.reviewers.child import ToolFailed, run_tool, written
from bot.reviewers.finding import Finding, on_changed_lines
from bot.reviewers.patch import Patch
from bot.reviewers.pylint_lint import pylint
from bot.reviewers.python_union import python_union, without_twins
from bot.reviewers.ruff_lint import ruff
from scoring.model import Severity

FILES = {
    "-rf.py": b"""\
import os


def total(items=[]):
    try:
        return len(items)
    except:
        return None
""",
    "a b/shop.py": b"""\
class Cart:
    def __init__(self):
        self.n = 1


print(Cart().m)
x = 1
if x == None:
    x = 2
""",
    "../x.py": b"import os\n",
}


def rules(findings: tuple[Finding, ...]) -> list[tuple[str, int, str]]:
    return [(finding.path, finding.line, finding.rule) for finding in findings]


def test_the_union_holds_what_only_ruff_and_what_only_pylint_sees() -> None:
    with written(FILES) as tree:
        found = rules(python_union(tree, FILES))
    assert ("a b/shop.py", 6, "E1101") in found
    assert ("a b/shop.py", 8, "E711") in found
    assert ("-rf.py", 4, "B006") in found


def test_twins_of_the_two_linters_are_said_once() -> None:
    with written(FILES) as tree:
        found = rules(python_union(tree, FILES))
        alone = rules(pylint(tree, FILES))
    assert {("-rf.py", 1, "W0611"), ("-rf.py", 4, "W0102"), ("-rf.py", 7, "W0702")} <= set(alone)
    assert not {rule for _, _, rule in found} & {"W0611", "W0102", "W0702"}
    assert [rule for path, line, rule in found if (path, line) == ("-rf.py", 7)] == ["E722"]


def test_another_remark_on_the_same_line_is_no_twin() -> None:
    def made(rule: str, line: int = 1) -> Finding:
        return Finding("a.py", line, line, rule, "", rule, "x")

    kept = without_twins(
        [made("F401"), made("PLE0101", 3)], [made("W0611"), made("W0613"), made("E0101", 3), made("E0101", 4)]
    )
    assert [(f.rule, f.line) for f in kept] == [("F401", 1), ("W0613", 1), ("PLE0101", 3), ("E0101", 4)]


def test_a_file_that_does_not_parse_gives_one_remark() -> None:
    files = {"bad.py": b"def (:\n    pass\n\n]\n"}
    with written(files) as tree:
        assert rules(python_union(tree, files)) == [("bad.py", 1, "invalid-syntax")]


def test_two_runs_in_different_places_say_the_same() -> None:
    runs = []
    for _ in range(2):
        with written(FILES) as tree:
            runs.append((python_union(tree, FILES), bandit(tree, FILES)))
            assert str(tree) not in repr(runs)
    assert runs[0] == runs[1]
    assert runs[0][0]


def test_a_module_of_the_fork_is_never_executed(tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    bomb = f"open({str(mark)!r}, 'w').write('x')\n".encode()
    names = (
        "json",
        "pylint",
        "astroid",
        "isort",
        "dill",
        "tomlkit",
        "colorsys",
        "turtle",
        "ruff",
        "bandit",
        "sitecustomize",
    )
    files = {f"{folder}{name}.py": bomb for name in names for folder in ("", "deep/")}
    files |= {"pylintrc.py": b"", "use.py": b"import colorsys\nimport turtle\nprint(colorsys.x, turtle.y)\n"}
    with written(files) as tree:
        python_union(tree, files)
        bandit(tree, files)
    assert not mark.exists()


def test_configuration_of_the_fork_changes_nothing() -> None:
    clean = {"a.py": b"import os\n"}
    with written(clean) as tree:
        plain = python_union(tree, clean)
    hostile = clean | {
        "pyproject.toml": b"[tool.ruff]\nlint.ignore=['F401']\n[tool.pylint.main]\ninit-hook='raise SystemExit(9)'\n",
        "ruff.toml": b"lint.ignore = ['ALL']\n",
        "pylintrc": b"[MAIN]\ninit-hook=raise SystemExit(9)\n",
    }
    with written(hostile) as tree:
        assert python_union(tree, hostile) == plain
    assert rules(plain) == [("a.py", 1, "F401")]


def test_bandit_grades_what_it_finds() -> None:
    files = {"run.py": b"import subprocess\n\nsubprocess.call('ls ' + input(), shell=True)\n"}
    with written(files) as tree:
        found = bandit(tree, files)
    shell = next(finding for finding in found if finding.rule == "B602")
    assert (shell.line, shell.severity, shell.confidence) == (3, Severity.HIGH, "high")


def test_ruff_gives_the_reason_and_the_mended_lines() -> None:
    files = {"a.py": b"x = 1\nif x == None:\n    x = 2\n"}
    with written(files) as tree:
        (finding,) = ruff(tree, files, select="E711")
    assert finding.fix == "if x is None:"
    assert "singletons" in finding.note
    assert finding.symbol == "none-comparison"


def test_only_remarks_on_changed_lines_are_kept() -> None:
    found = (
        Finding("a.py", 1, 1, "R", "", "m", "x"),
        Finding("a.py", 2, 2, "R", "", "m", "x"),
        Finding("b.py", 1, 1, "R", "", "m", "x"),
    )
    kept = on_changed_lines(found, {"a.py": Patch(frozenset({2}), ((1, 3),))})
    assert rules(kept) == [("a.py", 2, "R")]


def test_an_analyser_that_gives_no_json_is_a_failure_not_a_clean_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho broken\n")
    fake.chmod(0o755)
    with written({"a.py": b""}) as tree:
        monkeypatch.setattr(sys, "executable", str(fake))
        for analyser in (pylint, bandit):
            with pytest.raises(ToolFailed, match="did not answer in JSON"):
                analyser(tree, ["a.py"])
        with pytest.raises(ToolFailed, match="did not answer in JSON"):
            ruff(tree, ["a.py"], select="F")


def test_no_python_file_starts_no_analyser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    assert python_union(tmp_path, ["a.go"]) == bandit(tmp_path, ["a.txt"]) == ()


def test_the_guard_keeps_the_import_system_out_of_the_tree(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("late_one.py", "deep/late_two.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'executed')!r}, 'w').close()\n")
    script = (
        "import pathlib, sys\n"
        "from bot.reviewers import pylint_child\n"
        "tree = pathlib.Path.cwd().resolve()\n"
        "if sys.argv[1] == 'guarded':\n"
        "    pylint_child._refuse_tree(tree)\n"
        "sys.path[:0] = [str(tree), str(tree / 'deep'), '']\n"
        "for name in ('late_one', 'late_two'):\n"
        "    try:\n"
        "        __import__(name)\n"
        "    except ModuleNotFoundError:\n"
        "        print('refused', name)\n"
    )
    argv = [sys.executable, "-c", script]
    guarded = run_tool("Guard", [*argv, "guarded"], cwd=tmp_path, seconds=20)
    assert (guarded.status, guarded.stdout) == (0, b"refused late_one\nrefused late_two\n"), guarded.stderr
    assert not (tmp_path / "executed").exists()
    run_tool("Guard", [*argv, "open"], cwd=tmp_path, seconds=20)
    assert (tmp_path / "executed").exists()


def test_pylint_still_reads_the_other_files_of_the_change() -> None:
    files = {
        "pkg/__init__.py": b"",
        "pkg/near.py": b"def f(x):\n    return x\n",
        "pkg/use.py": b"from pkg.near import f\n\nf(1, 2)\n",
    }
    with written(files) as tree:
        assert ("pkg/use.py", 3, "E1121") in rules(pylint(tree, files))
