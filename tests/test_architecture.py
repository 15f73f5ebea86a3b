"""Imports point one way, and only the modules that may know an outside library do."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("scoring", "goldens", "bot")

SCORING_MAY_IMPORT = {
    "krippendorff",
    "markdown_it",
    "numpy",
    "pydantic",
    "rapidfuzz",
    "scipy",
    "scoring",
    "sklearn",
    "statsmodels",
}
PURE_RULES = (
    "answers",
    "bundle",
    "commands",
    "conversation",
    "evidence",
    "installed",
    "issue_form",
    "model",
    "neutral",
    "pacing",
    "patterns",
    "plan",
    "registry",
    "scrape",
    "settle",
    "webhooks",
)
ONLY_HERE = {
    "dbos": ("bot/workflows/engine.py",),
    "github": ("bot/adapters/github.py", "bot/adapters/github_client.py"),
    "sqlalchemy": ("bot/adapters/", "bot/composition.py", "bot/workflows/engine.py"),
    "alembic": ("bot/adapters/",),
    "litellm": ("bot/adapters/llm.py",),
    "flask": ("bot/web/", "bot/sandbox/"),
    "gunicorn": ("bot/web/server.py", "bot/web/receiving.py"),
    "httptools": ("bot/web/wire.py",),
    "rich": ("bot/render/terminal.py", "bot/analysis/formats/text.py", "bot/demo/"),
    "click": ("bot/cli.py", "bot/cli_"),
    "matplotlib": ("bot/analysis/pictures/",),
    "xlsxwriter": ("bot/analysis/formats/xlsx.py",),
}
COMPOSITION = (
    "bot/cli.py",
    "bot/cli_",
    "bot/__main__.py",
    "bot/composition.py",
    "bot/composition_web.py",
    "bot/composition_workers.py",
    "bot/web/",
    "bot/demo/",
    "bot/inspect.py",
)


def sources() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "suites" not in path.relative_to(ROOT).parts:
                yield path


def imports(path: Path) -> set[str]:
    """Every module a file imports, at whatever depth of nesting."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def standard(name: str) -> bool:
    import sys

    return name.partition(".")[0] in sys.stdlib_module_names


def rel(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", list(sources()), ids=rel)
def test_imports_point_one_way(path: Path) -> None:
    tops = {name.partition(".")[0] for name in imports(path)}
    package = rel(path).partition("/")[0]
    above = {"scoring": {"goldens", "bot"}, "goldens": {"bot"}, "bot": set()}[package]
    assert not tops & above, f"{rel(path)} imports {tops & above}"
    assert "tests" not in tops


@pytest.mark.parametrize("path", [p for p in sources() if rel(p).startswith("scoring/")], ids=rel)
def test_scoring_knows_no_outside_world(path: Path) -> None:
    outside = {name for name in imports(path) if not standard(name)}
    assert {name.partition(".")[0] for name in outside} <= SCORING_MAY_IMPORT
    forbidden = {"os", "pathlib", "socket", "time", "random", "subprocess", "urllib.request", "sqlite3"}
    assert not imports(path) & forbidden


@pytest.mark.parametrize("path", list(sources()), ids=rel)
def test_outside_libraries_are_known_to_their_adapter_only(path: Path) -> None:
    tops = {name.partition(".")[0] for name in imports(path)}
    for library, places in ONLY_HERE.items():
        if library in tops:
            assert rel(path).startswith(places), f"{rel(path)} imports {library}; only {places} may"


def _pure() -> list[Path]:
    found = [p for p in sources() if rel(p).split("/")[0] == "bot"]
    stems = tuple(f"bot/{name}" for name in PURE_RULES)
    return [p for p in found if rel(p).startswith(stems) or rel(p).startswith("bot/render/")]


def test_coverage_is_promised_for_exactly_the_pure_rules_and_scoring() -> None:
    report = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]["report"]
    rules = {f"bot/{name}*.py" for name in PURE_RULES}
    assert set(report["include"]) == {"scoring/*", "bot/render/*", *rules}
    assert report["fail_under"] >= 95


@pytest.mark.parametrize("path", _pure(), ids=rel)
def test_pure_rules_do_no_io(path: Path) -> None:
    names = imports(path)
    impure = ("bot.adapters", "bot.workflows", "bot.web", "bot.sandbox", "bot.composition", "bot.settings", "bot.cli")
    assert not {name for name in names if name.startswith(impure)}
    doing = {"socket", "subprocess", "requests", "urllib.request", "sqlite3", "threading", "time", "random", "secrets"}
    assert not names & doing, f"{rel(path)} imports {names & doing}"


@pytest.mark.parametrize("path", [p for p in sources() if rel(p).startswith("bot/workflows/")], ids=rel)
def test_workflows_see_ports_and_rules_only(path: Path) -> None:
    outside = ("bot.adapters", "bot.web", "bot.sandbox", "bot.composition", "bot.settings", "bot.demo")
    # `bot.webhooks` is a rule and no part of `bot.web`.
    assert not {name for name in imports(path) - {"bot.webhooks"} if name.startswith(outside)}


@pytest.mark.parametrize("path", [p for p in sources() if rel(p).startswith("bot/adapters/")], ids=rel)
def test_adapters_do_not_know_the_workflows(path: Path) -> None:
    above = ("bot.workflows", "bot.web", "bot.sandbox", "bot.composition", "bot.settings", "bot.demo", "bot.render")
    assert not {name for name in imports(path) if name.startswith(above)}


@pytest.mark.parametrize("path", [p for p in sources() if rel(p).startswith("bot/")], ids=rel)
def test_only_the_composition_root_wires(path: Path) -> None:
    if not rel(path).startswith(COMPOSITION):
        assert not {name for name in imports(path) if name.startswith(("bot.composition", "bot.cli", "bot.demo"))}


@pytest.mark.parametrize("path", [p for p in sources() if rel(p).startswith("bot/sandbox/")], ids=rel)
def test_the_sandbox_knows_nothing_of_the_app(path: Path) -> None:
    app = ("bot.workflows", "bot.adapters", "bot.web", "bot.settle", "bot.scrape", "bot.webhooks", "bot.render")
    assert not {name for name in imports(path) if name.startswith(app)}


def test_only_write_once_calls_what_changes_github() -> None:
    deeds = {"create_repository", "open_pull", "open_issue", "request_review", "create_check", "add_annotations"}
    deeds |= {"archive_repository", "delete_repository", "set_private"}
    for path in sources():
        if not rel(path).startswith("bot/workflows/"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {n.func.attr for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
        if called & deeds:
            assert "write_once" in path.read_text(encoding="utf-8"), f"{rel(path)} writes without write_once"
