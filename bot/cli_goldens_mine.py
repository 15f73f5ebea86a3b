"""Commands that mine drafts of goldens from real history."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli_common import BAD_INPUT, CHECK_FAILED, DONE, NOT_CARRIED_OUT, Failure, counting, say, working, write
from bot.cli_goldens_ask import asking, panel_of
from bot.cli_goldens_keep import refusing_goldens

if TYPE_CHECKING:
    from bot.goldens_asking import Panel
    from bot.goldens_desk import Dig
    from bot.goldens_online import Online
    from goldens.mine.draft import Mined
    from goldens.mine.preventable import Complete, NoOpinion

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_NEW = click.Path(path_type=Path)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(short_help="Mine drafts from real history.")
def mine() -> None:
    """Mine drafts from real history: a clone with saved answers of GitHub's API, or --github, which fetches both.

    Example: assay goldens mine bugfix --github pallets/flask -o drafts.yaml
    """


def _mining(command: Any) -> Any:
    """The options that every miner has."""
    options = (
        click.option("--config", "rules", default="vibeops", show_default=True, help="Rules, by name or path."),
        click.option("--clone", type=_FOLDER, help="The clone to mine; it is only read. With --answers."),
        click.option("--answers", type=_FOLDER, help="Saved answers, *.json. With --clone."),
        click.option("--repository", metavar="OWNER/NAME", help="What it is a clone of, where its name does not tell."),
        click.option("--github", metavar="OWNER/NAME", help="Fetch clone and answers; needs ASSAY_AUTHOR_TOKEN."),
        click.option("--folder", type=_NEW, help="For what --github fetches.  [default: upstream/OWNER/NAME]"),
        click.option("--max-pulls", type=click.IntRange(min=1), help="Ask about so many newest pull requests only."),
        click.option("--refresh", is_flag=True, help="Ask GitHub again what is in the folder already."),
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
    return click.option("--model", metavar="JUDGE", help="Ask this model too: litellm:provider/model.")(asking(command))


@mine.command(short_help="Merged fixes of bugs, run backwards.")
@_mining
def bugfix(**given: Any) -> None:
    """Merged fixes of bugs, run backwards: what a fix removed or changed is where the defect is.

    Example: assay goldens mine bugfix --github pallets/flask -o drafts.yaml
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

    With --model, a model is asked whether a review could have caught each one, and words it as a reviewer would. What
    that will take is said first, and needs --yes or a limit. Answers are kept: a second run costs nothing. Drafts stay
    drafts.

    Example: assay goldens mine blame --config vibeops --clone flask --answers answers -o drafts.yaml
    """
    _mine("blame", **given)


def _mine(
    kind: str,
    *,
    rules: str,
    output: Path,
    force: bool,
    as_json: bool,
    copies: bool = False,
    tips: tuple[str, ...],
    **given: Any,
) -> None:
    from bot import goldens_desk as desk

    where = {name: given.pop(name) for name in ("clone", "answers", "repository")}
    online = {name: given.pop(name) for name in ("github", "folder", "max_pulls", "refresh")}
    model = given.pop("model", None)
    with refusing_goldens(), refusing_github(), working("mining") as stage, _taken():
        desk.check_free(output, overwrite=force)
        config = desk.config(rules)
        if online["github"] is None:
            clone, answers = _offline(where, online)
            upstream = desk.upstream_of(where["repository"], config, clone)
            dig = desk.Dig(kind, config, upstream, clone, answers, tips, copies)
        else:
            dig = _fetched(desk.Dig(kind, config, online["github"], Path(), Path(), tips, copies), where, online, stage)
        stage(f"mining {dig.clone}")
        with _model(model, output, stage, given) as complete:
            found = desk.mine(
                replace(dig, complete=complete, progress=counting(stage, "mining", unit="candidates")),
                output,
                overwrite=force,
            )
    if online["github"] is not None:
        say(f"again without the network: --clone {dig.clone} --answers {dig.answers} --repository {dig.upstream}")
    _tell_mined(found, output, as_json)
    sys.exit(DONE if found.drafts else CHECK_FAILED)


def _offline(where: dict[str, Any], online: dict[str, Any]) -> tuple[Path, Path]:
    if where["clone"] is None or where["answers"] is None:
        raise click.UsageError("say what to mine: --clone with --answers, or --github OWNER/NAME")
    if online["folder"] is not None or online["max_pulls"] is not None or online["refresh"]:
        raise click.UsageError("--folder, --max-pulls and --refresh go with --github")
    return where["clone"], where["answers"]


def _fetched(dig: Dig, where: dict[str, Any], given: dict[str, Any], stage: Callable[[str], None]) -> Dig:
    """What GitHub tells, ready to be mined."""
    import time
    from datetime import UTC, datetime

    from bot.adapters.gathering import Outside
    from bot.goldens_online import fetch

    if any(value is not None for value in where.values()):
        raise click.UsageError("--github fetches what --clone, --answers and --repository name; say one or the other")
    online = _online(given)
    outside = Outside(lambda: datetime.now(UTC), time.sleep, stage)
    found = fetch(online, dig.kind, outside)
    return replace(dig, clone=online.clone, answers=online.answers, told=found.answers, tips=(*dig.tips, *found.tips))


def _online(given: dict[str, Any]) -> Online:
    from bot.cli_judges import settings_read
    from bot.goldens_online import Online
    from bot.settings import SettingsError

    settings = settings_read()
    try:
        settings.require("author_token")
    except SettingsError as error:
        raise Failure(str(error), BAD_INPUT) from None
    assert settings.author_token is not None
    return Online(
        repository=given["github"],
        folder=given["folder"] or Path("upstream", *given["github"].split("/")[:2]),
        api_url=str(settings.github_api_url),
        upstream_url=str(settings.upstream_url),
        token=settings.author_token.get_secret_value,
        most=given["max_pulls"],
        refresh=given["refresh"],
    )


@contextmanager
def refusing_github() -> Iterator[None]:
    """Turn what GitHub does not tell into a failure of one line."""
    from bot.adapters.gathering import GatherError

    try:
        yield
    except GatherError as error:
        raise Failure(str(error), NOT_CARRIED_OUT) from None


@contextmanager
def _model(
    model: str | None, output: Path, stage: Callable[[str], None], given: dict[str, Any]
) -> Iterator[Complete | None]:
    """The model that was named, ready to be asked; nothing where none was."""
    if model is None:
        yield None
        return
    with panel_of([model], output, stage, "asking about defects", given) as ready:
        yield lambda prompts: _said(ready, prompts)


def _said(ready: Panel, prompts: Sequence[str]) -> list[str | NoOpinion]:
    from bot.goldens_asking import Question
    from goldens.mine.preventable import NoOpinion, read_reply, schema
    from scoring.judges.asks import Unscored

    def usable(reply: str) -> str:
        found = read_reply(reply)
        return found.why if isinstance(found, NoOpinion) else ""

    said = ready.ask([Question(prompt, schema()) for prompt in prompts], usable)
    return [NoOpinion(one.reason) if isinstance(one, Unscored) else one for (one,) in said]


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
