"""Commands about judges: add one's verdicts to a bundle, measure one, decide in person."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bot.cli_common import (
    BAD_INPUT,
    CHECK_FAILED,
    DONE,
    NOT_CARRIED_OUT,
    Failure,
    counting,
    deliver,
    refusing,
    say,
    working,
    write,
)
from bot.cli_completion import judges

if TYPE_CHECKING:
    from bot.judging.asking import Means
    from bot.judging.choosing import Chosen
    from bot.judging.terminal import Walk
    from bot.judging.trials import Contexts
    from bot.ports import Model
    from bot.settings import Settings
    from scoring.bundle import Bundle, JudgementSet

Json = Any
RUBRICS = ("match", "vibeops", "crbench")
"""As in `scoring.judges.rubrics`, which is loaded when it is needed."""
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)
_F = TypeVar("_F", bound=Callable[..., Any])
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_bundle = click.argument("folder", metavar="BUNDLE", type=_FOLDER)


def _asking(command: _F) -> _F:
    """The options of commands that may ask a model."""
    options = (
        click.option("--orders", type=click.IntRange(1, 2), default=1, show_default=True, help="Ask in both orders."),
        click.option("--context", is_flag=True, help="Show the model the diff around the lines in question."),
        click.option("--mirror", type=_FOLDER, help="Local clones, owner/name.git, for --context of pinned suites."),
        click.option("--canaries/--no-canaries", default=True, show_default=True, help="Mix in known answers."),
        click.option("--rubric", type=click.Choice(RUBRICS), default="match", show_default=True, help="What to ask."),
        click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), help="Most US dollars to spend."),
        click.option("--max-calls", type=click.IntRange(min=0), help="Most calls to make."),
        click.option("--model-base", metavar="URL", help="Where the model is asked; as ASSAY_LLM_API_BASE."),
        click.option("--concurrency", type=click.IntRange(1, 64), help="Calls at a time; as ASSAY_LLM_CONCURRENCY."),
        click.option("--cache", type=_FILE, help="Where answers are kept.  [default: judge-cache.db beside BUNDLE]"),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@_bundle
@click.option(
    "--judge",
    "name",
    required=True,
    shell_complete=judges,
    help="lexical, litellm:provider/model, panel:a,b, human:FILE ...",
)
@_asking
@click.option("--again", is_flag=True, help="Replace what a judge of that name said before.")
@click.option("--dry-run", is_flag=True, help="Say what it would take, and ask nobody.")
@_json
def judge(folder: Path, name: str, again: bool, dry_run: bool, as_json: bool, **options: Json) -> None:
    """Judge a bundle's claims, and add the verdicts to it. Other judges' verdicts stay as they are.

    Answers are kept: a second run costs nothing, and one that was stopped by a limit, a kill or a failure goes on
    where it was. Exits with 1 if some trials could not be judged.

    Example: assay judge bundle --judge litellm:openai/gpt-4o --orders 2 --max-cost 5
    """
    from bot.judging import choosing, store
    from bot.judging.keeping import keep

    with refusing_judges():
        bundle, chosen, means, contexts = _ready(folder, name, options, dry=dry_run)
        if not isinstance(chosen, choosing.Stored) and _held(bundle, chosen, again):
            raise Failure(f"{folder} holds judgements of {store.name_of(chosen)}; --again replaces them", BAD_INPUT)
        _announce(bundle, chosen, means, contexts, always=dry_run)
        if dry_run:
            return
        with working(f"judging with {name}") as stage, _stoppable():
            means = replace(means, progress=counting(stage, f"judging with {name}"))
            judged = choosing.judge_with(bundle, chosen, means, contexts)
        means.replies.close()
        keep(folder, [judged.said], replace=store.again_allowed(bundle, judged.said.judge, again))
    for line in (*judged.said.details.get("warnings", ()), *judged.unscored[:10]):
        say(line)
    write(json.dumps(_told(judged), indent=1) if as_json else _line(judged))
    sys.exit(CHECK_FAILED if judged.unscored else DONE)


def _held(bundle: Bundle, chosen: Chosen, again: bool) -> bool:
    from bot.judging import store

    name = store.name_of(chosen)
    return any(one.judge == name for one in bundle.judgements) and not store.again_allowed(bundle, name, again)


def _told(judged: Any) -> dict[str, Json]:
    said: JudgementSet = judged.said
    counts: dict[str, int] = {}
    for trial in said.trials:
        for one in trial.judgements:
            counts[one.verdict.value] = counts.get(one.verdict.value, 0) + 1
    keys = ("calls", "prompt_tokens", "completion_tokens", "cost", "trusted", "decoys_right", "decoys_wrong")
    return {
        "judge": said.judge,
        "trials": len(said.trials),
        "verdicts": dict(sorted(counts.items())),
        **{key: said.details.get(key) for key in keys},
        "spent": {
            "calls": judged.spent.calls,
            "prompt_tokens": judged.spent.prompt_tokens,
            "completion_tokens": judged.spent.completion_tokens,
            "cost": judged.spent.cost,
        },
        "warnings": list(said.details.get("warnings", ())),
        "unscored": list(judged.unscored),
    }


def _line(judged: Any) -> str:
    told = _told(judged)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in told["verdicts"].items()) or "nothing to judge"
    cost = told["spent"]["cost"]
    price = "at an unknown price" if cost is None else f"for ${cost:.4f}"
    return f"{told['judge']}: {told['trials']} trials, {counts}; {told['spent']['calls']} calls now, {price}"


@click.command()
@_bundle
@click.option(
    "--judge",
    "name",
    required=True,
    shell_complete=judges,
    help="Whom to measure: a judge in the bundle, or one asked now.",
)
@click.option(
    "--against", help="By whom: a judge in the bundle, or a file of verdicts.  [default: human, else the other]"
)
@_asking
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For resampling.")
@click.option("--card", "card_file", type=_FILE, help="Write the judge's card here, as Markdown.")
@_json
def calibrate(
    folder: Path, name: str, against: str | None, seed: int, card_file: Path | None, as_json: bool, **options: Json
) -> None:
    """Measure how good a judge is: agreement, kappa, confusion, reliability, what it does to the leaderboard, cost.

    Example: assay calibrate bundle --judge lexical --against human --json
    """
    from bot.analysis.figures import resampler_of
    from bot.judging import calibrating
    from scoring.judges import calibration
    from scoring.judges.card import card

    with refusing_judges():
        bundle, _, means, contexts = _ready(folder, None, options)
        other = calibrating.against(bundle, name, against)
        with working(f"measuring {name}") as stage, _stoppable():
            means = replace(means, progress=counting(stage, f"measuring {name}"))
            mine = calibrating.measured(bundle, name, lambda: _chosen(name, means.model, options), means, contexts)
            found = calibration.calibrate(bundle, mine, other, resampler_of(seed))
        means.replies.close()
    if card_file is not None:
        deliver(card(found), card_file)
    if as_json:
        write(json.dumps(calibration.record(found), indent=1))
    elif card_file is None:
        write(card(found))


@click.command()
@_bundle
@click.option("--judge", "names", multiple=True, help="Whose verdicts to look at; repeat it.  [default: all in BUNDLE]")
@click.option("--who", help="Who decides; stands beside every decision.")
@click.option("--list", "only_list", is_flag=True, help="List what is open, and ask nothing.")
@_json
def adjudicate(folder: Path, names: tuple[str, ...], who: str | None, only_list: bool, as_json: bool) -> None:
    """Decide what judges left open or disagree about, one question at a time in the terminal.

    Every decision is saved at once, as the judge `human`, with who, when, why and what it replaced; stop and go on
    when you like. Beside it a judge `<judge>+human` holds the first judge's verdicts with the decisions over them.

    Example: assay adjudicate bundle --who mira --judge lexical
    """
    from bot.judging import adjudicating
    from bot.render.text import clean

    with refusing_judges():
        bundle, sets = _sets(folder, names)
        items = adjudicating.open_items(bundle, sets)
        if only_list or as_json:
            write(_listing(items, as_json))
            return
        who = clean(who or "", 80)
        if not who:
            raise Failure("say who decides: --who NAME", BAD_INPUT)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise Failure(
                "adjudicate asks in a terminal, and this is none; list what is open with --list, or write verdicts "
                "into a file and add it with: assay judge BUNDLE --judge human:FILE",
                BAD_INPUT,
            )
        walk = _walk(folder, bundle, sets, items, who)
        made = walk.run()
    write(f"{made} decided, {walk.left()} left")


def _sets(folder: Path, names: tuple[str, ...]) -> tuple[Bundle, list[JudgementSet]]:
    """The judges to look at. Where a bundle holds none, the judge that needs no model is asked."""
    from bot.analysis.opening import open_bundle
    from bot.judging import calibrating
    from bot.judging.adjudicating import HUMAN

    bundle = open_bundle(folder)
    held = [one.judge for one in bundle.judgements if one.judge != HUMAN and not one.judge.endswith(f"+{HUMAN}")]
    return bundle, [calibrating.plain_or_stored(bundle, name) for name in names or held or ("lexical",)]


def _listing(items: Any, as_json: bool) -> str:
    from bot.render.text import clean

    if not as_json:
        return "\n".join(f"{i.pull} | {i.reviewer}: {clean(i.candidate.title, 80)} ({i.why})" for i in items)
    rows = [
        {
            "pull": item.pull,
            "reviewer": item.reviewer,
            "candidate": item.candidate.id,
            "golden": item.golden.id,
            "why": item.why,
            "said": {one.judge: one.verdict.value for one in item.said},
        }
        for item in items
    ]
    return json.dumps(rows, indent=1)


def _walk(folder: Path, bundle: Bundle, sets: list[JudgementSet], items: Any, who: str) -> Walk:
    from bot.judging import adjudicating
    from bot.judging.keeping import keep
    from bot.judging.terminal import Walk

    earlier = next((one for one in bundle.judgements if one.judge == adjudicating.HUMAN), None)

    def save(made: Any) -> None:
        people = adjudicating.as_set(made, bundle)
        keep(folder, [people, adjudicating.overlaid(sets[0], people)], replace=True)

    return Walk(
        items,
        list(adjudicating.decisions(earlier)),
        who,
        lambda: datetime.now(UTC).isoformat(timespec="seconds"),
        lambda text: str(click.prompt(text, prompt_suffix="", default="", show_default=False)),
        write,
        save,
    )


# --- shared


@contextmanager
def refusing_judges() -> Iterator[None]:
    """Turn what a judge cannot do into a failure of one line."""
    from bot.judging.budget import BudgetError
    from bot.judging.choosing import JudgeProblem
    from bot.judging.keeping import AlreadyJudged
    from scoring.profiles.base import ProfileError

    with refusing():
        try:
            yield
        except (JudgeProblem, BudgetError, AlreadyJudged, ProfileError) as error:
            raise Failure(str(error), BAD_INPUT) from None
        except OSError as error:
            raise Failure(f"{error.filename or 'a file'}: {error.strerror or error}", NOT_CARRIED_OUT) from None


@contextmanager
def _stoppable() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        say("stopped; what was answered is kept, and the same command goes on from there")
        raise


def settings_read() -> Settings:
    """The settings of the environment and of `.env`."""
    from bot.settings import SettingsError, load_settings

    try:
        return load_settings(os.environ, Path(".env"))
    except SettingsError as error:
        raise Failure(str(error), BAD_INPUT) from None


def _ready(
    folder: Path, name: str | None, options: dict[str, Json], *, dry: bool = False
) -> tuple[Bundle, Any, Means, Contexts | None]:
    """The bundle, the judge if one is named, and what asking takes."""
    from bot.adapters.llm import LiteLlm, Unasked
    from bot.adapters.replies import SqliteReplies
    from bot.analysis.opening import open_bundle
    from bot.judging import store
    from bot.judging.budget import Limits

    settings, bundle = settings_read(), open_bundle(folder)
    model = (Unasked if dry else LiteLlm)(options["model_base"] or settings.llm_api_base)
    means = store.means_of(
        model,
        SqliteReplies(options["cache"] or store.cache_of(folder)),
        Limits(options["max_cost"], options["max_calls"]),
        concurrency=options["concurrency"] or settings.llm_concurrency,
    )
    contexts = _contexts(bundle, options["mirror"]) if options["context"] else None
    return bundle, None if name is None else _chosen(name, model, options), means, contexts


def _chosen(name: str, model: Model, options: dict[str, Json]) -> Chosen:
    from bot.judging.choosing import Asking, choose
    from scoring.judges.rubrics import RUBRICS as KNOWN

    return choose(
        name, model, Asking(options["orders"], options["context"], options["canaries"], KNOWN[options["rubric"]])
    )


def _contexts(bundle: Bundle, mirror: Path | None) -> Contexts:
    """The diffs of the bundle's golden pull requests, from the suite it was run with."""
    from bot.adapters.mirrors import read_pins
    from bot.judging.context import contexts
    from goldens.load import load_suite, suite_names

    if bundle.suite.id not in suite_names():
        raise Failure(f"--context needs the suite's trees, and suite {bundle.suite.id} is not installed", BAD_INPUT)
    suite = load_suite(bundle.suite.id)
    if suite.ref.hash != bundle.suite.hash:
        raise Failure(f"--context needs suite {bundle.suite.id} as it was then; the installed one differs", BAD_INPUT)
    trees = {} if mirror is None else read_pins(suite, mirror)[0]
    found = contexts(bundle, suite, trees)
    if missing := sorted({pull.id for pull in bundle.pulls} - set(found)):
        say(f"no code to show for {len(missing)} pull requests, first {missing[0]}; --mirror gives it")
    return found


def _announce(bundle: Bundle, chosen: Chosen, means: Means, contexts: Contexts | None, *, always: bool) -> None:
    """What judging will take, said before anything is spent."""
    from bot.judging import store

    found = store.forecasts(bundle, chosen, means, contexts)
    if not (found.calls or always):
        return
    likely, most = found.likely_cost, found.most_cost
    price = "at an unknown price" if likely is None or most is None else f"about ${likely:.4f}, at most ${most:.4f}"
    say(f"{found.calls} calls to make, {found.prompt_tokens} prompt tokens, {price}")


COMMANDS = (judge, calibrate, adjudicate)
