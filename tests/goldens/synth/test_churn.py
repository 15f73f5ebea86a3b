"""Other change around a defect: as much as was asked for, and none of it changes what the code does."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from goldens.synth import Template, packaged
from goldens.synth.churn import SIZES, moved, renamed
from goldens.synth.drafts import changed_lines
from goldens.synth.model import Churn
from goldens.synth.syntax import NAMES, Source, read
from goldens.synth.units import units
from goldens.synth.usable import parses
from goldens.trees import split_lines
from tests.goldens.synth.made import pulls

CHURNS: tuple[Churn, ...] = ("small", "medium", "large")


def skeleton(source: Source) -> Counter[tuple[str, ...]]:
    """Each function as its tree without names, whatever the order of the functions."""
    found = []
    for unit in units(source):
        inside = [node for node in source.nodes if unit.start <= node.start_byte and node.end_byte <= unit.end]
        found.append(tuple("name" if node.type in NAMES else node.type for node in inside))
    return Counter(found)


@pytest.mark.parametrize("churn", [CHURNS[0], *(pytest.param(one, marks=pytest.mark.long) for one in CHURNS[1:])])
def test_pulls_come_to_the_size_that_was_asked_for(churn: Churn) -> None:
    low, high = SIZES[churn]
    made = pulls(3, 13, 3, churn)
    assert len(made) == 16
    for pull in made:
        assert low <= changed_lines(pull.base, pull.head) <= high
        assert pull.churn == churn
        for tree in (pull.base, pull.head):
            assert all(parses(Source(data, pull.language)) for data in tree.values())


@pytest.mark.parametrize("churn", CHURNS)
def test_the_golden_stands_on_its_evidence_whatever_surrounds_it(churn: Churn) -> None:
    for pull in (pull for pull in pulls(3, 13, 3, churn) if pull.goldens):
        (golden,) = pull.goldens
        assert golden.place and golden.place.lines
        first, last = golden.place.lines
        lines = split_lines(pull.head[golden.place.path])[first - 1 : last]
        assert golden.evidence
        assert golden.evidence in "\n".join(line.strip() for line in lines)


def test_large_changes_spread_over_files() -> None:
    assert any(len(pull.head) > 1 for pull in pulls(3, 13, 3, "large"))


@pytest.mark.parametrize("template", packaged(), ids=lambda template: template.id)
def test_renames_and_moves_leave_every_function_as_it_was(template: Template) -> None:
    rng, source = Random(11), read(template.text, template.language)
    for change in (renamed, moved, renamed, moved):
        data = change(source, rng)
        assert data is not None and data != source.data
        after = read(data, template.language)
        assert skeleton(after) == skeleton(source)
        if change is moved:
            assert Counter(split_lines(data)) - Counter({"": 99}) == Counter(split_lines(source.data)) - Counter(
                {"": 99}
            )
        source = after


def test_a_member_a_field_and_an_argument_keep_their_names() -> None:
    python = (
        b"def f(make):\n    total = make(total=1)\n    rows = make(2)\n    rows.rows = rows\n"
        b"    return use(rows.rows, total)\n"
    )
    done = renamed(Source(python, "python"), Random(1))
    assert done is not None
    assert done.count(b".rows") == 2 and b"total=1" in done
    assert b"rows.rows = " in done and b"\n    rows = " not in done
    typescript = b"function f() {\n  const rows = g();\n  return { rows };\n}\n"
    assert renamed(Source(typescript, "typescript"), Random(1)) is None
    go = b"package p\n\nfunc F() T {\n\tname := g()\n\treturn T{name: name}\n}\n"
    assert renamed(Source(go, "go"), Random(1)) is None


def test_a_name_that_also_stands_outside_is_not_renamed() -> None:
    python = b"rows = 1\n\ndef f(make):\n    rows = make(2)\n    return rows\n"
    assert renamed(Source(python, "python"), Random(1)) is None
