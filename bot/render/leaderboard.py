"""The result of a run as one issue comment: a table, what it separates, a matrix, and what it does not prove."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bot.model import RunId
from bot.render.figures import (
    NOT_JUDGED,
    UNDEFINED,
    Footnotes,
    Ranked,
    figure,
    judge_label,
    left_out,
    not_scored,
    not_separated,
    quiet,
    ranked,
    status_words,
    suite_line,
    tallies,
)
from bot.render.issue import marker
from bot.render.surface import Surface
from bot.render.text import COMMENT_BYTES, cut, link, web_address
from scoring.model import Estimate, PullId, Report, ReviewerId, ReviewerScore, TrialScore

Links = Mapping[PullId | tuple[PullId, ReviewerId], str]
"""Where the check runs are: of a trial under (pull, reviewer), of a fork under its pull."""

_COLUMNS = (
    ("place", "--:"),
    ("reviewer", "---"),
    ("F1", "---"),
    ("precision", "---"),
    ("recall", "---"),
    ("recall if unrun trials were misses", "---"),
    ("found (TP)", "--:"),
    ("false alarms (FP)", "--:"),
    ("missed (FN)", "--:"),
    ("valid", "--:"),
    ("duplicate", "--:"),
    ("unscored", "--:"),
    ("trials scored", "--:"),
    ("trials not scored", "---"),
    ("quiet on clean", "--:"),
)
_HEAD = tuple(f"| {' | '.join(column[part] for column in _COLUMNS)} |" for part in (0, 1))

_LIMITS = (
    "It is one run on these pull requests. Reviewers answer differently from day to day; other code has other defects.",
    "FP means: matches no known defect. The claim may be right; nobody listed that defect.",
    "Rows rest on the trials that were scored, and reviewers may have missed different ones. `assay compare` compares "
    "on the pull requests they share.",
    "A reviewer could recognise the material: file contents, the pinned texts and the account that opened the pull "
    "requests stay what they are. Only a private suite resists a vendor that wants to know.",
)

LIMITS = _LIMITS
"""What no run proves, for every surface that shows a result."""


def leaderboard_comment(
    report: Report,
    *,
    run: RunId,
    links: Links,
    surface: Surface,
    report_url: str | None,
    earlier: Sequence[Report] = (),
) -> str:
    """The leaderboard, within GitHub's limit for a comment.

    Args:
        report: what is shown.
        run: whose result it is.
        links: where its parts are to be seen.
        surface: where it will stand.
        report_url: where all of it can be read.
        earlier: what other judges made of the same evidence, oldest first.
    """
    body = "\n".join((marker("leaderboard", run), *_sections(report, run, links, surface, report_url, earlier)))
    return cut(body, COMMENT_BYTES, report_url, f"bundle {run}")


def _sections(
    report: Report, run: RunId, links: Links, surface: Surface, report_url: str | None, earlier: Sequence[Report]
) -> Iterator[str]:
    rows = ranked([row for row in report.reviewers if surface.shown(row.reviewer)])
    hidden = len(report.reviewers) - len(rows)
    yield f"### Result of benchmark {run}"
    yield ""
    rules = f"profile {surface.say(report.profile)}, judge {surface.say(judge_label(report.judge))}"
    whole = f" {link('Full report', report_url)}." if report_url else ""
    yield f"Suite {surface.say(suite_line(report))}, {rules}.{whole}"
    if hidden:
        yield from ("", f"Private and not shown: {hidden}. Places are among the {len(rows)} shown.")
    if rows:
        yield from ("", *_table(report, rows, surface))
        yield from _caveats(rows, surface)
        yield from _by_judge((report, *reversed(earlier)), rows, surface)
        yield from _matrix(report, rows, links, surface)
    yield from ("", "#### What this does not prove", "")
    yield from (f"- {limit}" for limit in _LIMITS)
    yield from (f"- {surface.say(note)}" for note in surface.redacted(report).notes)


def _table(report: Report, rows: Sequence[Ranked], surface: Surface) -> Iterator[str]:
    notes = Footnotes()
    yield from _HEAD
    for entry in rows:
        yield _row(entry, left_out(report.trials, entry.row.reviewer), notes, surface)
    yield ""
    yield "Square brackets hold the interval of a figure. Places go by F1 alone; equal values share one."
    yield ""
    yield from (f"- <sup>{index}</sup> {surface.say(reason)}" for index, reason in notes.items())


def _row(entry: Ranked, incomplete: int, notes: Footnotes, surface: Surface) -> str:
    row = entry.row
    cells = (
        str(entry.place) if entry.place else UNDEFINED,
        surface.called(row.reviewer),
        *(_figure(estimate, notes) for estimate in (row.f1, row.precision, row.recall, row.recall_bound)),
        *tallies(row, "tp", "fp", "fn"),
        _valid(row, notes),
        *tallies(row, "duplicate", "unscored"),
        f"{row.coverage.scored} of {row.coverage.trials}",
        "<br>".join(not_scored(row.coverage, incomplete)) or UNDEFINED,
        quiet(row),
    )
    return f"| {' | '.join(cells)} |"


def _valid(row: ReviewerScore, notes: Footnotes) -> str:
    (count,) = tallies(row, "valid")
    unasked = row.coverage.scored and not row.valid_judged
    return f"{count}<sup>{notes.number(NOT_JUDGED)}</sup>" if unasked else count


def _figure(estimate: Estimate, notes: Footnotes) -> str:
    text, note = figure(estimate, notes)
    return f"{text}<sup>{note}</sup>" if note else text


def _caveats(rows: Sequence[Ranked], surface: Surface) -> Iterator[str]:
    pairs = not_separated(rows)
    if pairs:
        yield ""
    for upper, lowers in pairs:
        others = _either([surface.called(lower.reviewer) for lower in lowers])
        yield f"- F1 intervals overlap: this run does not separate {surface.called(upper.reviewer)} from {others}."


def _by_judge(reports: Sequence[Report], rows: Sequence[Ranked], surface: Surface) -> Iterator[str]:
    """F1 of every reviewer under each judge that was asked, the newest first."""
    if len(reports) < 2:
        return
    notes = Footnotes()
    yield from ("", "#### F1 by judge", "")
    yield "Every judge was given the same comments. What moves with the judge is not the reviewer's."
    yield ""
    yield f"| reviewer | {' | '.join(surface.say(judge_label(report.judge)) for report in reports)} |"
    yield f"| --- |{' --- |' * len(reports)}"
    for entry in rows:
        found = [{row.reviewer: row for row in report.reviewers}.get(entry.row.reviewer) for report in reports]
        cells = (figure(row.f1, notes)[0] if row else UNDEFINED for row in found)
        yield f"| {surface.called(entry.row.reviewer)} | {' | '.join(cells)} |"


def _either(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def _matrix(report: Report, rows: Sequence[Ranked], links: Links, surface: Surface) -> Iterator[str]:
    columns = [entry.row.reviewer for entry in rows if surface.identified(entry.row.reviewer)]
    scores = {(s.trial.pull, s.trial.reviewer): s for s in report.trials}
    if not columns or not scores:
        return
    usable = links if surface.all_identified(row.reviewer for row in report.reviewers) else {}
    yield from ("", "#### By pull request", "")
    yield "✓ found, ✗ missed, ! false alarms, ~ valid, ? claims unscored, ¿ defects undecided."
    yield "In words: what became of a trial that was not scored."
    if len(columns) < len(rows):
        yield f"Anonymous reviewers have no column here, because it could name them: {len(rows) - len(columns)}."
    yield ""
    yield f"| pull request | {' | '.join(surface.called(reviewer) for reviewer in columns)} |"
    yield f"| --- |{' --- |' * len(columns)}"
    for pull in dict.fromkeys(s.trial.pull for s in report.trials):
        cells = (_cell(scores.get((pull, reviewer)), usable) for reviewer in columns)
        yield f"| {link(surface.code(pull), usable.get(pull))} | {' | '.join(cells)} |"


def _cell(score: TrialScore | None, links: Links) -> str:
    if score is None:
        return "not planned"
    url = web_address(links.get((score.trial.pull, score.trial.reviewer), ""))
    if not score.scored:
        status = score.trial.status
        return link("not complete" if status.scored else status_words(status), url)
    marks, words = _marks(score)
    return f'[{marks}]({url} "{words}")' if url else marks


def _marks(score: TrialScore) -> tuple[str, str]:
    """The cell in signs, and in words for a reader who does not see them."""
    counts = score.counts
    signs = [
        (counts.tp, "✓", "found"),
        (counts.fn, "✗", "missed"),
        (counts.fp, "!", "false alarms"),
        (counts.valid, "~", "valid"),
        (counts.unscored, "?", "claims unscored"),
        (counts.goldens_unscored, "¿", "defects undecided"),
    ]
    present = [(f"{sign}{count}", f"{word}: {count}") for count, sign, word in signs if count]
    if not present:
        return "quiet", "nothing claimed"
    return " ".join(sign for sign, _ in present), ", ".join(word for _, word in present)


def terms_notice(reviewers: Iterable[tuple[str, str]], surface: Surface) -> str:
    """What to read before publishing: reviewers whose terms say something about it, as (name, terms)."""
    lines = [f"- {surface.say(name, 80)}: {surface.say(terms)}" for name, terms in reviewers]
    head = "Before you publish: some vendors' terms limit or forbid naming their tool in a comparison."
    return "\n".join([head, "", *lines]) if lines else head
