"""What happens at the end, and when things go wrong: resources that stay open, errors that nobody handles."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from goldens.synth.model import Edit, Mutation
from goldens.synth.operators.guards import guards
from goldens.synth.syntax import (
    CALLS,
    MEMBERS,
    Source,
    callee,
    delete_lines,
    earlier,
    replace,
    statements,
    unwrapped,
    walk,
    words,
)

RELEASES = frozenset({"close", "release", "end", "destroy", "stop", "dispose", "disconnect", "shutdown", "unlock"})
ACQUIRES = frozenset({"open", "connect", "acquire", "connection", "client", "cursor", "socket", "session", "lock"})

# --- resources ----------------------------------------------------------------------------------------------------


def resource_leak(source: Source) -> Iterator[Mutation]:
    """Resources that are given back on no way, or not when something fails."""
    for node in source.of("defer_statement"):
        released = _released(source, node)
        # With no other use the variable would be unused, which Go refuses.
        if released is not None and _uses(source, node, released.partition(".")[0]) > 2:
            yield _leaking(source, node, released, (delete_lines(source, node),))
    for node in source.of("with_statement"):
        yield from _without_with(source, node)
    for node in source.of("try_statement"):
        yield from _without_finally(source, node)


def _released(source: Source, node: Node) -> str | None:
    """What a statement releases: `rows` of `defer rows.Close()`."""
    for call in walk(node):
        called = callee(call) if call.type in CALLS else None
        if called is not None and called.type in MEMBERS and words(source.text(called.named_children[-1])) & RELEASES:
            return source.text(called.named_children[0])
    return None


def _uses(source: Source, node: Node, name: str) -> int:
    owner = source.owner(node)
    return source.count(name, owner) if owner else 0


def _leaking(source: Source, node: Node, resource: str, edits: tuple[Edit, ...], *, when: str = "") -> Mutation:
    finding = (
        f"{source.where(node)} does not give {resource} back{when}: each such call keeps one open until the process "
        f"or the pool has none left."
    )
    return Mutation(edits, finding, f"{source.where(node)}:{source.text(node)[:200]}")


def _without_with(source: Source, node: Node) -> Iterator[Mutation]:
    """Python: `with open(...) as file:` becomes an assignment."""
    items = [item for item in walk(node.named_children[0]) if item.type == "with_item"]
    pattern = items[0].named_children[0] if len(items) == 1 else None
    body = node.child_by_field_name("body")
    if pattern is None or pattern.type != "as_pattern" or body is None or source.text(node).startswith("async"):
        return
    value, target = pattern.named_children[0], pattern.named_children[-1]
    called = callee(value)
    if called is None or not words(source.text(called)) & ACQUIRES:
        return
    text = unwrapped(source, node, body)
    if text is not None:
        name = source.text(target)
        edit = replace(node, f"{name} = {source.text(value)}\n{source.indent(node)}{text}")
        finding = (
            f"{source.where(node)} opens {name} and closes it on no way: it stays open, and what was written may stay "
            f"in the buffer, until the interpreter happens to collect it."
        )
        yield Mutation((edit,), finding, f"{source.where(node)}:{source.text(node)[:200]}", head_line=True)


def _without_finally(source: Source, node: Node) -> Iterator[Mutation]:
    final = next((child for child in node.named_children if child.type == "finally_clause"), None)
    body = node.child_by_field_name("body")
    if final is None or body is None:
        return
    block = final.child_by_field_name("body") or final.named_children[-1]
    released = _released(source, final)
    if released is None or len(statements(block)) != 1:
        return
    when = f" when {_risky(source, body)} fails"
    if any(child.type in ("catch_clause", "except_clause") for child in node.named_children):
        end = final.prev_sibling.end_byte if final.prev_sibling else final.start_byte
        edits: tuple[Edit, ...] = (Edit(end, final.end_byte, b""),)
        yield _leaking(source, node, released, edits)
        return
    text = unwrapped(source, node, body)
    if text is None:
        return
    release = source.text(statements(block)[0])
    if statements(body)[-1].type in ("return_statement", "throw_statement", "raise_statement"):
        yield _leaking(source, node, released, (replace(node, text),))
    else:
        edit = replace(node, f"{text}\n{source.indent(node)}{release}")
        yield _leaking(source, node, released, (edit,), when=when)


def _risky(source: Source, body: Node) -> str:
    """The first call of a block, by the name of what it calls."""
    call = next((node for node in walk(body) if node.type in CALLS), None)
    called = callee(call) if call is not None else None
    return source.brief(called) if called is not None else "the work"


# --- errors -------------------------------------------------------------------------------------------------------


def missing_error_handling(source: Source) -> Iterator[Mutation]:
    """Errors that were handled and now go by."""
    for node in source.of("try_statement"):
        yield from _without_try(source, node)
    if source.language == "go":
        for guard in guards(source):
            if source.text(guard.condition) == "err != nil":
                yield from _ignored_error(source, guard.node)
        for node in source.of("if_statement"):
            yield from _ignored_call(source, node)


def _without_try(source: Source, node: Node) -> Iterator[Mutation]:
    handlers = [child for child in node.named_children if child.type in ("catch_clause", "except_clause")]
    others = [child for child in node.named_children if child.type in ("finally_clause", "else_clause")]
    body = node.child_by_field_name("body")
    if not handlers or others or body is None or all(_rethrows(handler) for handler in handlers):
        return
    text = unwrapped(source, node, body)
    if text is None:
        return
    finding = (
        f"{source.where(node)} does not catch {_caught(source, handlers[0], body)}: the error goes up to callers that "
        f"were promised an answer or an error of another kind."
    )
    yield Mutation((replace(node, text),), finding, f"{source.where(node)}:{source.text(node)[:200]}")


def _caught(source: Source, handler: Node, body: Node) -> str:
    """What a handler is for, by the name of the error where it says one."""
    named = handler.named_children[0] if handler.type == "except_clause" else None
    if named is not None and named.type == "as_pattern":
        named = named.named_children[0]
    if named is not None and named.type in ("identifier", "attribute", "tuple"):
        return source.brief(named)
    return f"what {_risky(source, body)} throws"


def _rethrows(handler: Node) -> bool:
    """Whether a handler only passes on what it caught."""
    body = handler.child_by_field_name("body") or handler.named_children[-1]
    found = statements(body)
    first = found[0] if len(found) == 1 else None
    if first is None or first.type not in ("throw_statement", "raise_statement"):
        return False
    return all(child.type == "identifier" for child in first.named_children)


def _ignored_error(source: Source, guard: Node) -> Iterator[Mutation]:
    """Go: `rows, err := f()` with its check becomes `rows, _ := f()`."""
    before = earlier(guard)
    declaration = before[-1] if before else None
    left = declaration.child_by_field_name("left") if declaration else None
    right = declaration.child_by_field_name("right") if declaration else None
    if declaration is None or declaration.type != "short_var_declaration" or left is None or right is None:
        return
    names = left.named_children
    if len(names) != 2 or source.text(names[1]) != "err" or _needs_error(source, guard):
        return
    edits = (replace(names[1], "_"), delete_lines(source, guard))
    finding = (
        f"{source.where(guard)} throws away the error of {_risky(source, right)} and goes on with "
        f"{source.text(names[0])}, which is not valid when the call failed."
    )
    yield Mutation(edits, finding, f"{source.where(guard)}:{source.text(declaration)}")


def _needs_error(source: Source, guard: Node) -> bool:
    """Whether code after the guard relies on `err` having been declared before it."""
    owner = source.owner(guard)
    after = [node for node in source.names(owner) if node.start_byte >= guard.end_byte] if owner else []
    first = next((node for node in after if source.text(node) == "err"), None)
    if first is None:
        return False
    parent = first.parent
    declared = parent.parent if parent is not None and parent.type == "expression_list" else None
    return not (
        declared is not None
        and declared.type == "short_var_declaration"
        and declared.child_by_field_name("left") == parent
    )


def _ignored_call(source: Source, node: Node) -> Iterator[Mutation]:
    """Go: `if err := f(); err != nil { ... }` becomes `f()`."""
    start, condition = node.child_by_field_name("initializer"), node.child_by_field_name("condition")
    if start is None or condition is None or start.type != "short_var_declaration":
        return
    left, right = start.child_by_field_name("left"), start.child_by_field_name("right")
    if left is None or right is None or source.text(left) != "err" or source.text(condition) != "err != nil":
        return
    call = right.named_children[0]
    if call.type not in CALLS or node.child_by_field_name("alternative") is not None:
        return
    finding = (
        f"{source.where(node)} ignores the error of {_risky(source, right)} and goes on as if the call had succeeded."
    )
    yield Mutation((replace(node, source.text(call)),), finding, f"{source.where(node)}:{source.text(start)}")
