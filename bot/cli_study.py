"""`assay study`: suites x reviewers x prompts x repeats x judges, from one file to one bundle and its tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli_common import BAD_INPUT, CHECK_FAILED, DONE, Failure, counting, deliver, say, working, write
from bot.cli_completion import studies
from bot.cli_judges import refusing_judges, settings_read

if TYPE_CHECKING:
    from bot.judging.asking import Means
    from bot.judging.budget import Forecast
    from bot.judging.choosing import Chosen
    from bot.studies.beside import Guests
    from bot.studies.gathering import Verdicts
    from bot.studies.plan import Planned, Study
    from bot.studies.running import Outcome, Workshop
    from bot.studies.schema import StudyFile
    from scoring.bundle import Bundle

Json = Any
_FOLDER = click.Path(file_okay=False, path_type=Path)
_THERE = click.Path(exists=True, file_okay=False, path_type=Path)
_SHOWN = 5
"""So many reviews that failed are named."""
_JUDGE_TOKENS, _JUDGE_ANSWER = 1200, 250
"""What a call of a judge usually takes, before anybody knows what there is to judge."""
REPORTS = ("report.txt", "report.md", "report.html", "report.json")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    mirror: Path | None
    model_base: str | None
    concurrency: int | None
    max_cost: float | None
    max_calls: int | None


@click.command()
@click.argument("file", metavar="FILE.yaml", required=False, shell_complete=studies)
@click.option("-o", "--output", "folder", type=_FOLDER, help="Where everything goes.  [default: in the data directory]")
@click.option("--dry-run", is_flag=True, help="Say what would be done and what it would cost, and ask nobody.")
@click.option("--list", "listing", is_flag=True, help="Name the studies that come with Assay.")
@click.option("--table", "tables", multiple=True, metavar="KEY", help="Only this table; may be repeated.")
@click.option("--mirror", type=_THERE, help="Local clones, owner/name.git, for suites that are pinned to commits.")
@click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), help="Most US dollars; instead of the file's.")
@click.option("--max-calls", type=click.IntRange(min=0), help="Most calls of this run; instead of the file's.")
@click.option("--model-base", metavar="URL", help="Where models are asked; as ASSAY_LLM_API_BASE.")
@click.option("--concurrency", type=click.IntRange(1, 64), help="How many at a time; as ASSAY_LLM_CONCURRENCY.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def study(
    file: str | None,
    folder: Path | None,
    dry_run: bool,
    listing: bool,
    tables: tuple[str, ...],
    as_json: bool,
    **options: Json,
) -> None:
    """Run a study, and print its tables: a file, or the name of one that comes with Assay.

    Everything lands in one folder: the bundle, the report in four forms, and under work/ what is done. Started again,
    in whatever way it ended, a study goes on from there and pays for nothing twice; a changed study file redoes only
    what the change is about. Given the bundle of a study it prints the tables again. Exits with 1 where some reviews
    or verdicts are missing, and says how to go on.

    Example: assay study vibeops-small -o vibeops-small
    """
    if listing:
        _list(as_json)
        return
    if file is None:
        raise click.UsageError("name a study file, or one of --list")
    asked = Asked(**options)
    with _refusing():
        if (Path(file) / "index.json").is_file():
            _again(Path(file), tables, as_json)
            return
        made = _open(file, asked, tables)
        place = folder or settings_read().data_dir / "studies" / made.file.study
        done = _dry(made, place, asked, as_json) if dry_run else _run(made, place, asked, as_json)
    sys.exit(done)


def _list(as_json: bool) -> None:
    from bot.studies.schema import parse_study, shipped, shipped_names

    found = {name: parse_study((shipped() / f"{name}.yaml").read_bytes(), name)[0].title for name in shipped_names()}
    longest = max(map(len, found))
    lines = [f"{name:<{longest}}  {title}" for name, title in found.items()]
    write(json.dumps(found, indent=1) if as_json else "\n".join(lines))


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn what is wrong with a study into a failure that says so."""
    from bot.adapters.git_bytes import GitError
    from bot.reviewers.options import ReviewerProblem
    from bot.studies.schema import StudyError
    from goldens.leakage import Leak
    from goldens.located import SuiteError

    with refusing_judges():
        try:
            yield
        except (StudyError, SuiteError, ReviewerProblem, GitError) as error:
            raise Failure(str(error), BAD_INPUT) from None
        except Leak as error:
            raise Failure(f"the study is void, for {error}", CHECK_FAILED) from None


def _again(bundle: Path, tables: tuple[str, ...], as_json: bool) -> None:
    """The tables of a study's bundle: they are a function of it and of nothing else."""
    from bot.analysis.formats import Form, render
    from bot.analysis.opening import open_bundle
    from bot.studies.report import document
    from bot.studies.tables import checked

    made = document(open_bundle(bundle), checked(tables))
    deliver(render(made, Form.JSON if as_json else Form.TABLE), None)


def _open(file: str, asked: Asked, tables: tuple[str, ...]) -> Study:
    from bot.studies.plan import open_study
    from bot.studies.tables import checked

    made = open_study(file)
    if checked(tables):
        made = replace(made, file=made.file.model_copy(update={"tables": tables}))
    budget = made.file.budget
    limits = {"max_cost": asked.max_cost or budget.max_cost, "max_calls": asked.max_calls}
    if asked.max_calls is None:
        limits["max_calls"] = budget.max_calls
    return replace(made, file=made.file.model_copy(update={"budget": budget.model_copy(update=limits)}))


# --- what it takes


@dataclass(frozen=True, slots=True)
class Ready:
    """A study with everything it takes."""

    study: Study
    shop: Workshop
    means: Means
    judges: tuple[Chosen, ...]
    guests: Guests
    wanted: tuple[Planned, ...]


def _ready(made: Study, place: Path, asked: Asked, *, dry: bool = False) -> Ready:
    from bot.adapters.llm import LiteLlm, Unasked
    from bot.adapters.replies import SqliteReplies
    from bot.judging import choosing, store
    from bot.judging.budget import Limits
    from bot.reviewers.choose import models_of
    from bot.reviewers.means import ReviewMeans
    from bot.studies.beside import guests_of
    from bot.studies.gathering import judges_of
    from bot.studies.models import Answers, StudyModel
    from bot.studies.running import Room, Workshop
    from bot.studies.schema import StudyError

    settings, file = settings_read(), made.file
    model = StudyModel((Unasked if dry else LiteLlm)(asked.model_base or settings.llm_api_base), file.prices)
    room = Room(place / "work")
    means = store.means_of(
        model,
        Answers(SqliteReplies(room.replies)),
        Limits(file.budget.max_cost, file.budget.max_calls),
        concurrency=asked.concurrency or settings.llm_concurrency,
        account=f"study:{file.study}",
    )
    judges, guests = judges_of(made, model), guests_of(made, made.folder)
    asking = frozenset().union(*(models_of(one.spec) for one in made.conditions), *map(choosing.models_of, judges))
    means.budget.check(sorted(asking))
    try:
        shop = Workshop(made, room, ReviewMeans(asking=means), _trees(made, asked.mirror))
    except StudyError:
        raise
    except ValueError as error:
        raise Failure(str(error), BAD_INPUT) from None
    return Ready(made, shop, means, judges, guests, tuple(made.reviews()))


def _trees(made: Study, mirror: Path | None) -> dict[Any, Any]:
    from bot.adapters.mirrors import read_pins

    found: dict[Any, Any] = {}
    for part in made.parts if mirror is not None else ():
        assert mirror is not None
        found |= read_pins(part.suite, mirror)[0]
    return found


def _estimate(ready: Ready) -> tuple[Forecast, int]:
    return ready.shop.forecast(ready.wanted)


def _judging(ready: Ready) -> dict[str, Json]:
    """What judging may take: at most one call or two for each review, of a size that such calls have."""
    from bot.judging.choosing import models_of

    calls, total = 0, 0.0
    known = True
    for entry, chosen in zip(ready.study.judges, ready.judges, strict=True):
        for model in models_of(chosen):
            many = len(ready.wanted) * entry.orders
            price = ready.means.model.price(model, _JUDGE_TOKENS, _JUDGE_ANSWER)
            calls, known = calls + many, known and price is not None
            total += many * (price or 0.0)
    return {"calls_at_most": calls, "rough_cost": total if known else None}


def _priced(found: Forecast) -> str:
    if found.likely_cost is None or found.most_cost is None:
        return "at an unknown price"
    return f"about ${found.likely_cost:.4f}, at most ${found.most_cost:.4f}"


def _dry(made: Study, place: Path, asked: Asked, as_json: bool) -> int:
    ready = _ready(made, place, asked, dry=True)
    with working("estimating"):
        found, tools = _estimate(ready)
    ready.means.replies.close()
    plan = {
        "study": made.file.study,
        "folder": str(place),
        "suites": {part.suite.ref.id: len(part.pulls) for part in made.parts},
        "conditions": [one.id for one in made.conditions],
        "judges": [one.judge for one in made.judges],
        "reviews": len(ready.wanted),
        "to_do": {
            "reviews_by_tools": tools,
            "calls": found.calls,
            "prompt_tokens": found.prompt_tokens,
            "likely_cost": found.likely_cost,
            "most_cost": found.most_cost,
            "judging": _judging(ready),
        },
        "budget": {"max_cost": made.file.budget.max_cost, "max_calls": made.file.budget.max_calls},
    }
    write(json.dumps(plan, indent=1) if as_json else _told(plan, found))
    return DONE


def _told(plan: dict[str, Json], found: Forecast) -> str:
    suites = ", ".join(f"{name} ({many} pull requests)" for name, many in plan["suites"].items())
    lines = [
        f"{plan['study']}: {plan['reviews']} reviews on {suites}",
        f"conditions: {', '.join(plan['conditions'])}",
        f"judges: {', '.join(plan['judges'])}",
        f"to do: {plan['to_do']['reviews_by_tools']} reviews by tools, {found.calls} calls with {found.prompt_tokens} "
        f"prompt tokens, {_priced(found)}",
        _judging_told(plan["to_do"]["judging"]),
        f"everything goes to {plan['folder']}",
    ]
    return "\n".join(lines)


def _judging_told(judging: dict[str, Json]) -> str:
    if not judging["calls_at_most"]:
        return "judging asks no model"
    cost = judging["rough_cost"]
    price = "at an unknown price" if cost is None else f"roughly ${cost:.4f}"
    return f"judging: at most {judging['calls_at_most']} calls, {price}; told again once the reviews are there"


# --- running


def _run(made: Study, place: Path, asked: Asked, as_json: bool) -> int:
    from bot.studies.gathering import finished, judged, unjudged
    from bot.studies.running import review_all
    from goldens.importers.folder import write_bundle

    ready = _ready(made, place, asked)
    with working("reading what is done") as stage, _stoppable():
        found, tools = _estimate(ready)
        if found.calls or tools:
            say(f"{tools} reviews by tools and {found.calls} calls to make, {_priced(found)}")
        outcomes = review_all(ready.shop, ready.wanted, ready.means, counting(stage, "reviewing", unit="reviews"))
        bundle, record = unjudged(made, outcomes, ready.guests)
        _announce(ready, bundle)
        means = replace(ready.means, progress=counting(stage, "judging"))
        verdicts = judged(bundle, ready.judges, means, seconds=made.file.latency)
        stage("making the tables")
        whole = finished(bundle, record, verdicts.sets)
        write_bundle(whole, place / "bundle", overwrite=True)
        text = _report(whole, made.file, place, outcomes, as_json)
    ready.means.replies.close()
    deliver(text, None)
    return _ended(ready, outcomes, verdicts, place)


def _announce(ready: Ready, bundle: Bundle) -> None:
    from bot.judging import store

    for chosen in ready.judges:
        found = store.forecasts(bundle, chosen, ready.means, None)
        if found.calls:
            say(f"{found.calls} calls of a judge to make, {found.prompt_tokens} prompt tokens, {_priced(found)}")


def _report(whole: Bundle, file: StudyFile, place: Path, outcomes: tuple[Outcome, ...], as_json: bool) -> str:
    """Write the report in every form, and give back the one to print."""
    from bot.analysis.formats import BY_SUFFIX, Form, render
    from bot.studies.report import document

    made = document(whole, file.tables)
    for name in REPORTS:
        deliver(render(made, BY_SUFFIX[Path(name).suffix]), place / name)
    _keep_times(place, outcomes)
    return str(render(made, Form.JSON if as_json else Form.TABLE))


def _keep_times(place: Path, outcomes: tuple[Outcome, ...]) -> None:
    """What was measured, beside the report: no two runs take the same time."""
    from bot.analysis.formats import Form, render
    from bot.studies.report import timing

    made = timing(outcomes)
    deliver(render(made, Form.TABLE), place / "timing.txt")
    deliver(render(made, Form.JSON), place / "timing.json")


def _ended(ready: Ready, outcomes: tuple[Outcome, ...], verdicts: Verdicts, place: Path) -> int:
    """Say what is missing and how to go on."""
    for line in verdicts.warnings:
        say(line)
    failed = [one for one in outcomes if one.review.failed]
    for one in failed[:_SHOWN]:
        say(f"no review: {one.planned.condition.id} on {one.planned.pull.id}: {one.review.failed}")
    for line in verdicts.unscored[:_SHOWN]:
        say(f"not judged: {line}")
    spent = f"; ${ready.means.budget.cost:.4f} spent so far" if ready.means.budget.cost else ""
    say(f"bundle, report and timing are in {place}{spent}")
    if not (failed or verdicts.unscored):
        return DONE
    what = f"{len(failed)} of {len(outcomes)} reviews and {len(verdicts.unscored)} verdicts are missing"
    if ready.shop.stopped or any("budget: " in line for line in verdicts.unscored):
        say(f"{what}: the budget is used up; raise --max-cost or --max-calls (or `budget`) and run the same again")
    else:
        say(f"{what}; run the same again to try them once more, and nothing else is paid for")
    return CHECK_FAILED


@contextmanager
def _stoppable() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        say("stopped; what is done is kept, and the same command goes on from there")
        raise


COMMANDS = (study,)
