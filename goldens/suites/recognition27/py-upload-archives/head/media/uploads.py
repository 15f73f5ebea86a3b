"""Pictures that customers upload."""

from __future__ import annotations

import io
import zipfile
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


def accept_archive(content: bytes) -> list[Picture]:
    """Every picture of an uploaded archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [entry for entry in archive.namelist() if not entry.endswith("/")]
        return [accept(name, archive.read(name)) for name in names]
