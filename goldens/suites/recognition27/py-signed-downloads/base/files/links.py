"""Links to files of a customer."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

BASE = "/download"


@dataclass(frozen=True)
class File:
    """A file that a customer may download."""

    customer: int
    name: str


def link(file: File) -> str:
    """Where the file can be downloaded."""
    return f"{BASE}/{file.customer}/{quote(file.name)}"


def link_with_label(file: File, label: str) -> str:
    """The same, with a label that the page shows."""
    return f"{link(file)}?{urlencode({'label': label})}"
