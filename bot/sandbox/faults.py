"""Knobs that make the sandbox misbehave as GitHub sometimes does."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

Kind = Literal[
    "refuse",
    "error_after",
    "delay",
    "delay_after",
    "push_refusal",
    "drop_delivery",
    "lose_delivery",
    "duplicate_delivery",
    "delay_delivery",
    "reorder_delivery",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(slots=True)
class Fault:
    """One rule. It applies to the first `times` matching requests or deliveries and is then spent."""

    kind: Kind
    """`refuse`: answer `status` without doing the work. `error_after`: do it, then answer `status`. `delay`: wait
    before the work, `delay_after`: after it. `push_refusal`: decline a push with `message`. `drop_delivery`: fail, as
    the deliveries API tells; `lose_delivery`: never try and never tell. `reorder_delivery`: after the next one."""
    method: str = "*"
    path: str = "*"
    """A shell pattern over the path without `/api/v3`; over `owner/name` for `push_refusal`."""
    event: str = "*"
    """A shell pattern over `event.action` or, where there is no action, `event`."""
    app: str = "*"
    times: int = 1
    status: int = 502
    seconds: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "Server Error"


class Faults:
    """The rules that are not spent yet."""

    def __init__(self) -> None:
        self._rules: list[Fault] = []
        self._lock = threading.Lock()
        self._cleared = 0

    def add(self, fault: Fault) -> None:
        """Arm a rule."""
        with self._lock:
            self._rules.append(fault)

    def clear(self) -> None:
        """Disarm all rules, and let go whatever is being delayed."""
        with self._lock:
            self._rules.clear()
            self._cleared += 1

    def hold(self, seconds: float, stopping: threading.Event) -> None:
        """Return after so long, or when the rules are cleared, or when everything ends."""
        cleared, over = self._cleared, time.monotonic() + seconds
        while (left := over - time.monotonic()) > 0 and self._cleared == cleared:
            if stopping.wait(min(left, 0.05)):
                return

    def left(self) -> int:
        """How many rules are not spent: a test asserts that its faults were met."""
        with self._lock:
            return len(self._rules)

    def on_request(self, kind: Kind, method: str, path: str) -> Fault | None:
        """The rule of a kind that a request meets, used up by one."""
        return self._take(
            lambda rule: rule.kind == kind and fnmatchcase(method, rule.method) and fnmatchcase(path, rule.path)
        )

    def on_delivery(self, app: str, event: str) -> Fault | None:
        """The rule that a delivery meets, used up by one."""
        return self._take(
            lambda rule: (
                rule.kind.endswith("_delivery") and fnmatchcase(app, rule.app) and fnmatchcase(event, rule.event)
            )
        )

    def _take(self, matches: Any) -> Fault | None:
        with self._lock:
            for rule in self._rules:
                if matches(rule):
                    rule.times -= 1
                    if rule.times <= 0:
                        self._rules.remove(rule)
                    return rule
        return None


def read_fault(spec: Mapping[str, Any]) -> Fault:
    """A rule from JSON.

    Raises:
        ValueError: an unknown kind or field.
    """
    known = {one.name for one in fields(Fault)}
    unknown = sorted(set(spec) - known)
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}; allowed: {', '.join(sorted(known))}")
    if spec.get("kind") not in KINDS:
        raise ValueError(f"unknown kind {spec.get('kind')!r}; allowed: {', '.join(KINDS)}")
    return Fault(**spec)
