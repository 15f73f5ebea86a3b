"""The C/C++ benchmark: rich and slim goldens, fork manifests, judges' totals, and what it shares with Martian."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from goldens.importers import martian_files, words
from goldens.importers.cloudaeye_write import generate
from goldens.importers.form import DocumentFormat, Documents, json_files
from goldens.importers.martian import CARD, SILENT, assemble
from goldens.importers.martian_files import BENCHMARK, JUDGED, LABELS, Draft
from goldens.importers.strict import Node, finish
from goldens.importers.words import Options
from scoring.bundle import Bundle, BundleTrial, JudgementSet, TrialJudgements
from scoring.model import Discoverability, Golden, PullId, ReviewerId, TrialStatus

_TABLES = ("goldens_facts.csv", "leaderboards.csv")
_RICH = frozenset({"repo", "lang", "pr_title", "pr_url", "source_signal", "base_sha", "head_sha", "goldens"})
_SLIM = frozenset({"repo", "lang", "pr_title", "url", "source_signal", "base_sha", "head_sha", "comments"})
_FACTS = frozenset({"repo", "pr", "lang", "subject", "source_signal", "base_sha", "head_sha", "goldens"})
_KEPT = ("repo", "source_signal", "base_sha", "head_sha")
_SHA = re.compile(r"[0-9a-f]{40}\Z")
_LANGUAGES = {"c": "c", "c++": "cpp", "cpp": "cpp"}
_COUNTS = ("tp", "fp", "fn")
_COUNTED = "only counts are stored"
_SUMMED = "only totals over all pull requests are stored"


def gather(path: Path) -> dict[str, Path]:
    """The benchmark's files at a path: one of them, or those of its folder and of the folders it keeps them in."""
    if path.is_file():
        return {path.name: path}
    found = json_files(path)
    found |= {name: path / name for name in _TABLES if (path / name).is_file()}
    for folder in ("goldens", "manifests"):
        inner = path / folder
        found |= {f"{folder}/{name}": one for name, one in json_files(inner).items()} if inner.is_dir() else {}
    shared = {
        name: one for name, one in martian_files.gather(path).items() if name.endswith((*JUDGED, LABELS, BENCHMARK))
    }
    return found | shared


def looks(name: str, value: Any) -> bool:
    """Whether a file is one that only this benchmark has."""
    return kind(value) in ("rich", "slim", "facts", "manifest", "totals")


def kind(value: Any) -> str:
    """Which of the benchmark's files a value is; empty if none."""
    if isinstance(value, dict):
        return "totals" if isinstance(value.get("totals"), dict) else ""
    first = value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else {}
    marks = {"manifest": {"original_pr_url", "new_repo"}, "facts": {"repo", "pr", "goldens"}}
    marks |= {"rich": {"pr_url", "goldens"}, "slim": {"url", "repo", "comments"}}
    return next((word for word, keys in marks.items() if keys <= set(first)), "")


def build(documents: Documents, options: Options) -> Bundle:
    """Read the documents of an import."""
    nodes = {name: Node.of(data, name) for name, data in documents.items() if not name.endswith(".csv")}
    drafts: dict[str, Draft] = {}
    kinds = {name: kind(node.value) for name, node in nodes.items()}
    for word in ("rich", "facts", "slim"):
        for name in (name for name, found in kinds.items() if found == word):
            _goldens(nodes[name], name, word, drafts)
    for name, node in nodes.items():
        if kinds[name] == "manifest":
            _manifest(node, drafts)
        elif not kinds[name] and not name.endswith((*JUDGED, LABELS, BENCHMARK)):
            node.wrong("goldens (a list with `goldens` or `comments`), a fork manifest, or totals of judges")
    totals = [node for name, node in nodes.items() if kinds[name] == "totals"]
    bundle = assemble(nodes, drafts, options, options.suite or "cloudaeye")
    judged = [one for node in totals for one in _totals(node, bundle)]
    finish(nodes.values())
    return _with_totals(bundle, judged)


def _goldens(node: Node, name: str, word: str, drafts: dict[str, Draft]) -> None:
    """Read goldens. Several files may hold the same pull requests: the first kind that does is believed."""
    known = set(drafts)
    for item in node.items():
        draft = _pull(item, name, word)
        if draft.url in known:
            continue
        if draft.url in drafts:
            item.wrong("each pull request once", f"{draft.url} again")
            continue
        drafts[draft.url] = draft
        keys = {"rich": _RICH, "slim": _SLIM, "facts": _FACTS}[word]
        goldens = item.need("comments" if word == "slim" else "goldens", keys)
        if goldens.problems is item.problems:
            for position, golden in enumerate(goldens.items(), start=1):
                draft.goldens.append(_golden(golden, draft.url, position, "finding" if word == "facts" else "comment"))


def _pull(item: Node, name: str, word: str) -> Draft:
    repo = item.need("repo").text()
    if word == "facts":
        url, title = f"https://github.com/{repo}/pull/{item.need('pr').whole(least=1)}", item.get("subject").text("")
    else:
        url, title = item.need("pr_url" if word == "rich" else "url").text(), item.get("pr_title").text("")
    draft = Draft(url, title, item.need("lang").text().lower())
    draft.language = _LANGUAGES.get(draft.language, draft.language)
    draft.tags["file"] = name
    draft.tags |= {key: item.get(key).text() for key in _KEPT if item.has(key)}
    for key in ("base_sha", "head_sha"):
        if item.has(key) and not _SHA.match(draft.tags[key]):
            item.get(key).wrong("a commit id of 40 hexadecimal digits")
    return draft


def _golden(item: Node, url: str, position: int, key: str) -> Golden:
    text = item.need(key).text()
    golden = words.golden(
        words.golden_id(url, position, text),
        text,
        system="cloudaeye",
        label=item.get("category").text(""),
        level=words.severity(item),
        place=words.place(item.get("path").text(""), item.get("line").whole()),
        evidence=item.get("expected_evidence").text("") or item.get("evidence").text(""),
        group=item.get("root_cause_group").text("") or None,
        fix=item.get("fix_evidence").text(""),
    )
    if not item.has("discoverability"):
        return golden
    return replace(golden, discoverability=Discoverability(item.get("discoverability").one_of(Discoverability)))


def _manifest(node: Node, drafts: Mapping[str, Draft]) -> None:
    """Note the forks of each pull request, one tag per reviewer."""
    for item in node.items():
        url, tool = item.need("original_pr_url").text(), item.need("tool").text()
        new = item.need("new_repo").text()
        link = item.get("new_pr_url").text("")
        if url in drafts:
            drafts[url].tags[f"fork:{tool}"] = link or new


def _totals(node: Node, bundle: Bundle) -> list[JudgementSet]:
    """What judges counted, per tool and as far as it is there per pull request."""
    found = []
    per_pull = {key.removesuffix("_per_pr"): own for key, own in node.fields() if key.endswith("_per_pr")}
    for judge, tools in node.get("totals").fields():
        totals = {tool: _numbers(counts, ("f1",)) for tool, counts in tools.fields()}
        own = next((value for key, value in per_pull.items() if key and judge.endswith(key)), None)
        details: dict[str, Any] = {"published_totals": totals}
        trials = _counted(own, bundle, details) if own else ()
        found.append(JudgementSet(judge, tuple(trials), details))
    return found


def _counted(own: Node, bundle: Bundle, details: dict[str, Any]) -> list[TrialJudgements]:
    known = {pull.url: pull.id for pull in bundle.pulls}
    published, trials = {}, []
    for url, tool, counts in martian_files.by_review(own):
        pull = known.get(url, words.pull_id(url))
        published[f"{pull}|{tool}"] = _numbers(counts)
        trials.append(TrialJudgements(pull, ReviewerId(tool), (), (), _COUNTED))
    details |= {"published": published, "counts_only": list(published)}
    return trials


def _numbers(node: Node, more: Sequence[str] = ()) -> dict[str, Any]:
    found: dict[str, Any] = {key: node.need(key).whole() for key in _COUNTS}
    return found | {key: node.get(key).number() for key in more if node.has(key)}


def _with_totals(bundle: Bundle, judged: Sequence[JudgementSet]) -> Bundle:
    """Add judges that left counts only, and a trial for each review they counted."""
    have = {one.judge for one in bundle.judgements}
    more = [one for one in judged if one.judge not in have]
    known = {(trial.pull, trial.reviewer) for trial in bundle.trials}
    pulls = {pull.id for pull in bundle.pulls}
    trials = {
        (trial.pull, trial.reviewer): _trial(trial.pull, trial.reviewer, one)
        for one in more
        for trial in one.trials
        if (trial.pull, trial.reviewer) not in known and trial.pull in pulls
    }
    keys = dict.fromkeys([*known, *trials])
    kept = [_on_known(one, keys) for one in more]
    card = replace(CARD, labelled_by="the benchmark's authors, from what reviews led to")
    return replace(bundle, card=card, trials=(*bundle.trials, *trials.values()), judgements=(*bundle.judgements, *kept))


def _on_known(judged: JudgementSet, keys: Mapping[tuple[PullId, ReviewerId], None]) -> JudgementSet:
    """A judge's trials on the bundle's pull requests; where it left totals, no trial of it can be counted by itself."""
    own = [trial for trial in judged.trials if (trial.pull, trial.reviewer) in keys]
    have = {(trial.pull, trial.reviewer) for trial in own}
    rest = [key for key in keys if key not in have and key[1] in judged.details["published_totals"]]
    return replace(judged, trials=(*own, *(TrialJudgements(*key, (), (), _SUMMED) for key in rest)))


def _trial(pull: PullId, reviewer: ReviewerId, judged: JudgementSet) -> BundleTrial:
    counts = judged.details["published"][f"{pull}|{reviewer}"]
    said = bool(counts["tp"] or counts["fp"])
    status = TrialStatus.REVIEWED_FINDINGS if said else TrialStatus.REVIEWED_CLEAN
    return BundleTrial(pull, reviewer, status, reason=_COUNTED if said else SILENT, candidates=())


CLOUDAEYE = DocumentFormat("cloudaeye", gather, build, generate, looks)
