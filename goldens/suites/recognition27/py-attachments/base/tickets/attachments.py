"""Files that belong to tickets."""

from __future__ import annotations

import secrets
from pathlib import Path


class Attachments:
    """Attachments, a directory for each ticket."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def add(self, ticket: int, suffix: str, content: bytes) -> str:
        """Store a file under a fresh name; the name."""
        name = secrets.token_hex(8) + ("." + suffix if suffix.isalnum() else "")
        folder = self._root / str(ticket)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        return name

    def names(self, ticket: int) -> list[str]:
        """The attachments of a ticket."""
        folder = self._root / str(ticket)
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
