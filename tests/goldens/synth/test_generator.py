"""Generated pull requests: how many of what, how large, and the same each time."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from goldens.model import Suite
from goldens.synth import (
    OPERATORS,
    PUBLISHED,
    GeneratedPull,
    Kind,
    Mix,
    SynthError,
    Template,
    Variant,
    generate,
    golden_pull,
    packaged,
)
from goldens.synth.chance import below, pick, shuffled
from goldens.synth.drafts import changed_lines
from goldens.synth.mix import shares, slots
from goldens.synth.model import Feature
from goldens.synth.syntax import Source
from goldens.synth.usable import parses, unusable
from goldens.trees import split_lines
from goldens.verify import Finding, Level, verify
from scoring.model import SuiteRef
from tests.goldens.synth.made import BY_ID, pulls

PUBLISHED_PERCENT = {"logic": 54, "security": 23, "performance": 11, "architecture": 9, "best_practice": 3}
PUBLISHED_LANGUAGES = {"typescript": 47, "python": 29, "go": 25}


def defects() -> list[str]:
    return [pull.operator for pull in pulls() if pull.variant is Variant.DEFECT]


def test_the_mix_of_kinds_is_the_published_one() -> None:
    kinds = Counter(BY_ID[name].kind.value for name in defects())
    assert kinds == PUBLISHED_PERCENT


def test_the_mix_of_languages_is_the_published_one_within_rounding() -> None:
    languages = Counter(pull.language for pull in pulls() if pull.goldens)
    assert sum(languages.values()) == 100
    for name, percent in PUBLISHED_LANGUAGES.items():
        assert abs(languages[name] - percent) <= 1


def test_every_operator_is_in_every_language_it_applies_to() -> None:
    found = {(pull.operator, pull.language) for pull in pulls() if pull.goldens}
    assert found == {(operator.id, language) for operator in OPERATORS for language in operator.languages}


def test_the_diffs_are_as_small_as_published() -> None:
    sizes = [changed_lines(pull.base, pull.head) for pull in pulls() if pull.goldens]
    assert statistics.median(sizes) <= 5
    assert max(sizes) <= 40
    assert min(sizes) >= 2


def test_no_defect_is_made_twice_at_one_place() -> None:
    places = Counter((pull.template, pull.operator, pull.site) for pull in pulls() if pull.goldens)
    assert max(places.values()) == 1
    assert len({pull.id for pull in pulls()}) == len(pulls()) == 120


def test_every_head_parses_and_differs_from_the_sound_one_at_the_golden_only() -> None:
    for pull in (pull for pull in pulls() if pull.goldens):
        (golden,) = pull.goldens
        assert golden.place and golden.place.lines
        path, (first, last) = golden.place.path, golden.place.lines
        sound, head = pull.sound[path], pull.head[path]
        assert parses(Source(head, pull.language)) and parses(Source(pull.base[path], pull.language))
        assert unusable(sound, head, pull.language) is None
        assert {name for name in pull.head if pull.head[name] != pull.sound[name]} == {path}
        differing = _lines_that_differ(split_lines(sound), split_lines(head))
        # What keeps the file whole (the `!` of a variable, the `_` of an error) may stand just above.
        assert any(first <= number <= last for number in differing)
        assert min(differing) >= first - 20 and max(differing) <= last + 12


def _lines_that_differ(before: list[str], after: list[str]) -> list[int]:
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return list(range(start + 1, max(start + 2, len(after) - end + 1)))


def test_the_texts_do_not_name_the_operator() -> None:
    for pull in (pull for pull in pulls() if pull.goldens):
        said = f"{pull.title} {pull.body}".lower()
        assert pull.operator not in said and pull.operator.replace("-", " ") not in said
        assert BY_ID[pull.operator].kind.value not in said


def test_clean_pulls_have_no_golden_and_half_of_them_only_look_odd() -> None:
    clean = [pull for pull in pulls() if pull.variant is not Variant.DEFECT]
    assert Counter(pull.variant for pull in clean) == {Variant.CLEAN: 10, Variant.EQUIVALENT: 10}
    for pull in clean:
        assert pull.goldens == ()
        assert golden_pull(pull).clean
        assert (pull.head == pull.sound) is (pull.variant is Variant.CLEAN)
        assert pull.base != pull.head
    assert len({pull.language for pull in clean}) == 3


def test_the_same_seed_gives_the_same_and_another_one_does_not() -> None:
    assert generate(42, 30, clean=6) == generate(42, 30, clean=6)
    assert generate(42, 30, clean=6) != generate(43, 30, clean=6)


PRINT = """
import hashlib
from goldens.synth import generate
pulls = generate(5, 12, clean=3, churn="small")
print(hashlib.sha256(repr([(p, sorted(p.base.items()), sorted(p.head.items())) for p in pulls]).encode()).hexdigest())
"""


def test_the_order_of_sets_does_not_matter() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", PRINT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2718")
    }
    assert len(said) == 1


def test_chance_asks_for_nothing_but_floats() -> None:
    class OnlyFloats(Random):
        def getrandbits(self, k: int, /) -> int:
            raise AssertionError("its use has changed between Python versions")

    rng = OnlyFloats(42)
    assert [below(rng, 10) for _ in range(8)] == [6, 0, 2, 2, 7, 6, 8, 0]
    assert "".join(shuffled(OnlyFloats(7), "abcdef")) == "dfecab"
    assert pick(rng, [7]) == 7


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (3, 2026))])
def test_other_seeds_are_fit_as_well(seed: int) -> None:
    for pull in pulls(seed, 39, 6):
        found = [finding for finding in _verified(pull) if finding.level is Level.ERROR]
        assert found == []


def _verified(pull: GeneratedPull) -> tuple[Finding, ...]:
    return verify(Suite(SuiteRef("one", "1", ""), "", "", (golden_pull(pull),), Path()))


# --- shares -------------------------------------------------------------------------------------------------------


def test_shares_add_up_and_are_within_one_of_exact() -> None:
    weights = {"a": 81, "b": 34, "c": 16, "d": 14, "e": 5}
    for total in range(200):
        found = shares(total, weights)
        assert sum(found.values()) == total
        assert all(abs(found[key] - total * weight / 150) < 1 for key, weight in weights.items())
    assert shares(100, weights) == {"a": 54, "b": 23, "c": 11, "d": 9, "e": 3}
    assert shares(3, {"x": 0, "y": 1}) == {"x": 0, "y": 3}


def test_a_mix_of_ones_own_is_kept() -> None:
    mix = Mix({Kind.SECURITY: 1}, {"go": 1, "python": 1})
    made = generate(1, 6, clean=0, mix=mix)
    assert Counter(pull.language for pull in made) == {"go": 3, "python": 3}
    assert {BY_ID[pull.operator].kind for pull in made} == {Kind.SECURITY}


def test_a_mix_that_cannot_be_is_refused_with_the_reason() -> None:
    with pytest.raises(SynthError, match="must not be negative"):
        shares(5, {"a": -1, "b": 2})
    with pytest.raises(SynthError, match="no operator makes defects of kind logic"):
        slots(3, PUBLISHED, lambda slot: 1, [operator for operator in OPERATORS if operator.kind is not Kind.LOGIC])
    with pytest.raises(SynthError, match="no language for missing-await; give one of its languages"):
        generate(1, 10, clean=0, mix=Mix({Kind.LOGIC: 1}, {"go": 1}))


def test_more_than_can_be_made_is_refused_and_not_repeated() -> None:
    only = [template for template in packaged() if template.id == "go-members"]
    mix = Mix({Kind.ARCHITECTURE: 1}, {"go": 1})
    with pytest.raises(SynthError, match=r"no further pull request can be made for missing-.* in go after \d+; ask"):
        generate(1, 200, clean=0, mix=mix, templates=only)


@pytest.mark.parametrize(("count", "clean"), [(-1, 3), (3, -1), (0, 0)])
def test_bad_counts_are_refused(count: int, clean: int) -> None:
    with pytest.raises(SynthError, match="count and clean"):
        generate(1, count, clean=clean)


def test_an_unknown_size_of_churn_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SynthError, match="no size of churn 'huge'; allowed: none, small, medium, large"):
        generate(1, 1, churn="huge")  # type: ignore[arg-type]


def test_where_no_rewrite_is_to_be_had_clean_pulls_are_plain() -> None:
    text = b"STEP = 1\n\n\ndef page(number: int) -> int:\n    return number * STEP\n"
    features = tuple(Feature(f"Step by {n}", "Asked for.", (("STEP = 1", f"STEP = {n}"),)) for n in (2, 3))
    plain = Template("plain", "python", "shop/pages.py", text, features)
    made = generate(1, 0, clean=2, mix=Mix({Kind.LOGIC: 1}, {"python": 1}), templates=[plain])
    assert [pull.variant for pull in made] == [Variant.CLEAN, Variant.CLEAN]


def test_a_template_that_does_not_parse_is_refused() -> None:
    broken = replace(packaged()[0], text=b"func (\n")
    with pytest.raises(SynthError, match="is not go as the grammar knows it"):
        generate(1, 1, templates=[broken])
