"""Queries that are asked once for each row, and queries that answer with everything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from goldens.synth.model import Edit, Mutation
from goldens.synth.operators.calls import Statement, literal_content, sql_statement, without_value
from goldens.synth.operators.guards import guards
from goldens.synth.syntax import (
    AWAITS,
    CALLS,
    MEMBERS,
    Source,
    arguments,
    callee,
    later,
    replace,
    walk,
    words,
)

DECLARATIONS = ("method_signature", "method_elem", "method_spec", "function_definition", "function_declaration")
_LIMIT = re.compile(r"\s{1,8}LIMIT\s{1,8}(\d{1,9}|\$\d{1,3}|\?|%s)\s{0,8}$", re.IGNORECASE)

# --- N + 1 --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """A variable that is filled by one call for many ids, where the same file declares the call for one."""

    statement: Node
    name: str
    receiver: str
    one: str
    many: str
    first: str
    """The arguments before the ids, with their comma."""
    ids: Node
    result: str
    """The type of the answer as declared."""
    awaited: bool
    maybe: bool
    """Whether the call for one can answer with nothing."""


def n_plus_one(source: Source) -> Iterator[Mutation]:
    """One call for many ids, replaced by a loop of calls for one."""
    for batch in _batches(source):
        made = {"typescript": _typescript_loop, "python": _python_loop, "go": _go_loop}[source.language](source, batch)
        if made is None:
            continue
        finding = (
            f"{source.where(batch.statement)} calls {batch.one} in a loop, once for each of the ids, where "
            f"{batch.many} answers for all of them at once: the number of round trips grows with the list."
        )
        yield Mutation((made,), finding, f"{source.where(batch.statement)}:{source.text(batch.statement)}")


def _batches(source: Source) -> Iterator[Batch]:
    declared = _declared(source)
    for statement in source.of("lexical_declaration", "expression_statement", "short_var_declaration"):
        name, value = _assigned(source, statement)
        awaited = value is not None and value.type in AWAITS
        call = value.named_children[0] if value is not None and awaited else value
        called = callee(call) if call is not None and call.type in CALLS else None
        if call is None or called is None or called.type not in MEMBERS or not arguments(call):
            continue
        receiver, many = source.text(called.named_children[0]), source.text(called.named_children[-1])
        one = _single(many, declared)
        result = _map_type(declared.get(many, ""))
        if one is None or result is None:
            continue
        *first, ids = arguments(call)
        before = "".join(f"{source.text(argument)}, " for argument in first)
        maybe = any(word in declared[one] for word in ("undefined", "null", "None"))
        yield Batch(statement, name, receiver, one, many, before, ids, result, awaited, maybe)


def _declared(source: Source) -> dict[str, str]:
    """Function -> its declared result."""
    found: dict[str, str] = {}
    for node in source.of(*DECLARATIONS):
        named = node.child_by_field_name("name")
        result = node.child_by_field_name("return_type") or node.child_by_field_name("result")
        if named is not None and result is not None:
            found[source.text(named)] = source.text(result)
    return found


def _assigned(source: Source, statement: Node) -> tuple[str, Node | None]:
    node = statement.named_children[0] if statement.named_children else statement
    if statement.type == "lexical_declaration" and statement.named_child_count == 1:
        named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    elif statement.type == "expression_statement" and node.type == "assignment":
        named, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    elif statement.type == "short_var_declaration":
        left, right = statement.child_by_field_name("left"), statement.child_by_field_name("right")
        pair = left.named_children if left else []
        errs = len(pair) == 2 and source.text(pair[1]) == "err"
        named, value = (pair[0], right.named_children[0]) if errs and right and right.named_children else (None, None)
    else:
        return "", None
    return (source.text(named), value) if named is not None and named.type == "identifier" else ("", None)


def _single(many: str, declared: dict[str, str]) -> str | None:
    """The function for one that belongs to a function for many: `getOne` to `getMany`, `findById` to `findByIds`."""
    wanted = many.lower().replace("many", "one").replace("s", "")
    names = (name for name in declared if name != many and len(name) <= len(many))
    return next((name for name in names if name.lower().replace("s", "") == wanted), None)


def _map_type(result: str) -> str | None:
    """The map in a declared result: `Map<string, Author>`, `dict[str, Team]`, `map[string]*Depot`."""
    match = re.search(r"\bMap<[^<>]{1,80}>|\bdict\[[^\[\]]{1,80}\]|\bmap\[\w{1,40}\][\w.*]{1,60}", result)
    return match.group() if match else None


def _typescript_loop(source: Source, batch: Batch) -> Edit | None:
    pad, wait = source.indent(batch.statement), "await " if batch.awaited else ""
    lines = [
        f"const {batch.name}: {batch.result} = new Map();",
        f"for (const id of {source.text(batch.ids)}) {{",
        f"  const found = {wait}{batch.receiver}.{batch.one}({batch.first}id);",
    ]
    store = f"{batch.name}.set(id, found);"
    lines += ["  if (found !== undefined) {", f"    {store}", "  }"] if batch.maybe else [f"  {store}"]
    return replace(batch.statement, f"\n{pad}".join([*lines, "}"]))


def _python_loop(source: Source, batch: Batch) -> Edit | None:
    pad, wait = source.indent(batch.statement), "await " if batch.awaited else ""
    lines = [
        f"{batch.name}: {batch.result} = {{}}",
        f"for key in {_without_brackets(source, batch.ids)}:",
        f"    found = {wait}{batch.receiver}.{batch.one}({batch.first}key)",
    ]
    store = f"{batch.name}[key] = found"
    lines += ["    if found is not None:", f"        {store}"] if batch.maybe else [f"    {store}"]
    return replace(batch.statement, f"\n{pad}".join(lines))


def _without_brackets(source: Source, ids: Node) -> str:
    text = source.text(ids)
    return f"({text[1:-1]})" if ids.type == "list_comprehension" else text


def _go_loop(source: Source, batch: Batch) -> Edit | None:
    after = later(batch.statement)
    guard = next((guard for guard in guards(source) if after and guard.node == after[0]), None)
    if guard is None or source.text(guard.condition) != "err != nil":
        return None
    pad = source.indent(batch.statement)
    inside = source.text(guard.node).replace(f"\n{pad}", f"\n{pad}\t")
    lines = [
        f"{batch.name} := make({batch.result}, len({source.text(batch.ids)}))",
        f"for _, id := range {source.text(batch.ids)} {{",
        f"\tfound, err := {batch.receiver}.{batch.one}({batch.first}id)",
        f"\t{inside}",
        f"\t{batch.name}[id] = found",
        "}",
    ]
    return Edit(batch.statement.start_byte, guard.node.end_byte, f"\n{pad}".join(lines).encode())


# --- no bound -----------------------------------------------------------------------------------------------------


def unbounded_query(source: Source) -> Iterator[Mutation]:
    """Queries that lose their limit, and limits that lose their ceiling."""
    for node in source.nodes:
        statement = sql_statement(source, node)
        if statement is not None and literal_content(source, statement.literal):
            yield from _without_limit(source, node, statement)
        if node.type in CALLS:
            yield from _without_ceiling(source, node)
            yield from _without_call(source, node)


def _without_limit(source: Source, call: Node, statement: Statement) -> Iterator[Mutation]:
    match = _LIMIT.search(statement.content)
    if match is None:
        return
    edits = [_cut(source, statement, match)]
    if not match.group(1).isdigit():
        value = statement.values[-1] if statement.values else None
        if value is None or (source.language == "go" and value.type == "identifier"):
            return
        edits.append(without_value(source, statement, len(statement.values) - 1))
    finding = (
        f"The query in {source.where(call)} has no LIMIT, so it reads every row that matches; memory and time grow "
        f"with the table."
    )
    yield Mutation(tuple(edits), finding, f"{source.where(call)}:{statement.content}")


def _cut(source: Source, statement: Statement, match: re.Match[str]) -> Edit:
    literal = source.text(statement.literal)
    at = literal.rindex(statement.content) + match.start()
    start = statement.literal.start_byte + len(literal[:at].encode())
    return Edit(start, start + len(match.group().encode()), b"")


def _without_ceiling(source: Source, call: Node) -> Iterator[Mutation]:
    """`Math.min(wanted, MAX_ROWS)` becomes `wanted`."""
    called, given = callee(call), arguments(call)
    if called is None or source.text(called) not in ("Math.min", "min") or len(given) != 2:
        return
    ceilings = [node for node in given if node.type == "identifier" and words(source.text(node)) & {"max", "cap"}]
    if len(ceilings) != 1:
        return
    wanted = next(node for node in given if node != ceilings[0])
    finding = (
        f"{source.where(call)} passes {source.brief(wanted)} on without the ceiling {source.text(ceilings[0])}, so a "
        f"caller can ask for any number of rows in one query."
    )
    site = f"{source.where(call)}:{_line(source, call)}:{source.text(call)}"
    yield Mutation((replace(call, source.text(wanted)),), finding, site)


def _line(source: Source, node: Node) -> str:
    start = source.line_start(node.start_byte)
    return source.data[start : source.line_end(start)].decode("utf-8", errors="replace").strip()


def _without_call(source: Source, call: Node) -> Iterator[Mutation]:
    """`query.limit(50).all()` becomes `query.all()`."""
    called = callee(call)
    if called is None or called.type not in MEMBERS or len(arguments(call)) != 1:
        return
    below, name = called.named_children[0], source.text(called.named_children[-1])
    if name not in ("limit", "Limit", "take") or not any(node.type in CALLS for node in walk(below)):
        return
    if source.text(called).startswith("@") or (call.parent is not None and call.parent.type == "decorator"):
        return
    finding = (
        f"The query in {source.where(call)} is run without {name}, so it fetches every row that matches; memory and "
        f"time grow with the table."
    )
    yield Mutation((replace(call, source.text(below)),), finding, f"{source.where(call)}:{source.text(call)[:200]}")
