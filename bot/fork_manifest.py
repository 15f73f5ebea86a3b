"""Fork manifests: which pull requests are re-creations of which golden pull requests.

Three forms are read. Ours is an object `{"schema": "assay.forks/1", "suite", "forks": [{"pull", "repo", "number",
"reviewers"}]}`. The list that other pipelines keep has `original_pr_url`, `new_repo`, `new_pr_url` and `tool`. The
forks of a run, as a bundle keeps them, have `pull_id`, `repo` and `pull`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.model import RepoName
from goldens.located import did_you_mean
from goldens.model import GitPin, Suite
from scoring.model import PullId

SCHEMA = "assay.forks/1"
SHARED = ("", "native", "shared")
"""What the list of others calls a fork that is nobody's in particular."""
MOST_FORKS = 5_000
_PULL_URL = re.compile(r"https?://[^/\s]{1,200}/([A-Za-z0-9_-]{1,100}/[A-Za-z0-9._-]{1,100})/pull/(\d{1,9})/?")
_SHOWN = 10


class ManifestError(ValueError):
    """A manifest cannot be used; the message has a line for each problem."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        more = [f"{name}: and {len(problems) - _SHOWN} problems more"] if len(problems) > _SHOWN else []
        super().__init__("\n".join([*(f"{name}: {problem}" for problem in problems[:_SHOWN]), *more]))


@dataclass(frozen=True, slots=True)
class Original:
    """A golden pull request, as a manifest names it: by its id in a suite, or by where it comes from."""

    pull: str = ""
    upstream: str = ""
    number: int = 0

    def __str__(self) -> str:
        return self.pull or f"{self.upstream}#{self.number}"


@dataclass(frozen=True, slots=True)
class ForkRef:
    """One fork."""

    original: Original
    repo: RepoName
    number: int
    reviewers: tuple[str, ...] = ()
    """Whom it is meant for; empty: everybody."""

    def __str__(self) -> str:
        return f"{self.repo}#{self.number}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """All forks, in the file's order."""

    forks: tuple[ForkRef, ...]
    suite: str = ""
    """The suite's name, where the manifest says it."""


def read(data: bytes, name: str) -> Manifest:
    """Read a manifest; `name` is what problems call it.

    Raises:
        ManifestError: everything that is wrong with it.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ManifestError(name, [f"is not JSON: {error}"]) from None
    suite, entries = _opened(value, name)
    problems: list[str] = []
    forks: list[ForkRef] = []
    for index, entry in enumerate(entries):
        try:
            found = _fork(entry)
        except _Wrong as wrong:
            problems.append(f"forks[{index}].{wrong}")
            continue
        if found is not None:
            forks.append(found)
    problems += _twice(forks)
    if not forks and not problems:
        problems.append("names no fork that was made")
    if problems:
        raise ManifestError(name, problems)
    return Manifest(tuple(forks), suite)


def _opened(value: Any, name: str) -> tuple[str, Sequence[Any]]:
    suite = ""
    if isinstance(value, dict):
        if value.get("schema") != SCHEMA:
            raise ManifestError(name, [f"schema: {str(value.get('schema'))[:60]!r} is not known; expected {SCHEMA!r}"])
        suite, value = str(value.get("suite") or ""), value.get("forks")
    if not isinstance(value, list):
        raise ManifestError(name, ["is neither a list of forks nor an object with one"])
    if len(value) > MOST_FORKS:
        raise ManifestError(name, [f"has {len(value)} forks; at most {MOST_FORKS} are read"])
    return suite, value


class _Wrong(Exception):
    """Field and what is wrong with it."""


def _fork(entry: Any) -> ForkRef | None:
    """One entry; None for a fork of a run that was never made."""
    if not isinstance(entry, dict):
        raise _Wrong("is no object")
    if "original_pr_url" in entry:
        return _others(entry)
    if "pull_id" in entry:
        return _of_run(entry)
    if "pull" in entry:
        return _ours(entry)
    raise _Wrong("names no golden pull request: pull, pull_id or original_pr_url")


def _ours(entry: Mapping[str, Any]) -> ForkRef:
    unknown = sorted(set(entry) - {"pull", "repo", "number", "reviewers"})
    if unknown:
        meant = did_you_mean(unknown[0], ("pull", "repo", "number", "reviewers"))
        raise _Wrong(f"{unknown[0][:40]}: unknown field{f'; did you mean {meant}?' if meant else ''}")
    return ForkRef(_original(entry["pull"]), _repo(entry, "repo"), _number(entry, "number"), _names(entry))


def _names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    names = entry.get("reviewers") or []
    if not isinstance(names, list) or not all(isinstance(one, str) and one for one in names):
        raise _Wrong("reviewers: must be a list of names")
    return tuple(dict.fromkeys(names))


def _original(text: Any) -> Original:
    if not isinstance(text, str) or not text:
        raise _Wrong("pull: must be a pull request's id in the suite, or its address upstream")
    match = _PULL_URL.fullmatch(text)
    return Original(upstream=match[1], number=int(match[2])) if match else Original(pull=text)


def _others(entry: Mapping[str, Any]) -> ForkRef:
    match = _PULL_URL.fullmatch(str(entry["original_pr_url"]))
    if match is None:
        raise _Wrong(f"original_pr_url: {str(entry['original_pr_url'])[:80]!r} is no pull request's address")
    repo, number = _repo(entry, "new_repo"), 1
    if entry.get("new_pr_url"):
        new = _PULL_URL.fullmatch(str(entry["new_pr_url"]))
        if new is None or new[1].lower() != str(repo).lower():
            raise _Wrong(f"new_pr_url: {str(entry['new_pr_url'])[:80]!r} is no pull request of {repo}")
        number = int(new[2])
    tool = str(entry.get("tool") or "")
    meant = () if tool.lower() in SHARED else (tool,)
    return ForkRef(Original(upstream=match[1], number=int(match[2])), repo, number, meant)


def _of_run(entry: Mapping[str, Any]) -> ForkRef | None:
    if entry.get("repo") is None or entry.get("pull") is None:
        return None
    repo = entry["repo"]
    if not isinstance(repo, dict) or not repo.get("owner") or not repo.get("name"):
        raise _Wrong("repo: must have owner and name")
    _, _, reviewer = str(entry.get("id") or "").partition("~")
    name = _repo({"repo": f"{repo['owner']}/{repo['name']}"}, "repo")
    return ForkRef(Original(pull=str(entry["pull_id"])), name, _number(entry, "pull"), (reviewer,) if reviewer else ())


def _repo(entry: Mapping[str, Any], field: str) -> RepoName:
    text = str(entry.get(field) or "")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}/[A-Za-z0-9._-]{1,100}", text, re.ASCII):
        raise _Wrong(f"{field}: {text[:80]!r} is not a repository; write owner/name")
    return RepoName.parse(text)


def _number(entry: Mapping[str, Any], field: str) -> int:
    number = entry.get(field)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**31:
        raise _Wrong(f"{field}: {str(number)[:40]!r} is not a pull request's number")
    return number


def _twice(forks: Sequence[ForkRef]) -> Iterator[str]:
    seen: set[str] = set()
    for fork in forks:
        key = str(fork).lower()
        if key in seen:
            yield f"{fork} is there twice"
        seen.add(key)


def pulls_of(manifest: Manifest, suite: Suite) -> dict[ForkRef, PullId]:
    """Which golden pull request each fork is of.

    Raises:
        LookupError: the suite lacks some; the message names them.
    """
    ids = {pull.id: pull.id for pull in suite.pulls}
    pins = {
        (pull.source.upstream.lower(), pull.source.number): pull.id
        for pull in suite.pulls
        if isinstance(pull.source, GitPin)
    }
    found: dict[ForkRef, PullId] = {}
    strange: list[str] = []
    for fork in manifest.forks:
        original = fork.original
        pull = ids.get(PullId(original.pull)) or pins.get((original.upstream.lower(), original.number))
        if pull is None:
            strange.append(str(original))
        else:
            found[fork] = pull
    if strange:
        raise LookupError(f"suite {suite.ref.id} has no pull request {', '.join(strange[:_SHOWN])}")
    return found
