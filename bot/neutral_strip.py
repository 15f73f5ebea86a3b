"""Which files leave both trees of a fork: workflows, configurations of review bots, agent and owner files.

The list is data (`manifests/strip_paths.yaml`). A file that the golden pull request itself changes cannot leave
without changing the golden diff, so it is either kept on both sides or the pull request is refused, and why is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

_PATTERN: Final = re.compile(r"/?[^/\\\0\n]+(?:/[^/\\\0\n]+)*/?")


@dataclass(frozen=True, slots=True)
class Decided:
    """One path and why it was treated so."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class StripResult:
    """What is to become of the paths that a rule names; all in the order of the paths."""

    removed: tuple[Decided, ...]
    """Leave both trees. None of them differs between the two, so the golden diff is untouched."""
    kept_both: tuple[Decided, ...]
    """Part of the golden change and tolerable: stay on both sides."""
    refused: tuple[Decided, ...]
    """Part of the golden change and not tolerable: the pull request cannot be forked neutrally."""


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,40}$")
    edited: Literal["keep", "refuse"]
    """What happens when the golden pull request changes such a file."""
    why: str = Field(min_length=1)
    paths: tuple[str, ...] = Field(min_length=1)


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    groups: tuple[_Group, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class StripRule:
    """One group of patterns, compiled."""

    id: str
    edited: Literal["keep", "refuse"]
    why: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class StripRules:
    """The groups in order; the first that matches a path decides."""

    groups: tuple[StripRule, ...]

    def find(self, path: str) -> StripRule | None:
        """The group that names `path`, if any."""
        return next((group for group in self.groups if group.pattern.search(path)), None)


def _regex(pattern: str, where: str) -> str:
    if not _PATTERN.fullmatch(pattern) or "**" in pattern or ".." in pattern.split("/"):
        raise ValueError(f"{where}: {pattern!r} is no pattern; write a path, `*` within a name, `/` last for a folder")
    body = "[^/]*".join(re.escape(part) for part in pattern.strip("/").split("*"))
    start = r"\A" if pattern.startswith("/") else r"(?:\A|/)"
    return start + body + ("/" if pattern.endswith("/") else r"\Z")


def _rule(group: _Group, source: str) -> StripRule:
    parts = [_regex(path, f"{source}: group {group.id}") for path in group.paths]
    return StripRule(group.id, group.edited, group.why, re.compile("|".join(parts), re.IGNORECASE))


def parse_strip_rules(text: str, source: str = "strip_paths.yaml") -> StripRules:
    """Read the manifest.

    A pattern is a path; `*` stands for any part of one name; a `/` at the end means the folder and all in it; a `/`
    at the start means the root only, otherwise nested copies match too. Case does not matter.

    Raises:
        ValueError: not YAML, not of this form, or a pattern that cannot be one; says where.
    """
    try:
        manifest = _Manifest.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise ValueError(f"{source}: not YAML: {error}") from error
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ValueError(f"{source}: {problems}") from error
    return StripRules(tuple(_rule(group, source) for group in manifest.groups))


def more_rules(rules: StripRules, configs: Mapping[str, Iterable[str]]) -> StripRules:
    """The rules with a group for each reviewer's own configuration files behind them.

    Raises:
        ValueError: a pattern that cannot be one; says whose.
    """
    groups = [
        StripRule(
            f"configuration of {reviewer}",
            "refuse",
            "it configures a reviewer, so the reviewers would not be measured under equal rules",
            re.compile("|".join(_regex(path, f"registry: {reviewer}") for path in paths), re.IGNORECASE),
        )
        for reviewer, given in sorted(configs.items())
        if (paths := tuple(given))
    ]
    return StripRules((*rules.groups, *groups))


def strip(paths: Iterable[str], changed: frozenset[str], rules: StripRules) -> StripResult:
    """Decide on every path that a rule names; `changed` are the paths that the golden pull request touches."""
    removed: list[Decided] = []
    kept: list[Decided] = []
    refused: list[Decided] = []
    for path in dict.fromkeys(paths):
        rule = rules.find(path)
        if rule is None:
            continue
        if path not in changed:
            removed.append(Decided(path, rule.id))
        elif rule.edited == "keep":
            kept.append(Decided(path, f"the golden pull request changes it; {rule.id}: {rule.why}"))
        else:
            refused.append(Decided(path, f"the golden pull request changes it; {rule.id}: {rule.why}"))
    return StripResult(tuple(removed), tuple(kept), tuple(refused))
