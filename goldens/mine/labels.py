"""What labels and paths say: whether a pull request mends a bug, how bad, in which language, and what is no code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TypeVar

from scoring.model import Category, Severity

T = TypeVar("T")

_WORD = re.compile(r"[a-z0-9]+")
_DENIED = re.compile(r"\b(?:not|no|non|isn ?t|invalid|needs?|possible|potential|report)\b")

_CATEGORIES: tuple[tuple[Category, str], ...] = (
    (Category.SECURITY, "security vulnerability cve xss injection"),
    (Category.CONCURRENCY, "concurrency race deadlock threading"),
    (Category.PERFORMANCE, "performance perf slow"),
    (Category.RESOURCES, "leak memory"),
    (Category.ERROR_HANDLING, "exception errors crash panic"),
    (Category.API, "api compatibility breaking"),
)
_SEVERITIES: tuple[tuple[Severity, str], ...] = (
    (Severity.CRITICAL, "critical blocker p0 s0"),
    (Severity.HIGH, "high urgent major p1 s1"),
    (Severity.MEDIUM, "medium moderate p2 s2"),
    (Severity.LOW, "low minor trivial p3 p4 s3 s4"),
)
_LANGUAGES = {
    "python": "py pyi", "typescript": "ts tsx mts cts", "javascript": "js jsx mjs cjs", "go": "go", "rust": "rs",
    "java": "java", "kotlin": "kt kts", "c": "c h", "cpp": "cc cpp cxx hpp hh hxx", "csharp": "cs", "ruby": "rb",
    "php": "php", "swift": "swift", "scala": "scala", "shell": "sh bash", "elixir": "ex exs", "terraform": "tf hcl",
    "vue": "vue", "svelte": "svelte", "prisma": "prisma", "sql": "sql", "zig": "zig", "dart": "dart",
}  # fmt: skip
_BY_SUFFIX = {f".{suffix}": name for name, suffixes in _LANGUAGES.items() for suffix in suffixes.split()}
_TEST_PARTS = frozenset({"test", "tests", "testing", "__tests__", "spec", "fixtures", "testdata", "snapshots"})
_TEST_NAME = re.compile(r"(?i:test_.*\.py|conftest\.py|.*_test\.\w+|.*[._-](?:test|spec)\.\w+)|.*Tests?\.\w+")


def is_bug(labels: Iterable[str], words: Iterable[str]) -> bool:
    """Whether a label names a bug: it has one of the words and does not deny or doubt it (`not a bug`)."""
    wanted = set(words)
    return any(wanted & set(_WORD.findall(label.lower())) and not _DENIED.search(label.lower()) for label in labels)


def category_of(texts: Iterable[str]) -> Category | None:
    """The category that labels name, if one does."""
    return _first(texts, _CATEGORIES)


def severity_of(texts: Iterable[str]) -> Severity | None:
    """The severity or priority that labels name, if one does."""
    return _first(texts, _SEVERITIES)


def _first(texts: Iterable[str], table: Iterable[tuple[T, str]]) -> T | None:
    found = {word for text in texts for word in _WORD.findall(text.lower())}
    return next((value for value, words in table if found & set(words.split())), None)


def language_of(paths: Iterable[str]) -> str:
    """The language most of the files are in; `other` where none is known."""
    counts: dict[str, int] = {}
    for path in paths:
        name = _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())
        if name:
            counts[name] = counts.get(name, 0) + 1
    return max(counts, key=lambda name: (counts[name], name)) if counts else "other"


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests."""
    pure = PurePosixPath(path)
    parts = {part.lower() for part in pure.parts[:-1]}
    return bool(parts & _TEST_PARTS or _TEST_NAME.fullmatch(pure.name))


def is_code(path: str) -> bool:
    """Whether a file is code that runs: not a test, text, lock file or configuration."""
    return PurePosixPath(path).suffix.lower() in _BY_SUFFIX and not is_test(path)
