"""Changes to a suite file that leave every other byte as it was.

A person wrote the file, with comments and an order of their own. So nothing is dumped anew: a change is a splice at the
place that the YAML parser names, and the result is read again and compared with what it should say. If the two differ,
there is no change at all.
"""

from __future__ import annotations

import copy
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from goldens.fields import printable
from goldens.located import Document, Loc, SuiteError, did_you_mean, read_document
from goldens.schema import SuiteFile, parse_suite

_NUMBER = re.compile(r"\d{1,9}(?!.*\d)")


class EditError(ValueError):
    """A change cannot be made; the message says why and what can be done."""


class SuiteText:
    """A suite file while it is changed. `data()` gives the new bytes, checked."""

    def __init__(self, data: bytes, name: str) -> None:
        """Read a suite file; `name` is what problems call it.

        Raises:
            SuiteError: it is no suite.
        """
        self.name = name
        self.suite: SuiteFile
        self.suite, self._document = parse_suite(data, name)
        self._text = data.decode("utf-8")
        self._value: Any = copy.deepcopy(self._document.value)

    # --- finding ------------------------------------------------------------------------------------------------

    def golden(self, wanted: str) -> Loc:
        """Where a golden is.

        Raises:
            EditError: there is none of that id.
        """
        ids = {
            golden.id: ("pulls", at, "goldens", number)
            for at, pull in enumerate(self.suite.pulls)
            for number, golden in enumerate(pull.goldens)
        }
        return self._found(wanted, ids, "golden")

    def pull(self, wanted: str) -> Loc:
        """Where a pull request is.

        Raises:
            EditError: there is none of that id.
        """
        return self._found(wanted, {pull.id: ("pulls", at) for at, pull in enumerate(self.suite.pulls)}, "pull request")

    def _found(self, wanted: str, ids: Mapping[str, Loc], what: str) -> Loc:
        if wanted not in ids:
            meant = did_you_mean(wanted, ids)
            hint = f"; did you mean {meant!r}?" if meant else ""
            raise EditError(f"{self.name}: no {what} {wanted[:80]!r}{hint}")
        return ids[wanted]

    # --- changing -----------------------------------------------------------------------------------------------

    def put(self, loc: Loc, field: str, value: Any, *, after: str = "") -> None:
        """Say `field: value` in the mapping at `loc`; a new field goes behind `after`, which must be there."""
        value = _plain(value)
        node, spoken = _at(self._document, loc), _spoken(value)
        assert isinstance(node, yaml.MappingNode)
        known = _entry(node, field)
        if known is not None:
            end = _end(self._text, known[1])
            start = known[1].start_mark.index if end > known[1].start_mark.index else _after_colon(self._text, known)
            self._splice(start, end, spoken if start < end else f" {spoken}")
        else:
            anchor = _entry(node, after)
            assert anchor is not None
            self._behind(node, anchor, f"{field}: {spoken}")
        _mapping(self._value, loc)[field] = value
        self._read_again()

    def drop(self, loc: Loc, field: str, *, neutral: Any) -> None:
        """Take a field out of the mapping at `loc`; where its line cannot go it says `neutral` and means the same."""
        node = _at(self._document, loc)
        assert isinstance(node, yaml.MappingNode)
        known = _entry(node, field)
        if known is None:
            return
        if node.flow_style or node.value[0] is known:
            self.put(loc, field, neutral)
            return
        start = self._text.rfind("\n", 0, known[0].start_mark.index) + 1
        self._splice(start, self._line_end(_end(self._text, known[1])), "")
        del _mapping(self._value, loc)[field]
        self._read_again()

    def add_golden(self, loc: Loc, entry: Mapping[str, Any]) -> None:
        """Append a golden to the pull request at `loc`."""
        node, entry = _at(self._document, loc), _plain(entry)
        assert isinstance(node, yaml.MappingNode)
        known = _entry(node, "goldens")
        if known is None or not known[1].value:
            self._first_golden(node, known, entry)
        elif isinstance(known[1], yaml.CollectionNode) and known[1].flow_style:
            end = _end(self._text, known[1].value[-1])
            self._splice(end, end, f", {_spoken(entry)}")
        else:
            at = self._line_end(_end(self._text, known[1]))
            self._insert_lines(at, _item(entry, known[1].start_mark.column))
        _mapping(self._value, loc).setdefault("goldens", []).append(entry)
        self._read_again()

    def _first_golden(
        self, node: yaml.MappingNode, known: tuple[yaml.Node, yaml.Node] | None, entry: Mapping[str, Any]
    ) -> None:
        listed = _spoken([entry])
        if known is not None:
            self._splice(known[1].start_mark.index, _end(self._text, known[1]), listed)
        elif node.flow_style:
            self._behind(node, node.value[-1], f"goldens: {listed}")
        else:
            column = node.value[0][0].start_mark.column
            at = self._line_end(_end(self._text, node.value[-1][1]))
            self._insert_lines(at, [" " * column + "goldens:", *_item(entry, column + 2)])

    def bump(self, version: str | None = None) -> str:
        """Set the version, or count its last number up; the new one.

        Raises:
            EditError: it has no number to count.
        """
        old = self.suite.version
        release, mark, rest = old.partition("+")
        found = _NUMBER.search(release)
        if version is None and found is None:
            raise EditError(f"{self.name}: version {old!r} has no number to count up; say which is next: --to-version")
        if version is None:
            assert found is not None
            version = f"{release[: found.start()]}{int(found[0]) + 1}{release[found.end() :]}{mark}{rest}"
        if version == old:
            raise EditError(f"{self.name}: version {old!r} is the one it has; a changed suite needs another")
        self.put((), "version", version)
        return version

    # --- text ---------------------------------------------------------------------------------------------------

    def data(self) -> bytes:
        """The new file.

        Raises:
            EditError: the splices did not give what they should; the file has to be changed by hand.
            SuiteError: it would be no suite any more.
        """
        parse_suite(self._text.encode("utf-8"), self.name)
        return self._text.encode("utf-8")

    def _behind(self, node: yaml.MappingNode, anchor: tuple[yaml.Node, yaml.Node], said: str) -> None:
        end = _end(self._text, anchor[1])
        if node.flow_style:
            self._splice(end, end, f", {said}")
        else:
            self._insert_lines(self._line_end(end), [" " * node.value[0][0].start_mark.column + said])

    def _insert_lines(self, at: int, lines: Sequence[str]) -> None:
        whole = self._text[:at].endswith("\n")
        ending = "\r\n" if self._text[:at].endswith("\r\n") or (not whole and "\r\n" in self._text) else "\n"
        lead = "" if whole else ending
        self._splice(at, at, lead + "".join(line + ending for line in lines))

    def _line_end(self, at: int) -> int:
        """The place behind the line that `at` is on, or behind the text."""
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end + 1

    def _splice(self, start: int, end: int, said: str) -> None:
        self._text = self._text[:start] + said + self._text[end:]

    def _read_again(self) -> None:
        try:
            self._document = read_document(self._text.encode(), self.name)
        except SuiteError as error:
            raise EditError(f"{self.name}: cannot be changed without touching more; do it by hand ({error})") from None
        if self._document.value != self._value:
            raise EditError(f"{self.name}: cannot be changed without touching more; do it by hand")


def replace_file(path: Path, old: bytes, new: bytes) -> None:
    """Put `new` where `old` was, whole or not at all.

    Raises:
        EditError: somebody changed the file meanwhile, or it cannot be written.
    """
    target = path.resolve()
    try:
        if target.read_bytes() != old:
            raise EditError(f"{path}: somebody changed it meanwhile; nothing was written, try again")
        if not target.stat().st_mode & 0o222:
            raise EditError(f"{path}: is read-only; nothing was written")
        handle, scratch = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(new)
            Path(scratch).chmod(target.stat().st_mode & 0o7777)
            Path(scratch).replace(target)
        except BaseException:
            with suppress(FileNotFoundError):
                Path(scratch).unlink()
            raise
    except OSError as error:
        raise EditError(f"{path}: cannot be written: {error.strerror or error}") from None


def _at(document: Document, loc: Loc) -> yaml.Node:
    node = document.root
    for part in loc:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
        else:
            assert isinstance(node, yaml.MappingNode)
            entry = _entry(node, str(part))
            assert entry is not None
            node = entry[1]
    return node


def _entry(node: yaml.MappingNode, field: str) -> tuple[yaml.Node, yaml.Node] | None:
    return next((entry for entry in node.value if entry[0].value == field), None)


def _mapping(value: Any, loc: Loc) -> dict[str, Any]:
    for part in loc:
        value = value[part]
    assert isinstance(value, dict)
    return value


def _end(text: str, node: yaml.Node) -> int:
    """Where a node's text ends. The parser's own mark runs on over what follows blocks: blank lines and comments."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(text, last[1] if isinstance(last, tuple) else last)
    end: int = node.end_mark.index
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        start = node.start_mark.index
        return start + len(text[start:end].rstrip())
    return end


def _after_colon(text: str, entry: tuple[yaml.Node, yaml.Node]) -> int:
    """Where the value of a field that says nothing goes."""
    return text.index(":", entry[0].end_mark.index) + 1


def _item(entry: Mapping[str, Any], column: int) -> list[str]:
    lead = " " * column
    said = [f"{field}: {_spoken(value)}" for field, value in entry.items()]
    return [f"{lead}{'- ' if at == 0 else '  '}{line}" for at, line in enumerate(said)]


_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]{0,100}|\d{1,9}\.\d{1,9}\.[A-Za-z0-9.+-]{1,20}")
_TAKEN = frozenset({"true", "false", "null"})


def _spoken(value: Any) -> str:
    """A value as YAML on one line. JSON is YAML; plain words stay plain."""
    if isinstance(value, str) and _WORD.fullmatch(value) and value not in _TAKEN:
        return value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{field}: {_spoken(one)}" for field, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_spoken, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value as YAML gives it back, with nothing in its texts that a reader would refuse."""
    if isinstance(value, str):
        return printable(str(value))
    if isinstance(value, Mapping):
        return {field: _plain(one) for field, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
