"""Rules for TypeScript, JavaScript, Go, C and C++, and further ones for Python too, run by ast-grep on a head tree."""

from __future__ import annotations

import json
import os
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files as package_files
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from bot.reviewers.child import ToolFailed, relative, run_tool, targets
from bot.reviewers.finding import Finding, in_order
from scoring.model import Severity

_SECONDS = 20.0
_RULES = {"TypeScript": "typescript", "Tsx": "typescript", "JavaScript": "typescript", "Go": "go", "C": "c", "Cpp": "c"}
_FAMILIES = _RULES | {"Python": "python"}
"""ast-grep's language -> the file of our rules for it."""
_SUFFIXES = {
    ".ts": "TypeScript",
    ".mts": "TypeScript",
    ".cts": "TypeScript",
    ".tsx": "Tsx",
    ".js": "JavaScript",
    ".mjs": "JavaScript",
    ".cjs": "JavaScript",
    ".jsx": "JavaScript",
    ".go": "Go",
    ".c": "C",
    ".h": "C",
    ".cc": "Cpp",
    ".cpp": "Cpp",
    ".cxx": "Cpp",
    ".hpp": "Cpp",
    ".hh": "Cpp",
}
SUFFIXES = tuple(_SUFFIXES)
_MORE = {".py": "Python"}
"""Languages that only the further rules are about."""
MORE_SUFFIXES = (*SUFFIXES, *_MORE)
_SEVERITY = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "info": Severity.LOW, "hint": Severity.LOW}


def structural(tree: Path, files: Iterable[str], *, more: bool = False) -> tuple[Finding, ...]:
    """What our rules say of `files`.

    Args:
        tree: Where the files lie.
        files: Their paths in it.
        more: Whether the further rules are asked too: queries in loops or without bound, calls that nobody waits for,
            results that nobody looks at. They see more and are wrong more often.

    Raises:
        ToolFailed: ast-grep is not installed, did not end, or did not answer in JSON.
    """
    names = targets(files, MORE_SUFFIXES if more else SUFFIXES)
    if not names:
        return ()
    languages = {(_SUFFIXES | _MORE)[PurePosixPath(name).suffix] for name in names}
    text = yaml.safe_dump_all(_documents(languages, more), sort_keys=False)
    argv = [_engine(), "scan", "--inline-rules", text, "--json=compact", "--no-ignore", "hidden", "--", *names]
    ran = run_tool("ast-grep", argv, cwd=tree, seconds=_SECONDS)
    try:
        rows = json.loads(ran.stdout)
    except ValueError as problem:
        raise ToolFailed(f"ast-grep ended with status {ran.status} and did not answer in JSON") from problem
    return in_order(_finding(row, tree) for row in rows)


def _engine() -> str:
    """The engine beside this Python: its package installs a program, not a module."""
    program = Path(sysconfig.get_path("scripts")) / "ast-grep"
    if not os.access(program, os.X_OK):
        raise ToolFailed("ast-grep is not installed beside this Python; install assay[demo]")
    return str(program)


def _documents(languages: Iterable[str], more: bool) -> Iterator[dict[str, Any]]:
    """The rules for each language. The engine wants every id once, so the language is part of it."""
    rules = package_files("bot.reviewers") / "rules"
    for language in sorted(languages):
        family = f"{_FAMILIES[language]}.yml"
        places = [folder / family for folder in ((rules, rules / "more") if more else (rules,))]
        for place in places:
            if not place.is_file():
                continue
            for rule in yaml.safe_load_all(place.read_text(encoding="utf-8")):
                if language in rule.pop("languages", (language,)):
                    yield rule | {"id": f"{language.lower()}/{rule['id']}", "language": language}


def _finding(row: Mapping[str, Any], tree: Path) -> Finding:
    family = _FAMILIES[row["language"]]
    name = row["ruleId"].partition("/")[2]
    return Finding(
        path=relative(row["file"], tree),
        line=row["range"]["start"]["line"] + 1,
        end_line=row["range"]["end"]["line"] + 1,
        rule=f"{family}-{name}",
        symbol=name,
        message=row["message"],
        engine="ast-grep",
        severity=_SEVERITY.get(row["severity"]),
        note=row.get("note") or "",
    )
