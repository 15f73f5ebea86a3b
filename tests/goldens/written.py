"""Suites written to disk for a test, and the lines of their YAML found by what they say."""

from __future__ import annotations

from pathlib import Path

BASE = "def total(prices):\n    return sum(prices)\n"
HEAD = (
    "def total(prices):\n    return sum(prices)\n\n\ndef mean(prices):\n    return total(prices) / (len(prices) - 1)\n"
)
YAML = """\
suite: tiny
version: 0.1.0
title: A suite for tests
licence: MIT
provenance: Written for the tests.
pulls:
  - id: mean-price
    language: python
    title: Show what things cost on average
    body: Adds a figure to the overview.
    source: files
    goldens:
      - id: divisor
        path: shop/prices.py
        lines: [5, 6]
        category: correctness
        severity: high
        finding: The divisor is one short, so every result is too large and a single price divides by zero.
        evidence: return total(prices) / (len(prices) - 1)
"""
PINNED = "0123456789abcdef0123456789abcdef01234567"


def write_suite(
    folder: Path, yaml: str = YAML, base: str = BASE, head: str = HEAD, path: str = "shop/prices.py"
) -> Path:
    """One suite with one pull request, `mean-price`; the path of its YAML."""
    for side, text in (("base", base), ("head", head)):
        file = folder / "mean-price" / side / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8"))
    target = folder / "suite.yaml"
    target.write_bytes(yaml.encode("utf-8"))
    return target


def changed(old: str, new: str, yaml: str = YAML) -> str:
    """The suite's YAML with one thing replaced; the thing must be there exactly once."""
    assert yaml.count(old) == 1, old
    return yaml.replace(old, new)


def line_of(text: str, yaml: str) -> int:
    """The number of the first line that holds the text."""
    return next(number for number, line in enumerate(yaml.splitlines(), 1) if text in line)
