"""What people doubt on the pages, listed and put into a suite."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from bot.cli_common import say, working, write
from bot.cli_goldens_keep import refusing_goldens

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="List the doubts raised on the pages, or apply them.")
@click.argument("file", type=_FILE)
@click.option("--apply", "suite", metavar="SUITE", help="Put them into this suite of yours, and count its version up.")
@click.option("--golden", "only", multiple=True, metavar="GOLDEN", help="Only doubts about this golden; repeat it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def disputes(file: Path, suite: str | None, only: tuple[str, ...], as_json: bool) -> None:
    """List the doubts that people raised on the pages (DATA/disputes/SUITE.jsonl), or put them into a suite.

    A golden that is in doubt stays scored and is named as doubted. A suite that ships with Assay is never changed:
    copy it, and put the doubts into the copy.

    Example: assay goldens disputes data/disputes/smoke.jsonl --apply my-smoke/suite.yaml
    """
    from bot import disputes as doubts
    from bot import goldens_desk as desk
    from bot.render.text import clean
    from goldens.edit import SuiteText

    with refusing_goldens():
        found = [one for one in doubts.read(file.read_bytes(), str(file)) if not only or one.golden in only]
        if suite is None:
            rows = [f"{one.when[:10]} {clean(one.who, 80)}: {one.golden}: {clean(one.reason, 200)}" for one in found]
            write(json.dumps([asdict(one) for one in found], indent=1) if as_json else "\n".join(rows) or "no doubt")
            return
        refused: list[str] = []

        def deed(text: SuiteText) -> None:
            refused.extend(doubts.put(text, found))

        with working(f"changing {suite}"):
            done = desk.change(suite, deed)
    if as_json:
        write(json.dumps({**done.record(), "put": len(found) - len(refused), "refused": refused}, indent=1))
        return
    write(f"{len(found) - len(refused)} put into {done.path}, now {done.after.ref.version}")
    for one in refused:
        say(one)
