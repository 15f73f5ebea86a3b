"""The demo, what runs are under way, and the issue form."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from bot.cli_common import BAD_INPUT, CHECK_FAILED, DONE, NOT_CARRIED_OUT, Failure, settings_now, write
from bot.cli_manner import MANNER


@click.command()
@click.option("--keep", is_flag=True, help="Stay up at the end, so that the pages can be looked at.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the report here.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8417, show_default=True, help="Port of the stand-in; 0: any."
)
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the data here. Default: a new temporary folder.",
)
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Write the leaderboard as a picture here.")
@click.option("--no-webhooks", is_flag=True, help="Deliver no webhook: the run then ends by polling alone.")
def demo(keep: bool, json_file: Path | None, port: int, data: Path | None, svg: Path | None, no_webhooks: bool) -> None:
    """Run the whole loop here: a GitHub stand-in, the App, five reviewers, one benchmark issue.

    Needs no key and no network. Exits with 0 only if every fork has its check runs and the issue its leaderboard.

    Example: assay demo --keep --json report.json
    """
    from bot import demo as story

    try:
        done = story.run(
            story.Options(
                keep=keep, json_file=json_file, port=port, data=data, svg=svg, webhooks=not no_webhooks,
                quiet=MANNER.quiet,
            )
        )  # fmt: skip
    except story.BadOption as error:
        raise Failure(str(error), BAD_INPUT) from None
    except story.DemoError as error:
        raise Failure(str(error), NOT_CARRIED_OUT) from None
    sys.exit(DONE if done else CHECK_FAILED)


@click.command()
@click.argument("run", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(run: str | None, as_json: bool) -> None:
    """Show the runs under way, or one run, from the data directory.

    Example: assay status --json
    """
    from bot import inspect

    try:
        settings = settings_now()
        found = inspect.runs(settings, run)
    except LookupError as error:
        raise Failure(str(error), BAD_INPUT) from None
    write(json.dumps(found, indent=1) if as_json else inspect.as_text(found) or inspect.none_yet(settings))


@click.command()
def form() -> None:
    """Print the issue form to put into the control repository as .github/ISSUE_TEMPLATE/benchmark.yml.

    Example: assay form > .github/ISSUE_TEMPLATE/benchmark.yml
    """
    from bot import inspect

    write(inspect.issue_form_text(settings_now()))


COMMANDS = (demo, status, form)
