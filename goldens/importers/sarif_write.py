"""A bundle as SARIF 2.1.0: a log per pull request, a run per reviewer, with its findings and what it missed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from goldens.importers import claims
from goldens.importers.form import Documents
from goldens.importers.martian_write import over
from goldens.importers.strict import dump, load
from scoring.bundle import Bundle, BundlePull, BundleTrial
from scoring.model import Candidate, Golden, Judgement, Place, Severity, Verdict

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
}


def generate(bundle: Bundle, kept: Documents) -> Documents:
    """A log for every pull request that has a trial."""
    originals = {name: load(data, name) for name, data in kept.items()}
    said = _Answers(bundle)
    by_pull = claims.by_pull(bundle)
    made: dict[str, Any] = {}
    for pull in bundle.pulls:
        trials = by_pull[pull.id]
        name = pull.tags.get("file", "")
        name = name if name in originals else f"{pull.id}.sarif"
        old = originals.get(name, {})
        runs = [_run(bundle, pull, trial, said, _old_run(old, trial)) for trial in trials]
        if runs:
            made[name] = over(old, {"$schema": old.get("$schema", _SCHEMA), "version": "2.1.0", "runs": runs})
    return {name: dump(value) for name, value in made.items()}


class _Answers:
    """What every judge of a bundle answered, by trial."""

    def __init__(self, bundle: Bundle) -> None:
        self._by_trial: dict[tuple[str, str], dict[str, tuple[Judgement, ...]]] = {}
        for judged in bundle.judgements:
            for trial in judged.trials:
                if not trial.failed:
                    self._by_trial.setdefault((trial.pull, trial.reviewer), {})[judged.judge] = trial.judgements

    def judges(self, trial: BundleTrial) -> Mapping[str, tuple[Judgement, ...]]:
        """Judge -> its judgements on a trial."""
        return self._by_trial.get((trial.pull, trial.reviewer), {})

    def matches(self, trial: BundleTrial, claim: Candidate) -> dict[str, list[str]]:
        """Judge -> the goldens it says a claim means."""
        found = {
            judge: [str(one.golden) for one in said if one.candidate == claim.id and one.verdict is Verdict.MATCH]
            for judge, said in self.judges(trial).items()
        }
        return {judge: goldens for judge, goldens in found.items() if goldens}

    def missed(self, trial: BundleTrial, golden: Golden) -> list[str]:
        """The judges that found no claim to mean a golden, and were sure of every pair."""
        return [
            judge
            for judge, said in self.judges(trial).items()
            if all(one.verdict is Verdict.NO_MATCH for one in said if one.golden == golden.id)
        ]


def _old_run(old: Mapping[str, Any], trial: BundleTrial) -> dict[str, Any]:
    """The original run of a reviewer, known by the comments that were read from it."""
    runs = old.get("runs", [])
    numbers = {one.id.rpartition("/")[2].partition("-")[0] for one in trial.comments}
    if len(numbers) == 1 and (number := numbers.pop()).isdigit() and int(number) < len(runs):
        return dict(runs[int(number)])
    return {}


def _run(
    bundle: Bundle, pull: BundlePull, trial: BundleTrial, said: _Answers, old: Mapping[str, Any]
) -> dict[str, Any]:
    name = next((one.name for one in bundle.reviewers if one.id == trial.reviewer and one.name), trial.reviewer)
    ours = {"pull": pull.url or pull.id, "reviewer": trial.reviewer, "status": trial.status.value}
    new: dict[str, Any] = {"tool": old.get("tool") or {"driver": {"name": name}}}
    new["properties"] = {**old.get("properties", {}), "assay": ours}
    new["invocations"] = old.get("invocations") or [_invocation(trial)]
    if trial.status.scored or trial.comments:
        found = [_finding(one, said.matches(trial, one), old) for one in claims.of(bundle)(trial)]
        new["results"] = [*found, *_misses(pull, trial, said), *_others(old)]
    return {**old, **new}


def _invocation(trial: BundleTrial) -> dict[str, Any]:
    if trial.status.scored:
        return {"executionSuccessful": True}
    text = f"{trial.status.value}: {trial.reason}" if trial.reason else trial.status.value
    notice = {"level": "error", "message": {"text": text}}
    return {"executionSuccessful": False, "toolExecutionNotifications": [notice]}


def _others(old: Mapping[str, Any]) -> list[Any]:
    """Results of the original that are no claims."""
    return [
        one
        for one in old.get("results", [])
        if one.get("kind", "fail") != "fail" or one.get("suppressions") or one.get("baselineState") == "absent"
    ]


def _finding(one: Candidate, matches: Mapping[str, list[str]], run: Mapping[str, Any]) -> dict[str, Any]:
    old = _original(one, run)
    ours: dict[str, Any] = {"candidate": one.id, **({"matches": dict(matches)} if matches else {})}
    if one.permalink:
        ours["permalink"] = one.permalink
    new: dict[str, Any] = {"properties": {**old.get("properties", {}), "assay": ours}}
    if old:
        return {**old, **new}
    new |= {"ruleId": one.category_said or "finding", "message": {"text": one.text}}
    new |= {"level": _LEVELS[one.severity]} if one.severity else {}
    return new | ({"locations": [_location(one.place)]} if one.place else {})


def _original(one: Candidate, run: Mapping[str, Any]) -> dict[str, Any]:
    """The original result of a claim that was read from one."""
    at = one.comment_id.rpartition("-")[2]
    results = run.get("results", [])
    known = one.comment_id.startswith("annotation/") and at.isdigit() and int(at) < len(results)
    return dict(results[int(at)]) if known else {}


def _misses(pull: BundlePull, trial: BundleTrial, said: _Answers) -> Iterator[dict[str, Any]]:
    """The goldens a reviewer did not find. They are no failures of the code's own tool, and say so by their kind."""
    for golden in pull.goldens if trial.status.scored else ():
        judges = said.missed(trial, golden)
        if judges and golden.status.scored:
            yield {
                "ruleId": f"missed/{golden.category.value}",
                "kind": "informational",
                "level": "none",
                "message": {"text": f"Missed: {golden.finding}"},
                **({"locations": [_location(golden.place)]} if golden.place else {}),
                "properties": {"assay": {"golden": golden.id, "severity": golden.severity.value, "missed_by": judges}},
            }


def _location(place: Place) -> dict[str, Any]:
    spot: dict[str, Any] = {"artifactLocation": {"uri": quote(place.path)}}
    if place.lines:
        spot["region"] = {"startLine": place.lines[0], "endLine": place.lines[1]}
    return {"physicalLocation": spot}
