"""Rewrites that look like a slip and change nothing: whoever reports one has not understood the code."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from goldens.synth.model import Mutation
from goldens.synth.syntax import AWAITS, CALLS, COMPARISONS, Source, operands, operator, replace, walk

MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "===": "===", "!==": "!==", "==": "==", "!=": "!="}
EFFECTS = frozenset({*CALLS, *AWAITS, "assignment_expression", "update_expression", "named_expression"})


def equivalents(source: Source) -> Iterator[Mutation]:
    """Comparisons with their sides changed over, and sums that are written out."""
    for node in source.nodes:
        yield from _mirrored(source, node)
        yield from _written_out(source, node)


def _mirrored(source: Source, node: Node) -> Iterator[Mutation]:
    """`a < b` becomes `b > a`, where neither side does anything."""
    sign, pair = operator(node), operands(node)
    if node.type not in COMPARISONS or sign not in MIRRORED or pair is None:
        return
    simple = all(side.type not in (*COMPARISONS, "boolean_operator", "not_operator") for side in pair)
    if not simple or any(part.type in EFFECTS for side in pair for part in walk(side)):
        return
    if any(source.is_null(side) for side in pair):
        return
    left, right = (source.text(side) for side in pair)
    site = f"{source.where(node)}:{source.text(node)}"
    yield Mutation((replace(node, f"{right} {MIRRORED[sign]} {left}"),), "", site)


def _written_out(source: Source, node: Node) -> Iterator[Mutation]:
    """`done += step` becomes `done = done + step`, for a plain variable."""
    if node.type not in ("augmented_assignment_expression", "augmented_assignment"):
        return
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node.child_by_field_name("operator")
    if left is None or right is None or sign is None or left.type != "identifier":
        return
    if source.text(sign) not in ("+=", "-=", "*=") or right.type not in ("identifier", "number", "integer"):
        return
    name = source.text(left)
    edit = replace(node, f"{name} = {name} {source.text(sign)[:-1]} {source.text(right)}")
    yield Mutation((edit,), "", f"{source.where(node)}:{source.text(node)}")
