"""The operators on the templates that ship: they hit everywhere, and only where they say."""

from __future__ import annotations

import pytest

from goldens.synth import OPERATORS, Template, packaged
from goldens.synth.model import Operator
from goldens.synth.operators import equivalents
from goldens.synth.place import evidence, lines_of, mutated
from goldens.synth.syntax import LANGUAGES, Source
from goldens.synth.usable import parses, unusable
from goldens.trees import split_lines
from goldens.wording import staged

HITS = [(operator, language) for operator in OPERATORS for language in operator.languages]


@pytest.mark.parametrize(("operator", "language"), HITS, ids=lambda part: getattr(part, "id", part))
def test_each_operator_hits_each_language_it_applies_to(operator: Operator, language: str) -> None:
    templates = [template for template in packaged() if template.language == language]
    assert any(list(operator.sites(Source(template.text, language))) for template in templates)


def test_only_waiting_is_unknown_in_a_language() -> None:
    assert {operator.id for operator in OPERATORS if operator.languages != LANGUAGES} == {"missing-await"}
    assert next(operator for operator in OPERATORS if operator.id == "missing-await").languages == LANGUAGES[:2]


def test_there_are_eight_templates_in_three_languages() -> None:
    assert len(packaged()) == 8
    assert {template.language for template in packaged()} == set(LANGUAGES)
    for template in packaged():
        assert 60 <= template.text.count(b"\n") <= 155
        assert len(template.features) >= 4


@pytest.mark.parametrize("template", packaged(), ids=lambda template: template.id)
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.id)
def test_every_mutant_parses_and_differs_in_the_intended_place_only(template: Template, operator: Operator) -> None:
    for mutation in operator.sites(Source(template.text, template.language)):
        head = mutated(template.text, mutation)
        assert unusable(template.text, head, template.language) is None
        assert parses(Source(head, template.language))
        first, last = lines_of(template.text, mutation)
        before, after = split_lines(template.text), split_lines(head)
        assert 1 <= first <= last <= len(after)
        if len(mutation.edits) == 1:
            assert after[: first - 1] == before[: first - 1]
            tail = len(after) - last if not mutation.head_line else 0
            assert not tail or after[-tail:] == before[-tail:]


@pytest.mark.parametrize("template", packaged(), ids=lambda template: template.id)
def test_every_finding_names_what_stands_in_the_code(template: Template) -> None:
    for operator in OPERATORS:
        for mutation in operator.sites(Source(template.text, template.language)):
            named = mutation.site.partition(":")[0]
            head = mutated(template.text, mutation)
            said = [word.strip(".,:;()'") for word in mutation.finding.split()]
            code = head.decode() + template.text.decode()
            identifiers = [word for word in said if word in code and (len(word) > 3 or word == named)]
            assert identifiers, mutation.finding
            assert named == "the module" or named in mutation.finding, mutation.finding
            assert operator.id not in mutation.finding
            assert len(mutation.finding) < 400


@pytest.mark.parametrize("template", packaged(), ids=lambda template: template.id)
def test_every_mutant_of_a_template_has_evidence_that_the_template_lacks(template: Template) -> None:
    before = "\n".join(line.strip() for line in split_lines(template.text))
    for operator in OPERATORS:
        for mutation in operator.sites(Source(template.text, template.language)):
            head = mutated(template.text, mutation)
            (first, last), snippet = evidence(head, template.text, lines_of(template.text, mutation))
            assert snippet
            assert snippet not in before
            assert snippet in "\n".join(line.strip() for line in split_lines(head)[first - 1 : last])


@pytest.mark.parametrize("template", packaged(), ids=lambda template: template.id)
def test_no_template_speaks_of_defects(template: Template) -> None:
    texts = [template.text.decode(), *(f"{feature.title} {feature.body}" for feature in template.features)]
    assert not [word for text in texts for word in staged(text)]
    assert not [text for text in texts if "TODO" in text or "FIXME" in text or "BUG" in text]


def test_equivalent_rewrites_change_the_tree_and_say_nothing() -> None:
    for template in packaged():
        found = list(equivalents(Source(template.text, template.language)))
        assert found
        for rewrite in found:
            assert unusable(template.text, mutated(template.text, rewrite), template.language) is None
            assert rewrite.finding == ""
