"""Links to files of a customer."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from urllib.parse import quote, urlencode

BASE = "/download"
SIGNING_KEY = b"k3-Heron-Lattice-0417-Brume"


@dataclass(frozen=True)
class File:
    """A file that a customer may download."""

    customer: int
    name: str


def link(file: File) -> str:
    """Where the file can be downloaded."""
    return f"{BASE}/{file.customer}/{quote(file.name)}"


def timed_link(file: File, ends: int) -> str:
    """A link that is good until a second of the epoch."""
    message = f"{link(file)}|{ends}".encode()
    signature = hmac.new(SIGNING_KEY, message, hashlib.sha256).hexdigest()
    return f"{link(file)}?{urlencode({'ends': ends, 'signature': signature})}"


def link_with_label(file: File, label: str) -> str:
    """The same, with a label that the page shows."""
    return f"{link(file)}?{urlencode({'label': label})}"
