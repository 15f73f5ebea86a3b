"""What people stumbled over on the command line, held so that nobody does again."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt

from bot.adapters.llm_catalogue import KEYS
from bot.analysis.formats import Form, render
from bot.analysis.sheet import Column, Document, Kind, Sheet, without_empty
from bot.cli import cli
from scoring.bundle import parts
from scoring.model import Estimate
from tests.pages.world import made_bundle


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    for name, data in parts(made_bundle(pulls=2)).items():
        (tmp_path / "run" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "run" / name).write_bytes(data)
    return tmp_path / "run"


def test_an_estimate_of_judging_needs_no_key_and_asks_nobody(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS["openai"]:
        monkeypatch.delenv(name, raising=False)
    line = ["judge", str(bundle), "--judge", "litellm:openai/gpt-4o"]
    dry = CliRunner().invoke(cli, [*line, "--dry-run"])
    assert (dry.exit_code, "calls to make" in dry.stderr) == (0, True)
    assert "environment" in CliRunner().invoke(cli, line).stderr
    assert (
        "names no provider"
        in CliRunner().invoke(cli, ["judge", str(bundle), "--judge", "litellm:x", "--dry-run"]).stderr
    )


@pytest.mark.parametrize("line", ["export sarif {} {}", "bundle pack {} {}", "import sarif {} -o {}"])
def test_what_would_overwrite_something_names_the_option_that_does(line: str, bundle: Path) -> None:
    done = CliRunner().invoke(cli, line.format(bundle, bundle).split())
    assert done.exit_code == 2
    assert "is there already" in done.stderr and "--force" in done.stderr


def document(*notes: str) -> Document:
    return Document("Title", (), {}, "", notes=notes)


def test_what_stands_between_backticks_is_code_in_every_form_that_has_code() -> None:
    made = document("No count of `valid`: see (`--format json`), or `<b>`.")
    page = str(render(made, Form.HTML))
    assert "No count of <code>valid</code>: see (<code>--format json</code>), or <code>&lt;b&gt;</code>." in page
    marked = str(render(made, Form.MARKDOWN))
    assert "No count of `valid`: see" in marked and "or `<b>`." in marked


@pytest.mark.parametrize(
    "hostile", ["a`b`c`@d", "`a`@b`c`", "x `a`<img>`b` @c", "`@a``@b`", "`` `a` @b ``", "(`a` @b)", "`a` `"]
)
def test_no_backtick_of_somebody_else_lets_a_mention_or_markup_out_of_code(hostile: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(
        str(render(document(f"It said {hostile}"), Form.MARKDOWN))
    )
    prose = [one.content for token in tokens for one in token.children or () if one.type != "code_inline"]
    assert not any("@" in text or "<" in text for text in prose)


def test_columns_that_hold_nothing_are_left_out_and_named_with_the_reason() -> None:
    unknown = Estimate(None, None, None, 0, "nobody said a price")
    sheet = Sheet(
        "s",
        "S",
        (
            Column("who", "who"),
            Column("a", "price", Kind.ESTIMATE),
            Column("b", "time", Kind.NUMBER),
            Column("c", "n", Kind.COUNT),
        ),
        (("x", unknown, None, 1), ("y", unknown, None, None)),
    )
    made = without_empty(sheet)
    assert [column.key for column in made.columns] == ["who", "c"]
    assert made.rows == (("x", 1), ("y", None))
    assert made.notes == ("Left out, for nothing of it is known here: price (nobody said a price), time.",)
    none_at_all = Sheet("s", "S", sheet.columns, ())
    assert without_empty(none_at_all) is none_at_all
