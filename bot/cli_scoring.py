"""Commands that count: under any profile, as a leaderboard, two reviewers, overlap, and how many it takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bot.cli_common import CHECK_FAILED, DONE, NOT_CARRIED_OUT, Failure, deliver, refusing, say, working
from bot.cli_completion import judges

if TYPE_CHECKING:
    from bot.analysis.sheet import Document

PROFILES = ("assay", "martian", "cpp16", "vibeops", "codevetter", "crbench", "swe")
"""As in `scoring.profiles`, which is loaded when it is needed; so with the names below."""
FORMS = ("table", "markdown", "csv", "json", "html", "xlsx")
KEYS = ("language", "category", "severity", "size")
PICTURES = ("forest", "precision-recall", "cost", "sweep")
DIFFERENCES = (0.05, 0.1, 0.2)
_THERE = click.Path(exists=True, path_type=Path)
_NEW = click.Path(dir_okay=False, path_type=Path)
_F = TypeVar("_F", bound=Callable[..., Any])
_judge = click.option(
    "--judge", shell_complete=judges, help="Whose answers to count: one stored in the bundle, or `lexical`, asked now."
)
_seed = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For resampling.")
_by = click.option("--by", type=click.Choice(KEYS), help="Also give the figures by this.")
_per_pull = click.option("--per-pr", "per_pull", is_flag=True, help="Also give the counts of each pull request.")


@dataclass(frozen=True, slots=True)
class Output:
    """Where a result goes, and how."""

    form: str
    file: Path | None
    plot: Path | None


def _output(command: _F) -> _F:
    """The options that every command here has."""
    options = (
        click.option("--json", "as_json", is_flag=True, help="Print JSON; the same as --format json."),
        click.option("--format", "form", type=click.Choice(FORMS), help="Default: by the file's name, else table."),
        click.option("-o", "--output", "file", type=_NEW, help="Write the result into this file."),
        click.option("--plot", type=_NEW, metavar="FILE.svg", help="Draw a picture into this file."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _asked(as_json: bool, form: str | None, file: Path | None, plot: Path | None) -> Output:
    """Check the output options before any work is done."""
    from bot.analysis.formats import BY_SUFFIX

    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} say different things; leave one out")
    named = BY_SUFFIX.get(file.suffix.lower()) if file is not None else None
    chosen = "json" if as_json else form or (named.value if named else "table")
    if chosen == "xlsx" and file is None:
        raise click.UsageError("a workbook is no text; say where to put it with -o FILE.xlsx")
    if plot is not None and plot.suffix.lower() != ".svg":
        raise click.UsageError(f"--plot draws SVG; call the file {plot.stem}.svg")
    return Output(chosen, file, plot)


def _finish(document: Document, output: Output, draw: Callable[[], str]) -> None:
    """Write the picture, then the result."""
    from bot.analysis.formats import Form, render

    if output.plot is not None:
        with refusing(), working("drawing"):
            deliver(draw(), output.plot)
    deliver(render(document, Form(output.form)), output.file)


@click.command()
@click.argument("bundle", type=_THERE)
@click.option("--profile", type=click.Choice(PROFILES), default="assay", show_default=True, help="Whose rules.")
@_judge
@click.option("-O", "options", multiple=True, metavar="KEY=VALUE", help="An option of the profile; may be repeated.")
@_output
def rescore(
    bundle: Path,
    profile: str,
    judge: str | None,
    options: tuple[str, ...],
    as_json: bool,
    form: str | None,
    file: Path | None,
    plot: Path | None,
) -> None:
    """Score stored evidence again, under our rules or those of a published system: no GitHub, no key.

    A bundle that holds several judges has no default one, for the judge moves the figures. Ends with the profile's own
    exit code where it has gates (codevetter: 2).

    Example: assay rescore bundle --profile codevetter -O rules=agent_pr -O min_rate=0.5 --json
    """
    from bot.analysis import drawing, profiled
    from bot.analysis.opening import open_bundle, under

    output = _asked(as_json, form, file, plot)
    with refusing(), working(f"scoring {bundle}"):
        result = under(open_bundle(bundle), profile, judge, _options(options))
        document = profiled.document(result)
    _finish(document, output, lambda: drawing.of_profile(result))
    for failure in result.failures:
        say(failure)
    raise SystemExit(result.exit_code)


def _options(given: tuple[str, ...]) -> dict[str, Any]:
    """Options of a profile. A value that is a JSON list or object is read as one; anything else is text."""
    found: dict[str, Any] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key:
            raise click.UsageError(f"-O {one}: write it as KEY=VALUE")
        if key in found:
            raise click.UsageError(f"-O {key} is given twice")
        try:
            found[key] = json.loads(value) if value[:1] in ("[", "{") else value
        except ValueError as error:
            raise click.UsageError(f"-O {key}: no JSON: {error}") from None
    return found


@click.command()
@click.argument("bundles", type=_THERE, nargs=-1, required=True, metavar="BUNDLE...")
@_judge
@_by
@_per_pull
@_seed
@click.option("--picture", type=click.Choice(PICTURES), default="forest", show_default=True, help="What --plot draws.")
@_output
def leaderboard(
    bundles: tuple[Path, ...],
    judge: str | None,
    by: str | None,
    per_pull: bool,
    seed: int,
    picture: str,
    as_json: bool,
    form: str | None,
    file: Path | None,
    plot: Path | None,
) -> None:
    """Rank the reviewers of one or more bundles, with ties where the evidence does not separate them.

    Intervals resample whole pull requests. Bundles of one suite share its pull requests; those of other suites add
    theirs. A trial that did not run is not scored; coverage and the recall if unrun trials were misses stand beside.
    Pictures: forest (F1 with intervals), precision-recall (with lines of equal F1), cost (against F1, with the Pareto
    front), sweep (hits by tolerance in lines). CSV holds one table: the strata or pull requests if asked for.

    Example: assay leaderboard bundle --by language --format markdown --plot f1.svg
    """
    from bot.analysis import drawing, figures
    from bot.analysis import leaderboard as page
    from bot.analysis.opening import open_scored

    output = _asked(as_json, form, file, plot)
    if output.form == "csv" and by and per_pull:
        raise click.UsageError("CSV holds one table; leave out --by or --per-pr")
    with refusing(), working("scoring") as stage:
        scored = open_scored(bundles, judge)
        stage("resampling pull requests")
        board = figures.board(scored, seed)
        document = page.document(board, by, per_pull)
    _finish(document, output, lambda: drawing.of_board(board, drawing.Picture(picture)))


@click.command()
@click.argument("bundle", type=_THERE)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--against", type=_THERE, help="Take B from this bundle of the same suite: an earlier release.")
@click.option("--fail-if-worse", is_flag=True, help="End with 1 if A is significantly worse than B, and only then.")
@_judge
@_by
@_per_pull
@_seed
@_output
def compare(
    bundle: Path,
    first: str,
    second: str,
    against: Path | None,
    fail_if_worse: bool,
    judge: str | None,
    by: str | None,
    per_pull: bool,
    seed: int,
    as_json: bool,
    form: str | None,
    file: Path | None,
    plot: Path | None,
) -> None:
    """Say whether reviewer A is ahead of B, on the pull requests both were scored on.

    A is worse where the 95% interval of the F1 difference lies below 0. With --fail-if-worse that ends with exit code
    1; not separated ends with 0; and 3 means that the two share nothing to compare, so the gate could not be held.

    Example: assay compare bundle our-bot other-bot --fail-if-worse
    """
    from bot.analysis import comparison, drawing
    from bot.analysis.opening import open_against, open_scored

    output = _asked(as_json, form, file, plot)
    if output.form == "csv" and by and per_pull:
        raise click.UsageError("CSV holds one table; leave out --by or --per-pr")
    with refusing(), working("comparing"):
        if against is None:
            scored = open_scored([bundle], judge)
        else:
            scored, second = open_against(bundle, first, against, second, judge)
        made = comparison.versus(scored, first, second, seed)
        document = comparison.document(made, by, per_pull)
    _finish(document, output, lambda: drawing.of_comparison(made))
    if fail_if_worse and not made.comparable:
        raise Failure(made.result.sentence, NOT_CARRIED_OUT)
    raise SystemExit(CHECK_FAILED if fail_if_worse and made.worse else DONE)


@click.command()
@click.argument("bundles", type=_THERE, nargs=-1, required=True, metavar="BUNDLE...")
@click.option("--first", help="Which second reviewer adds most to this one; default: to each.")
@_judge
@_seed
@_output
def overlap(
    bundles: tuple[Path, ...],
    first: str | None,
    judge: str | None,
    seed: int,
    as_json: bool,
    form: str | None,
    file: Path | None,
    plot: Path | None,
) -> None:
    """Say what reviewers find together and alone, which second one adds most, and how many defects nobody found.

    Example: assay overlap bundle --first our-bot --plot overlap.svg
    """
    from bot.analysis import drawing, together
    from bot.analysis.opening import open_scored

    output = _asked(as_json, form, file, plot)
    with refusing(), working("scoring") as stage:
        scored = open_scored(bundles, judge)
        stage("comparing finds")
        made = together.together(scored, seed, first)
        document = together.document(made)
    _finish(document, output, lambda: drawing.of_overlap(made))


@click.command()
@click.argument("bundle", type=_THERE, required=False)
@click.argument("reviewers", nargs=-1, metavar="[A B]")
@click.option(
    "--difference", "differences", multiple=True, type=float, help="Of recall; may be repeated. [0.05 0.1 0.2]"
)
@click.option("--power", type=float, default=0.8, show_default=True, help="The chance to tell it.")
@click.option(
    "--discordance", type=float, help="Without a bundle: the share of goldens that only one of the two finds."
)
@click.option("--goldens-per-pr", "per_pull", type=float, default=1.0, show_default=True, help="Without a bundle.")
@click.option(
    "--correlation", type=float, default=0.0, show_default=True, help="Without a bundle: of one pull request's."
)
@_judge
@_output
def power(
    bundle: Path | None,
    reviewers: tuple[str, ...],
    differences: tuple[float, ...],
    power: float,
    discordance: float | None,
    per_pull: float,
    correlation: float,
    judge: str | None,
    as_json: bool,
    form: str | None,
    file: Path | None,
    plot: Path | None,
) -> None:
    """Say how many pull requests it takes to tell two reviewers apart.

    A bundle is the pilot: it says how often two reviewers differ, and how alike the goldens of a pull request are.
    Without one, suppose both.

    Example: assay power --difference 0.1 --discordance 0.3 --goldens-per-pr 3 --correlation 0.1
    """
    from bot.analysis import drawing, sample
    from bot.analysis.opening import open_scored

    output = _asked(as_json, form, file, plot)
    if bundle is None and discordance is None:
        raise click.UsageError("name a bundle as pilot, or suppose one: --discordance SHARE")
    wanted = differences or DIFFERENCES
    with refusing(), working("planning"):
        if bundle is not None:
            made = sample.from_bundle(open_scored([bundle], judge), reviewers, wanted, power)
        else:
            assert discordance is not None
            made = sample.supposed(discordance, per_pull, correlation, wanted, power)
        document = sample.document(made)
    _finish(document, output, lambda: drawing.of_power(made))


COMMANDS = (rescore, leaderboard, compare, overlap, power)
