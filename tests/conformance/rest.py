"""Requests and answers against GitHub's OpenAPI file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from urllib.parse import parse_qsl

from jsonschema import Draft4Validator
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from openapi_schema_validator import OAS30Validator

from tests.conformance.schemas import Flaw, Json, Schemas, escape

Side = Literal["request", "answer"]
_MANY_SEGMENTS = frozenset({"basehead", "branch", "path", "ref"})
_MEDIA = re.compile(r"application/vnd\.github\.(?:v3\.)?(?:diff|patch|raw)")


def _unless_null(keyword: str) -> Callable[..., Iterator[Any]]:
    """The keyword as JSON schema has it, except that `nullable` beside it lets null through.

    By the letter an `enum` beside `nullable` has to list null; GitHub's never does and means it nevertheless. Its
    discriminators are not followed: one of them is meant for lists, which have no property to tell them apart.
    """

    def check(validator: Validator, value: Json, instance: Json, schema: Mapping[str, Json]) -> Iterator[Any]:
        if instance is not None or schema.get("nullable") is not True:
            yield from Draft4Validator.VALIDATORS[keyword](validator, value, instance, schema) or ()

    return check


_KEYWORDS = {name: _unless_null(name) for name in ("allOf", "anyOf", "enum", "oneOf")}
DIALECT = extend(OAS30Validator, _KEYWORDS)  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its answer."""

    agent: str
    """The client's User-Agent."""
    method: str
    path: str
    query: str
    content_type: str
    body: bytes
    accept: str
    status: int
    answer_type: str
    answer: bytes


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which an exchange is not as GitHub describes it."""

    side: Side
    operation: str
    """`GET /repos/{owner}/{repo}`, or the bare request where there is no such operation."""
    where: str
    """`path`, `query`, `body`, `status` or the status code of the answer, then a JSON pointer."""
    problem: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the description."""

    method: str
    path: str
    pointer: str
    spec: Mapping[str, Json]
    pattern: re.Pattern[str]

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """A last `path` may be left out, slash and all: that is the root."""
    parts = re.split(r"\{([^}]+)\}", template)
    made = [
        (f"(?P<{part.replace('-', '_')}>{'.*' if part in _MANY_SEGMENTS else '[^/]+'})" if odd % 2 else re.escape(part))
        for odd, part in enumerate(parts)
    ]
    if template.endswith("/{path}"):
        made = [*made[:-3], f"{made[-3][:-1]}(?:/{made[-2]})?"]
    return re.compile("".join(made))


def _literal(template: str) -> tuple[int, int]:
    """Templates with more fixed segments come first; of two alike the longer."""
    segments = template.split("/")
    return -sum(not segment.startswith("{") for segment in segments), -len(segments)


class Rest:
    """GitHub's REST API as it describes itself."""

    def __init__(self, document: Mapping[str, Json]) -> None:
        self._schemas = Schemas(document, DIALECT)
        self.operations: list[Operation] = [
            Operation(method.upper(), path, f"#/paths/{escape(path)}/{method}", spec, _pattern(path))
            for path, methods in sorted(document["paths"].items(), key=lambda pair: _literal(pair[0]))
            for method, spec in methods.items()
        ]

    def find(self, method: str, path: str) -> Operation | None:
        """The operation that a request means."""
        return next((one for one in self.operations if one.method == method and one.pattern.fullmatch(path)), None)

    def check(self, exchange: Exchange) -> Iterator[Finding]:
        """Everything that is not as described."""
        operation = self.find(exchange.method, exchange.path)
        if operation is None:
            yield Finding("request", f"{exchange.method} {exchange.path}", "path", "there is no such operation")
            return
        for where, flaw in [*self._parameters(operation, exchange), *self._body(operation, exchange)]:
            yield Finding("request", operation.name, f"{where}{flaw.at}", flaw.problem)
        for where, flaw in self._answer(operation, exchange):
            yield Finding("answer", operation.name, f"{where}{flaw.at}", flaw.problem)

    # --- requests -----------------------------------------------------------------------------------------------

    def _parameters(self, operation: Operation, exchange: Exchange) -> Iterator[tuple[str, Flaw]]:
        found = operation.pattern.fullmatch(exchange.path)
        assert found is not None
        given = {"path": [*found.groupdict().items()], "query": parse_qsl(exchange.query, keep_blank_values=True)}
        described = {kind: dict(self._described(operation, kind)) for kind in given}
        for kind, pairs in given.items():
            for name, text in pairs:
                if text is None:
                    continue
                pointer = described[kind].get(name)
                if pointer is None:
                    yield kind, Flaw(f"/{name}", "undeclared parameter")
                    continue
                for flaw in self._schemas.flaws(f"{pointer}/schema", self._read(f"{pointer}/schema", text)):
                    yield kind, Flaw(f"/{name}", flaw.problem)
        there = {name for name, _ in given["query"]}
        for name, pointer in described["query"].items():
            if self._schemas.get(pointer)[1].get("required") and name not in there:
                yield "query", Flaw(f"/{name}", "required parameter is missing")

    def _described(self, operation: Operation, kind: str) -> Iterator[tuple[str, str]]:
        for position in range(len(operation.spec.get("parameters", ()))):
            pointer, spec = self._schemas.get(f"{operation.pointer}/parameters/{position}")
            if spec["in"] == kind:
                yield spec["name"].replace("-", "_") if kind == "path" else spec["name"], pointer

    def _read(self, pointer: str, text: str) -> Json:
        """A parameter's text as the type that its schema wants; where it is none, the text itself."""
        kind = self._schemas.get(pointer)[1].get("type")
        if kind in {"integer", "number"} and re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
            return int(text)
        return text == "true" if kind == "boolean" and text in {"true", "false"} else text

    def _body(self, operation: Operation, exchange: Exchange) -> Iterator[tuple[str, Flaw]]:
        pointer, spec = self._schemas.get(f"{operation.pointer}/requestBody")
        if spec is None:
            if exchange.body not in {b"", b"{}"}:
                yield "body", Flaw("", "the operation takes none")
            return
        if not exchange.body:
            if spec.get("required"):
                yield "body", Flaw("", "required body is missing")
            return
        kind = exchange.content_type.partition(";")[0].strip()
        if kind not in spec["content"]:
            yield "body", Flaw("", f"content type {kind} is none of {sorted(spec['content'])}")
            return
        value, broken = _json(exchange.body)
        if broken:
            yield "body", broken
        else:
            for flaw in self._schemas.flaws(f"{pointer}/content/{escape(kind)}/schema", value):
                yield "body", flaw

    # --- answers ------------------------------------------------------------------------------------------------

    def _answer(self, operation: Operation, exchange: Exchange) -> Iterator[tuple[str, Flaw]]:
        pointer, spec = self._schemas.get(f"{operation.pointer}/responses/{exchange.status}")
        if spec is None:
            yield "status", Flaw(f" {exchange.status}", "undocumented status")
            return
        where, content = str(exchange.status), spec.get("content", {})
        if not content and exchange.answer:
            yield where, Flaw("", "the description has no body")
        if content and not exchange.answer:
            yield where, Flaw("", "the body is missing")
        if not content or not exchange.answer or _MEDIA.search(exchange.accept):
            return
        kind = exchange.answer_type.partition(";")[0].strip()
        if kind not in content:
            yield where, Flaw("", f"content type {kind} is none of {sorted(content)}")
            return
        value, broken = _json(exchange.answer)
        flaws: Sequence[Flaw] = (
            [broken] if broken else [*self._schemas.flaws(f"{pointer}/content/{escape(kind)}/schema", value)]
        )
        for flaw in flaws:
            yield where, flaw


def _json(data: bytes) -> tuple[Any, Flaw | None]:
    try:
        return json.loads(data), None
    except ValueError as problem:
        return None, Flaw("", f"not JSON: {problem}")
