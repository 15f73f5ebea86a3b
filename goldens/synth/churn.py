"""Other change around a defect: renamed variables, moved functions, further files. What code does stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from tree_sitter import Node

from goldens.synth.chance import pick, shuffled
from goldens.synth.drafts import Draft, changed_lines
from goldens.synth.model import Churn, Edit, Template
from goldens.synth.syntax import FUNCTIONS, Source, apply, read, walk
from goldens.synth.units import Unit, alone, removal, units, unused_imports
from goldens.synth.usable import parses

SIZES: Mapping[str, tuple[int, int]] = {"small": (10, 49), "medium": (50, 149), "large": (150, 600)}
"""Changed lines of each size class, both ends included."""
SPARE = 12
"""Lines that the defect itself may still add."""
_BINDINGS = {"variable_declarator": "name", "assignment": "left", "short_var_declaration": "left"}
_KEPT = frozenset({"_", "err", "ok", "self", "this", "cls"})


def with_churn(
    draft: Draft, template: Template, size: Churn, siblings: Sequence[Template], rng: Random
) -> Draft | None:
    """A draft grown to a size class; None where its file has too little to rename and move."""
    low, high = SIZES[size]
    path, language = template.path, template.language
    files = dict(draft.head)
    for step in _steps(size):
        if step == "file":
            files |= _further_file(siblings, files, high - SPARE - changed_lines(draft.base, files), rng)
            continue
        change = renamed if step == "rename" else moved
        made = change(read(files[path], language), rng)
        if made is not None and changed_lines(draft.base, {**files, path: made}) <= high - SPARE:
            files[path] = made
        if changed_lines(draft.base, files) >= low + SPARE and size != "large":
            break
    grown = changed_lines(draft.base, files)
    return replace(draft, head=files) if low <= grown <= high - SPARE else None


def _steps(size: Churn) -> list[str]:
    """What is tried, in this order, until the size is reached."""
    if size == "small":
        return ["rename", "rename", "move", *["rename", "move"] * 4]
    if size == "medium":
        return ["rename", "move", "rename", "move", "file", *["rename", "move"] * 4]
    return ["rename", "move", "rename", "move", "rename", "move", "file", "file", "file"]


# --- renames ------------------------------------------------------------------------------------------------------


def renamed(source: Source, rng: Random) -> bytes | None:
    """The file with one local variable under another name."""
    choices = [(function, name) for function in source.of(*FUNCTIONS) for name in _locals(source, function)]
    for function, name in shuffled(rng, choices):
        new = _new_name(source, name, rng)
        nodes = [node for node in walk(function) if _means(source, node, name)]
        data = apply(source.data, tuple(Edit(node.start_byte, node.end_byte, new.encode()) for node in nodes))
        if source.count(new) == 0 and parses(read(data, source.language)):
            return data
    return None


def _locals(source: Source, function: Node) -> Iterator[str]:
    """Variables of a function that can be renamed inside it and nowhere else."""
    parameters = source.parameters(function)
    bound = dict.fromkeys(source.text(node) for node in walk(function) if _binds(node))
    for name in bound:
        used = [node for node in source.names(function) if source.text(node) == name]
        if name in _KEPT or name in parameters or name in source.outside or len(name) < 3:
            continue
        if not any(_is_key(node) for node in used):
            yield name


def _binds(node: Node) -> bool:
    parent = node.parent
    if node.type != "identifier" or parent is None:
        return False
    if parent.type == "expression_list" and parent.parent is not None:
        return parent.parent.type == "short_var_declaration" and parent == parent.parent.child_by_field_name("left")
    return parent.type in _BINDINGS and node == parent.child_by_field_name(_BINDINGS[parent.type])


def _is_key(node: Node) -> bool:
    """Whether a name also says what a field or argument is called."""
    parent = node.parent
    if node.type.startswith("shorthand") or (parent is not None and parent.type == "keyword_argument"):
        return True
    return parent is not None and parent.type == "literal_element"


def _means(source: Source, node: Node, name: str) -> bool:
    """Whether a node is the variable and not a member of the same name."""
    if node.type != "identifier" or source.text(node) != name:
        return False
    parent = node.parent
    member = parent is not None and parent.type == "attribute" and node == parent.child_by_field_name("attribute")
    return not member


def _new_name(source: Source, name: str, rng: Random) -> str:
    word = pick(rng, ("current", "wanted", "given", "chosen", "known"))
    if source.language == "python":
        return f"{word}_{name}"
    return f"{word}{name[0].upper()}{name[1:]}"


# --- moves --------------------------------------------------------------------------------------------------------


def moved(source: Source, rng: Random) -> bytes | None:
    """The file with one function at another place among its neighbours."""
    movable = [unit for unit in units(source) if not unit.decorated and unit.text(source).count(b"\n") > 2]
    for unit in shuffled(rng, movable):
        targets = [other for other in movable if _neighbours(unit, other) and other.end != unit.start]
        for target in shuffled(rng, targets):
            gap = b"\n\n" if source.language == "python" and unit.node.start_point.column == 0 else b"\n"
            insertion = Edit(target.end, target.end, gap + unit.text(source).rstrip(b"\n") + b"\n")
            cut = removal(source, unit)
            if cut.start <= target.end <= cut.end:
                continue
            data = apply(source.data, (cut, insertion))
            if data != source.data and parses(read(data, source.language)):
                return data
    return None


def _neighbours(one: Unit, other: Unit) -> bool:
    return one.start != other.start and one.node.parent == other.node.parent


# --- files --------------------------------------------------------------------------------------------------------


def _further_file(siblings: Sequence[Template], files: Mapping[str, bytes], room: int, rng: Random) -> dict[str, bytes]:
    """One more file of the same language, cut down to fit; nothing where none does."""
    for template in shuffled(rng, [sibling for sibling in siblings if sibling.path not in files]):
        source = read(template.text, template.language)
        while source.data.count(b"\n") > room:
            smaller = _smaller(source, rng)
            if smaller is None:
                break
            source = smaller
        if 20 <= source.data.count(b"\n") <= room:
            return {template.path: source.data}
    return {}


def _smaller(source: Source, rng: Random) -> Source | None:
    """The file without one function that nothing else in it needs."""
    for unit in shuffled(rng, [unit for unit in units(source) if alone(source, unit) and not unit.decorated]):
        less = read(apply(source.data, (removal(source, unit),)), source.language)
        if parses(less) and not unused_imports(less) - unused_imports(source):
            return less
    return None
