"""The result and the progress on a terminal. Everything goes through `Text`: hostile text is never rich markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bot.model import RunProgress
from bot.render.figures import (
    UNDEFINED,
    Footnotes,
    Ranked,
    coverage,
    figure,
    judge_label,
    left_out,
    not_separated,
    quiet,
    ranked,
    status_words,
    suite_line,
    tallies,
)
from bot.render.figures import counted as counted_statuses
from bot.render.surface import Surface
from scoring.model import Estimate, Report

_HEADINGS = (
    "place",
    "reviewer",
    "F1",
    "precision",
    "recall",
    "TP",
    "FP",
    "FN",
    "unscored",
    "coverage",
    "quiet on clean",
)
_RIGHT = ("place", "TP", "FP", "FN", "unscored", "quiet on clean")


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The leaderboard as words: a heading, cells, and the lines below."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    below: tuple[str, ...]


def _sheet(report: Report, surface: Surface) -> _Sheet:
    notes = Footnotes()
    entries = ranked([row for row in report.reviewers if surface.shown(row.reviewer)])
    rows = tuple(_cells(report, entry, notes, surface) for entry in entries)
    hidden = len(report.reviewers) - len(entries)
    below = [f"({index}) {surface.plain(reason)}" for index, reason in notes.items()]
    for upper, lowers in not_separated(entries):
        first, *others = (surface.plain(surface.name(row.reviewer)) for row in (upper, *lowers))
        below.append(f"F1 intervals overlap: this run does not separate {first} from {', '.join(others)}")
    below += [f"private and not shown: {hidden}"] if hidden else []
    below += [surface.plain(note) for note in surface.redacted(report).notes]
    title = f"{suite_line(report)}, profile {report.profile}, judge {judge_label(report.judge)}"
    return _Sheet(surface.plain(title), rows, tuple(below))


def _cells(report: Report, entry: Ranked, notes: Footnotes, surface: Surface) -> tuple[str, ...]:
    row = entry.row
    return (
        str(entry.place) if entry.place else UNDEFINED,
        surface.plain(surface.name(row.reviewer), 40),
        *(_figure(estimate, notes) for estimate in (row.f1, row.precision, row.recall)),
        *tallies(row, "tp", "fp", "fn", "unscored"),
        coverage(row.coverage, left_out(report.trials, row.reviewer)),
        quiet(row),
    )


def _figure(estimate: Estimate, notes: Footnotes) -> str:
    text, note = figure(estimate, notes)
    return f"{text} ({note})" if note else text


def leaderboard_table(report: Report, surface: Surface) -> RenderableType:
    """The leaderboard for a rich console."""
    sheet = _sheet(report, surface)
    table = Table(title=Text(sheet.title), title_justify="left")
    for heading in _HEADINGS:
        table.add_column(Text(heading), justify="right" if heading in _RIGHT else "left", no_wrap=heading == "place")
    for row in sheet.rows:
        table.add_row(*map(Text, row))
    return Group(table, *(Text(line, style="dim") for line in sheet.below))


def leaderboard_plain(report: Report, surface: Surface) -> str:
    """The leaderboard in aligned columns of plain text, for pipes and logs."""
    sheet = _sheet(report, surface)
    lines = _aligned((_HEADINGS, *sheet.rows))
    return "\n".join([sheet.title, "", *lines, *([""] if sheet.below else []), *sheet.below])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_padded(row, widths)).rstrip() for row in rows]


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    spaces = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
    return [
        space + cell if heading in _RIGHT else cell + space
        for heading, cell, space in zip(_HEADINGS, row, spaces, strict=True)
    ]


def show_leaderboard(report: Report, surface: Surface, console: Console) -> None:
    """Print the leaderboard: a table on a terminal, plain columns elsewhere."""
    if console.is_terminal:
        console.print(leaderboard_table(report, surface))
    else:
        console.file.write(leaderboard_plain(report, surface) + "\n")


def progress_line(progress: RunProgress) -> str:
    """One plain line: the stage, the pull requests, and the trials by status."""
    pulls = f"{progress.forks - progress.forks_open}/{progress.forks} pull requests over"
    statuses = [f"{count} {status_words(status)}" for status, count in counted_statuses(progress.trials_by_status)]
    return " · ".join([f"{progress.stage}: {pulls}", *statuses])


def progress_lines(progress: RunProgress, surface: Surface) -> tuple[str, ...]:
    """The progress line, and the note and warnings under it."""
    note = (surface.plain(progress.note),) if progress.note else ()
    warnings = tuple(f"warning: {surface.plain(warning)}" for warning in dict.fromkeys(progress.warnings))
    return (progress_line(progress), *note, *warnings)
