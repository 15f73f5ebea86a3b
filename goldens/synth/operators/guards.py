"""Guards at the top of the way that are taken out: for nothing, for limits of attempts, for bad input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from goldens.synth.model import Edit, Mutation
from goldens.synth.syntax import (
    AWAITS,
    CALLS,
    COMPARISONS,
    EXITS,
    MEMBERS,
    Source,
    arguments,
    callee,
    delete_lines,
    earlier,
    inner,
    later,
    operands,
    operator,
    replace,
    statements,
    walk,
    words,
)

BUILT_IN = frozenset({"len", "Number", "strings", "math", "Math", "isinstance", "re", "Array", "String", "str", "utf8"})
"""What a check of an input may call beside the input's own methods."""
REFUSING = frozenset({"bad", "invalid", "unprocessable"})


@dataclass(frozen=True, slots=True)
class Guard:
    """An `if` that ends the function or the round of the loop, and does nothing else."""

    node: Node
    condition: Node
    exit: Node


def guards(source: Source) -> Iterator[Guard]:
    """Every guard of a file."""
    for node in source.of("if_statement"):
        condition = node.child_by_field_name("condition")
        body = statements(node.child_by_field_name("consequence"))
        plain = not any(node.child_by_field_name(part) for part in ("alternative", "initializer"))
        chained = node.parent is not None and node.parent.type in ("else_clause", "if_statement")
        if condition and plain and not chained and body and len(body) <= 3 and body[-1].type in EXITS:
            yield Guard(node, inner(condition), body[-1])


# --- nothing ------------------------------------------------------------------------------------------------------


def missing_null_check(source: Source) -> Iterator[Mutation]:
    """Guards against nothing, before a use that needs something."""
    for guard in guards(source):
        tested = null_tested(source, guard.condition)
        use = _first_use(source, later(guard.node), tested) if tested else None
        if tested and use is not None:
            yield _unguarded(source, guard, tested, use, delete_lines(source, guard.node))
            continue
        pair = operands(guard.condition)
        if pair is None or operator(guard.condition) not in ("||", "or"):
            continue
        tested = null_tested(source, inner(pair[0]))
        use = _first_use(source, [pair[1]], tested) if tested else None
        if tested and use is not None:
            edit = replace(guard.condition, source.text(pair[1]))
            yield _unguarded(source, guard, tested, use, edit)


def null_tested(source: Source, condition: Node) -> Node | None:
    """The expression that a condition compares with nothing."""
    pair = operands(condition)
    if condition.type not in COMPARISONS or pair is None or operator(condition) not in ("==", "===", "is"):
        return None
    left, right = pair
    return left if source.is_null(right) and left.type in ("identifier", *MEMBERS) else None


def _first_use(source: Source, after: list[Node], tested: Node | None) -> Node | None:
    """The first access to a member of what was tested."""
    wanted = source.text(tested) if tested else ""
    for statement in after:
        for node in walk(statement):
            if node.type in MEMBERS and source.text(node.named_children[0]) == wanted:
                return node
    return None


def _unguarded(source: Source, guard: Guard, tested: Node, use: Node, edit: Edit) -> Mutation:
    name, nothing = source.brief(tested), {"typescript": "undefined or null", "python": "None", "go": "nil"}
    finding = (
        f"{source.where(guard.node)} reads {source.brief(use)} without asking whether {name} is "
        f"{nothing[source.language]}; when there is no {name} it fails there at run time."
    )
    edits = (edit, *_asserted(source, guard.node, name))
    return Mutation(edits, finding, f"{source.where(guard.node)}:{source.text(guard.condition)}:{name}")


def _asserted(source: Source, guard: Node, name: str) -> Iterator[Edit]:
    """TypeScript: the `!` with which people silence the compiler where they leave the check out."""
    owner = source.owner(guard)
    if source.language != "typescript" or owner is None:
        return
    for node in walk(owner):
        named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type == "variable_declarator" and named and value and source.text(named) == name:
            text = source.text(value)
            yield replace(value, f"({text})!" if value.type in AWAITS else f"{text}!")
            return


# --- limits -------------------------------------------------------------------------------------------------------


def is_limiter(name: str) -> bool:
    """Whether an identifier speaks of a limit on how often something is done."""
    return bool(words(name) & {"limiter", "throttle", "ratelimit", "throttler"}) or {"rate", "limit"} <= words(name)


def missing_rate_limit(source: Source) -> Iterator[Mutation]:
    """Guards, calls, decorators and middleware that limit attempts."""
    for guard in guards(source):
        name = _limiter_in(source, guard.condition)
        if name:
            yield _unlimited(source, guard.node, name, delete_lines(source, guard.node))
    for node in source.of("expression_statement"):
        called = _called(node)
        name = _limiter_in(source, called) if called else None
        if name:
            yield _unlimited(source, node, name, delete_lines(source, node))
    for node in source.of("decorator"):
        name = _limiter_in(source, node)
        if name:
            yield _unlimited(source, node, name, delete_lines(source, node))
    for node in source.nodes:
        given = arguments(node) if node.type in CALLS and len(arguments(node)) >= 3 else []
        for index, argument in enumerate(given[1:-1], 1):
            if argument.type in ("identifier", *CALLS) and _limiter_in(source, argument):
                edit = Edit(given[index - 1].end_byte, argument.end_byte, b"")
                yield _unlimited(source, node, _limiter_in(source, argument) or "", edit)


def _called(statement: Node) -> Node | None:
    """What a statement calls that is nothing but a call, awaited or not."""
    node = statement.named_children[0] if statement.named_children else None
    if node is not None and node.type in AWAITS and node.named_children:
        node = node.named_children[0]
    return callee(node) if node is not None and node.type in CALLS else None


def _limiter_in(source: Source, node: Node) -> str | None:
    return next((source.text(name) for name in source.names(node) if is_limiter(source.text(name))), None)


def _unlimited(source: Source, node: Node, name: str, edit: Edit) -> Mutation:
    decorated = node.parent.child_by_field_name("definition") if node.type == "decorator" and node.parent else None
    where = source.name(decorated) if decorated else source.where(node)
    finding = (
        f"{where} does its work without asking {name} first, so one caller can repeat it as fast as they like: "
        f"nothing slows down guessing or flooding."
    )
    return Mutation((edit,), finding, f"{where}:{source.text(node)[:200]}")


# --- input --------------------------------------------------------------------------------------------------------


def missing_input_validation(source: Source) -> Iterator[Mutation]:
    """Guards that refuse a parameter before any work is done."""
    refusing = [guard for guard in guards(source) if _refuses_input(source, guard)]
    nodes = {guard.node.id for guard in guards(source)}
    for guard in refusing:
        owner = source.owner(guard.node)
        if owner is None or any(statement.id not in nodes for statement in earlier(guard.node)):
            continue
        asked = _parameters_in(source, guard.condition, owner)
        finding = (
            f"{source.name(owner)} goes on with any value of {' and '.join(asked)}: no check such as "
            f"{source.brief(guard.condition)} refuses what is out of range before the work begins."
        )
        edit = delete_lines(source, guard.node)
        yield Mutation((edit,), finding, f"{source.name(owner)}:{source.text(guard.condition)}")


def _refuses_input(source: Source, guard: Guard) -> bool:
    owner = source.owner(guard.node)
    if owner is None or not _parameters_in(source, guard.condition, owner) or not _refuses(source, guard.exit):
        return False
    if null_tested(source, guard.condition) is not None or _limiter_in(source, guard.condition):
        return False
    known = {*source.parameters(owner), *BUILT_IN}
    return all(_root(source, call) in known for call in walk(guard.condition) if call.type in CALLS)


def _refuses(source: Source, exit_: Node) -> bool:
    if exit_.type in ("throw_statement", "raise_statement"):
        return True
    given = exit_.named_children[-1] if exit_.named_children else None
    if exit_.type != "return_statement" or given is None:
        return False
    said = {word for name in source.names(given) for word in words(source.text(name))}
    return bool(said & REFUSING) or any(word.startswith("err") for word in said) or "4" in _status(source, given)


def _status(source: Source, node: Node) -> set[str]:
    """First digits of the three-digit numbers in a node: what a status code is of."""
    numbers = (source.text(inner_) for inner_ in walk(node) if inner_.type in ("number", "integer", "int_literal"))
    return {number[0] for number in numbers if len(number) == 3}


def _parameters_in(source: Source, condition: Node, owner: Node) -> list[str]:
    known = source.parameters(owner)
    used = dict.fromkeys(source.text(name) for name in walk(condition) if name.type == "identifier")
    return [name for name in used if name in known and name not in ("self", "ctx", "now")]


def _root(source: Source, call: Node) -> str:
    """The first name of what is called: `strings` of `strings.TrimSpace(x)`."""
    node = callee(call)
    while node is not None and node.type in (*MEMBERS, *CALLS) and node.named_children:
        node = node.named_children[0]
    return source.text(node) if node is not None else ""
