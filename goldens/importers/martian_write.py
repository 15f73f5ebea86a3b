"""A bundle as the files of the Martian pipeline; what the originals hold beyond our types stays in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from goldens.importers import claims, martian_walk
from goldens.importers.form import Documents
from goldens.importers.martian_files import BENCHMARK, GOLDENS, JUDGED, LABELS
from goldens.importers.problems import fail
from goldens.importers.strict import dump, load
from scoring.bundle import Bundle, BundlePull, BundleTrial, JudgementSet, TrialJudgements
from scoring.model import Candidate, CandidateId, Golden, Judgement, PullId, ReviewerId, Verdict

Key = tuple[PullId, ReviewerId]


def generate(bundle: Bundle, kept: Documents) -> Documents:
    """Every document that the bundle has something for, over the originals it was imported from."""
    originals = {name: load(data, name) for name, data in kept.items()}
    world = _World(bundle, originals)
    made = {name: value for name, value in world.documents() if value}
    return {name: kept[name] if originals.get(name) == value else dump(value) for name, value in made.items()} | {
        name: data for name, data in kept.items() if name == LABELS
    }


class _World:
    """The bundle with everything looked up once."""

    def __init__(self, bundle: Bundle, originals: Mapping[str, Any]) -> None:
        self.bundle = bundle
        self.originals = originals
        self.pulls = {pull.id: pull for pull in bundle.pulls}
        self.trials = {(trial.pull, trial.reviewer): trial for trial in bundle.trials}
        taken = claims.of(bundle)
        self.claims = {key: taken(trial) for key, trial in self.trials.items() if trial.status.scored}
        urls = [pull.url or pull.id for pull in bundle.pulls]
        if twice := sorted(url for url, times in Counter(urls).items() if times > 1):
            raise fail(BENCHMARK, "$", "each pull request with a URL of its own", ", ".join(twice))

    def documents(self) -> Iterator[tuple[str, Any]]:
        """Name and content."""
        yield from self._golden_files()
        if BENCHMARK in self.originals or any(trial.comments for trial in self.bundle.trials):
            yield BENCHMARK, self._benchmark()
        for judged in self.bundle.judgements:
            if all(trial.failed and not _stored(judged, trial) for trial in judged.trials):
                continue  # not even counts by pull request: there is no evaluation to write
            yield from self._judge(judged)
        if not self.bundle.judgements and any(trial.candidates for trial in self.bundle.trials):
            folder = self._folders().get("", "unjudged")
            yield f"{folder}/candidates.json", self._candidates(folder, {})

    def url(self, pull: PullId) -> str:
        """How the format calls a pull request."""
        return self.pulls[pull].url or pull

    def original(self, name: str, *keys: str) -> dict[str, Any]:
        """An object of the originals by its keys; empty if there is none."""
        value = self.originals.get(name, {})
        for key in keys:
            value = value.get(key, {}) if isinstance(value, dict) else {}
        return value if isinstance(value, dict) else {}

    def _golden_files(self) -> Iterator[tuple[str, Any]]:
        files: dict[str, list[Any]] = {}
        for pull in self.bundle.pulls:
            name = pull.tags.get("file", "")
            if name == BENCHMARK and BENCHMARK in self.originals:
                continue
            name = name if name.startswith(f"{GOLDENS}/") else f"{GOLDENS}/goldens.json"
            old = by(self.originals.get(name, []), "url").get(pull.url or pull.id, {})
            new: dict[str, Any] = {"pr_title": pull.title, "url": self.url(pull.id)}
            new |= {"original_url": pull.tags["original_url"]} if "original_url" in pull.tags else {}
            new["comments"] = _goldens(pull, old.get("comments", []))
            files.setdefault(name, []).append(over(old, new))
        yield from files.items()

    def _benchmark(self) -> dict[str, Any]:
        trials = claims.by_pull(self.bundle)
        found = {}
        for pull in self.bundle.pulls:
            old = self.original(BENCHMARK, self.url(pull.id))
            own = [trial for trial in trials[pull.id] if trial.status.scored]
            # The format has no word for a refusal: an entry without comments reads as a review that found nothing.
            reviews = [self._review(trial, old) for trial in own]
            file = pull.tags.get("file", "goldens.json").rpartition("/")[2]
            new = {
                "pr_title": pull.title,
                "original_url": pull.tags.get("original_url"),
                "source_repo": pull.tags.get("repo"),
                "golden_comments": _goldens(pull, old.get("golden_comments", [])),
                "golden_source_file": file,
                "az_comment": None,
            }
            found[self.url(pull.id)] = {**new, **old, "golden_comments": new["golden_comments"], "reviews": reviews}
        return found

    def _review(self, trial: BundleTrial, old: Mapping[str, Any]) -> dict[str, Any]:
        before = by(old.get("reviews", []), "tool").get(trial.reviewer, {})
        link = next((one.permalink for one in trial.comments), None)
        comments = [
            {
                "path": one.place.path if one.place else None,
                "line": one.place.lines[0] if one.place and one.place.lines else None,
                "body": one.body,
                "created_at": one.created_at or None,
                "author": one.author,
            }
            for one in trial.comments
        ]
        old_comments = before.get("review_comments", [])
        merged = [over(nearest(old_comments, at, one, "body"), one) for at, one in enumerate(comments)]
        return {"tool": trial.reviewer, "repo_name": None, "pr_url": link or None, **before, "review_comments": merged}

    def _folders(self) -> dict[str, str]:
        """Judge -> the folder it was imported from; with nobody's judgements, the one folder there is."""
        names = dict.fromkeys(name.rpartition("/")[0] for name in self.originals if name.endswith(JUDGED))
        known = {name: name for name in names}
        judges = [judged.judge for judged in self.bundle.judgements]
        if len(names) == 1 and len(judges) <= 1:
            known[judges[0] if judges else ""] = next(iter(names))
        return known

    def _judge(self, judged: JudgementSet) -> Iterator[tuple[str, Any]]:
        folder = self._folders().get(judged.judge, judged.judge.replace("/", "_").replace(":", "_"))
        yield f"{folder}/candidates.json", self._candidates(folder, judged.details.get("candidates", {}))
        yield f"{folder}/dedup_groups.json", self._groups(judged)
        yield f"{folder}/evaluations.json", self._evaluations(folder, judged)

    def _candidates(self, folder: str, own: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Claims as extracted. `own` gives a judge's list per trial, where several judges had lists of their own."""
        before = self.originals.get(f"{folder}/candidates.json")
        found: dict[str, Any] = {}
        for key, taken in self.claims.items():
            url, tool = self.url(key[0]), key[1]
            wanted = own.get(f"{key[0]}|{tool}", () if own else [one.id for one in taken])
            by_id = {one.id: one for one in taken if "from_evaluation" not in one.flags}
            listed = [_candidate(by_id[CandidateId(one)]) for one in wanted if one in by_id]
            old = (before or {}).get(url, {}).get(tool)
            if listed or old is not None or before is None:
                filled = [one for one in old or [] if one.get("text")]
                merged = [over(nearest(filled, at, one, "text"), one) for at, one in enumerate(listed)]
                found.setdefault(url, {})[tool] = merged
        return _in_order(found, before or {})

    def _groups(self, judged: JudgementSet) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for trial in judged.trials:
            at = {one.id: number for number, one in enumerate(self._own(judged, trial))}
            if trial.groups:
                groups = [[at[CandidateId(one)] for one in group if one in at] for group in trial.groups]
                found.setdefault(self.url(trial.pull), {})[trial.reviewer] = groups
        return found

    def _own(self, judged: JudgementSet, trial: TrialJudgements) -> tuple[Candidate, ...]:
        """The judge's own candidates of a trial, in its order."""
        claims = {one.id: one for one in self.claims.get((trial.pull, trial.reviewer), ())}
        order = judged.details.get("candidates", {}).get(f"{trial.pull}|{trial.reviewer}", list(claims))
        return tuple(claims[CandidateId(one)] for one in order if one in claims)

    def _evaluations(self, folder: str, judged: JudgementSet) -> dict[str, Any]:
        name = f"{folder}/evaluations.json"
        spread = judged.details.get("dedup") == "propagate"
        found: dict[str, Any] = {}
        for trial in judged.trials:
            url = self.url(trial.pull)
            skipped = trial.failed.startswith("skipped: ")
            if trial.pull not in self.pulls or (trial.failed and not skipped and not _stored(judged, trial)):
                continue
            old = self.original(name, url, trial.reviewer)
            kept = judged.details.get("published", {}).get(f"{trial.pull}|{trial.reviewer}", {})
            made = self._evaluation(judged, trial, kept, spread)
            found.setdefault(url, {})[trial.reviewer] = _result(made, old)
        return found

    def _evaluation(
        self, judged: JudgementSet, trial: TrialJudgements, kept: Mapping[str, Any], spread: bool
    ) -> dict[str, Any]:
        if trial.failed or kept.get("skipped"):
            counts = {key: value for key, value in kept.items() if key not in ("skipped", "reason")}
            reason = trial.failed.removeprefix("skipped: ") or kept.get("reason", "")
            return {"skipped": not counts, **({} if counts else {"reason": reason}), **_lists(counts)}
        pull = self.pulls[trial.pull]
        only = judged.details.get("goldens", {}).get(f"{trial.pull}|{trial.reviewer}")
        goldens = [one for one in pull.goldens if only is None or one.id in only]
        own = self._own(judged, trial)
        return {**evaluation(goldens, own, trial, spread), "tool": trial.reviewer}


def evaluation(
    goldens: Sequence[Golden], candidates: Sequence[Candidate], trial: TrialJudgements, spread: bool
) -> dict[str, Any]:
    """One review as `evaluations` holds it, counted by the source's own walk."""
    text = {one.id: one.text for one in candidates}
    finding = {one.id: one.finding for one in goldens}
    judgements = [_weighed(one) for one in trial.judgements if one.candidate in text and one.golden in finding]
    walked = martian_walk.walk(goldens, candidates, judgements, trial.groups if spread else ())
    said = {one.finding: stated_severity(one) for one in reversed(goldens)}
    found = []
    for key, claim in walked.found.items():
        pairs = [one for one in judgements if (finding[one.golden], text[one.candidate]) == (key, claim)]
        best = max(pairs, key=martian_walk.weight)
        weight = martian_walk.weight(best) if best.confidence is None else best.confidence
        hit = {"golden_comment": key, "severity": said[key], "matched_candidate": claim}
        found.append({**hit, "confidence": weight, "reasoning": best.reason})
    missed = [{"golden_comment": key, "severity": said[key]} for key in walked.missed]
    unmatched = [{"candidate": one} for one in walked.false_positives]
    errors = [
        {"golden": finding[one.golden], "candidate": text[one.candidate], "error": one.reason}
        for one in judgements
        if one.verdict is Verdict.UNDECIDED
    ]
    total, golden_total = len(candidates), len(goldens)
    return {
        "skipped": False,
        "true_positives": found,
        "false_positives": unmatched,
        "false_negatives": missed,
        "errors": errors,
        "total_candidates": total,
        "total_golden": golden_total,
        "tp": len(found),
        "fp": len(unmatched),
        "fn": len(missed),
        "errors_count": len(errors),
        "precision": len(found) / total if total else 0.0,
        "recall": len(found) / golden_total if golden_total else 0.0,
    }


def _weighed(one: Judgement) -> Judgement:
    """A match that has no confidence counts fully: in this format one without would be no match at all."""
    if one.verdict is not Verdict.MATCH or martian_walk.weight(one):
        return one
    return replace(one, evidence={**one.evidence, "weight": martian_walk.FULL})


def _stored(judged: JudgementSet, trial: TrialJudgements) -> bool:
    """Whether the source's counts of a trial are known, in this format's terms."""
    return {"tp", "fp", "fn"} <= set(judged.details.get("published", {}).get(f"{trial.pull}|{trial.reviewer}", ()))


def _lists(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Counts as the format has them where no lists are stored."""
    names = {"true_positives": "tp", "false_positives": "fp", "false_negatives": "fn"}
    return {key: counts.get(name) for key, name in names.items() if name in counts} | dict(counts)


def _result(made: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """An evaluation over its original. An original that counts the same is kept as it is."""
    same = all(old.get(name) == made.get(name) for name in ("skipped", "tp", "fp", "fn"))
    if old and same and _texts(old) == _texts(made):
        return dict(old)
    return over(old, made)


def _texts(one: Mapping[str, Any]) -> list[Any]:
    found = one.get("true_positives")
    listed: Iterable[Any] = found if isinstance(found, list) else ()
    return sorted((str(item.get("golden_comment")), str(item.get("matched_candidate"))) for item in listed)


def live(pull: BundlePull) -> list[Golden]:
    """The goldens that a golden file holds: those that are scored, without those that only an old evaluation names."""
    return [one for one in pull.goldens if one.status.scored and f"stale:{one.id}" not in pull.tags]


def _goldens(pull: BundlePull, old: Any) -> list[Any]:
    found = []
    for at, golden in enumerate(live(pull)):
        new: dict[str, Any] = {"comment": golden.finding, "severity": stated_severity(golden)}
        new |= {"category": golden.label or golden.category.value} if "category" not in golden.unverified else {}
        if golden.place:
            new |= {"path": golden.place.path, "line": golden.place.lines[0] if golden.place.lines else None}
        found.append(over(nearest(old, at, new, "comment"), new))
    return found


def stated_severity(golden: Golden) -> str | None:
    """The severity as these formats write it; None where nobody said one."""
    return None if "severity" in golden.unverified else golden.severity.value.capitalize()


def _candidate(one: Candidate) -> dict[str, Any]:
    line = one.place.lines[0] if one.place and one.place.lines else None
    return {"text": one.text, "path": one.place.path if one.place else None, "line": line, "source": "extracted"}


def over(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """New values over an original object: its order and the keys we do not know stay."""
    return {**old, **new} if old else dict(new)


def nearest(old: Any, at: int, new: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The original of an entry: the one at its position if it says the same, else the first that does."""
    entries = [one for one in old if isinstance(one, dict)] if isinstance(old, list) else []
    nearest = entries[at : at + 1] + entries
    return next((one for one in nearest if one.get(key) == new[key]), {})


def by(entries: Any, key: str) -> dict[Any, dict[str, Any]]:
    """The objects of a list by one of their values."""
    found = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    return {one.get(key): one for one in found}


def _in_order(found: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    return {url: found[url] for url in dict.fromkeys([*old, *found]) if url in found}
