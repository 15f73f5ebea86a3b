"""The Martian pipeline's files: golden comments, benchmark data, and what each judge extracted, grouped and decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from goldens.importers import martian_eval, martian_files, martian_walk, words
from goldens.importers.form import DocumentFormat, Documents
from goldens.importers.martian_eval import Evaluation
from goldens.importers.martian_files import BENCHMARK, GOLDENS, LABELS, Draft, Review
from goldens.importers.martian_write import generate
from goldens.importers.strict import Node, finish
from goldens.importers.words import Options
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
from scoring.model import Candidate, Golden, Judgement, Place, ReviewerId, TrialStatus

Key = tuple[str, str]
"""Golden URL and tool."""

CARD = Card(
    corpus="published pull requests of a public benchmark",
    labelled_by="the benchmark's authors",
    unit="distinct claim text x distinct golden text",
    not_proven=(
        "The source cannot tell a reviewer that did not run from one that found nothing.",
        "Pairs that matched nothing are rebuilt from the stored lists, not stored.",
    ),
)
SILENT = "the source holds no claim; it does not say whether the reviewer ran"


@dataclass(slots=True)
class _Judge:
    """One judge's folder."""

    name: str
    candidates: dict[Key, list[Candidate]] = field(default_factory=dict)
    groups: dict[Key, list[list[int]]] = field(default_factory=dict)
    evaluations: dict[Key, Evaluation] = field(default_factory=dict)

    def texts_of_groups(self, key: Key) -> list[list[str]]:
        """Groups as texts; indices that point nowhere are passed over, as the source does."""
        own = self.candidates.get(key, [])
        return [[own[at].text for at in group if at < len(own)] for group in self.groups.get(key, [])]


def build(documents: Documents, options: Options) -> Bundle:
    """Read the documents of an import."""
    nodes = {name: Node.of(data, name) for name, data in documents.items()}
    drafts: dict[str, Draft] = {}
    for name, node in nodes.items():
        if name.startswith(f"{GOLDENS}/"):
            martian_files.once(((draft, node) for draft in martian_files.golden_file(node, name)), drafts)
    return assemble(nodes, drafts, options, options.suite or "martian")


def assemble(nodes: Mapping[str, Node], drafts: dict[str, Draft], options: Options, suite: str) -> Bundle:
    """A bundle from golden pull requests that are read, and from the reviews and judges' folders among the nodes.

    Raises:
        ImportProblem: anything in any node was wrong.
    """
    reviews = martian_files.benchmark(nodes[BENCHMARK], drafts) if BENCHMARK in nodes else {}
    judges = _judges(nodes, options)
    if LABELS in nodes:
        martian_files.labels(nodes[LABELS], drafts)
    finish(nodes.values())
    listed = frozenset(drafts)
    for judge in judges:
        _complete(judge, drafts, listed)
    pulls = tuple(_pull(draft) for draft in drafts.values())
    goldens = [(pull.url, golden) for pull in pulls for golden in pull.goldens]
    return Bundle(
        suite=words.content_suite(suite, "imported", goldens),
        card=CARD,
        pulls=pulls,
        trials=tuple(_trials(drafts, judges, reviews)),
        judgements=tuple(_judgements(judge, drafts, len(judges) > 1) for judge in judges if judge.evaluations),
    )


def _pull(draft: Draft) -> BundlePull:
    return BundlePull(draft.id, tuple(draft.goldens), draft.language, draft.title, draft.url, None, "real", draft.tags)


def _judges(nodes: Mapping[str, Node], options: Options) -> list[_Judge]:
    folders = dict.fromkeys(name.rpartition("/")[0] for name in nodes if name.endswith(martian_files.JUDGED))
    found = []
    for folder in folders:
        judge = _Judge(options.judge if options.judge and len(folders) == 1 else folder or "unnamed judge")
        if node := nodes.get(f"{folder}/candidates.json"):
            judge.candidates = {
                (url, tool): _candidates(url, tool, own) for url, tool, own in martian_files.by_review(node)
            }
        if node := nodes.get(f"{folder}/dedup_groups.json"):
            judge.groups = {(url, tool): _groups(own) for url, tool, own in martian_files.by_review(node)}
        if node := nodes.get(f"{folder}/evaluations.json"):
            judge.evaluations = {
                (url, tool): martian_eval.read(own) for url, tool, own in martian_files.by_review(node)
            }
        found.append(judge)
    return found


def _candidates(url: str, tool: str, node: Node) -> list[Candidate]:
    found: list[Candidate] = []
    times: Counter[str] = Counter()
    for item in node.items():
        text = item.need("text", ("path", "line", "source")).text("")
        place = words.place(item.get("path").text(""), item.get("line").whole())
        if text:
            found.append(_candidate(url, tool, text, times[text], place))
            times[text] += 1
    return found


def _candidate(url: str, tool: str, text: str, nth: int, place: Place | None = None) -> Candidate:
    return words.candidate("c-" + words.digest(url, tool, text, str(nth), length=12), text, place=place)


def _groups(node: Node) -> list[list[int]]:
    return [[at for one in group.items() if (at := one.whole()) is not None] for group in node.items()]


def _complete(judge: _Judge, drafts: dict[str, Draft], listed: frozenset[str]) -> None:
    """Add what only the evaluations know: goldens that left their files, and texts that are in no candidate list."""
    for (url, tool), evaluation in judge.evaluations.items():
        draft = drafts.setdefault(url, Draft(url, tags={"file": f"{GOLDENS}/goldens.json"}))
        there = {golden.finding for golden in draft.goldens}
        for text in evaluation.goldens:
            if text not in there:
                golden = draft.add(text, "", None)
                draft.tags |= {f"stale:{golden.id}": "only an evaluation names it"} if url in listed else {}
        own = judge.candidates.get((url, tool), [])
        texts = {one.text for one in own}
        for text in evaluation.candidates:
            if text not in texts:
                extra = replace(_candidate(url, tool, text, 0), flags=("from_evaluation",))
                judge.candidates[url, tool] = own = [*own, extra]
                texts.add(text)
        judge.candidates.setdefault((url, tool), [])
    for url, _ in judge.candidates:
        drafts.setdefault(url, Draft(url, tags={"file": f"{GOLDENS}/goldens.json"}))


def _trials(
    drafts: Mapping[str, Draft], judges: Sequence[_Judge], reviews: Mapping[Key, Review]
) -> Iterator[BundleTrial]:
    keys = dict.fromkeys([*reviews, *(key for judge in judges for key in judge.candidates)])
    by_url: dict[str, list[str]] = {}
    for url, tool in keys:
        by_url.setdefault(url, []).append(tool)
    for url, draft in drafts.items():
        for tool in by_url.get(url, ()):
            yield _trial(draft, tool, [judge for judge in judges if (url, tool) in judge.candidates], reviews)


def _trial(draft: Draft, tool: str, judges: Sequence[_Judge], reviews: Mapping[Key, Review]) -> BundleTrial:
    key = (draft.url, tool)
    links = [judge.evaluations[key].url for judge in judges if key in judge.evaluations]
    review = reviews.get(key, Review((), next(filter(None, links), "")))
    merged = {one.id: one for judge in judges for one in judge.candidates[key]}
    claims = tuple(replace(one, permalink=review.url) for one in merged.values()) if judges else None
    said = claims if claims is not None else review.comments
    status = TrialStatus.REVIEWED_FINDINGS if said else TrialStatus.REVIEWED_CLEAN
    silent = f"{len(review.comments)} comments, and no claim was taken from them" if review.comments else SILENT
    return BundleTrial(
        pull=draft.id,
        reviewer=ReviewerId(tool),
        status=status,
        reason="" if said else silent,
        comments=review.comments,
        candidates=claims,
    )


def _judgements(judge: _Judge, drafts: Mapping[str, Draft], several: bool) -> JudgementSet:
    mode, rebuilt = _rebuilt(judge, drafts)
    notes = _Notes(judge, mode)
    for key, trial in rebuilt.items():
        notes.take(key, f"{trial.pull}|{trial.reviewer}", trial, drafts[key[0]])
    details = notes.details()
    if several:
        own_lists = {
            f"{drafts[url].id}|{tool}": [one.id for one in own] for (url, tool), own in judge.candidates.items()
        }
        details["candidates"] = own_lists
    return JudgementSet(judge.name, tuple(rebuilt.values()), details)


def _rebuilt(judge: _Judge, drafts: Mapping[str, Draft]) -> tuple[str, dict[Key, TrialJudgements]]:
    """How the groups were used, and the judgements of each review.

    Lists can look as if groups had been used though they were not: what was beaten by its own duplicate is spared in
    both. Then some review does not count as stored, and what was spared is taken for beaten everywhere.
    """
    groups = {key: judge.texts_of_groups(key) for key in judge.evaluations}
    mode = martian_walk.used_groups((evaluation, groups[key]) for key, evaluation in judge.evaluations.items())
    found = {key: _review(judge, key, drafts[key[0]], groups[key], mode) for key in judge.evaluations}
    if mode == "propagate" and (wrong := _misfits(judge, drafts, found, mode)):
        plain = {key: _review(judge, key, drafts[key[0]], (), "none") for key in judge.evaluations}
        if _misfits(judge, drafts, plain, "none") < wrong:
            return "none", plain
    return mode, found


def _review(judge: _Judge, key: Key, draft: Draft, siblings: Sequence[Sequence[str]], mode: str) -> TrialJudgements:
    evaluation, own = judge.evaluations[key], judge.candidates[key]
    judged: tuple[Judgement, ...] = ()
    if _listed(evaluation):
        spared = siblings if mode == "propagate" else ()
        judged = martian_walk.rebuild(judge.name, _named(draft, evaluation), own, evaluation, spared)
    groups = tuple(tuple(own[at].id for at in group if at < len(own)) for group in judge.groups.get(key, ()))
    return TrialJudgements(draft.id, ReviewerId(key[1]), judged, groups, _failed(evaluation))


def _misfits(judge: _Judge, drafts: Mapping[str, Draft], rebuilt: Mapping[Key, TrialJudgements], mode: str) -> int:
    """How many reviews do not count as their lists do."""
    listed = {key: trial for key, trial in rebuilt.items() if _listed(judge.evaluations[key])}
    return sum(
        _walked(judge, key, trial, drafts[key[0]], mode) != judge.evaluations[key].counts
        for key, trial in listed.items()
    )


def _walked(judge: _Judge, key: Key, trial: TrialJudgements, draft: Draft, mode: str) -> tuple[int, int, int]:
    groups = trial.groups if mode == "propagate" else ()
    named = _named(draft, judge.evaluations[key])
    found = martian_walk.walk(named, judge.candidates[key], trial.judgements, groups)
    return found.tp, found.fp, found.fn


def _named(draft: Draft, evaluation: Evaluation) -> list[Golden]:
    """The goldens that were judged: a golden file may have gained some since."""
    names = set(evaluation.goldens)
    return [golden for golden in draft.goldens if not names or golden.finding in names]


def _listed(evaluation: Evaluation) -> bool:
    return evaluation.skipped is None and not evaluation.counts_only


def _failed(evaluation: Evaluation) -> str:
    if evaluation.skipped is not None:
        return f"skipped: {evaluation.skipped}"
    return "only counts are stored" if evaluation.counts_only else ""


class _Notes:
    """What is published beside the judgements, and what does not fit together."""

    def __init__(self, judge: _Judge, mode: str) -> None:
        self._judge = judge
        self._found: dict[str, Any] = {"published": {}, "dedup": mode}

    def take(self, key: Key, name: str, trial: TrialJudgements, draft: Draft) -> None:
        """Note one review."""
        evaluation = self._judge.evaluations[key]
        self._found["published"][name] = dict(evaluation.published)
        own = len(self._judge.candidates[key])
        if evaluation.counts_only:
            self._found.setdefault("counts_only", []).append(name)
        goldens = _named(draft, evaluation)
        if _listed(evaluation) and len(goldens) < len(draft.goldens):
            self._found.setdefault("goldens", {})[name] = [golden.id for golden in goldens]
        if odd := [hit.confidence for hit in evaluation.hits if hit.usable is None]:
            self._found.setdefault("odd_confidence", {})[name] = odd
        if stale := sorted({at for group in self._judge.groups.get(key, ()) for at in group if at >= own}):
            self._found.setdefault("stale_groups", {})[name] = stale
        if _listed(evaluation) and (why := self._mismatch(key, trial, draft)):
            self._found.setdefault("inconsistent", {})[name] = why

    def _mismatch(self, key: Key, trial: TrialJudgements, draft: Draft) -> str:
        walked = _walked(self._judge, key, trial, draft, self._found["dedup"])
        published = self._judge.evaluations[key].published
        wanted = tuple(published[name] for name in ("tp", "fp", "fn"))
        return "" if walked == wanted else f"stored tp, fp, fn are {wanted}, its lists give {walked}"

    def details(self) -> dict[str, Any]:
        """All notes."""
        return self._found


MARTIAN = DocumentFormat("martian", martian_files.gather, build, generate)
