"""A reviewer that is shown the answer gets no score at all; code that merely resembles one is no leak."""

from __future__ import annotations

import pytest

from goldens.leakage import Leak, Withheld, guard, leaks, read_withheld, write_withheld

STATEMENT = "Averages are too high: mean() divides by one less than it should."
HINTS = "I think somebody subtracts one from the length somewhere in there."
FIX = "--- a/shop/prices.py\n+++ b/shop/prices.py\n@@ -40,2 +40,2 @@\n def mean(p):\n-    return 1\n+    return 2\n"
TESTS = (
    "--- a/tests/test_prices.py\n+++ b/tests/test_prices.py\n@@ -1,2 +1,6 @@\n import shop\n \n"
    "+def test_mean_of_one():\n"
    "+    pass\n+class PriceFactory:\n+    pass\n"
)
SOURCE = "import os\n\n\ndef mean(prices):\n    limit = 41\n    return sum(prices) / limit\n"
WITHHELD = Withheld(STATEMENT, HINTS, FIX, TESTS, ((40, 42),), ("acme__shop-7", "a" * 40))
PROMPT = "Say what is wrong. Lines are 1-indexed.\nFile shop/prices.py\n{source}\n{more}"


def shown(more: str, source: str = SOURCE) -> str:
    return PROMPT.format(source=source, more=more)


def test_the_file_itself_passes_whatever_numbers_and_names_it_has() -> None:
    guard("p", shown(""), SOURCE, WITHHELD)
    listed = enumerate(SOURCE.splitlines(), 40)
    numbered = "".join(f"{at:>4}: {line}\n" for at, line in listed if line.strip())
    guard("p", shown("", numbered), SOURCE, WITHHELD)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (STATEMENT, "the report"),
        (f"   {STATEMENT}\n", "the report"),
        (HINTS, "the hints"),
        (FIX, "the fix"),
        (TESTS, "the tests"),
        ("@@ -1,2 +1,2 @@", "lines of a patch"),
        ("--- a/other.py", "lines of a patch"),
        ("see test_mean_of_one", "test_mean_of_one, which the tests name"),
        ("(PriceFactory)", "PriceFactory, which the tests name"),
        ("acme__shop-7", "the id acme__shop-7"),
        ("a" * 40, "the id"),
        ("look at line 38", "the number 38, at or next to lines 40-42"),
        ("look at line 44.", "the number 44"),
        ("40: look here", "the number 40"),
    ],
)
def test_each_kind_of_leak_ends_the_run(more: str, told: str) -> None:
    with pytest.raises(Leak) as error:
        guard("acme 7", shown(more), SOURCE, WITHHELD)
    assert str(error.value).startswith("acme 7: the reviewer would be shown")
    assert told in str(error.value)


@pytest.mark.parametrize("more", ["line 37", "line 45", "v41.2", "1.40", "x41", "410", "PriceFactoryMaker", "@@", ""])
def test_what_only_resembles_a_leak_passes(more: str) -> None:
    assert list(leaks(shown(f"a {more}"), SOURCE, WITHHELD)) == []


def test_a_name_that_the_file_has_itself_is_no_leak() -> None:
    source = SOURCE + "\n\nclass PriceFactory:\n    pass\n"
    assert list(leaks(shown("PriceFactory", source), source, WITHHELD)) == []


def test_short_texts_stand_in_code_by_chance() -> None:
    assert list(leaks(shown("fix it"), SOURCE, Withheld("fix it", "fix it"))) == []


def test_tests_that_cannot_be_read_let_nothing_pass() -> None:
    with pytest.raises(Leak, match="cannot be read"):
        guard("p", shown(""), SOURCE, Withheld(tests="not a diff at all"))


def test_what_is_withheld_comes_back_from_its_file() -> None:
    assert read_withheld(write_withheld({"p": WITHHELD})) == {"p": WITHHELD}
    with pytest.raises(ValueError, match=r"withheld\.json: p\.fix"):
        read_withheld(b'{"p": {"fix": 3}}')
