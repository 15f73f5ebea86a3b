"""Files as syntax trees. The only module that knows tree-sitter's grammars; operators ask it and never match text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache

from tree_sitter import Language, Node, Parser

from goldens.synth.model import Edit, SynthError

FUNCTIONS = frozenset({"function_declaration", "method_definition", "function_definition", "method_declaration"})
NAMES = frozenset(
    {
        "identifier",
        "property_identifier",
        "field_identifier",
        "type_identifier",
        "package_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
        "private_property_identifier",
    }
)
STRINGS = frozenset({"string", "template_string", "interpreted_string_literal", "raw_string_literal"})
EXITS = frozenset({"return_statement", "throw_statement", "raise_statement", "continue_statement", "break_statement"})
MEMBERS = frozenset({"member_expression", "attribute", "selector_expression"})
CALLS = frozenset({"call_expression", "call"})
COMPARISONS = frozenset({"binary_expression", "comparison_operator"})
AWAITS = frozenset({"await_expression", "await"})
IMPORTS = frozenset({"import_statement", "import_from_statement", "import_declaration", "future_import_statement"})
BLOCKS = frozenset({"statement_block", "block", "statement_list"})
NULLS = {"typescript": ("null", "undefined"), "python": ("none",), "go": ("nil",)}

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _typescript() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_typescript()


def _python() -> object:
    import tree_sitter_python

    return tree_sitter_python.language()


def _go() -> object:
    import tree_sitter_go

    return tree_sitter_go.language()


_GRAMMARS: dict[str, Callable[[], object]] = {"typescript": _typescript, "python": _python, "go": _go}
LANGUAGES = tuple(_GRAMMARS)


@cache
def _parser(language: str) -> Parser:
    if language not in _GRAMMARS:
        raise SynthError(f"no grammar for {language[:40]!r}; allowed: {', '.join(LANGUAGES)}")
    return Parser(Language(_GRAMMARS[language]()))


@lru_cache(maxsize=256)
def read(data: bytes, language: str) -> Source:
    """The tree of a file; asked for again and again, it is parsed once."""
    return Source(data, language)


class Source:
    """One file and its syntax tree."""

    def __init__(self, data: bytes, language: str) -> None:
        self.data = data
        self.language = language
        self._tree = _parser(language).parse(data)

    @property
    def root(self) -> Node:
        """The node of the whole file."""
        return self._tree.root_node

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node, in the order of the text."""
        return tuple(walk(self.root))

    def of(self, *types: str) -> Iterator[Node]:
        """The nodes of some types."""
        return (node for node in self.nodes if node.type in types)

    def text(self, node: Node) -> str:
        """What a node says."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", errors="replace")

    def brief(self, node: Node) -> str:
        """What a node says, on one line of bounded length."""
        text = " ".join(self.text(node).split())
        return text if len(text) <= 60 else f"{text[:57]}..."

    def owner(self, node: Node) -> Node | None:
        """The named function a node is in."""
        parent = node.parent
        while parent is not None and parent.type not in FUNCTIONS:
            parent = parent.parent
        return parent

    def name(self, function: Node | None) -> str:
        """The name of a function, as a reader calls it."""
        named = function.child_by_field_name("name") if function else None
        return self.text(named) if named else "the module"

    def where(self, node: Node) -> str:
        """The name of the function a node is in."""
        return self.name(self.owner(node))

    def parameters(self, function: Node) -> dict[str, str]:
        """Parameter -> its type as written, empty where none is."""
        listed = function.child_by_field_name("parameters")
        found: dict[str, str] = {}
        for parameter in listed.named_children if listed else ():
            typed = parameter.child_by_field_name("type")
            kind = self.text(typed).lstrip(": ") if typed else ""
            for child in (parameter, *parameter.children):
                if child.type == "identifier":
                    found[self.text(child)] = kind
        return found

    def names(self, node: Node) -> Iterator[Node]:
        """Every identifier below a node."""
        return (inner for inner in walk(node) if inner.type in NAMES)

    def count(self, name: str, under: Node | None = None) -> int:
        """How often an identifier is used, imports aside."""
        if under is None:
            return self._counts[name]
        return sum(1 for node in self.names(under) if self.text(node) == name and not _in_import(node))

    @cached_property
    def outside(self) -> frozenset[str]:
        """Every identifier that stands outside all functions."""
        return frozenset(self.text(node) for node in self.nodes if node.type in NAMES and self.owner(node) is None)

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(self.text(node) for node in self.nodes if node.type in NAMES and not _in_import(node))

    def is_null(self, node: Node | None) -> bool:
        """Whether a node is the language's word for nothing."""
        return node is not None and node.type in NULLS[self.language]

    def line_start(self, at: int) -> int:
        """Where the line of a byte begins."""
        return self.data.rfind(b"\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Where the line of a byte ends, its newline included."""
        end = self.data.find(b"\n", at)
        return len(self.data) if end < 0 else end + 1

    def indent(self, node: Node) -> str:
        """The white space before the line of a node."""
        line = self.data[self.line_start(node.start_byte) : node.start_byte].decode("utf-8", errors="replace")
        return line[: len(line) - len(line.lstrip())]


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def _in_import(node: Node) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.type in IMPORTS:
            return True
        parent = parent.parent
    return False


def inner(node: Node) -> Node:
    """The expression inside parentheses."""
    while node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    return node


def within(node: Node, types: frozenset[str], until: frozenset[str] = FUNCTIONS) -> Node | None:
    """The nearest node above of some types, not beyond the function."""
    parent = node.parent
    while parent is not None and parent.type not in until:
        if parent.type in types:
            return parent
        parent = parent.parent
    return None


def statements(block: Node | None) -> list[Node]:
    """The statements of a block, comments aside."""
    if block is None:
        return []
    children = block.named_children
    if len(children) == 1 and children[0].type == "statement_list":
        children = children[0].named_children
    return [child for child in children if child.type != "comment"]


def later(statement: Node) -> list[Node]:
    """The statements that follow one in its block."""
    found: list[Node] = []
    following = statement.next_named_sibling
    while following is not None:
        found.append(following)
        following = following.next_named_sibling
    return found


def earlier(statement: Node) -> list[Node]:
    """The statements before one in its block."""
    parent = statement.parent
    return [child for child in statements(parent) if child.end_byte <= statement.start_byte]


def operator(node: Node) -> str:
    """The sign of a binary expression; empty for a chain of several."""
    signs = [child.type for child in node.children if not child.is_named]
    return " ".join(signs) if len(signs) <= 2 else ""


def operands(node: Node) -> tuple[Node, Node] | None:
    """Left and right of a binary expression or comparison."""
    named = node.named_children
    return (named[0], named[1]) if len(named) == 2 else None


def callee(call: Node) -> Node | None:
    """What a call calls."""
    return call.child_by_field_name("function")


def arguments(call: Node) -> list[Node]:
    """The arguments of a call."""
    listed = call.child_by_field_name("arguments")
    return [node for node in listed.named_children if node.type != "comment"] if listed else []


def words(name: str) -> frozenset[str]:
    """The words of an identifier: `rateLimiter` -> rate, limiter."""
    return frozenset(match.group().lower() for match in _WORD.finditer(name))


def replace(node: Node, text: str) -> Edit:
    """Write something else where a node stands."""
    return Edit(node.start_byte, node.end_byte, text.encode())


def delete_lines(source: Source, node: Node) -> Edit:
    """Take out a statement with its lines, and one of two blank lines that would meet."""
    start, end = source.line_start(node.start_byte), source.line_end(node.end_byte)
    before = source.data[source.line_start(max(0, start - 1)) : start].strip()
    while source.data[end : source.line_end(end)].strip() == b"" and end < len(source.data):
        if before and not before.endswith((b"{", b":", b"(")):
            break
        end = source.line_end(end)
    return Edit(start, end, b"")


def unwrapped(source: Source, outer: Node, body: Node) -> str | None:
    """The statements of a block, written at the depth of the statement around it; None if text would change."""
    found = statements(body)
    if not found or any(node.type in STRINGS and b"\n" in (node.text or b"") for node in walk(body)):
        return None
    outside, inside = source.indent(outer), source.indent(found[0])
    text = source.data[source.line_start(found[0].start_byte) : found[-1].end_byte].decode()
    lines = [outside + line.removeprefix(inside) if line.strip() else line for line in text.split("\n")]
    return "\n".join(lines).removeprefix(outside)


def apply(data: bytes, edits: tuple[Edit, ...]) -> bytes:
    """A file with edits made.

    Raises:
        SynthError: two edits overlap.
    """
    last = len(data)
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        if edit.end > last or edit.start > edit.end:
            raise SynthError(f"edits overlap at byte {edit.start}")
        data = data[: edit.start] + edit.text + data[edit.end :]
        last = edit.start
    return data
