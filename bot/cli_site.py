"""`assay site`: bundles as pages in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli_common import BAD_INPUT, Failure, counting, refusing, say, working, write

if TYPE_CHECKING:
    from bot.pages.shelf import Shelf

EXISTING = click.Path(exists=True, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
MODES = ("private", "anonymous", "named")
"""As in `bot.model.Publish`, which is loaded when it is needed."""
MARK = ".assay-site"
"""Lies in every folder that we wrote: such a folder may be written anew."""


@click.command()
@click.argument("bundles", nargs=-1, required=True, type=EXISTING, metavar="BUNDLE...")
@click.option("-o", "--output", required=True, type=FOLDER, help="Folder to write, all of it or nothing.")
@click.option("--publish", type=click.Choice(MODES), help="How reviewers appear. Default: as each run's plan says.")
@click.option("--force", is_flag=True, help="Replace the folder although it holds files that are not of a site.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def site(bundles: tuple[Path, ...], output: Path, publish: str | None, force: bool, as_json: bool) -> None:
    """Write pages that need no server: open index.html from the folder, or put it where files are served.

    named: everything. anonymous: figures under labels, nothing of what reviewers said and nothing about single trials.
    private: only how many trials ended in which way, and all outcomes together. Evidence of no run of ours is named.

    Example: assay site run-7.zip -o public --publish anonymous
    """
    from bot.model import Publish
    from bot.pages.shelf import Shelf

    _refuse_foreign(output, force)
    with refusing(), working("reading") as stage:
        shelf = Shelf(bundles, None if publish is None else Publish(publish))
        written = _files(shelf, stage)
        _write(output, written)
    size = sum(map(len, written.values()))
    _warn(shelf)
    if as_json:
        runs = [{"run": card.id, "publish": _mode(card.private, card.anonymous)} for card in shelf.runs()]
        write(json.dumps({"folder": str(output), "files": len(written), "bytes": size, "runs": runs}))
    else:
        write(f"{len(written)} files, {size / 1000:.0f} kB: open {output / 'index.html'}")


def _files(shelf: Shelf, stage: Callable[[str], None]) -> dict[str, bytes]:
    from bot.pages import site as pages

    found: dict[str, bytes] = {}
    progress = counting(stage, "writing", unit="files")
    for name, content in pages.files(shelf):
        found[name] = content
        progress(len(found), None)
    return found


def _write(output: Path, files: Mapping[str, bytes]) -> None:
    """In one step: an interruption leaves the old site or the new one."""
    from goldens.importers.landing import land

    land(
        output.resolve(),
        {**files, MARK: b"Written by assay site; whatever lies here is replaced with it.\n"},
        overwrite=True,
    )


def _refuse_foreign(output: Path, force: bool) -> None:
    """A folder that we did not write holds what somebody may still want.

    Raises:
        Failure: it is such a folder.
    """
    if force or not output.exists() or (output / MARK).is_file() or not any(output.iterdir()):
        return
    raise Failure(
        f"{output} holds files that are not of a site; name another folder, or give --force to replace it", BAD_INPUT
    )


def _mode(private: bool, anonymous: bool) -> str:
    return "private" if private else "anonymous" if anonymous else "named"


def _warn(shelf: Shelf) -> None:
    """Say what was held back, and where a vendor's terms have something against what was not."""
    from bot.org_suites import is_own, warning

    for card in shelf.runs():
        if is_own(card.suite):
            say(warning(card.id))
        if card.private:
            say(f"{card.id} is private: only counts were written (--publish anonymous or named shows more)")
        elif card.hidden:
            say(f"{card.id}: {card.hidden} private reviewers were left out")
    for name, terms in shelf.terms():
        say(f"{name} is named; its vendor's terms: {terms}")


COMMANDS = (site,)
