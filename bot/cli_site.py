"""`assay site`: bundles as pages in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bot.cli_common import deliver, refusing, working, write

EXISTING = click.Path(exists=True, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("bundles", nargs=-1, required=True, type=EXISTING, metavar="BUNDLE...")
@click.option(
    "-o", "--output", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def site(bundles: tuple[Path, ...], output: Path, as_json: bool) -> None:
    """Write pages that need no server: open index.html from the folder, or put it where files are served.

    Example: assay site run-7.zip -o public
    """
    from bot.pages import site as pages
    from bot.pages.shelf import Shelf

    written = {"files": 0, "bytes": 0}
    with refusing(), working("writing pages"):
        for name, content in pages.files(Shelf(bundles)):
            target = output / name
            target.parent.mkdir(parents=True, exist_ok=True)
            deliver(content, target)
            written = {"files": written["files"] + 1, "bytes": written["bytes"] + len(content)}
    if as_json:
        write(json.dumps({"folder": str(output), **written}))
    else:
        write(f"{written['files']} pages and pictures, {written['bytes'] / 1000:.0f} kB: open {output / 'index.html'}")


COMMANDS = (site,)
