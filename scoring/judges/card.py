"""A judge's card: what is known of how it judges, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scoring.judges.calibration import Calibration, Cell
from scoring.judges.shown import neutral
from scoring.model import Estimate

_SHOWN = [
    "model",
    "rubric",
    "orders",
    "context",
    "decoys",
    "temperature",
    "seed",
    "prompt_sha256",
    "decoys_right",
    "decoys_wrong",
]
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|!~$&])")


def card(calibration: Calibration) -> str:
    """The card of one judge. Quoted texts are other people's: they are escaped and name nobody."""
    one = calibration
    parts = [
        f"# Judge: {quoted(one.judge)}",
        f"Measured against {quoted(one.against)}.",
        _table(("measure", "value", "95 % interval", "n"), _figures(one)),
        f"Pairs left undecided: {one.undecided}.",
        _cost(one),
        _settings(one),
        "## Where the two differ on goldens",
        _table(("this judge", "the other", "goldens"), [_cell(cell) for cell in one.goldens]),
        _examples(one.goldens),
        "## Where the two differ on candidates",
        _table(("this judge", "the other", "candidates"), [_cell(cell) for cell in one.candidates]),
        _examples(one.candidates),
        "## Reliability",
        _reliability(one),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def quoted(text: str) -> str:
    """Other people's text in one line of Markdown, with nothing active in it."""
    line = " ".join(neutral(text).split()).replace("@", "(at)").replace("://", ": //")
    return _ACTIVE.sub(r"\\\1", line)


def _figures(one: Calibration) -> list[Sequence[str]]:
    tau = one.ranks.tau_b
    return [
        ("same answer on goldens", _share(one.agreed, one.n), "", str(one.n)),
        ("Cohen's kappa, golden found", *_estimate(one.kappa_found)),
        ("same answer on candidates", _share(one.agreed_candidates, one.n_candidates), "", str(one.n_candidates)),
        ("Cohen's kappa, candidates", *_estimate(one.kappa_candidates)),
        ("Kendall's tau of the leaderboards", _figure(tau, one.ranks.reason), "", str(one.ranks.reviewers)),
    ]


def _estimate(value: Estimate) -> tuple[str, str, str]:
    interval = "" if value.low is None or value.high is None else f"{value.low:.3f} to {value.high:.3f}"
    return _figure(value.value, value.reason), interval, str(value.n)


def _figure(value: float | None, reason: str | None) -> str:
    return f"undefined: {quoted(reason or 'no reason is known')}" if value is None else f"{value:.3f}"


def _share(count: int, n: int) -> str:
    return f"{count} of {n} ({count / n:.1%})" if n else "nothing was labelled by both"


def _cost(one: Calibration) -> str:
    known = [("calls", one.calls), ("prompt tokens", one.prompt_tokens)]
    parts = [f"{value:,} {name}" for name, value in known if value is not None]
    parts += [f"{one.cost:.2f} US dollars"] if one.cost is not None else []
    return f"It took {', '.join(parts)}." if parts else "What it took is not recorded."


def _settings(one: Calibration) -> str:
    rows = [(name, quoted(str(one.details[name]))) for name in _SHOWN if name in one.details]
    return _table(("setting", "value"), rows) if rows else ""


def _cell(cell: Cell) -> Sequence[str]:
    return quoted(cell.judge), quoted(cell.against), str(cell.count)


def _examples(cells: Sequence[Cell]) -> str:
    lines = [
        f"- {quoted(cell.judge)}, the other {quoted(cell.against)}: {quoted(example)}"
        for cell in cells
        for example in cell.examples
    ]
    return "\n".join(lines)


def _reliability(one: Calibration) -> str:
    if not one.reliability:
        return "The judge gave no probabilities."
    rows = [
        (f"{bar.low:.1f} to {bar.high:.1f}", str(bar.n), f"{bar.said:.2f}", f"{bar.matched:.2f}")
        for bar in one.reliability
    ]
    return _table(("probability of a match", "pairs", "mean said", "share matched"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return "Nothing was labelled by both."
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)
