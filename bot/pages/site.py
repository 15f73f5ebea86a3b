"""The pages as files, for a place that only serves files or for a folder on a disk."""

from __future__ import annotations

from collections.abc import Iterator

from bot.pages import views
from bot.pages.library import Library
from bot.pages.links import FileLinks, file_of
from bot.pages.paper import static_file, static_names


def files(library: Library) -> Iterator[tuple[str, bytes]]:
    """Every file of the site: (path from the top, content)."""
    yield file_of((), {}), views.runs(library, FileLinks(0)).encode()
    for card in library.runs():
        yield file_of(("runs", card.slug), {}), views.run(library, FileLinks(1), card.slug).encode()
    for name in sorted(static_names() - {"htmx.min.js", "htmx-sse.min.js"}):
        yield f"static/{name}", static_file(name)
