"""Check runs: the verdicts of one trial, and of one fork, on the fork's head commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.model import Annotation, Button, CheckRun, ForkId, RunId, Sha
from bot.render.figures import UNDEFINED, headline, judge_label, status_words
from bot.render.surface import Surface
from bot.render.text import CHECK_BYTES, cut, cut_bytes, link
from scoring.model import (
    Candidate,
    CandidateId,
    CandidateOutcome,
    Golden,
    GoldenOutcome,
    GoldenState,
    OutcomeKind,
    Place,
    Severity,
    Side,
    Trial,
    TrialScore,
)

BATCH = 50
"""Most annotations GitHub takes in one request."""
MAX_ANNOTATIONS = 200
"""Four requests; a reviewer that claims more is read in the summary."""
TITLE_CHARS = 160
"""GitHub takes 255; broken-up trigger words may add half."""
MESSAGE_CHARS = 8_000
MESSAGE_BYTES = 64_000

_LEGEND = """<details><summary>How to read this</summary>

- **TP**: the claim says what a known defect is. **FN**: a known defect that no claim says.
- **FP**: a claim that matches no known defect. It may still be right: the known defects are not all there are.
- **valid**: judged sound, but no known defect; neither for nor against. **duplicate**: the reviewer said it before.
- **unscored** claims and **undecided** defects could not be judged. They are counted, and are neither FP nor FN.
- A trial that was skipped, refused, rate limited or not answered is not scored: nothing was measured.

</details>"""

_CLAIM_ORDER = (
    OutcomeKind.FP,
    OutcomeKind.UNSCORED,
    OutcomeKind.VALID,
    OutcomeKind.DUPLICATE,
    OutcomeKind.TP,
)
_LEVEL: dict[OutcomeKind, Literal["notice", "warning"]] = {
    kind: "warning" if kind is OutcomeKind.FP else "notice" for kind in OutcomeKind
}
BUTTONS = (
    Button("Judge again", "Ask the judge set up here once more", "rejudge"),
    Button("Clean up", "Archive the repositories of this run", "cleanup"),
)
"""What a check run of a private result offers. The identifiers are commands."""

_STATE_WORDS = {GoldenState.FOUND: "found", GoldenState.MISSED: "missed", GoldenState.UNSCORED: "undecided"}
_SEVERITIES = list(Severity)


@dataclass(frozen=True, slots=True)
class ReportRef:
    """The report that a check run is a rendering of."""

    run: RunId
    hash: str
    """Of the report; part of every `external_id`, so that a new judgement makes a new check run."""
    judge: str
    profile: str
    url: str | None = None
    """Where the full report can be read."""
    buttons: tuple[Button, ...] = ()
    """What can be commanded from its check runs."""

    @property
    def kept_in(self) -> str:
        """Where the whole of it is kept, where nothing serves it."""
        return f"bundle {self.run}"


def external_id(ref: ReportRef, trial: str) -> str:
    """The key a check run is looked up by: run, trial and report."""
    return f"{ref.run}:{trial}:{ref.hash}"


def trial_check(score: TrialScore, ref: ReportRef, *, head_sha: Sha, surface: Surface) -> CheckRun | None:
    """The check run of one trial; None where the surface must not say what this reviewer said.

    Beside the comments of a public fork even bare counts would name an anonymous reviewer.
    """
    trial = score.trial
    if not surface.identified(trial.reviewer):
        return None
    annotations = tuple(_annotations(score, head_sha, surface))
    summary = "\n".join(_summary(score, ref, surface, len(annotations)))
    return CheckRun(
        name=f"assay / {surface.plain(surface.name(trial.reviewer), 80)}",
        head_sha=head_sha,
        external_id=external_id(ref, f"{trial.pull}~{trial.reviewer}"),
        title=_title(score),
        summary=cut(summary, CHECK_BYTES, ref.url, ref.kept_in),
        conclusion="neutral" if trial.status.scored else "skipped",
        annotations=annotations[:MAX_ANNOTATIONS],
        buttons=ref.buttons,
    )


def fork_check(
    scores: Sequence[TrialScore], ref: ReportRef, *, fork: ForkId, head_sha: Sha, surface: Surface
) -> CheckRun:
    """The check run that sets the reviewers of one fork side by side; only a count of those that may not be named."""
    named = [score for score in scores if surface.identified(score.trial.reviewer)]
    told = named or scores
    reviewed = sum(score.scored for score in told)
    lines = _side_by_side(named, len(scores) - len(named), ref, surface) if named else _counted(scores, ref)
    return CheckRun(
        name="assay / summary",
        head_sha=head_sha,
        external_id=external_id(ref, f"{fork}~summary"),
        title=f"{reviewed} of {len(told)} reviewers scored",
        summary=cut("\n".join(lines), CHECK_BYTES, ref.url, ref.kept_in),
        conclusion="neutral" if reviewed else "skipped",
        buttons=ref.buttons,
    )


def _counted(scores: Sequence[TrialScore], ref: ReportRef) -> Iterator[str]:
    """All that a public fork may hold where nobody may be named: its comments stand beside every figure."""
    yield f"Reviewers that were measured here: {len(scores)}; scored: {sum(score.scored for score in scores)}."
    yield ""
    yield f"Who they are and how they did is not shown where others can see it. It is kept in {ref.kept_in}."


def batches(annotations: Sequence[Annotation]) -> tuple[tuple[Annotation, ...], ...]:
    """The annotations in requests GitHub accepts. None at all: no batch."""
    return tuple(tuple(annotations[start : start + BATCH]) for start in range(0, len(annotations), BATCH))


def _title(score: TrialScore) -> str:
    status = score.trial.status
    if score.scored:
        return headline(score.counts)
    return f"not scored: {'review was cut off' if status.scored else status_words(status)}"


def _summary(score: TrialScore, ref: ReportRef, surface: Surface, annotated: int) -> Iterator[str]:
    yield from _head(score, ref, surface)
    yield from ("", _LEGEND)
    if not score.scored:
        yield from ("", "Not scored: this trial counts neither for nor against the reviewer.")
        yield f"Known defects that were compared with nothing: {len(score.trial.goldens)}."
        return
    yield from _known(score, surface)
    yield from _claims(score, surface)
    if annotated > MAX_ANNOTATIONS:
        yield from ("", f"Only the first {MAX_ANNOTATIONS} of {annotated} annotations are shown at their lines.")


def _head(score: TrialScore, ref: ReportRef, surface: Surface) -> Iterator[str]:
    trial = score.trial
    yield f"**{_title(score)}**"
    yield ""
    yield f"- reviewer: {surface.called(trial.reviewer)}; pull request {surface.code(trial.pull)}"
    reason = f": {surface.say(trial.reason)}" if trial.reason else ""
    yield f"- status: {_status(trial)}{reason}"
    if trial.foreign_before_first is not None:
        yield f"- comments by other reviewers that stood here before its first: {trial.foreign_before_first}"
    yield f"- judge: {surface.say(judge_label(ref.judge))}; profile: {surface.say(ref.profile)}; {_source(ref)}"


def _status(trial: Trial) -> str:
    """The status; of a review also whether it was all there."""
    words = status_words(trial.status)
    return f"{words}, not complete" if trial.status.scored and not trial.complete else words


def _source(ref: ReportRef) -> str:
    return link("full report", ref.url) if ref.url else ref.kept_in


def _known(score: TrialScore, surface: Surface) -> Iterator[str]:
    goldens = score.trial.goldens
    yield from ("", "#### Known defects", "")
    if not goldens:
        yield "None: this is a clean pull request, every claim on it is a false alarm."
        return
    by_id = {golden.id: golden for golden in goldens}
    claims = {candidate.id: candidate for candidate in score.candidates}
    for outcome in score.goldens:
        yield _golden_line(by_id[outcome.golden], outcome, claims, surface)


def _golden_line(golden: Golden, outcome: GoldenOutcome, claims: dict[CandidateId, Candidate], surface: Surface) -> str:
    by = claims.get(outcome.candidate) if outcome.candidate else None
    said = f" (by {link('this claim', by.permalink)})" if by else ""
    kind = f"{golden.severity} {golden.category.replace('_', ' ')}"
    where = f" {_where(golden.place, surface)}" if golden.place else ""
    return (
        f"- **{_STATE_WORDS[outcome.state]}**{said} {surface.code(golden.id)}, {kind}{where}: "
        f"{surface.say(golden.finding)}{_because(outcome.reason, surface)}"
    )


def _because(reason: str, surface: Surface) -> str:
    return f" <br>*why:* {surface.say(reason)}" if reason else ""


def _where(place: Place, surface: Surface) -> str:
    if place.lines is None:
        return surface.code(place.path)
    first, last = place.lines
    return surface.code(f"{place.path}:{first}" + (f"-{last}" if last != first else ""))


def _claims(score: TrialScore, surface: Surface) -> Iterator[str]:
    yield from ("", "#### Claims", "")
    outcomes = {outcome.candidate: outcome for outcome in score.outcomes}
    if not score.candidates:
        yield "None."
    if score.counts.fp and not score.valid_judged:
        yield from ("Nobody was asked which of the FP are sound though no known defect covers them.", "")
    for candidate in score.candidates:
        yield _claim_line(candidate, outcomes.get(candidate.id), surface)


def _claim_line(candidate: Candidate, outcome: CandidateOutcome | None, surface: Surface) -> str:
    kind = _kind_words(outcome) if outcome else "not judged"
    about = ""
    if outcome and outcome.golden:
        about = f" {'of' if outcome.kind is OutcomeKind.TP else 'again, of'} {surface.code(outcome.golden)}"
    where = f" {_where(candidate.place, surface)}" if candidate.place else ""
    flags = f" (flagged: {', '.join(map(surface.code, candidate.flags))})" if candidate.flags else ""
    text = surface.say(candidate.title or candidate.text)
    return (
        f"- **{kind}**{about}{where}: {text} {link('comment', candidate.permalink)}{flags}"
        f"{_because(outcome.reason, surface) if outcome else ''}"
    )


def _kind_words(outcome: CandidateOutcome) -> str:
    if outcome.kind in (OutcomeKind.TP, OutcomeKind.FP):
        return outcome.kind.upper()
    return str(outcome.kind)


def _side_by_side(named: Sequence[TrialScore], unnamed: int, ref: ReportRef, surface: Surface) -> Iterator[str]:
    yield "| reviewer | status | TP | FP | FN | unscored |"
    yield "| --- | --- | --: | --: | --: | --: |"
    for score in named:
        trial = score.trial
        counts = score.counts
        cells = (counts.tp, counts.fp, counts.fn, counts.unscored) if score.scored else (UNDEFINED,) * 4
        row = (surface.called(trial.reviewer), _status(trial), *map(str, cells))
        yield f"| {' | '.join(row)} |"
    if unnamed:
        yield from ("", f"Not shown here, because they may not be named: {unnamed}.")
    yield from (
        "",
        f"Judge: {surface.say(judge_label(ref.judge))}; profile: {surface.say(ref.profile)}; {_source(ref)}",
    )
    yield from ("", _LEGEND)


def _annotations(score: TrialScore, head_sha: Sha, surface: Surface) -> Iterator[Annotation]:
    """Missed defects from the worst to the mildest, then false alarms, then everything else."""
    yield from _missed(score, surface)
    yield from _claimed(score, head_sha, surface)


def _missed(score: TrialScore, surface: Surface) -> Iterator[Annotation]:
    by_id = {golden.id: golden for golden in score.trial.goldens}
    missed = [by_id[outcome.golden] for outcome in score.goldens if outcome.state is GoldenState.MISSED]
    for golden in sorted(missed, key=lambda golden: _SEVERITIES.index(golden.severity)):
        if golden.place and golden.place.side is Side.RIGHT:
            yield from _mark(golden.place, "warning", f"FN: missed, {golden.severity}", golden.finding, surface)


def _claimed(score: TrialScore, head_sha: Sha, surface: Surface) -> Iterator[Annotation]:
    outcomes = {outcome.candidate: outcome for outcome in score.outcomes}
    judged = [(outcomes[c.id], c) for c in score.candidates if c.id in outcomes]
    for outcome, candidate in sorted(judged, key=_urgency):
        if not candidate.place or candidate.place.side is Side.LEFT or candidate.commit not in (None, head_sha):
            continue
        title = f"{_kind_words(outcome)}: {candidate.title or candidate.text}"
        body = f"{candidate.text or candidate.title} (why: {outcome.reason})"
        yield from _mark(candidate.place, _LEVEL[outcome.kind], title, body, surface)


def _urgency(pair: tuple[CandidateOutcome, Candidate]) -> tuple[int, int]:
    outcome, candidate = pair
    said = _SEVERITIES.index(candidate.severity) if candidate.severity else len(_SEVERITIES)
    return _CLAIM_ORDER.index(outcome.kind), said


def _mark(
    place: Place, level: Literal["notice", "warning"], title: str, message: str, surface: Surface
) -> Iterator[Annotation]:
    """One annotation, or none where GitHub would refuse the lines or the path would have to be altered."""
    first, last = place.lines or (1, 1)
    if not 1 <= first <= last or surface.plain(place.path) != place.path:
        return
    whole = "" if place.lines else "About the whole file. "
    yield Annotation(
        path=place.path,
        start_line=first,
        end_line=last,
        level=level,
        title=surface.plain(title, TITLE_CHARS),
        message=cut_bytes(whole + surface.plain(message, MESSAGE_CHARS), MESSAGE_BYTES),
    )
