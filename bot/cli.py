"""The command line. Errors are one line with the fix; exit codes are 0 done, 1 check failed, 2 bad input, 3 refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import IO, Any

import click

from bot.settings import Settings, SettingsError, load_settings

DONE, CHECK_FAILED, BAD_INPUT, NOT_CARRIED_OUT, INTERRUPTED = 0, 1, 2, 3, 130


class Failure(click.ClickException):
    """An error said in one line, with the exit code that fits it."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    def show(self, file: IO[Any] | None = None) -> None:
        """Say it on stderr, one line a problem."""
        for line in self.message.splitlines():
            click.echo(f"assay: {line}", err=True, file=file)


def _settings() -> Settings:
    try:
        return load_settings(os.environ, Path(".env"))
    except SettingsError as error:
        raise Failure(str(error), BAD_INPUT) from None


def _write(text: str) -> None:
    click.echo(text)


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="assay")
@click.pass_context
def cli(context: click.Context) -> None:
    """Measure AI code-review bots: neutral pull requests, judged claims, honest intervals.

    Exit codes: 0 done; 1 done, but a check failed; 2 usage or bad input; 3 could not be carried out; 130 interrupted.

    Example: assay demo
    """
    if context.invoked_subcommand is None:
        _write("Assay measures AI code-review bots.")
        _write("See the whole loop on this machine, without keys or network:  assay demo")
        _write("Run the App for a real organisation (README, 'On a real organisation'):  assay serve")
        _write("All commands:  assay --help")


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
    except story.DemoError as error:
        raise Failure(str(error), NOT_CARRIED_OUT) from None
    sys.exit(DONE if done else CHECK_FAILED)


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
    try:
        settings.require("app_id", "webhook_secret")
        settings.read_private_key()
    except SettingsError as error:
        raise Failure(str(error), BAD_INPUT) from None
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
    _write(json.dumps(found, indent=1) if as_json else inspect.as_text(found))


@cli.command()
@click.argument("bundle", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--profile", type=click.Choice(["assay"]), default="assay", show_default=True)
@click.option("--judge", default="lexical", show_default=True, help="Judge anew with this judge.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def rescore(bundle: Path, profile: str, judge: str, as_json: bool) -> None:
    """Score stored evidence again: no GitHub, no key.

    Example: assay rescore assay-data/bundles/1234-1 --json
    """
    from bot import inspect
    from scoring.bundle import BundleError

    try:
        text, table = inspect.rescore(bundle, judge)
    except (BundleError, ValueError) as error:
        raise Failure(str(error), BAD_INPUT) from None
    _write(text if as_json else table)


@cli.command()
def form() -> None:
    """Print the issue form to put into the control repository as .github/ISSUE_TEMPLATE/benchmark.yml.

    Example: assay form > .github/ISSUE_TEMPLATE/benchmark.yml
    """
    from bot import inspect

    _write(inspect.issue_form_text(_settings()))


@cli.group()
def goldens() -> None:
    """Look at the suites of golden pull requests.

    Example: assay goldens verify smoke
    """


@goldens.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def goldens_list(as_json: bool) -> None:
    """List the suites that ship with Assay.

    Example: assay goldens list
    """
    from goldens.load import load_suite, suite_names

    suites = [load_suite(name) for name in suite_names()]
    rows: list[dict[str, Any]] = [
        {
            "id": suite.ref.id,
            "version": suite.ref.version,
            "hash": suite.ref.hash,
            "pulls": len(suite.pulls),
            "goldens": sum(len(pull.goldens) for pull in suite.pulls),
            "clean": sum(pull.clean for pull in suite.pulls),
        }
        for suite in suites
    ]
    if as_json:
        _write(json.dumps(rows, indent=1))
        return
    for row in rows:
        _write(
            f"{row['id']} {row['version']}: {row['pulls']} pull requests, "
            f"{row['goldens']} goldens, {row['clean']} clean"
        )


@goldens.command("verify")
@click.argument("suite")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def goldens_verify(suite: str, as_json: bool) -> None:
    """Check a suite, by name or path: places, evidence, wording, leaks. Exits with 1 on errors.

    Example: assay goldens verify smoke
    """
    from bot import inspect
    from goldens.schema import SuiteError

    try:
        text, sound = inspect.verify_suite(suite, as_json)
    except SuiteError as error:
        raise Failure(str(error), BAD_INPUT) from None
    _write(text)
    sys.exit(DONE if sound else CHECK_FAILED)


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
