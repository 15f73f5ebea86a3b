"""Pictures that customers upload."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

MOST_BYTES = 20_000_000
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp"})


@dataclass(frozen=True)
class Picture:
    """One picture as it came in."""

    name: str
    content: bytes


def accept(name: str, content: bytes) -> Picture:
    """One uploaded file as a picture."""
    if PurePosixPath(name).suffix.lower() not in SUFFIXES:
        raise ValueError(f"{name!r} is no picture")
    if len(content) > MOST_BYTES:
        raise ValueError(f"{name!r} is larger than {MOST_BYTES} bytes")
    return Picture(PurePosixPath(name).name, content)
