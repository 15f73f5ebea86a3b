from __future__ import annotations

import pytest

from scoring.model import Severity
from scoring.severity import WORDS, is_only, said
from tests.shared import case


def test_the_labels_of_several_reviewers_map_by_the_table_and_unknown_ones_stay_unknown() -> None:
    shared = case("89")
    for label, level in zip(shared["input"]["labels"], shared["expected"]["level"], strict=True):
        assert said(label) == (None if level is None else Severity(level)), label


@pytest.mark.parametrize(
    ("label", "level"),
    [
        ("Severity: High", Severity.HIGH),
        ("HIGH PRIORITY", Severity.HIGH),
        ("priority/p3", Severity.LOW),
        ("https://x.test/a/critical.svg?raw=true", Severity.CRITICAL),
        ("Potential issue | 🔴 Critical | Quick win", Severity.CRITICAL),
        ("Bug/Medium", Severity.MEDIUM),
        ("not critical", None),
        ("high or low", None),
        ("highly unlikely", None),
        ("P42", None),
        ("", None),
        ("严重", Severity.CRITICAL),
    ],
)
def test_labels_of_our_own_invention(label: str, level: Severity | None) -> None:
    assert said(label) is level


def test_a_line_is_only_a_label_if_nothing_else_is_in_it() -> None:
    assert is_only("High Severity")
    assert is_only("Severity: High")
    assert not is_only("Critical: SQL injection")
    assert not is_only("Severity")
    assert not is_only("The high watermark is wrong")


def test_every_level_has_words_and_every_word_one_level() -> None:
    assert set(WORDS.values()) == set(Severity)
