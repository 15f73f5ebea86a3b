"""Commands that mine drafts of goldens from real history."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli_common import BAD_INPUT, CHECK_FAILED, DONE, Failure, say, working, write
from bot.cli_goldens_keep import refusing_goldens

if TYPE_CHECKING:
    from goldens.mine.draft import Mined
    from goldens.mine.preventable import Complete, NoOpinion
    from scoring.judges.asks import Unscored

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_NEW = click.Path(path_type=Path)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def mine() -> None:
    """Mine drafts from a clone's history and saved answers of GitHub's API; nothing goes to the network.

    Example: assay goldens mine bugfix --clone flask --answers answers -o drafts.yaml
    """


def _mining(command: Any) -> Any:
    """The options that every miner has."""
    options = (
        click.option("--config", "rules", default="vibeops", show_default=True, help="Rules, by name or path."),
        click.option("--clone", type=_FOLDER, required=True, help="The clone to mine; it is only read."),
        click.option("--answers", type=_FOLDER, required=True, help="Saved answers, *.json."),
        click.option("--repository", metavar="OWNER/NAME", help="What it is a clone of, where its name does not tell."),
        click.option("--tip", "tips", multiple=True, default=("HEAD",), help="Where history begins; may be repeated."),
        click.option("-o", "--output", type=_NEW, required=True, help="The file for the drafts."),
        click.option("--force", is_flag=True, help="Overwrite what is there."),
        _json,
    )
    for option in reversed(options):
        command = option(command)
    return command


def _asking(command: Any) -> Any:
    """The options about a model."""
    options = (
        click.option("--model", metavar="JUDGE", help="Ask this model too: litellm:provider/model."),
        click.option("--model-base", metavar="URL", help="Where the model is asked; as ASSAY_LLM_API_BASE."),
        click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), help="Most US dollars to spend."),
        click.option("--max-calls", type=click.IntRange(min=0), help="Most calls to make."),
        click.option("--cache", type=_NEW, help="Where answers are kept.  [default: judge-cache.db beside OUTPUT]"),
    )
    for option in reversed(options):
        command = option(command)
    return command


@mine.command()
@_mining
def bugfix(**given: Any) -> None:
    """Merged fixes of bugs, run backwards: what a fix removed or changed is where the defect is.

    Example: assay goldens mine bugfix --clone flask --answers answers -o drafts.yaml
    """
    _mine("bugfix", **given)


@mine.command()
@_mining
def review(**given: Any) -> None:
    """Defects that people raised in review and put right before the merge.

    Example: assay goldens mine review --clone flask --answers answers -o drafts.yaml
    """
    _mine("review", **given)


@mine.command()
@_mining
@click.option("--copies", is_flag=True, help="Follow lines that came from other files; much slower.")
@_asking
def blame(**given: Any) -> None:
    """Fixes traced back to the one pull request that brought the defect.

    With --model, a model is asked whether a review could have caught each one, and words it as a reviewer would.
    Answers are kept: a second run costs nothing. Drafts stay drafts.

    Example: assay goldens mine blame --config vibeops --clone flask --answers answers -o drafts.yaml
    """
    _mine("blame", **given)


def _mine(
    kind: str,
    *,
    rules: str,
    clone: Path,
    answers: Path,
    repository: str | None,
    tips: tuple[str, ...],
    output: Path,
    force: bool,
    as_json: bool,
    copies: bool = False,
    **asking: Any,
) -> None:
    from bot import goldens_desk as desk

    with refusing_goldens(), working(f"mining {clone}"), _taken(), _model(output, **asking) as complete:
        config = desk.config(rules)
        upstream = desk.upstream_of(repository, config, clone)
        dig = desk.Dig(kind, config, upstream, clone, answers, tips, copies, complete)
        found = desk.mine(dig, output, overwrite=force)
    _tell_mined(found, output, as_json)
    sys.exit(DONE if found.drafts else CHECK_FAILED)


@contextmanager
def _model(
    output: Path,
    model: str | None = None,
    model_base: str | None = None,
    max_cost: float | None = None,
    max_calls: int | None = None,
    cache: Path | None = None,
) -> Iterator[Complete | None]:
    """The model that was named, ready to be asked; nothing where none was."""
    if model is None:
        yield None
        return
    from bot.adapters.llm import LiteLlm
    from bot.adapters.replies import SqliteReplies
    from bot.cli_judges import refusing_judges, settings_read
    from bot.judging import asking_text, choosing
    from bot.judging.budget import Limits
    from bot.judging.store import cache_of, means_of
    from goldens.mine.preventable import schema

    with refusing_judges():
        settings = settings_read()
        llm = LiteLlm(model_base or settings.llm_api_base)
        chosen = choosing.choose(model, llm)
        if not isinstance(chosen, choosing.LanguageModel):
            raise Failure(f"--model takes litellm:<provider/model>, and {model!r} is none", BAD_INPUT)
        replies = SqliteReplies(cache or cache_of(output))
        means = means_of(llm, replies, Limits(max_cost, max_calls), concurrency=1)
        asked = asking_text.asking_text(chosen.judge.model, schema(), means)
    try:
        yield partial(_said, asked)
    finally:
        replies.close()


def _said(asked: Callable[[str], str | Unscored], prompt: str) -> str | NoOpinion:
    from goldens.mine.preventable import NoOpinion
    from scoring.judges.asks import Unscored

    answer = asked(prompt)
    return NoOpinion(answer.reason) if isinstance(answer, Unscored) else answer


@contextmanager
def _taken() -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise Failure(str(error), BAD_INPUT) from None


def _tell_mined(found: Mined, output: Path, as_json: bool) -> None:
    reasons = {reason.value: count for reason, count in found.by_reason().items()}
    goldens = sum(len(draft.goldens) for draft in found.drafts)
    if as_json:
        told = {
            "file": str(output) if found.drafts else None,
            "considered": found.considered,
            "kept": len(found.kept),
            "drafts": len(found.drafts),
            "goldens": goldens,
            "discarded": reasons,
            "discards": [{"subject": d.subject, "reason": d.reason, "detail": d.detail} for d in found.discards],
            "notes": list(found.notes),
        }
        write(json.dumps(told, indent=1))
        return
    write(f"looked at {found.considered}, kept {len(found.kept)}: {len(found.drafts)} drafts with {goldens} goldens")
    for reason, count in reasons.items():
        write(f"discarded {count}: {reason}")
    for note in found.notes:
        say(note)
    if found.drafts:
        say(f"nothing is scored before somebody confirms it: assay goldens review {output} --by YOUR-NAME")
    else:
        say(f"no drafts, so {output} was not written")
