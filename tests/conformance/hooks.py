"""Webhook deliveries against GitHub's OpenAPI file of webhooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from openapi_schema_validator import OAS31Validator

from tests.conformance.schemas import Json, Schemas, escape


@dataclass(frozen=True, slots=True)
class HookFinding:
    """One way in which a delivery is not as GitHub describes it."""

    hook: str
    """`issues-opened`."""
    where: str
    """`name`, `header` or `payload`, then a JSON pointer."""
    problem: str


class Hooks:
    """GitHub's webhooks as it describes them."""

    def __init__(self, document: Mapping[str, Json]) -> None:
        self._schemas = Schemas(document, OAS31Validator)
        self.names = frozenset(document["webhooks"])

    def check(self, event: str, payload: Mapping[str, Any]) -> Iterator[HookFinding]:
        """Everything in the payload that is not as described."""
        name = hook_name(event, payload)
        if name not in self.names:
            yield HookFinding(name, "name", "there is no such webhook")
            return
        pointer = f"#/webhooks/{escape(name)}/post/requestBody/content/application~1json/schema"
        for flaw in self._schemas.flaws(pointer, payload):
            yield HookFinding(name, f"payload{flaw.at}", flaw.problem)

    def check_headers(self, name: str, headers: Mapping[str, str]) -> Iterator[HookFinding]:
        """Every header that is described as required and does not come."""
        _, parameters = self._schemas.get(f"#/webhooks/{escape(name)}/post/parameters")
        there = {key.lower() for key in headers}
        for one in parameters:
            if one["required"] and one["name"].lower() not in there:
                yield HookFinding(name, f"header/{one['name']}", "required header is missing")


def hook_name(event: str, payload: Mapping[str, Any]) -> str:
    """The name under which a webhook is described."""
    action = payload.get("action")
    return "-".join(part.replace("_", "-") for part in (event, action) if isinstance(part, str))
