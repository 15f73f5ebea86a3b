"""A bundle as CodeVetter's files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldens.importers import claims
from goldens.importers.form import Documents
from goldens.importers.landing import safe_name
from goldens.importers.martian_write import by, live, over
from goldens.importers.problems import fail
from goldens.importers.strict import dump, load
from goldens.importers.words import slug
from scoring.bundle import Bundle, BundlePull, JudgementSet
from scoring.model import Candidate, Golden, Judgement, Place, Severity, Verdict

DATASET = "codevetter-benchmark.json"


def generate(bundle: Bundle, kept: Documents) -> Documents:
    """Labelled cases, and a review per trial with what a judge matched."""
    originals = {name: load(data, name) for name, data in kept.items()}
    made: dict[str, Any] = {}
    for pull in bundle.pulls:
        name = pull.tags.get("file", DATASET)
        name = name if name in originals else DATASET
        if "ground_truth" in originals.get(name, {}):
            made[name] = over(originals[name], _case(pull, originals[name], "ground_truth"))
        else:
            made.setdefault(name, _dataset(originals.get(name, {}), bundle))["cases"].append(
                _in_dataset(pull, originals.get(name, {}))
            )
    for value in made.values():
        if "cases" in value:
            value |= _sums(value["cases"], value)
    made |= _reviews(bundle, originals)
    rest = {name: data for name, data in kept.items() if name not in made and _results(originals[name])}
    again = {name: kept[name] if originals.get(name) == value else dump(value) for name, value in made.items()}
    return {**again, **rest}


def _results(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, dict) and "overall" in one for one in value.values())


def _dataset(old: Mapping[str, Any], bundle: Bundle) -> dict[str, Any]:
    return {**(old or {"name": bundle.suite.id, "version": bundle.suite.version}), "cases": []}


def _sums(cases: list[dict[str, Any]], old: Mapping[str, Any]) -> dict[str, Any]:
    """The sums a dataset states about its cases, where they are no longer true."""
    labels = [one for case in cases for one in case["expected_findings"]]
    sums = {"case_count": len(cases), "expected_findings_total": len(labels)}
    return {key: value for key, value in sums.items() if old.get(key) != value}


def _in_dataset(pull: BundlePull, dataset: Mapping[str, Any]) -> dict[str, Any]:
    old = by(dataset.get("cases"), "id").get(pull.id, {})
    return over(old, _case(pull, old, "expected_findings"))


def _case(pull: BundlePull, old: Mapping[str, Any], key: str) -> dict[str, Any]:
    goldens = [over(by(old.get(key), "id").get(one.id, {}), _label(one)) for one in live(pull)]
    tags = {name: pull.tags[name] for name in ("source_file", "category") if name in pull.tags}
    head = {"id": pull.id, "title": pull.title, "language": pull.language, **tags}
    return {**{name: value for name, value in head.items() if value or name in old or name == "id"}, key: goldens}


def _label(golden: Golden) -> dict[str, Any]:
    new: dict[str, Any] = {"id": golden.id, "type": golden.label or golden.category.value}
    new["severity"] = None if "severity" in golden.unverified else golden.severity.value
    if golden.place:
        new["location"] = {"file": golden.place.path, "lines": _lines(golden.place)}
    new["description"] = golden.finding
    return new | ({"evidence": golden.evidence} if golden.evidence else {})


def _lines(place: Place) -> list[int] | None:
    return list(place.lines) if place.lines else None


def _reviews(bundle: Bundle, originals: Mapping[str, Any]) -> dict[str, Any]:
    """A file per trial. A review of which nothing is known but counts is none."""
    judged = _judge(bundle)
    said = {(one.pull, one.reviewer): one.judgements for one in judged.trials if not one.failed} if judged else {}
    old = {(one["case_id"], one["reviewer"]): name for name, one in originals.items() if _is_review(one)}
    taken = claims.of(bundle)
    found: dict[str, Any] = {}
    for trial in bundle.trials:
        own = taken(trial)
        if not trial.status.scored or ((trial.pull, trial.reviewer) not in said and not own):
            continue
        name = old.get((trial.pull, trial.reviewer)) or f"reviews/{_plain(trial.pull)}.{_plain(trial.reviewer)}.json"
        before = originals.get(name, {})
        new = {"case_id": trial.pull, "reviewer": trial.reviewer}
        matched = said.get((trial.pull, trial.reviewer), ())
        findings = [_finding(one, at, before, matched) for at, one in enumerate(own)]
        found[name] = over(before, {**new, "findings": findings})
    return found


def _is_review(value: Any) -> bool:
    return isinstance(value, dict) and "findings" in value and "case_id" in value and "reviewer" in value


def _plain(name: str) -> str:
    """A name as part of a file's: itself where that is safe."""
    try:
        safe_name(name)
    except ValueError:
        return slug(name)
    return slug(name) if "/" in name else name


def _judge(bundle: Bundle) -> JudgementSet | None:
    own = [one for one in bundle.judgements if any(trial.judgements for trial in one.trials)]
    if len(own) > 1:
        names = ", ".join(sorted(one.judge for one in own))
        raise fail("reviews", "$", "the judgements of one judge", f"several: {names}")
    return own[0] if own else None


def _finding(one: Candidate, at: int, before: Mapping[str, Any], said: tuple[Judgement, ...]) -> dict[str, Any]:
    own = [judgement for judgement in said if judgement.candidate == one.id]
    matched = [judgement.golden for judgement in own if judgement.verdict is Verdict.MATCH]
    entries = before.get("findings", [])
    old = entries[at] if at < len(entries) and one.text in entries[at].values() else {}
    severity = one.severity or Severity.MEDIUM
    new: dict[str, Any] = {"id": old.get("id", one.id), "type": one.category_said or old.get("type", "other")}
    new["severity"] = old["severity"] if "severity" in old and one.severity is None else severity.value
    new |= {"file": one.place.path, "lines": _lines(one.place)} if one.place else {}
    new |= {} if one.text in old.values() else {"title": one.text}
    reason = next((judgement.reason for judgement in own if judgement.reason), "")
    return over(old, {**new, "matched_ground_truth": matched, **({"rationale": reason} if reason else {})})
