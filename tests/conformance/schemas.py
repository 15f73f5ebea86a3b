"""JSON against a schema inside a big description: what breaks it, and which fields it does not declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from jsonschema import FormatChecker
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry, Resource
from referencing.jsonschema import EMPTY_REGISTRY

Json = Any
_BASE = "urn:description"
_FORMATS = FormatChecker(formats=())


@dataclass(frozen=True, slots=True)
class Flaw:
    """One difference between a value and its schema."""

    at: str
    """JSON pointer with `*` for list positions."""
    problem: str


@_FORMATS.checks("date-time", raises=ValueError)
def _is_moment(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


@_FORMATS.checks("uri", raises=ValueError)
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or bool(urlsplit(value).scheme)


def escape(key: str) -> str:
    """A key as a JSON pointer's segment."""
    return key.replace("~", "~0").replace("/", "~1")


class Schemas:
    """Every schema of one document, by pointer."""

    def __init__(self, document: Mapping[str, Json], dialect: Any) -> None:
        self._document = document
        self._dialect = dialect
        self._registry: Registry[Any] = EMPTY_REGISTRY.with_resource(_BASE, Resource.opaque(document))

    def get(self, pointer: str) -> tuple[str, Json]:
        """What stands at a pointer, behind any `$ref`: (its own pointer, value); None where nothing stands."""
        found: Json = self._document
        for segment in pointer.removeprefix("#/").split("/"):
            key = segment.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list):
                found = found[int(key)]
            else:
                found = found.get(key) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping) and isinstance(found.get("$ref"), str):
            return self.get(found["$ref"])
        return pointer, found

    def flaws(self, pointer: str, value: Json) -> Iterator[Flaw]:
        """What the schema at the pointer refuses, and what it does not declare."""
        validator = self._dialect({"$ref": f"{_BASE}{pointer}"}, registry=self._registry, format_checker=_FORMATS)
        for error in validator.iter_errors(value):
            yield _flaw(best_match([error]) or error)
        yield from self._undeclared([self.get(pointer)[1]], value, "")

    def _undeclared(self, schemas: Sequence[Json], value: Json, at: str) -> Iterator[Flaw]:
        flat = [one for schema in schemas for one in self._alternatives(schema)]
        if isinstance(value, list):
            inner = [one["items"] for one in flat if "items" in one]
            for item in value:
                yield from self._undeclared(inner, item, f"{at}/*")
        elif isinstance(value, Mapping) and any("properties" in one for one in flat):
            for name, held in value.items():
                declared = [one["properties"][name] for one in flat if name in one.get("properties", ())]
                if declared:
                    yield from self._undeclared(declared, held, f"{at}/{escape(name)}")
                elif not any(_open(one) for one in flat):
                    yield Flaw(f"{at}/{escape(name)}", "undeclared field")

    def _alternatives(self, schema: Json) -> Iterator[Mapping[str, Json]]:
        """The schema and everything it is composed of."""
        if not isinstance(schema, Mapping):
            return
        if isinstance(schema.get("$ref"), str):
            yield from self._alternatives(self.get(schema["$ref"])[1])
            return
        yield schema
        for kind in ("allOf", "anyOf", "oneOf"):
            for part in schema.get(kind, ()):
                yield from self._alternatives(part)


def _open(schema: Mapping[str, Json]) -> bool:
    """Whether it takes names it does not list; by the letter every schema does, unless it says `false`."""
    return schema.get("additionalProperties", False) is not False


def _flaw(error: ValidationError) -> Flaw:
    path = [("*" if isinstance(step, int) else escape(str(step))) for step in error.absolute_path]
    return Flaw("".join(f"/{step}" for step in path), f"{error.validator}: {error.message[:200]}")
