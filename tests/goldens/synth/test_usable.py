"""Synthetic defects that are not defects."""

from __future__ import annotations

import pytest

from goldens.synth import OPERATORS, Unusable, unusable
from goldens.synth.model import Edit, Mutation
from goldens.synth.place import lines_of
from tests.shared import case

GO = b"package a\n\nfunc F(n int) int {\n\t// doubles\n\treturn n + n\n}\n"
TS = b'"use strict";\nfunction f(a: number): number {\n  return a + 1; // next\n}\n'
PYTHON = b'def f(rows):\n    """All of them."""\n    for row in rows:\n        save(row)\n    return len(rows)\n'


def test_the_shared_pitfalls_are_told_apart_by_syntax_tree() -> None:
    given = case("99")
    original = given["input"]["original"].encode()
    verdicts = {m["id"]: unusable(original, m["text"].encode(), "python") for m in given["input"]["mutants"]}
    usable = [name for name, verdict in verdicts.items() if verdict is None]
    rejected = {name: verdict.value for name, verdict in verdicts.items() if verdict is not None}
    assert usable == given["expected"]["usable"]
    assert rejected.keys() == given["expected"]["rejected"].keys()
    for name, why in given["expected"]["rejected"].items():
        assert why.startswith(rejected[name])


def test_the_golden_of_the_usable_pitfall_stands_on_its_line() -> None:
    given = case("99")
    original = given["input"]["original"].encode()
    start = original.index(b"+=")
    mutation = Mutation((Edit(start, start + 2, b"-="),), "", "total:s += i.price")
    line = given["expected"]["golden_of_m1"]["line"]
    assert lines_of(original, mutation) == (line, line)


@pytest.mark.parametrize(
    ("language", "original", "old", "new", "verdict"),
    [
        ("go", GO, b"doubles", b"triples", Unusable.COMMENT),
        ("go", GO, b"n + n", b"n+n", Unusable.SAME_TREE),
        ("go", GO, b"n + n", b"n * n", None),
        ("go", GO, b"\treturn n + n\n", b"\treturn n + n\n\n", Unusable.SAME_TREE),
        ("go", GO, b"int {", b"int", Unusable.DOES_NOT_PARSE),
        ("typescript", TS, b"// next", b"// previous", Unusable.COMMENT),
        ("typescript", TS, b"// next", b"", Unusable.COMMENT),
        ("typescript", TS, b"a + 1;", b"(a + 1);", None),
        ("typescript", TS, b"a + 1;", b"a + ;", Unusable.DOES_NOT_PARSE),
        ("typescript", TS, b'"use strict"', b'"use loose"', None),
        ("typescript", TS, b"\n", b"\r\n", Unusable.LINE_ENDS),
        ("python", PYTHON, b"All of them.", b"None of them.", Unusable.COMMENT),
        ("python", PYTHON, b"    return len", b"        return len", None),
        ("python", PYTHON, b"save(row)", b"save( row )", Unusable.SAME_TREE),
        ("python", PYTHON, b"save(row)", b"save(rows)", None),
        ("python", PYTHON, b"(rows):", b"(rows:", Unusable.DOES_NOT_PARSE),
    ],
)
def test_only_a_change_of_the_tree_counts(
    language: str, original: bytes, old: bytes, new: bytes, verdict: Unusable | None
) -> None:
    assert old in original
    assert unusable(original, original.replace(old, new), language) == verdict


def test_text_inside_strings_counts() -> None:
    assert unusable(b'x = "a  b"\n', b'x = "a b"\n', "python") is None
    assert unusable(b"const x = `a  b`;\n", b"const x = `a b`;\n", "typescript") is None


def test_no_change_is_no_mutant() -> None:
    assert unusable(PYTHON, PYTHON, "python") is Unusable.NO_CHANGE


def test_severity_and_category_come_from_the_operator() -> None:
    assert len(OPERATORS) == 13
    assert len({operator.id for operator in OPERATORS}) == 13
    assert {operator.severity for operator in OPERATORS if operator.id == "sql-injection"} == {"critical"}
