"""What commands about suites share that ask models: the options, the estimate that comes first, and the progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli_common import BAD_INPUT, Failure, counting, say

if TYPE_CHECKING:
    from bot.goldens_asking import Panel
    from bot.judging.budget import Forecast

_NEW = click.Path(path_type=Path)


def asking(command: Any) -> Any:
    """The options of a command that may ask models."""
    options = (
        click.option("--model-base", metavar="URL", help="Where the model is asked; as ASSAY_LLM_API_BASE."),
        click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), help="Most US dollars to spend."),
        click.option("--max-calls", type=click.IntRange(min=0), help="Most calls to make."),
        click.option("--yes", is_flag=True, help="Ask without a limit; what it will take is said first all the same."),
        click.option("--cache", type=_NEW, help="Where answers are kept.  [default: judge-cache.db beside the suite]"),
    )
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def panel_of(
    names: Sequence[str], beside: Path, stage: Callable[[str], None], what: str, given: dict[str, Any]
) -> Iterator[Panel]:
    """The named models, ready to be asked under the terms of the command line."""
    from bot.cli_judges import refusing_judges, settings_read
    from bot.goldens_asking import NotAgreed, Terms, panel
    from bot.judging.budget import Limits
    from bot.judging.store import cache_of

    with refusing_judges():
        settings = settings_read()
        terms = Terms(Limits(given["max_cost"], given["max_calls"]), given["yes"], announce, counting(stage, what))
        cache, base = given["cache"] or cache_of(beside), given["model_base"] or settings.llm_api_base
        try:
            with panel(names, cache, terms, api_base=base and str(base), concurrency=settings.llm_concurrency) as ready:
                yield ready
        except NotAgreed as error:
            raise Failure(str(error), BAD_INPUT) from None


def announce(found: Forecast) -> None:
    """Say what asking will take."""
    if not found.calls:
        return
    likely, most = found.likely_cost, found.most_cost
    price = "at an unknown price" if likely is None or most is None else f"about ${likely:.4f}, at most ${most:.4f}"
    say(f"{found.calls} calls to make, {found.prompt_tokens} prompt tokens, {price}")
