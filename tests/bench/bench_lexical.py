"""How well the lexical judge agrees with two large models, against word TF-IDF, on repositories it was not fitted on.

Every repository is judged by coefficients and thresholds from the others; TF-IDF's threshold is chosen on the same
others in the same way. Text only: no place, severity or kind. All judges, the models included, are counted by the same
rules (`scoring.profiles.replay`): one claim finds one golden. Intervals are of 95 % and resample pull requests.

TF-IDF is measured with three sources of word frequencies. "Others": the training repositories' texts, which is all our
judge knows too; words that those lack count for nothing, as scikit-learn has it. "Review": the texts of the one review
at hand, other claims included, which our judge does not look at. "All": every text here, those being judged included;
no judge that is asked about one review has that.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from goldens.importers import FORMATS
from scoring.bundle import Bundle, JudgementSet, TrialJudgements
from scoring.exact import mcnemar_exact
from scoring.judges.base import Judge
from scoring.judges.lexical import LexicalJudge
from scoring.matching import assign
from scoring.model import Candidate, Estimate, Golden, Judgement, PullId, Report, ReviewerId, Verdict
from scoring.profiles import replay
from scoring.profiles.base import claims
from scoring.statistics import agreement
from scoring.statistics.agreement import Labels
from scoring.statistics.bootstrap import Method, Resampler, f1_of, ratio
from tests.bench import fit_lexical
from tests.bench.table import Row
from tests.shared import SHARED

if TYPE_CHECKING:
    from scoring.statistics.bootstrap import Matrix

SEED = 7
OURS, NO_BAND = "lexical", "lexical, undecided as no match"
TFIDF = {"TF-IDF of others": "others", "TF-IDF of the review": "review", "TF-IDF of all": "all"}
GRID = tuple(round(at / 50, 2) for at in range(2, 31))
Review = tuple[str, PullId, ReviewerId, tuple[Candidate, ...], tuple[Golden, ...]]
"""Repository, pull request, reviewer, claims, goldens."""


@dataclass(frozen=True)
class World:
    """The published reviews with what one model said of them."""

    bundle: Bundle
    against: JudgementSet
    reviews: list[Review]


@dataclass(frozen=True)
class Compared:
    """Two judges' agreement with a model, on the goldens that all three settled."""

    difference: Estimate
    only_first: int
    only_second: int


def run() -> list[Row]:
    folder = SHARED / "data" / "martian"
    if not folder.exists():
        sys.stderr.write(f"nothing is measured: {folder} is not here\n")
        return []
    bundle = FORMATS["martian"].read(folder)
    fitted = fit_lexical.leave_one_out(fit_lexical.read(folder))
    worlds = [World(bundle, one, list(reviews_of(bundle, one))) for one in bundle.judgements]
    thresholds = {name: tfidf_thresholds(worlds, kind) for name, kind in TFIDF.items()}
    rows = [row for world in worlds for row in measure(world, fitted, thresholds)]
    return [*rows, *(between(one, other) for one, other in combinations(worlds, 2))]


def measure(
    world: World, fitted: Mapping[str, fit_lexical.Fitted], thresholds: Mapping[str, Mapping[str, float]]
) -> Iterator[Row]:
    """Every figure against one model."""
    resampler = Resampler(np.random.default_rng(SEED))
    judges: dict[str, Mapping[str, Judge]] = {
        OURS: {name: LexicalJudge(one.model()) for name, one in fitted.items()},
        NO_BAND: {name: LexicalJudge(no_band(one).model()) for name, one in fitted.items()},
    }
    similar = {name: similarities(world.reviews, kind) for name, kind in TFIDF.items()}
    sets = [judged(world, name, partial(ask, by_repository)) for name, by_repository in judges.items()]
    sets += [judged(world, name, partial(by_similarity, similar[name], thresholds[name])) for name in TFIDF]
    theirs = report(world, world.against)
    reports = {one.judge: report(world, one) for one in sets}
    yield from kappas(world.against.judge, reports, theirs, resampler)
    yield from differences(reports, theirs, resampler)
    plain = Resampler(np.random.default_rng(SEED), method=Method.PERCENTILE)
    for name, made in reports.items():
        value = tau(made, theirs, plain)
        yield Row(f"- tau-b of the leaderboard, {name}{bounds(value)}", value.value or 0.0, "")


def kappas(name: str, reports: Mapping[str, Report], theirs: Report, resampler: Resampler) -> Iterator[Row]:
    found, came = agreement.golden_labels(theirs.trials), agreement.candidate_labels(theirs.trials)
    mine = agreement.golden_labels(reports[OURS].trials)
    yield Row(f"{name}: goldens x tools", len(found), "")
    yield Row("- left undecided by lexical", 100 * (1 - len(mine) / len(found)), "%")
    for judge, made in reports.items():
        value = agreement.kappa(agreement.golden_labels(made.trials), found, resampler)
        yield Row(f"- kappa on golden found, {judge}{bounds(value)}", value.value or 0.0, "")
    for judge, made in reports.items():
        value = agreement.kappa(agreement.candidate_labels(made.trials), came, resampler)
        yield Row(f"- kappa on candidates, {judge}{bounds(value)}", value.value or 0.0, "")


def differences(reports: Mapping[str, Report], theirs: Report, resampler: Resampler) -> Iterator[Row]:
    truth = agreement.golden_labels(theirs.trials)
    labels = {name: agreement.golden_labels(made.trials) for name, made in reports.items()}
    for name in TFIDF:
        one = compare(labels[NO_BAND], labels[name], truth, resampler)
        chance = mcnemar_exact(one.only_first, one.only_second)
        tested = f"; McNemar {one.only_first} to {one.only_second}, p = {chance:.2g}"
        yield Row(f"- kappa less that of {name}{bounds(one.difference)}{tested}", one.difference.value or 0.0, "")


def between(one: World, other: World) -> Row:
    """Two models among themselves, for scale."""
    first, second = (agreement.golden_labels(report(world, world.against).trials) for world in (one, other))
    value = agreement.kappa(first, second, Resampler(np.random.default_rng(SEED)))
    names = f"{one.against.judge} and {other.against.judge}"
    return Row(f"kappa on golden found, {names}{bounds(value)}", value.value or 0.0, "")


def bounds(value: Estimate) -> str:
    if value.low is None or value.high is None:
        return f" ({value.reason})"
    return f" [{value.low:.3f} to {value.high:.3f}]"


# --- judging


def reviews_of(bundle: Bundle, against: JudgementSet) -> Iterator[Review]:
    """The reviews with the claims that this model was given, without anything but their text."""
    lists = against.details.get("candidates", {})
    for pull, trial, taken in claims(bundle):
        listed = lists.get(f"{trial.pull}|{trial.reviewer}")
        own = tuple(bare(one) for one in taken if listed is None or one.id in listed)
        yield fit_lexical.repository_of(pull.url), trial.pull, trial.reviewer, own, pull.goldens


def bare(candidate: Candidate) -> Candidate:
    return replace(candidate, place=None, severity=None, category_said=None)


def no_band(fitted: fit_lexical.Fitted) -> fit_lexical.Fitted:
    return replace(fitted, no_match_below=fitted.match_from)


def judged(world: World, name: str, judge: Callable[..., Iterable[Judgement]]) -> JudgementSet:
    trials = [
        TrialJudgements(pull, reviewer, tuple(judge(at, repository, own, goldens)))
        for at, (repository, pull, reviewer, own, goldens) in enumerate(world.reviews)
    ]
    lists = {key: world.against.details[key] for key in ("candidates", "goldens") if key in world.against.details}
    return JudgementSet(name, tuple(trials), lists)


def ask(
    judges: Mapping[str, Judge], at: int, repository: str, own: Sequence[Candidate], goldens: Sequence[Golden]
) -> Iterable[Judgement]:
    return judges[repository].judge(own, goldens)


def report(world: World, judgements: JudgementSet) -> Report:
    return replay.report(replace(world.bundle, judgements=(judgements,)), judgements.judge)


# --- TF-IDF


def similarities(reviews: list[Review], kind: str) -> list[Matrix]:
    """The cosine of each claim and each golden, review by review; logarithmic counts, English stop words left out."""
    made: dict[str, Any] = {}
    found = []
    for repository, _, _, own, goldens in reviews:
        said, known = [one.text for one in own], [one.finding for one in goldens]
        if not said:
            found.append(np.zeros((0, len(known))))
            continue
        key = {"others": repository, "all": ""}.get(kind)
        if key is not None and key not in made:
            made[key] = vectorizer(texts_of(review for review in reviews if review[0] != key))
        vectors = vectorizer([*said, *known]) if key is None else made[key]
        found.append((vectors.transform(said) @ vectors.transform(known).T).toarray())
    return found


def vectorizer(texts: Sequence[str]) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]

    return TfidfVectorizer(sublinear_tf=True, stop_words="english").fit(texts)


def texts_of(reviews: Iterable[Review]) -> list[str]:
    found: set[str] = set()
    for _, _, _, own, goldens in reviews:
        found |= {one.text for one in own} | {one.finding for one in goldens}
    return sorted(found)


def by_similarity(
    similar: Sequence[Matrix],
    thresholds: Mapping[str, float],
    at: int,
    repository: str,
    own: Sequence[Candidate],
    goldens: Sequence[Golden],
) -> Iterator[Judgement]:
    for row, candidate in enumerate(own):
        for column, golden in enumerate(goldens):
            value = min(1.0, float(similar[at][row, column]))
            verdict = Verdict.MATCH if value >= thresholds[repository] else Verdict.NO_MATCH
            yield Judgement(candidate.id, golden.id, verdict, "tf-idf", "cosine of words", value)


def tfidf_thresholds(worlds: Sequence[World], kind: str) -> dict[str, float]:
    """For each repository the threshold that agrees best on the others, chosen as that of the lexical judge is."""
    pairs: dict[tuple[str, float], list[tuple[bool, bool]]] = defaultdict(list)
    for world in worlds:
        truth = agreement.golden_labels(report(world, world.against).trials)
        for review, similar in zip(world.reviews, similarities(world.reviews, kind), strict=True):
            for threshold in GRID:
                pairs[review[0], threshold] += held_pairs(review, similar, threshold, truth)
    names = sorted({repository for repository, _ in pairs})
    return {name: best(pairs, [other for other in names if other != name]) for name in names}


def held_pairs(review: Review, similar: Matrix, threshold: float, truth: Labels) -> list[tuple[bool, bool]]:
    _, pull, reviewer, own, goldens = review
    edges = {
        (candidate.id, golden.id): float(similar[row, column])
        for row, candidate in enumerate(own)
        for column, golden in enumerate(goldens)
        if similar[row, column] >= threshold
    }
    held = assign(edges)
    known = [(one.id, truth[pull, reviewer, one.id]) for one in goldens if (pull, reviewer, one.id) in truth]
    return [(label == "found", golden in held) for golden, label in known]


def best(pairs: Mapping[tuple[str, float], list[tuple[bool, bool]]], names: Sequence[str]) -> float:
    kappas = {at: fit_lexical.kappa([pair for name in names for pair in pairs[name, at]]) for at in GRID}
    return fit_lexical.best_threshold(kappas)


# --- statistics


def compare(first: Labels, second: Labels, truth: Labels, resampler: Resampler) -> Compared:
    """The kappa of the first less that of the second, both with the truth, resampling pull requests together."""
    units = sorted(first.keys() & second.keys() & truth.keys())
    place = {pull: at for at, pull in enumerate(dict.fromkeys(unit[0] for unit in units))}
    rows = np.zeros((len(place), 8))
    for unit in units:
        for side, labels in enumerate((first, second)):
            cell = 2 * (labels[unit] == "found") + (truth[unit] == "found")
            rows[place[unit[0]], 4 * side + cell] += 1
    right = [(first[unit] == truth[unit], second[unit] == truth[unit]) for unit in units]
    every = np.ones(len(rows), dtype=bool)
    difference = resampler.estimate(rows, kappa_difference, every, len(units), agreement.ONE_LABEL)
    return Compared(difference, right.count((True, False)), right.count((False, True)))


def kappa_difference(sums: Matrix) -> Matrix:
    made: Matrix = kappa_of(sums[:, :4]) - kappa_of(sums[:, 4:])
    return made


def kappa_of(cells: Matrix) -> Matrix:
    """Cohen's kappa of rows (neither, only theirs, only ours, both)."""
    n = cells.sum(axis=1)
    ours, theirs = cells[:, 2] + cells[:, 3], cells[:, 1] + cells[:, 3]
    chance = ours * theirs + (n - ours) * (n - theirs)
    return ratio(n * (cells[:, 0] + cells[:, 3]) - chance, n * n - chance)


def tau(mine: Report, theirs: Report, resampler: Resampler) -> Estimate:
    """Kendall's tau-b of two leaderboards by F1, resampling pull requests for both together.

    It moves in steps, for which quantiles corrected for bias and skew are no good: percentiles.
    """
    names = sorted({one.trial.reviewer for one in theirs.trials})
    pulls = sorted({one.trial.pull for one in theirs.trials})
    rows = np.zeros((len(pulls), 6 * len(names)))
    for side, made in enumerate((mine, theirs)):
        for one in (trial for trial in made.trials if trial.scored):
            at = 3 * (side * len(names) + names.index(one.trial.reviewer))
            rows[pulls.index(one.trial.pull), at : at + 3] = one.counts.tp, one.counts.fp, one.counts.fn
    every = np.ones(len(rows), dtype=bool)
    return resampler.estimate(rows, partial(tau_of, len(names)), every, len(names), "there is no order")


def tau_of(size: int, sums: Matrix) -> Matrix:
    """Tau-b of two sides with so many reviewers each, from rows of counts."""
    figures = np.stack([f1_of(sums[:, at : at + 3]) for at in range(0, sums.shape[1], 3)], axis=1)
    first, second = np.triu_indices(size, 1)
    mine, theirs = (np.sign(side[:, first] - side[:, second]) for side in (figures[:, :size], figures[:, size:]))
    untied = np.sqrt((mine**2).sum(axis=1) * (theirs**2).sum(axis=1))
    return ratio((mine * theirs).sum(axis=1), untied)
