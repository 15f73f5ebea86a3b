"""Bounds that are one off, and comparisons that are the wrong way round."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from goldens.synth.model import Mutation
from goldens.synth.syntax import (
    CALLS,
    COMPARISONS,
    MEMBERS,
    Source,
    arguments,
    callee,
    inner,
    operands,
    operator,
    replace,
    walk,
)

REVERSED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "===": "!==", "!==": "===", "==": "!=", "!=": "=="}
LOOPS = frozenset({"for_statement", "for_clause", "while_statement", "for_in_statement"})


def off_by_one(source: Source) -> Iterator[Mutation]:
    """Bounds of counting loops, and steps by one that are dropped."""
    for node in source.nodes:
        if node.type in COMPARISONS:
            yield from _loop_bound(source, node)
        if node.type in ("binary_expression", "binary_operator"):
            yield from _dropped_step(source, node)
        if node.type == "call":
            yield from _short_range(source, node)


def _loop_bound(source: Source, node: Node) -> Iterator[Mutation]:
    loop = _counting_loop(node)
    pair = operands(node)
    if loop is None or pair is None or operator(node) != "<" or pair[0].type != "identifier":
        return
    counter, bound = (source.brief(side) for side in pair)
    if counter not in _counted(source, loop):
        return
    sign = next(child for child in node.children if child.type == "<")
    tail = "reads one element past the last" if is_length(source, pair[1]) else "runs one time too often"
    finding = (
        f"The loop in {source.where(node)} goes on while {counter} <= {bound}, so it {tail}: "
        f"{counter} takes the value {bound} itself."
    )
    yield Mutation((replace(sign, "<="),), finding, f"{source.where(node)}:{source.text(node)}")


def _counting_loop(node: Node) -> Node | None:
    """The loop whose condition a comparison belongs to."""
    child, parent = node, node.parent
    while parent is not None and parent.type in ("binary_expression", "parenthesized_expression", *LOOPS):
        if parent.type in LOOPS:
            return parent if child == parent.child_by_field_name("condition") else None
        child, parent = parent, parent.parent
    return None


def _counted(source: Source, loop: Node) -> set[str]:
    """What a loop counts up by one."""
    step = loop.child_by_field_name("increment") or loop.child_by_field_name("update")
    text = source.text(step).replace(" ", "") if step else ""
    names = {source.text(name) for name in source.names(step)} if step else set()
    return {name for name in names if text in (f"{name}++", f"++{name}", f"{name}+=1")}


def _dropped_step(source: Source, node: Node) -> Iterator[Mutation]:
    """`page - 1` becomes `page`: only names and lengths, for `failures + 1` on its own may be a count of its own."""
    pair = operands(node)
    if pair is None or operator(node) not in ("+", "-") or source.text(pair[1]) != "1":
        return
    if not (pair[0].type == "identifier" or is_length(source, pair[0])) or _assigns(source, node):
        return
    whole = node
    if whole.parent is not None and whole.parent.type == "parenthesized_expression":
        whole = whole.parent
    left = source.brief(pair[0])
    indexes = node.parent is not None and node.parent.type in ("subscript", "subscript_expression", "index_expression")
    if indexes and is_length(source, pair[0]):
        tail = "there is no element at that index"
    else:
        tail = f"what comes of it is one too {'large' if operator(node) == '-' else 'small'}"
    finding = f"{source.where(node)} uses {left} where {source.brief(node)} is right, so it is off by one: {tail}."
    yield Mutation((replace(whole, source.text(pair[0])),), finding, f"{source.where(node)}:{source.text(node)}")


def _assigns(source: Source, node: Node) -> bool:
    """Whether a sum is assigned to one of its own operands, and so counts."""
    parent = node.parent
    if parent is not None and parent.type == "expression_list":
        parent = parent.parent
    target = parent.child_by_field_name("left") if parent is not None else None
    pair = operands(node)
    return target is not None and pair is not None and source.text(target) == source.text(pair[0])


def _short_range(source: Source, node: Node) -> Iterator[Mutation]:
    """Python: `range(len(titles))` loses its last index."""
    called, given = callee(node), arguments(node)
    if called is None or source.text(called) != "range" or not given or not is_length(source, given[-1]):
        return
    if len(given) > 2:
        return
    finding = (
        f"{source.where(node)} counts up to {source.brief(given[-1])} - 1, so the last element of "
        f"{source.brief(arguments(given[-1])[0])} is never reached."
    )
    edit = replace(given[-1], f"{source.text(given[-1])} - 1")
    yield Mutation((edit,), finding, f"{source.where(node)}:{source.text(node)}")


def is_length(source: Source, node: Node) -> bool:
    """Whether an expression is the length of something."""
    if node.type in CALLS:
        called = callee(node)
        return called is not None and source.text(called) == "len"
    if node.type in MEMBERS:
        return source.text(node.named_children[-1]) in ("length", "size")
    return False


def wrong_comparison(source: Source) -> Iterator[Mutation]:
    """Comparisons that decide something, turned round."""
    for node in source.nodes:
        sign, pair = operator(node), operands(node)
        if node.type not in COMPARISONS or sign not in REVERSED or pair is None or _counting_loop(node) is not None:
            continue
        if any(source.is_null(inner(side)) or _is_error(source, side) for side in pair):
            continue
        left, right = (source.brief(side) for side in pair)
        token = next(child for child in node.children if child.type == sign)
        finding = (
            f"{source.where(node)} tests {left} {REVERSED[sign]} {right}, the reverse of what is meant: the branch for "
            f"{left} {sign} {right} is taken in the opposite cases."
        )
        yield Mutation((replace(token, REVERSED[sign]),), finding, f"{source.where(node)}:{source.text(node)}")


def _is_error(source: Source, node: Node) -> bool:
    return any(source.text(name) == "err" for name in walk(node) if name.type == "identifier")
