"""The words of the generator: templates and features it starts from, mutations it makes, pull requests it hands out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from scoring.model import Category, Golden, Severity

if TYPE_CHECKING:
    from goldens.synth.syntax import Source

Churn = Literal["none", "small", "medium", "large"]
"""How much other change surrounds the defect."""


class Kind(StrEnum):
    """The kinds of defect by which the mix of a suite is given."""

    LOGIC = "logic"
    SECURITY = "security"
    PERFORMANCE = "performance"
    ARCHITECTURE = "architecture"
    BEST_PRACTICE = "best_practice"


class Variant(StrEnum):
    """What a generated pull request is."""

    DEFECT = "defect"
    CLEAN = "clean"
    """Feature work without a defect."""
    EQUIVALENT = "equivalent"
    """Feature work with a rewrite that looks like a defect and changes nothing."""


class SynthError(ValueError):
    """The pull requests that were asked for cannot be made; the message says why and what can be done."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` to `end` of a file give way to `text`."""

    start: int
    end: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Mutation:
    """One way to bring a defect (or a rewrite that is none) into a file."""

    edits: tuple[Edit, ...]
    finding: str
    """What is wrong, with the identifiers involved; empty where nothing is."""
    site: str
    """Names the place by what stands there, so that it is found again in a changed file."""
    focus: int = 0
    """The edit at which a reader sees the defect; the others only keep the file whole."""
    head_line: bool = False
    """Whether only the first line of that edit shows the defect."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A small piece of feature work on a template: texts of the pull request, and what it replaces."""

    title: str
    body: str
    replacements: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A sound file, and feature work that can be done on it."""

    id: str
    language: str
    path: str
    text: bytes
    features: tuple[Feature, ...]


Sites = Callable[["Source"], Iterator[Mutation]]
"""What an operator does: for a file, every mutation it can make there, in order."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A kind of defect, and how it is made, counted and weighed."""

    id: str
    sites: Sites
    kind: Kind
    category: Category
    severity: Severity
    languages: tuple[str, ...] = ("typescript", "python", "go")


@dataclass(frozen=True, slots=True)
class GeneratedPull:
    """One generated pull request."""

    id: str
    variant: Variant
    template: str
    operator: str
    """Empty for a clean pull request."""
    site: str
    language: str
    title: str
    body: str
    base: Mapping[str, bytes]
    sound: Mapping[str, bytes]
    """The head as it were without the defect."""
    head: Mapping[str, bytes]
    goldens: tuple[Golden, ...]
    churn: Churn = "none"
