"""Mutants of the Python templates are run: a defect shows, and a rewrite that only looks like one does not."""

from __future__ import annotations

import sqlite3
import types
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from goldens.synth import packaged
from goldens.synth.operators import equivalents
from goldens.synth.place import mutated
from goldens.synth.syntax import read
from tests.goldens.synth.made import BY_ID

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CARRIER_API_TOKEN", "UPLOAD_SIGNING_SECRET", "ARCHIVE_PASSWORD"):
        monkeypatch.setenv(name, "unlike anything in the code")


def loaded(data: bytes, name: str = "loaded") -> Any:
    import sys

    module = types.ModuleType(name)
    # Dataclasses look their module up by name.
    sys.modules[name] = module
    try:
        exec(compile(data, name, "exec"), module.__dict__)
    finally:
        del sys.modules[name]
    return module


def source(template: str) -> bytes:
    return next(found.text for found in packaged() if found.id == template)


def made(template: str, operator: str, site: str) -> Any:
    """The template with the defect of an operator at the one site that starts so."""
    data = source(template)
    found = [m for m in BY_ID[operator].sites(read(data, "python")) if m.site.startswith(site)]
    assert len(found) == 1, [m.site for m in found]
    return loaded(mutated(data, found[0]))


def test_pages_start_one_page_late() -> None:
    assert loaded(source("py-orders")).window(1) == (0, 25)
    assert made("py-orders", "off-by-one", "window:").window(1) == (25, 50)


def test_the_last_title_is_lost_or_misnumbered() -> None:
    titles = ["a", "b"]
    assert loaded(source("py-exports")).numbered(titles) == ["1. a", "2. b"]
    assert made("py-exports", "off-by-one", "numbered:range").numbered(titles) == ["1. a"]
    assert made("py-exports", "off-by-one", "numbered:index").numbered(titles) == ["0. a", "1. b"]


def test_the_last_export_is_beyond_the_end() -> None:
    module = made("py-exports", "off-by-one", "last_title:")
    with pytest.raises(IndexError):
        module.last_title([module.Export(1, "o", "t", (), True)])


def test_old_orders_can_be_returned_and_new_ones_cannot() -> None:
    def answers(module: Any) -> list[bool]:
        orders = [module.Order("1", "c", (), "delivered", NOW - timedelta(days=days)) for days in (1, 90)]
        return [module.returnable(order, NOW) for order in orders]

    assert answers(loaded(source("py-orders"))) == [True, False]
    assert answers(made("py-orders", "wrong-comparison", "returnable:now")) == [False, True]


def test_a_quote_in_an_argument_reads_foreign_rows() -> None:
    def owners(module: Any) -> list[str]:
        connection = sqlite3.connect(":memory:")
        connection.execute("CREATE TABLE exports (id INTEGER PRIMARY KEY, owner TEXT, title TEXT)")
        connection.executemany("INSERT INTO exports (owner, title) VALUES (?, ?)", [("ann", "x"), ("bob", "y")])
        jobs = module.ExportJobs(connection, None, None, None)
        try:
            return [row[1] for row in jobs.recent("nobody' OR owner <> '", 9)]
        finally:
            connection.close()

    assert owners(loaded(source("py-exports"))) == []
    assert sorted(owners(made("py-exports", "sql-injection", "recent:"))) == ["ann", "bob"]


def test_a_title_with_a_tag_reaches_the_page() -> None:
    def page(module: Any) -> str:
        text: str = module.preview(module.Export(1, "o", "<script>", (), True), [])
        return text

    assert "<script>" not in page(loaded(source("py-exports")))
    assert "<script>" in page(made("py-exports", "xss", "preview:html.escape(export.title)"))


def test_the_secret_no_longer_comes_from_the_environment() -> None:
    assert loaded(source("py-exports")).archive_key() == b"unlike anything in the code"
    assert made("py-exports", "hardcoded-secret", "the module:ARCHIVE").archive_key() != b"unlike anything in the code"


def test_a_missing_setting_is_no_longer_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARCHIVE_PASSWORD")
    sound = loaded(source("py-exports"))
    with pytest.raises(sound.ExportError):
        sound.archive_key()
    with pytest.raises(AttributeError):
        made("py-exports", "missing-null-check", "archive_key:").archive_key()


def test_bad_pages_go_through() -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        loaded(source("py-orders")).window(0)
    assert made("py-orders", "missing-input-validation", "window:").window(0) == (-25, 0)


def rewrites() -> Iterator[tuple[str, Any]]:
    for name in ("py-orders", "py-exports"):
        for rewrite in equivalents(read(source(name), "python")):
            yield name, rewrite


@pytest.mark.parametrize(("template", "rewrite"), list(rewrites()), ids=lambda part: getattr(part, "site", part))
def test_a_rewrite_that_looks_odd_answers_as_before(template: str, rewrite: Any) -> None:
    before, after = loaded(source(template)), loaded(mutated(source(template), rewrite))

    def answers(module: Any) -> list[object]:
        if template == "py-exports":
            return [module.numbered(["a", "b"]), module.last_title([])]
        items = [[module.Item("s", cents, 1)] for cents in (1, 4_999, 5_000, 5_001)]
        orders = [
            module.Order("1", "c", (), state, NOW - timedelta(days=days))
            for state in ("delivered", "open")
            for days in (0, 29, 30, 31)
        ]
        pages = [module.window(page) for page in (1, 2)]
        with pytest.raises(ValueError, match="counted from 1"):
            module.window(0)
        return [*map(module.total, items), *(module.returnable(order, NOW) for order in orders), *pages]

    assert answers(before) == answers(after)
