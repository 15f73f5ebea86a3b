"""Where the functions of a file are, by tree-sitter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

Span = tuple[int, int]

_GRAMMARS = {
    ".py": ("tree_sitter_python", "language"),
    ".pyi": ("tree_sitter_python", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".mts": ("tree_sitter_typescript", "language_typescript"),
    ".cts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".js": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"),
    ".cjs": ("tree_sitter_javascript", "language"),
    ".jsx": ("tree_sitter_javascript", "language"),
    ".go": ("tree_sitter_go", "language"),
    ".c": ("tree_sitter_c", "language"),
    ".h": ("tree_sitter_c", "language"),
    ".cc": ("tree_sitter_cpp", "language"),
    ".cpp": ("tree_sitter_cpp", "language"),
    ".cxx": ("tree_sitter_cpp", "language"),
    ".hpp": ("tree_sitter_cpp", "language"),
    ".java": ("tree_sitter_java", "language"),
    ".rs": ("tree_sitter_rust", "language"),
}
"""Ending -> the grammar's module, and its function."""
_FUNCTIONS = frozenset(
    {
        "function_definition",
        "function_declaration",
        "generator_function_declaration",
        "method_definition",
        "method_declaration",
        "constructor_declaration",
        "function_item",
    }
)
_WRAPPERS = frozenset({"decorated_definition", "export_statement", "template_declaration"})
"""What stands around a function and belongs to it."""
_VALUES = frozenset({"arrow_function", "function_expression", "func_literal"})
"""Functions that have a name only through what they are assigned to."""
_HOLDERS = frozenset({"lexical_declaration", "variable_declaration", "public_field_definition", "field_definition"})


def functions(path: str, content: bytes) -> list[Span]:
    """The outermost named functions of a file as closed ranges of lines, in order; none of a language nobody reads."""
    ending = PurePosixPath(path).suffix
    if ending not in _GRAMMARS:
        return []
    from tree_sitter import Parser

    root = Parser(_language(ending)).parse(content).root_node
    return sorted({(node.start_point[0] + 1, node.end_point[0] + 1) for node in _outermost(root)})


@cache
def _language(ending: str) -> Language:
    from tree_sitter import Language

    module, function = _GRAMMARS[ending]
    return Language(getattr(import_module(module), function)())


def _outermost(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if _is_function(node):
            yield node
        else:
            waiting.extend(node.named_children)


def _is_function(node: Node) -> bool:
    if node.type in _WRAPPERS:
        return any(_is_function(child) for child in node.named_children)
    if node.type in _HOLDERS:
        return any(one.type in _VALUES for child in (node, *node.named_children) for one in child.named_children)
    return node.type in _FUNCTIONS
