"""YAML whose every value knows its line, from bytes that may be hostile.

The dialect is small on purpose: `true`, `false`, `null` and plain decimal integers are what they say, everything else
is text, so `version: 1.10` or `language: no` cannot turn into a number or a boolean behind the author's back.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import yaml

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 16
SHOWN = 20
"""So many allowed values are written out."""

Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a suite file, where, and how to put it right."""

    file: str
    line: int
    field: str
    """Where in the document, for example `pulls[0].goldens[1].severity`; empty for the document itself."""
    what: str
    allowed: tuple[str, ...] = ()
    meant: str | None = None

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}: {self.field + ': ' if self.field else ''}{self.what}"
        if self.allowed:
            more = f" and {len(self.allowed) - SHOWN} more" if len(self.allowed) > SHOWN else ""
            text += f"; allowed: {', '.join(self.allowed[:SHOWN])}{more}"
        return text + (f"; did you mean {self.meant!r}?" if self.meant else "")


class SuiteError(ValueError):
    """A suite cannot be used. The message lists every problem, one a line; `problems` holds them as values."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def did_you_mean(word: str, options: Iterable[str]) -> str | None:
    """The option that `word` is most likely a misspelling of, if one is close."""
    by_lower = {option.lower(): option for option in options}
    close = difflib.get_close_matches(word.lower()[:100], by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


class _Loader(yaml.SafeLoader):
    """Safe, and with the resolvers of the small dialect only."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  PyYAML's own protocol


_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:null|~|)$"), ["n", "~", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), ["t", "f"])
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?(?:0|[1-9][0-9]{0,17})$"), list("-0123456789"))


@dataclass(frozen=True, slots=True)
class Document:
    """A read YAML document: its plain value, and for every location the line it stands on."""

    name: str
    value: object
    root: yaml.Node
    _index: dict[int, dict[str, tuple[yaml.Node, yaml.Node]]] = field(default_factory=dict, repr=False, compare=False)
    """The keys of the mappings that were looked into: whoever has many problems in a large one looks often."""

    def locate(self, loc: Sequence[str | int]) -> tuple[int, str]:
        """Line and field of a location. Parts that are not in the document end the walk but stay in the field."""
        node: yaml.Node | None = self.root
        line, place = self.root.start_mark.line + 1, ""
        for part in loc:
            place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
            found = self._child(node, part)
            node = found[1] if found else None
            line = found[0].start_mark.line + 1 if found else line
        return line, place

    def problem(self, loc: Sequence[str | int], what: str, allowed: Iterable[str] = (), word: str = "") -> Problem:
        """A problem at `loc`; `word` is what was written where one of `allowed` was expected."""
        line, place = self.locate(loc)
        options = tuple(allowed)
        return Problem(self.name, line, place, what, options, did_you_mean(word, options) if word else None)

    def _child(self, node: yaml.Node | None, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
        """The node whose line stands for the part, and the part's value node."""
        if isinstance(node, yaml.MappingNode):
            if id(node) not in self._index:
                pairs = [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
                # The first of two keys wins.
                self._index[id(node)] = {key.value: (key, value) for key, value in reversed(pairs)}
            return self._index[id(node)].get(part) if isinstance(part, str) else None
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            return node.value[part], node.value[part]
        return None


def read_document(data: bytes, name: str) -> Document:
    """Read one YAML document; `name` is the file name that problems carry.

    Raises:
        SuiteError: not UTF-8, not YAML, too large or deep, or it uses anchors, aliases, tags or a key twice.
    """
    text = _decode(data, name)
    try:
        _refuse_tricks(text, name)
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            raise SuiteError([Problem(name, 1, "", "the file is empty")])
        problems = list(_bad_keys(Document(name, None, root), root, ()))
        if problems:
            raise SuiteError(problems)
        return Document(name, loader.construct_document(root), root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = f"not YAML: {error.problem or error.context}"
        raise SuiteError([Problem(name, mark.line + 1 if mark else 1, "", what)]) from None
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise SuiteError([Problem(name, line, "", "a control character that YAML does not allow")]) from None


def _decode(data: bytes, name: str) -> str:
    if len(data) > MAX_BYTES:
        raise SuiteError([Problem(name, 1, "", f"{len(data)} bytes; at most {MAX_BYTES} are read")])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SuiteError([Problem(name, line, "", f"byte {error.start} is not UTF-8")]) from None


def _refuse_tricks(text: str, name: str) -> None:
    """Refuse what a suite never needs, from the event stream, before anything is expanded or recursed into."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        what = _trick(event)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            what = f"nested more than {MAX_DEPTH} deep"
        if what:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise SuiteError([Problem(name, line, "", what)])


def _trick(event: yaml.Event) -> str | None:
    if isinstance(event, yaml.AliasEvent):
        return f"alias *{event.anchor}; aliases are not allowed, write the value out"
    if isinstance(event, yaml.NodeEvent) and event.anchor:
        return f"anchor &{event.anchor}; anchors are not allowed, write the value out"
    if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag:
        return f"tag {event.tag}; tags are not allowed"
    return None


def _bad_keys(document: Document, node: yaml.Node, loc: Loc) -> Iterable[Problem]:
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _bad_keys(document, item, (*loc, index))
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[Hashable, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
            yield Problem(document.name, line, document.locate(loc)[1], "a key must be plain text")
            continue
        if key.value in seen:
            again = f"{key.value!r} again; it is already on line {seen[key.value]}"
            yield Problem(document.name, line, document.locate(loc)[1], again)
        seen.setdefault(key.value, line)
        yield from _bad_keys(document, value, (*loc, key.value))
