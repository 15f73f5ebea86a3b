"""The command that has drafts confirmed by verification and judges."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli_common import CHECK_FAILED, DONE, say, working, write
from bot.cli_goldens_ask import asking, panel_of
from bot.cli_goldens_keep import refusing_goldens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.goldens_confirm import Outcome

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command(short_help="Have drafts confirmed by two judges or more.")
@click.argument("draft")
@click.option("--judge", "names", multiple=True, required=True, help="litellm:provider/model; two different ones.")
@click.option("--mirror", type=_FOLDER, help="Local clones, each at owner/name or name, with or without .git.")
@asking
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def confirm(draft: str, names: tuple[str, ...], mirror: Path | None, as_json: bool, **given: Any) -> None:
    """Confirm drafts without a person: verification finds nothing wrong, and two judges or more see the defect there.

    Each judge is shown the code, the draft and a control that is about other code; whoever sees the control too is not
    believed. One no, and the draft stays a draft; why is counted, and `assay goldens review` walks through the rest.
    What it will take is said first, and needs --yes or a limit. Answers are kept: stopped, it goes on where it was.
    Exits with 1 if drafts are left.

    Example: assay goldens confirm drafts.yaml --judge litellm:openai/gpt-4o --judge litellm:mistral/mistral-large
    --mirror ~/clones --max-cost 2
    """
    from bot import goldens_confirm, goldens_desk

    if len(set(names)) < 2:
        raise click.UsageError("name two different judges: --judge litellm:a/b --judge litellm:c/d")
    with refusing_goldens(), working(f"confirming {draft}") as stage:
        path = goldens_desk.owned(draft)
        with panel_of(names, path, stage, "asking judges", given) as panel:
            day = datetime.now(UTC).date().isoformat()
            outcomes = goldens_confirm.confirm_drafts(draft, mirror, panel, day)
    reasons = goldens_confirm.counts(outcomes)
    if as_json:
        rows = [one.record() for one in outcomes]
        write(json.dumps({"file": str(path), "drafts": rows, "left": reasons}, indent=1))
    else:
        _tell(outcomes, reasons)
    if reasons:
        say(f"{sum(reasons.values())} drafts are left: assay goldens review {draft} --by YOUR-NAME")
    sys.exit(CHECK_FAILED if reasons else DONE)


def _tell(outcomes: Sequence[Outcome], reasons: dict[str, int]) -> None:
    from goldens.fields import printable

    for one in outcomes:
        write(f"{one.pull}/{one.golden}: {one.why or 'confirmed'}")
        for judge, said in one.judges.items():
            write(printable(f"  {judge}: {said}"))
    write(f"{sum(one.confirmed for one in outcomes)} confirmed, {sum(reasons.values())} left")
    for reason, count in reasons.items():
        write(f"left {count}: {reason}")
