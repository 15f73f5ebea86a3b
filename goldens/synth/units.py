"""Functions as units of text that can be taken out, added and moved without changing what the file does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from goldens.synth.model import Edit
from goldens.synth.syntax import FUNCTIONS, IMPORTS, Source

WRAPPERS = frozenset({"export_statement", "decorated_definition"})


@dataclass(frozen=True, slots=True)
class Unit:
    """A function with its comment, on whole lines."""

    name: str
    node: Node
    """The function together with `export` or its decorators."""
    start: int
    end: int
    decorated: bool
    """Decorators run when the file is loaded, so order may count."""

    def text(self, source: Source) -> bytes:
        """The lines of the function."""
        return source.data[self.start : self.end]


def units(source: Source) -> Iterator[Unit]:
    """Functions and methods that stand in a file or a class, in order; constructors aside."""
    for node in source.of(*FUNCTIONS):
        if source.owner(node) is not None:
            continue
        whole = node.parent if node.parent is not None and node.parent.type in WRAPPERS else node
        name, first = source.name(node), whole
        while first.prev_sibling is not None and first.prev_sibling.type == "comment":
            first = first.prev_sibling
        if name in ("constructor", "__init__") or node.child_by_field_name("body") is None:
            continue
        start, end = source.line_start(first.start_byte), source.line_end(whole.end_byte)
        yield Unit(name, whole, start, end, whole.type == "decorated_definition")


def removal(source: Source, unit: Unit) -> Edit:
    """Take a function out, and the blank lines on one side of it."""
    end = unit.end
    while end < len(source.data) and not source.data[end : source.line_end(end)].strip():
        end = source.line_end(end)
    if source.data[end : source.line_end(end)].strip() not in (b"", b"}"):
        return Edit(unit.start, end, b"")
    start = unit.start
    while start > 0 and not source.data[source.line_start(start - 1) : start].strip():
        start = source.line_start(start - 1)
    return Edit(start, unit.end, b"")


def alone(source: Source, unit: Unit) -> bool:
    """Whether nothing else in the file speaks of a function, and its class has others."""
    parent = unit.node.parent
    siblings = [child for child in parent.named_children if child != unit.node] if parent is not None else []
    others = [child for child in siblings if child.type in (*FUNCTIONS, *WRAPPERS)]
    return bool(others) and source.count(unit.name) == 1


def unused_imports(source: Source) -> set[str]:
    """Names that a file imports and never uses."""
    return {name for name in imported(source) if source.count(name) == 0}


def imported(source: Source) -> set[str]:
    """The names that a file's imports bring in."""
    found: set[str] = set()
    for node in source.of(*IMPORTS):
        if node.type == "future_import_statement":
            continue
        if source.language == "go":
            paths = [inner for inner in source.of("interpreted_string_literal") if _below(inner, node)]
            found |= {source.text(path).strip('"').rpartition("/")[2] for path in paths}
        else:
            found |= {source.text(name) for name in source.names(node) if not _is_module(name)}
    return found


def _is_module(name: Node) -> bool:
    """Whether a name only says where something is imported from."""
    node: Node | None = name
    while node is not None and node.parent is not None and node.parent.type not in IMPORTS:
        node = node.parent
    return node is not None and node.parent is not None and node == node.parent.child_by_field_name("module_name")


def _below(node: Node, above: Node) -> bool:
    return above.start_byte <= node.start_byte and node.end_byte <= above.end_byte
