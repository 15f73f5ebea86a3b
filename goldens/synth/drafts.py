"""Feature work before any defect: what the pull request is called, the tree it starts from, and the tree it ends in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from tree_sitter import Node

from goldens.synth.chance import pick
from goldens.synth.model import Edit, Feature, Template
from goldens.synth.syntax import Source, apply, read
from goldens.synth.templates import with_feature
from goldens.synth.units import Unit, alone, removal, units, unused_imports
from goldens.synth.usable import parses
from goldens.trees import changes


@dataclass(frozen=True, slots=True)
class Draft:
    """A sound pull request on one file."""

    title: str
    body: str
    base: Mapping[str, bytes]
    head: Mapping[str, bytes]
    unit: str = ""
    """The function that is new, if one is."""


def changed_lines(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> int:
    """Added and removed lines."""
    return sum(change.added + change.removed for change in changes(base, head))


def by_feature(template: Template, feature: Feature) -> Draft:
    """A feature of the template's own."""
    head = {template.path: with_feature(template, feature)}
    return Draft(feature.title, feature.body, {template.path: template.text}, head)


_TITLES = ("Add {}", "Introduce {}", "Prepare {}", "Bring in {}")
_BODIES = (
    "The screens that need it follow in a change of their own.",
    "First part of a larger piece of work; nobody calls it so far.",
    "Split off so that the next change stays small.",
)


def by_addition(template: Template, name: str, rng: Random) -> Draft | None:
    """One function of the template as the new one; None where the file does not do without it."""
    base = _without(template, name)
    if base is None:
        return None
    # The name is data: it goes in beside the words, never through them.
    title = name.join(pick(rng, _TITLES).split("{}"))
    return Draft(title, pick(rng, _BODIES), {template.path: base}, {template.path: template.text}, name)


@lru_cache(maxsize=1024)
def _without(template: Template, name: str) -> bytes | None:
    """The template before one of its functions was written."""
    source = read(template.text, template.language)
    unit = next((unit for unit in units(source) if unit.name == name and not unit.decorated), None)
    if unit is None or not alone(source, unit):
        return None
    base = _without_orphans(source, unit)
    shrunk = read(base, template.language)
    return None if not parses(shrunk) or unused_imports(shrunk) - unused_imports(source) else base


def _without_orphans(source: Source, unit: Unit) -> bytes:
    """The file without a function, and without the constants that only this function used."""
    base = apply(source.data, (removal(source, unit),))
    if source.language == "go":
        return base  # Its constants stand in aligned groups, and unused ones are no error.
    before, after = source, read(base, source.language)
    orphans = [
        node
        for node in after.root.named_children
        if node.type in ("lexical_declaration", "expression_statement")
        and (name := _constant(after, node))
        and after.count(name) == 1
        and before.count(name) > 1
    ]
    lines = (Edit(after.line_start(node.start_byte), after.line_end(node.end_byte), b"") for node in orphans)
    return apply(base, tuple(lines))


def _constant(source: Source, node: Node) -> str:
    """The name that a declaration at the top of a file gives to a value."""
    inner = node.named_children[0] if node.named_child_count == 1 else node
    named = inner.child_by_field_name("name") or inner.child_by_field_name("left")
    declares = inner.type in ("variable_declarator", "assignment")
    return source.text(named) if declares and named is not None and named.type == "identifier" else ""
