"""Commands about suites: list, check, make. `cli_goldens_mine` mines drafts, `cli_goldens_keep` changes suites."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot import cli_goldens_confirm, cli_goldens_disputes, cli_goldens_keep, cli_goldens_mine
from bot.cli_common import CHECK_FAILED, DONE, counting, deliver, say, working, write
from bot.cli_completion import suites
from bot.cli_goldens_keep import refusing_goldens

if TYPE_CHECKING:
    from goldens.model import Suite

EXPORTS = ("json", "jsonl", "parquet")
"""As in `goldens.export`, which is loaded when it is needed; so with the names below."""
CHURN = ("none", "small", "medium", "large")
SWEBENCH_ROWS = 300
"""Rows of the test split of SWE-bench Lite, which published samples are drawn from."""
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_NEW = click.Path(path_type=Path)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_after = click.option("--after", metavar="DAY", help="Only pull requests dated after this day; undated ones go too.")
_mirror = click.option("--mirror", type=_FOLDER, help="Local clones, each at owner/name or name, with or without .git.")


@click.group()
def goldens() -> None:
    """Suites of golden pull requests: look, check, make, mine, and keep them honest.

    SUITE is the name of a suite that ships with Assay, or the path of your own. What changes a suite takes a path only.

    Example: assay goldens verify smoke
    """


for _command in cli_goldens_keep.KEEPING:
    goldens.add_command(_command)
goldens.add_command(cli_goldens_confirm.confirm)
goldens.add_command(cli_goldens_disputes.disputes)
goldens.add_command(cli_goldens_mine.mine)
COMMANDS = (goldens,)


@goldens.command("list")
@_json
def list_(as_json: bool) -> None:
    """List the suites that ship with Assay.

    Example: assay goldens list
    """
    from goldens.load import load_suite, suite_names

    with refusing_goldens(), working("reading suites"):
        rows = [_row(load_suite(name)) for name in suite_names()]
    if as_json:
        write(json.dumps(rows, indent=1))
        return
    for row in rows:
        counts = f"{row['pulls']} pull requests, {row['goldens']} goldens, {row['clean']} clean"
        write(f"{row['id']} {row['version']} {row['hash'][:12]}: {counts}; {row['title']}")


def _row(suite: Suite) -> dict[str, Any]:
    return {
        "id": suite.ref.id,
        "version": suite.ref.version,
        "hash": suite.ref.hash,
        "title": suite.title,
        "pulls": len(suite.pulls),
        "goldens": sum(len(pull.goldens) for pull in suite.pulls),
        "clean": sum(pull.clean for pull in suite.pulls),
    }


@goldens.command(short_help="Check a suite: places, evidence, wording, leaks.")
@click.argument("suite", shell_complete=suites)
@_mirror
@click.option("--drafts", is_flag=True, help="Check drafts too, as if they were confirmed.")
@_json
def verify(suite: str, mirror: Path | None, drafts: bool, as_json: bool) -> None:
    """Check a suite: places, evidence, wording, leaks; with a mirror also commits and pinned trees.

    Exits with 1 on errors.

    Example: assay goldens verify cpp16 --mirror ~/clones
    """
    from bot import goldens_desk as desk
    from goldens.fields import printable
    from goldens.findings import Level
    from goldens.keeping import promoted

    with refusing_goldens(), working(f"verifying {suite}") as stage:
        found = desk.find_suite(suite)
        progress = counting(stage, f"verifying {suite}", unit="pull requests")
        told = desk.findings(promoted(found) if drafts else found, mirror, progress)
    sound = not any(one.level is Level.ERROR for one in told)
    if as_json:
        rows = [{name: getattr(one, name) for name in ("level", "rule", "pull", "golden", "message")} for one in told]
        write(json.dumps(rows, indent=1))
    else:
        for one in told:
            write(printable(str(one)))
        counts = f"{len(found.pulls)} pull requests, {sum(len(pull.goldens) for pull in found.pulls)} goldens"
        state = "sound" if sound else "not sound"
        write(f"{found.ref.id} {found.ref.version} {found.ref.hash[:12]}: {counts}, {state}")
    sys.exit(DONE if sound else CHECK_FAILED)


@goldens.command(short_help="Count a suite: goldens, strata, sizes, audits.")
@click.argument("suite", shell_complete=suites)
@click.option("--cutoffs", type=_FILE, help="Knowledge cut-offs of models, a YAML file; see the goldens' README.")
@click.option("--cutoff", "said", multiple=True, metavar="MODEL=DAY", help="One cut-off; may be repeated.")
@_json
def stats(suite: str, cutoffs: Path | None, said: tuple[str, ...], as_json: bool) -> None:
    """Count a suite: goldens by kind, pull requests by stratum, sizes, audits.

    With cut-offs also how many goldens each model may have been trained on. Of models only what you say is known.

    Example: assay goldens stats smoke --cutoff acme/coder-2=2025-06-30
    """
    from bot import goldens_desk as desk
    from goldens.stats import as_text
    from goldens.stats import stats as counted

    with refusing_goldens(), working(f"counting {suite}"):
        seen = desk.exposures_of(suite, cutoffs, said)
        found = counted(desk.find_suite(suite))
    if as_json:
        write(json.dumps(found.record() | {"contamination": [asdict(one) for one in seen]}, indent=1))
        return
    write("\n".join([as_text(found), *map(str, seen)]))


@goldens.command()
@click.argument("source", required=False, shell_complete=suites)
@click.option("--seed", type=int, required=True, help="The same seed draws the same sample.")
@click.option("--count", type=click.IntRange(min=1), required=True, help="How many to draw.")
@click.option("--of", "total", type=click.IntRange(min=1), help=f"Rows to draw from. Default: {SWEBENCH_ROWS}.")
@click.option("--by-repository", is_flag=True, help="Let the repositories give one in turn, the largest first.")
@_after
@_json
def sample(
    source: str | None,
    seed: int,
    count: int,
    total: int | None,
    by_repository: bool,
    after: str | None,
    as_json: bool,
) -> None:
    """Draw a sample that anybody can draw again.

    Without SOURCE: row numbers from 0. With the name or path of a suite: pull requests. With a CSV file that has a
    column instance_id: instances. Seed 42 draws the published 20 and 100 rows of SWE-bench Lite; seed 7 by repository
    draws the published audit of 30 from the 100.

    Example: assay goldens sample --seed 42 --count 20
    """
    from bot import goldens_desk as desk
    from goldens import sampling

    if source is not None and total is not None:
        raise click.UsageError("--of counts rows that are not named; with a SOURCE leave it out")
    if source is None and by_repository:
        raise click.UsageError("--by-repository needs a SOURCE: a suite, or a CSV file with a column instance_id")
    if source is None and after is not None:
        raise click.UsageError("--after needs a SOURCE: a suite whose pull requests have dates")
    drawn: list[Any]
    with refusing_goldens():
        if source is None:
            drawn = list(sampling.rows(total or SWEBENCH_ROWS, count, seed))
        elif by_repository:
            drawn = [item.id for item in sampling.by_repository(desk.items(source, after), count, seed)]
        else:
            listed = desk.items(source, after)
            drawn = [listed[row].id for row in sampling.rows(len(listed), count, seed)]
    write(json.dumps(drawn) if as_json else "\n".join(map(str, drawn)))


@goldens.command(short_help="Write a suite as a data set with its card.")
@click.argument("suite", shell_complete=suites)
@click.option("--format", "form", type=click.Choice(EXPORTS), default="json", show_default=True)
@click.option("-o", "--output", type=_NEW, help="A new directory for the data and its card. Default: data to stdout.")
@_after
@click.option("--json", "as_json", is_flag=True, help="Say as JSON what was written.")
def export(suite: str, form: Any, output: Path | None, after: str | None, as_json: bool) -> None:
    """Write a suite as a data set: a row for each pull request, and a card that says what it is and cannot show.

    With --after the rows have the hash of what is left, for a score on a part is no score on the whole.

    Example: assay goldens export recognition27 --format parquet -o recognition27-data
    """
    from bot import goldens_desk as desk
    from goldens.export import export as exported
    from goldens.importers.landing import land

    if output is None and form == "parquet":
        raise click.UsageError("parquet is no text; say where to put it with -o DIRECTORY")
    if output is None and as_json:
        raise click.UsageError("--json says what was written into a directory; name one with -o")
    with refusing_goldens(), working(f"exporting {suite}"):
        chosen, told = desk.chosen(suite, after)
        files = exported(chosen, form)
        if output is not None:
            land(output, files)
    if told:
        say(told)
    if output is None:
        deliver(files[f"data.{form}"].decode("utf-8"), None)
    elif as_json:
        write(json.dumps({"directory": str(output), "files": {name: len(data) for name, data in files.items()}}))
    else:
        say(f"wrote {', '.join(files)} into {output}")


@goldens.command(short_help="Generate a suite: defects put into sound code.")
@click.option("--seed", type=int, default=42, show_default=True, help="The same seed gives the same bytes.")
@click.option(
    "--count", type=click.IntRange(min=1), default=100, show_default=True, help="Pull requests with a defect."
)
@click.option("--clean", type=click.IntRange(min=0), default=20, show_default=True, help="Pull requests without one.")
@click.option("--churn", type=click.Choice(CHURN), default="none", show_default=True, help="Other change around it.")
@click.option("-o", "--output", type=_NEW, required=True, help="A directory that does not exist.")
@_json
def synth(seed: int, count: int, clean: int, churn: Any, output: Path, as_json: bool) -> None:
    """Generate a suite: defects put into sound code by operators that know its syntax.

    Example: assay goldens synth --seed 42 --count 100 --churn large -o synthetic-large
    """
    from goldens import synth as generator

    with refusing_goldens(), working("generating") as stage:
        progress = counting(stage, "generating", unit="pull requests")
        suite = generator.main(seed, count, churn, output, clean=clean, progress=progress)
    _made(suite, output, as_json)


def _made(suite: Suite, output: Path, as_json: bool, **more: Any) -> None:
    row = _row(suite)
    if as_json:
        write(json.dumps({"directory": str(output), **row, **more}, indent=1))
        return
    write(f"{output}: {row['id']} {row['version']} {row['hash'][:12]}, {row['pulls']} pull requests, "
          f"{row['goldens']} goldens, {row['clean']} clean")  # fmt: skip


@goldens.command(short_help="Make a suite for cold review of SWE-bench rows.")
@click.argument("rows", type=_FILE)
@click.option("--mirror", type=_FOLDER, required=True, help="Local clones, each at owner/name or name.")
@click.option("-o", "--output", type=_NEW, required=True, help="A directory that does not exist.")
@click.option("--oracle", type=click.Choice(("hunk", "strict")), default="hunk", show_default=True)
@click.option("--seed", type=int, help="Draw a sample of the rows; with --count.")
@click.option("--count", type=click.IntRange(min=1), help="How many rows to draw; with --seed.")
@click.option("--suite", default="swebench-cold", show_default=True, help="The id of the suite.")
@click.option("--licence", default="NOASSERTION", show_default=True, help="SPDX expression of the copied code.")
@_json
def swebench(
    rows: Path,
    mirror: Path,
    output: Path,
    oracle: Any,
    seed: int | None,
    count: int | None,
    suite: str,
    licence: str,
    as_json: bool,
) -> None:
    """Make a suite for cold review of SWE-bench ROWS (parquet or JSON lines): the files as they were before each fix.

    A place is a hunk of the fix with its context, or (strict) a run of lines that the fix removed. If a reviewer would
    be shown the report, the fix, its tests or the places, nothing is made.

    Example: assay goldens swebench lite.parquet --mirror ~/clones --seed 42 --count 20 -o pilot
    """
    from bot import goldens_desk as desk
    from goldens.importers.swebench import read_rows
    from goldens.load import load_suite
    from goldens.sampling import rows as drawn

    if (seed is None) != (count is None):
        raise click.UsageError("--seed and --count go together")
    with refusing_goldens(), working("reading rows") as stage:
        listed = read_rows(rows)
        if seed is not None and count is not None:
            listed = tuple(listed[at] for at in drawn(len(listed), count, seed))
        stage("reading clones")
        found = desk.import_swebench(listed, mirror, output, oracle=oracle, suite=suite, licence=licence)
        made = load_suite(output)
    skipped = [{"instance": one.instance, "reason": one.reason, "detail": one.detail} for one in found.skipped]
    _made(made, output, as_json, skipped=skipped)
    for one in found.skipped if not as_json else ():
        say(f"skipped {one.instance}: {one.reason} {one.detail}".rstrip())
