"""Previews below a message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.request import urlopen

LINK = re.compile(r"https?://[^\s<>\"]{1,2000}")
TITLE = re.compile(r"<title>([^<]{1,300})</title>", re.IGNORECASE)
MOST = 200_000


@dataclass(frozen=True)
class Preview:
    """What is shown of a link."""

    link: str
    title: str


def first_link(message: str) -> str | None:
    """The first link of a message."""
    found = LINK.search(message)
    return found.group() if found else None


def title_of(page: str) -> str:
    """The title of a page, or nothing."""
    found = TITLE.search(page)
    return found.group(1).strip() if found else ""


def preview(message: str) -> Preview | None:
    """The preview of a message, if it has a link."""
    link = first_link(message)
    if link is None:
        return None
    with urlopen(link, timeout=5) as answer:
        page = answer.read(MOST).decode("utf-8", errors="replace")
    return Preview(link, title_of(page))
