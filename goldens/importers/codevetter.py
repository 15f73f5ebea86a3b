"""CodeVetter's files: labelled cases, reviews whose findings somebody matched to labels, and published results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goldens.importers import words
from goldens.importers.codevetter_write import generate
from goldens.importers.form import DocumentFormat, Documents, json_files
from goldens.importers.problems import meant
from goldens.importers.strict import Node, finish
from goldens.importers.words import Options
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
from scoring.model import Candidate, Golden, GoldenId, Judgement, Place, PullId, ReviewerId, TrialStatus, Verdict
from scoring.severity import said

ADJUDICATION = "adjudication"
PUBLISHED = "published results"
CARD = Card(
    corpus="small cases of a public benchmark, most of them written for it",
    labelled_by="the benchmark's authors",
    unit="a finding's matched id, or a finding matched to nothing",
    not_proven=("A person matched findings to labels; nobody else can repeat that.",),
)
_CASE = frozenset({"id", "title", "language", "source_file", "category", "source", "expected_findings", "ground_truth"})
_LABEL = frozenset({"id", "type", "severity", "location", "description"})
_FINDING = frozenset({"id", "type", "severity", "file", "lines", "title", "matched_ground_truth", "rationale"})
_NUMBERS = ("expected", "caught", "missed", "false_positives", "redundant")

Key = tuple[PullId, ReviewerId]


def gather(path: Path) -> dict[str, Path]:
    """The files at a path: one of them, or a folder's own, its reviews and its cases' labels."""
    found = json_files(path)
    if path.is_file():
        return found
    for pattern in ("reviews/*.json", "*/label.json", "cases/*/label.json"):
        found |= {one.relative_to(path).as_posix(): one for one in sorted(path.glob(pattern))}
    return found


def looks(name: str, value: Any) -> bool:
    """Whether a file is one of these."""
    return bool(kind(value))


def kind(value: Any) -> str:
    """Which file a value is; empty if none."""
    if not isinstance(value, dict):
        return ""
    cases = value.get("cases")
    if isinstance(cases, list) and any(isinstance(one, dict) and "expected_findings" in one for one in cases):
        return "dataset"
    marks = {"label": "ground_truth", "review": "findings"}
    found = next((word for word, key in marks.items() if key in value), "")
    results = bool(value) and all(isinstance(one, dict) and "overall" in one for one in value.values())
    return found or ("results" if results else "")


@dataclass(slots=True)
class _Reviews:
    """What reviews hold, by case and reviewer."""

    candidates: dict[Key, list[Candidate]] = field(default_factory=dict)
    judgements: dict[Key, list[Judgement]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def build(documents: Documents, options: Options) -> Bundle:
    """Read the documents of an import."""
    nodes = {name: Node.of(data, name) for name, data in documents.items()}
    by_kind: dict[str, list[Node]] = {}
    for node in nodes.values():
        word = kind(node.value)
        if not word:
            node.wrong("labelled cases, a label, a review with `findings`, or published results by reviewer")
        by_kind.setdefault(word, []).append(node)
    pulls = {pull.id: pull for node in by_kind.get("dataset", []) for pull in _dataset(node)}
    for node in by_kind.get("label", []):
        pull = _case(node, "ground_truth", node.file)
        if pull.id in pulls:
            node.wrong("each case once", f"case {pull.id!r} again")
        pulls[pull.id] = pull
    reviews = _Reviews()
    for node in by_kind.get("review", []):
        _review(node, pulls, reviews, options.judge or ADJUDICATION)
    results = [_results(node, pulls) for node in by_kind.get("results", [])]
    finish(nodes.values())
    goldens = [(str(pull.id), golden) for pull in pulls.values() for golden in pull.goldens]
    card = Card(CARD.corpus, CARD.labelled_by, CARD.unit, CARD.not_proven, tuple(reviews.notes))
    judged = [*_judged(reviews, options.judge or ADJUDICATION), *results]
    return Bundle(
        words.content_suite(options.suite or "codevetter", "imported", goldens),
        card,
        tuple(pulls.values()),
        tuple(_trials(pulls, reviews, results)),
        tuple(judged),
    )


def _dataset(node: Node) -> Iterator[BundlePull]:
    seen: set[str] = set()
    for item in node.get("cases").items():
        pull = _case(item, "expected_findings", node.file)
        if pull.id in seen:
            item.wrong("each case once", f"case {pull.id!r} again")
        seen.add(pull.id)
        yield pull


def _case(item: Node, key: str, name: str) -> BundlePull:
    broad = item.get("category").text("")
    identity = PullId(item.need("id", _CASE).text())
    listed = item.need(key, _CASE)
    goldens = [_label(one, broad) for one in listed.items()] if listed.problems is item.problems else []
    ids = [golden.id for golden in goldens]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        listed.wrong("each label once", f"{twice[0]!r} again")
    tags = {"category": broad, "file": name, "source_file": item.get("source_file").text("")}
    return BundlePull(
        identity,
        tuple(goldens),
        item.get("language").text(""),
        item.get("title").text(""),
        origin="synthetic" if key == "expected_findings" else "",
        tags={tag: value for tag, value in tags.items() if value},
    )


def _label(item: Node, broad: str) -> Golden:
    place = item.get("location")
    return words.golden(
        GoldenId(item.need("id", _LABEL).text()),
        item.need("description", _LABEL).text(""),
        system="codevetter",
        label=item.get("type").text(""),
        level=words.severity(item, _LABEL),
        place=_place(place.get("file"), place.get("lines")) if item.has("location") else None,
        evidence=item.get("evidence").text(""),
        broad=broad,
    )


def _place(file: Node, lines: Node) -> Place | None:
    numbers = [one.whole(least=1) for one in lines.items()] if lines.value is not None else []
    if numbers and (len(numbers) != 2 or None in numbers or (numbers[0] or 0) > (numbers[1] or 0)):
        lines.wrong("two line numbers, first and last")
        numbers = []
    return words.place(file.text(""), numbers[0], numbers[1]) if numbers else words.place(file.text(""), None)


def _review(node: Node, pulls: Mapping[PullId, BundlePull], into: _Reviews, judge: str) -> None:
    case, reviewer = PullId(node.need("case_id").text()), ReviewerId(node.need("reviewer").text())
    if node.problems:
        return
    if case not in pulls:
        node.get("case_id").wrong("a case that is labelled", hint=meant(case, pulls))
        return
    if (case, reviewer) in into.candidates:
        into.notes.append(f"{reviewer} has more than one review file for {case}; they are taken as one")
    claims = into.candidates.setdefault((case, reviewer), [])
    said_of = into.judgements.setdefault((case, reviewer), [])
    for item in node.need("findings").items():
        claim = _finding(item, case, reviewer, len(claims) + 1)
        claims.append(claim)
        said_of.extend(_matches(item, claim, pulls[case], judge))


def _finding(item: Node, case: str, reviewer: str, number: int) -> Candidate:
    name = item.get("id").text("")
    text = item.get("title").text("") or item.get("description").text("") or item.get("rationale").text("")
    return words.candidate(
        "c-" + words.digest(case, reviewer, str(number), name, length=12),
        text,
        place=_place(item.get("file"), item.get("lines")),
        level=said(item.get("severity").text("")),
        label=item.get("type").text("") or None,
    )


def _matches(item: Node, claim: Candidate, pull: BundlePull, judge: str) -> list[Judgement]:
    reason = item.get("rationale").text("")
    listed = item.get("matched_ground_truth")
    ids = [GoldenId(one.text()) for one in listed.items()] if listed.value is not None else []
    if not ids:
        return [Judgement(claim.id, one.id, Verdict.NO_MATCH, judge, reason) for one in pull.goldens]
    return [Judgement(claim.id, one, Verdict.MATCH, judge, reason) for one in ids]


def _judged(reviews: _Reviews, judge: str) -> list[JudgementSet]:
    trials = tuple(TrialJudgements(*key, tuple(found)) for key, found in reviews.judgements.items())
    return [JudgementSet(judge, trials)] if trials else []


def _results(node: Node, pulls: Mapping[PullId, BundlePull]) -> JudgementSet:
    published: dict[str, Any] = {}
    totals: dict[str, Any] = {}
    trials = []
    for reviewer, own in node.fields():
        totals[reviewer] = own.get("overall").value
        for item in own.need("cases").items():
            case = PullId(item.need("id").text())
            counts: dict[str, Any] = {key: item.need(key).whole() for key in _NUMBERS}
            if case not in pulls:
                item.get("id").wrong("a case that is labelled", hint=meant(case, pulls))
            published[f"{case}|{reviewer}"] = counts | {"catch_rate": item.get("catch_rate").number()}
            trials.append(TrialJudgements(case, ReviewerId(reviewer), (), (), "only counts are stored"))
    details = {"published_totals": totals, "published": published, "counts_only": list(published)}
    return JudgementSet(PUBLISHED, tuple(trials), details)


def _trials(
    pulls: Mapping[PullId, BundlePull], reviews: _Reviews, results: list[JudgementSet]
) -> Iterator[BundleTrial]:
    counted = {(one.pull, one.reviewer): judged for judged in results for one in judged.trials}
    keys = dict.fromkeys([*reviews.candidates, *counted])
    for pull in pulls:
        for case, reviewer in keys:
            if case == pull:
                yield _trial(case, reviewer, reviews.candidates.get((case, reviewer)), counted.get((case, reviewer)))


def _trial(
    case: PullId, reviewer: ReviewerId, claims: list[Candidate] | None, judged: JudgementSet | None
) -> BundleTrial:
    events = sum(judged.details["published"][f"{case}|{reviewer}"][key] or 0 for key in _EVENTS) if judged else 0
    status = TrialStatus.REVIEWED_FINDINGS if claims or events else TrialStatus.REVIEWED_CLEAN
    reason = "" if claims else "only counts are stored" if events else "the source holds no finding of this review"
    return BundleTrial(case, reviewer, status, reason=reason, candidates=tuple(claims or ()))


_EVENTS = ("caught", "false_positives", "redundant")

CODEVETTER = DocumentFormat("codevetter", gather, build, generate, looks)
