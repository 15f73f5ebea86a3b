"""Importers know categories by the one table, in the words of the system that said it; the rest is unverified."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import goldens.importers
from goldens.categories import systems, vocabulary
from goldens.importers import words
from scoring.model import Category, GoldenId, Severity


@pytest.mark.parametrize("system", systems())
def test_every_label_of_the_table_is_known_to_importers(system: str) -> None:
    for label, category in vocabulary(system).takes.items():
        assert words.category(system, label.replace("_", " ").upper()) is category


def test_a_word_means_what_its_own_system_means_by_it() -> None:
    assert words.category("beizer", "coding") is Category.MAINTAINABILITY
    assert words.category("codevetter", "coding") is None
    # What we exported under our own word comes back.
    assert words.category("codevetter", "performance") is Category.PERFORMANCE


def test_the_broader_word_counts_where_the_finer_is_unknown() -> None:
    def made(label: str, broad: str) -> tuple[Category, tuple[str, ...]]:
        one = words.golden(GoldenId("g"), "F.", system="codevetter", label=label, level=Severity.LOW, broad=broad)
        return one.category, one.unverified

    assert made("never_heard", "concurrency") == (Category.CONCURRENCY, ())
    assert made("xss", "concurrency") == (Category.SECURITY, ())
    assert made("never_heard", "nor_this") == (Category.CORRECTNESS, ("category",))
    assert made("", "") == (Category.CORRECTNESS, ("category",))


def test_no_importer_keeps_a_table_of_its_own() -> None:
    folder = Path(next(iter(goldens.importers.__path__)))
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "Category"}
        assert used <= {"CORRECTNESS"}, f"{path.name} names {used}"
