"""Calls that keep untrusted text apart, secrets out of the code, and work in order."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from goldens.synth.model import Edit, Mutation
from goldens.synth.syntax import (
    AWAITS,
    CALLS,
    FUNCTIONS,
    MEMBERS,
    STRINGS,
    Source,
    arguments,
    callee,
    replace,
    words,
)

SECRETS = frozenset({"key", "secret", "token", "password", "passphrase", "credential", "credentials"})
READERS = frozenset({"getenv", "requireenv", "mustenv", "readenv", "requiredenv"})
"""What functions that read one environment variable are called, case and underscores aside."""
SQL = frozenset({"select", "insert", "update", "delete"})
_SPECIAL = {"typescript": frozenset("`{\\"), "python": frozenset("{}\\"), "go": frozenset("%\\")}
"""What would mean something else once the text is a template."""
_PLACEHOLDER = re.compile(r"\$\d{1,3}|\?|%s")
_COMPARED = re.compile(r"(?:=|<>|\bLIKE|\bIN ?\()\s{0,4}$", re.IGNORECASE)

# --- markup -------------------------------------------------------------------------------------------------------


def xss(source: Source) -> Iterator[Mutation]:
    """Text that goes into markup without being escaped."""
    for node in source.nodes:
        called, given = callee(node), arguments(node)
        if node.type not in CALLS or called is None or len(given) != 1 or not _escapes(source, called):
            continue
        root = called.named_children[0] if called.type in MEMBERS else called
        # An import without a use is what a compiler or linter reports, not a reviewer.
        if root.type == "identifier" and source.count(source.text(root)) < 2:
            continue
        text = source.text(given[0])
        finding = (
            f"{source.where(node)} puts {source.brief(given[0])} into the markup without {source.brief(called)}, so a "
            f"value with a script tag in it runs in the browser of whoever opens the page."
        )
        yield Mutation((replace(node, text),), finding, f"{source.where(node)}:{source.text(node)}")


def _escapes(source: Source, called: Node) -> bool:
    name = called.named_children[-1] if called.type in MEMBERS else called
    said = words(source.text(name))
    return bool(said & {"escape", "sanitize", "sanitise", "purify"}) and not said & {"uri", "url", "query", "regex"}


# --- secrets ------------------------------------------------------------------------------------------------------


def hardcoded_secret(source: Source) -> Iterator[Mutation]:
    """Secrets that were read from the environment and now stand in the code."""
    for node in source.nodes:
        key = _looked_up(source, node)
        if not key or not words(key) & SECRETS:
            continue
        whole = _with_default(node)
        if source.text(whole).startswith("os.") and source.count("os") < 2:
            continue
        finding = (
            f"The value of {key} stands in the source as a literal ({_holder(source, node)}); everybody who can read "
            f"the repository or its history has the credential."
        )
        yield Mutation((replace(whole, f'"{_made_up(key)}"'),), finding, f"{source.where(node)}:{key}")


def _looked_up(source: Source, node: Node) -> str:
    """The name of the environment variable that an expression reads."""
    if node.type == "member_expression" and source.text(node.named_children[0]) == "process.env":
        return source.text(node.named_children[-1])
    if node.type in ("subscript", "subscript_expression"):
        index = node.named_children[-1]
        known = source.text(node.named_children[0]) in ("process.env", "os.environ")
        return source.text(index).strip("\"'") if known and index.type in STRINGS else ""
    called, given = callee(node), arguments(node)
    if node.type in CALLS and called is not None and given and given[0].type in STRINGS:
        name = source.text(called)
        if name == "os.environ.get" or name.rpartition(".")[2].lower().replace("_", "") in READERS:
            return source.text(given[0]).strip("\"'`")
    return ""


def _with_default(node: Node) -> Node:
    parent = node.parent
    if parent is not None and parent.type == "non_null_expression":
        return parent
    if parent is not None and parent.type == "binary_expression" and parent.named_children[0] == node:
        return parent
    return node


def _holder(source: Source, node: Node) -> str:
    """What a value is assigned to, or the function it is used in."""
    parent = node.parent
    while parent is not None and parent.type not in FUNCTIONS:
        named = parent.child_by_field_name("name") or parent.child_by_field_name("left")
        if parent.type in ("variable_declarator", "assignment", "var_spec", "const_spec") and named:
            return source.text(named)
        parent = parent.parent
    return source.where(node)


def _made_up(key: str) -> str:
    """Looks like a credential, opens nothing, and is the same each time."""
    raw = hashlib.sha256(f"made up: {key}".encode()).digest()
    return base64.b32encode(raw).decode("ascii").rstrip("=").lower()[:28]


# --- waiting ------------------------------------------------------------------------------------------------------


def missing_await(source: Source) -> Iterator[Mutation]:
    """Work that is started and not waited for.

    Only statements that are nothing but the wait, and in Python values that are used. In TypeScript a returned promise
    is the same with and without `await`, and the compiler refuses a promise where a value is needed.
    """
    for node in source.nodes:
        parent = node.parent
        if node.type not in AWAITS or parent is None or not node.named_children:
            continue
        started = node.named_children[0]
        alone = parent.type == "expression_statement"
        if started.type not in CALLS or not (alone or (source.language == "python" and parent.type == "assignment")):
            continue
        called = callee(started)
        name = source.brief(called) if called else source.brief(started)
        never = source.language == "python"
        tail = "it never runs at all" if never else "it may run after what follows, and its failure is lost"
        finding = f"{source.where(node)} calls {name} without await, so {tail}; the caller goes on as if it were done."
        yield Mutation(
            (replace(node, source.text(started)),), finding, f"{source.where(node)}:{source.text(node)[:200]}"
        )


# --- SQL ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statement:
    """A call that hands over an SQL text and its values."""

    literal: Node
    content: str
    values: tuple[Node, ...]
    holder: Node | None
    """The list or tuple around the values; None if they are arguments of their own."""


def sql_statement(source: Source, call: Node) -> Statement | None:
    """The SQL text and values of a call, where both stand in it."""
    if call.type not in CALLS:
        return None
    given = arguments(call)
    for index, literal in enumerate(given):
        content = literal_content(source, literal)
        if not words(content[:12]) & SQL:
            continue
        rest = given[index + 1 :]
        if len(rest) == 1 and rest[0].type in ("array", "tuple", "list"):
            return Statement(literal, content, tuple(rest[0].named_children), rest[0])
        return Statement(literal, content, tuple(rest), None)
    return None


def literal_content(source: Source, literal: Node) -> str:
    """What a string literal says; empty where parts of it are computed or escaped."""
    parts = literal.named_children
    if literal.type not in STRINGS or len([part for part in parts if "start" not in part.type]) > 2:
        return ""
    said = [part for part in parts if part.type.endswith(("content", "fragment"))]
    if literal.type == "raw_string_literal":
        return source.text(literal)[1:-1]
    return source.text(said[0]) if len(said) == 1 and not said[0].named_children else ""


def without_value(source: Source, statement: Statement, index: int) -> Edit:
    """Take one value out of a statement's list."""
    rest = [source.text(value) for at, value in enumerate(statement.values) if at != index]
    if statement.holder is None:
        before = statement.values[index - 1] if index else statement.literal
        return Edit(before.end_byte, statement.values[index].end_byte, b"")
    if statement.holder.type == "tuple":
        return replace(statement.holder, f"({', '.join(rest)}{',' if len(rest) == 1 else ''})")
    return replace(statement.holder, f"[{', '.join(rest)}]")


def sql_injection(source: Source) -> Iterator[Mutation]:
    """A parameter of the function that goes into the SQL text itself."""
    for call in source.nodes:
        statement = sql_statement(source, call)
        owner = source.owner(call)
        if statement is None or owner is None:
            continue
        texts = source.parameters(owner)
        marks = list(_PLACEHOLDER.finditer(statement.content))
        for at, mark in enumerate(marks):
            index = int(mark.group()[1:]) - 1 if mark.group().startswith("$") else at
            value = statement.values[index] if index < len(statement.values) else None
            if value is None or value.type != "identifier" or not _is_text(texts.get(source.text(value))):
                continue
            if not _COMPARED.search(statement.content[: mark.start()]) or not _is_last(mark, marks):
                continue
            text = _spliced(source, statement, mark, source.text(value))
            if text is not None:
                yield _injected(source, call, statement, index, text)


def _is_text(kind: str | None) -> bool:
    """Whether a parameter's type lets any text through; an unknown one may."""
    return kind is not None and kind in ("", "string", "str", "any", "unknown", "object")


def _is_last(mark: re.Match[str], marks: list[re.Match[str]]) -> bool:
    """Whether the other placeholders keep their numbers without this one."""
    if not mark.group().startswith("$"):
        return True
    number = int(mark.group()[1:])
    return all(int(other.group()[1:]) < number for other in marks if other is not mark)


def _spliced(source: Source, statement: Statement, mark: re.Match[str], name: str) -> str | None:
    """The literal with a value written into it, as the language does that; None where it cannot be."""
    before, after = statement.content[: mark.start()], statement.content[mark.end() :]
    if set(before + after) & _SPECIAL[source.language]:
        return None
    if source.language == "typescript":
        return f"`{before}'${{{name}}}'{after}`"
    if source.language == "python":
        quote = source.text(statement.literal)[: 3 if source.text(statement.literal).startswith('"""') else 1]
        return f"f{quote}{before}'{{{name}}}'{after}{quote}" if quote.startswith('"') else None
    if source.count("fmt") < 1:
        return None
    quote = source.text(statement.literal)[0]
    return f"fmt.Sprintf({quote}{before}'%s'{after}{quote}, {name})"


def _injected(source: Source, call: Node, statement: Statement, index: int, text: str) -> Mutation:
    name = source.text(statement.values[index])
    finding = (
        f"{source.where(call)} builds its SQL text out of {name} and does not pass it as a value, so whoever chooses "
        f"{name} can end the quoted string and add SQL of their own."
    )
    edits = (replace(statement.literal, text), without_value(source, statement, index))
    return Mutation(edits, finding, f"{source.where(call)}:{statement.content}:{name}")
