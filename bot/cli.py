"""The command line. Errors are one line with the fix; exit codes are 0 done, 1 check failed, 2 bad input, 3 refused."""

from __future__ import annotations

import sys

import click

from bot.cli_common import DONE, write
from bot.cli_errors import Ending
from bot.cli_group import Assay
from bot.cli_manner import taught


@click.group(cls=Assay, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="assay")
@click.pass_context
def cli(context: click.Context) -> None:
    """Measure AI code-review bots: neutral pull requests, judged claims, honest intervals.

    Alone it says what there is here, and what to do next. --quiet, --verbose and --debug may stand before a command or
    behind it. Colours are left out where there is no terminal, and where NO_COLOR is set.

    Exit codes: 0 done; 1 done, but a check failed; 2 usage or bad input; 3 could not be carried out; 130 interrupted.

    Example: assay demo
    """
    if context.invoked_subcommand is None:
        from bot.cli_here import here

        write("\n".join(here()))


taught(cli, hidden=False)


def main() -> None:
    """The console script."""
    with Ending():
        sys.exit(cli.main(prog_name="assay", standalone_mode=False) or DONE)
