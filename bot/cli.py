"""The command line. Errors are one line with the fix; exit codes are 0 done, 1 check failed, 2 bad input, 3 refused."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

import click

from bot import cli_bundles, cli_goldens, cli_judges, cli_scoring, cli_site
from bot.cli_common import BAD_INPUT, CHECK_FAILED, DONE, INTERRUPTED, NOT_CARRIED_OUT, Failure, write
from bot.settings import Settings, SettingsError, load_settings


def _settings() -> Settings:
    try:
        return load_settings(os.environ, Path(".env"))
    except SettingsError as error:
        raise Failure(str(error), BAD_INPUT) from None


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="assay")
@click.pass_context
def cli(context: click.Context) -> None:
    """Measure AI code-review bots: neutral pull requests, judged claims, honest intervals.

    Exit codes: 0 done; 1 done, but a check failed; 2 usage or bad input; 3 could not be carried out; 130 interrupted.

    Example: assay demo
    """
    if context.invoked_subcommand is None:
        write("Assay measures AI code-review bots.")
        write("See the whole loop on this machine, without keys or network:  assay demo")
        write("Run the App for a real organisation (README, 'On a real organisation'):  assay serve")
        write("All commands:  assay --help")


for module in (cli_bundles, cli_scoring, cli_judges, cli_goldens, cli_site):
    for command in module.COMMANDS:
        cli.add_command(command)


@cli.command()
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
            story.Options(keep=keep, json_file=json_file, port=port, data=data, svg=svg, webhooks=not no_webhooks)
        )
    except story.BadOption as error:
        raise Failure(str(error), BAD_INPUT) from None
    except story.DemoError as error:
        raise Failure(str(error), NOT_CARRIED_OUT) from None
    sys.exit(DONE if done else CHECK_FAILED)


def _not_ready(settings: Settings) -> list[str]:
    """Everything that keeps the App from starting, a line each."""
    from bot.composition import judge_problem

    problems: list[str] = []
    for check in (lambda: settings.require("app_id", "webhook_secret"), settings.read_private_key):
        try:
            check()
        except SettingsError as error:
            problems += error.problems
    unfit = judge_problem(settings)
    return problems + ([f"ASSAY_JUDGE: {unfit}"] if unfit else [])


def _check_bind(settings: Settings) -> None:
    with socket.socket(socket.AF_INET6 if ":" in settings.bind_host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.bind_host, settings.bind_port))
        except OSError as error:
            message = f"ASSAY_BIND: cannot listen on {settings.bind}: {error.strerror}; set another host:port"
            raise Failure(message, NOT_CARRIED_OUT) from None


@cli.command()
@click.option("--verbose", is_flag=True, help="Log what is done in detail.")
def serve(verbose: bool) -> None:
    """Run the App: take deliveries and work on runs, in one process. Settings come from the environment or .env.

    Example: ASSAY_BIND=0.0.0.0:8000 assay serve
    """
    from bot import logs
    from bot.web.server import Server

    settings = _settings()
    logs.configure("DEBUG" if verbose else "INFO")
    problems = _not_ready(settings)
    if problems:
        raise Failure("\n".join(problems), BAD_INPUT)
    _check_bind(settings)
    Server(settings, level="debug" if verbose else "info").run()


@cli.command()
@click.argument("run", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(run: str | None, as_json: bool) -> None:
    """Show the runs under way, or one run, from the data directory.

    Example: assay status --json
    """
    from bot import inspect

    try:
        found = inspect.runs(_settings(), run)
    except LookupError as error:
        raise Failure(str(error), BAD_INPUT) from None
    write(json.dumps(found, indent=1) if as_json else inspect.as_text(found))


@cli.command()
def form() -> None:
    """Print the issue form to put into the control repository as .github/ISSUE_TEMPLATE/benchmark.yml.

    Example: assay form > .github/ISSUE_TEMPLATE/benchmark.yml
    """
    from bot import inspect

    write(inspect.issue_form_text(_settings()))


def main() -> None:
    """The console script."""
    try:
        sys.exit(cli.main(prog_name="assay", standalone_mode=False) or DONE)
    except Failure as failure:
        failure.show()
        sys.exit(failure.code)
    except click.ClickException as error:
        error.show()
        sys.exit(BAD_INPUT)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
