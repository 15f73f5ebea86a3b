"""Is a mutant a defect at all? Equality of syntax trees decides, not inequality of texts."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from tree_sitter import Node

from goldens.synth.syntax import STRINGS, Source, read


class Unusable(StrEnum):
    """Why a mutant is no defect."""

    NO_CHANGE = "no change"
    LINE_ENDS = "only line ends changed"
    COMMENT = "only a comment changed"
    SAME_TREE = "same syntax tree"
    DOES_NOT_PARSE = "does not parse"


def unusable(original: bytes, mutant: bytes, language: str) -> Unusable | None:
    """Why a mutant of a file is no defect; None if it may be one."""
    if original == mutant:
        return Unusable.NO_CHANGE
    if _unix(original) == _unix(mutant):
        return Unusable.LINE_ENDS
    before, after = read(_unix(original), language), read(_unix(mutant), language)
    if not parses(after):
        return Unusable.DOES_NOT_PARSE
    if tuple(_shape(before)) != tuple(_shape(after)):
        return None
    return Unusable.SAME_TREE if _remarks(before) == _remarks(after) else Unusable.COMMENT


def parses(source: Source) -> bool:
    """Whether the whole file is in the language: no error node, nothing that the parser made up."""
    return not source.root.has_error and not any(node.is_missing for node in source.nodes)


def _unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _shape(source: Source) -> Iterator[tuple[str, int, str]]:
    """The tree without comments and doc strings: kind, depth, and what the leaves say."""
    waiting: list[tuple[Node, int]] = [(source.root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if _is_remark(node, source.language):
            continue
        # White space between tokens is no node, but it is all that some strings and error nodes consist of.
        leaf = node.child_count == 0 or node.type in STRINGS
        yield node.type, depth, source.text(node) if leaf else ""
        waiting.extend((child, depth + 1) for child in reversed(node.children))


def _remarks(source: Source) -> list[str]:
    return [source.text(node) for node in source.nodes if _is_remark(node, source.language)]


def _is_remark(node: Node, language: str) -> bool:
    if node.type == "comment":
        return True
    # A statement that is only a string: a doc string in Python, but a directive in TypeScript.
    only = node.named_children[0] if node.type == "expression_statement" and node.named_child_count == 1 else None
    return language == "python" and only is not None and only.type == "string"
