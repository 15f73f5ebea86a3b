"""An organisation's own suites and reviewers: files under `.assay/` in its control repository.

Such a suite is called `org/<name>`, everywhere and for good, so that no report of it can be taken for one of a suite
that everybody has, and whoever handles a bundle can tell that it is not his to show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pydantic import TypeAdapter

from bot import model
from bot.frozen import Frozen
from bot.registry import OWN_FILE, Registry, RegistryError, Reviewer
from goldens.load import suite_from_text
from goldens.located import Problem, SuiteError
from goldens.model import Suite
from scoring.model import ReviewerId

ROOT = ".assay"
FOLDER = f"{ROOT}/suites"
PREFIX = "org/"
MOST_SUITES = 50
MOST_BYTES = 1024 * 1024
"""Of one file; GitHub gives no larger one whole."""

_REVIEWERS = TypeAdapter(tuple[Reviewer, ...])


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """What stands under `.assay/` at one commit."""

    commit: str = ""
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    """Path -> content; None where it is too large to be read."""

    @property
    def reviewers(self) -> str | None:
        """The organisation's own registry entries, as text; None where there are none."""
        data = self.files.get(OWN_FILE)
        return None if data is None else data.decode("utf-8", "replace")

    @property
    def suites(self) -> Mapping[str, bytes | None]:
        """Path -> content of each suite's file."""
        return {path: data for path, data in self.files.items() if path.startswith(f"{FOLDER}/")}


def is_own(suite: str) -> bool:
    """Whether a suite is an organisation's own, by its id."""
    return suite.startswith(PREFIX)


def warning(what: str) -> str:
    """What to tell whoever makes something of a bundle that others may see."""
    return f"{what} holds an organisation's own suite or its results: it may not leave the organisation"


def wanted(names: Iterable[str]) -> tuple[str, ...]:
    """Which of the names in the suites' folder are suites. The rest, say a README, is nobody's business."""
    return tuple(sorted(name for name in names if name.lower().endswith((".yaml", ".yml"))))[: MOST_SUITES + 1]


@dataclass(frozen=True, slots=True)
class OwnSuites:
    """The organisation's suites that can be used, and what is wrong with the others."""

    suites: Mapping[str, tuple[str, Suite]]
    """Id, with its prefix -> its file and the suite."""
    problems: Mapping[str, tuple[Problem, ...]]
    """File -> what is wrong with it."""

    def named(self, text: str | None, packaged: Collection[str]) -> str | None:
        """The id that somebody means who wrote this; a name alone will do unless a suite that ships has it."""
        if text is None:
            return None
        if text in self.suites:
            return text
        own = PREFIX + text
        return own if own in self.suites and text not in packaged else None

    def broken(self, text: str) -> tuple[Problem, ...]:
        """What is wrong with the suite that somebody means, if that is why it is not there."""
        path = f"{FOLDER}/{text.removeprefix(PREFIX)}.yaml"
        return self.problems.get(path, ())


def read_suites(files: OwnFiles) -> OwnSuites:
    """Read every suite. One that is broken keeps no other from being used."""
    suites: dict[str, tuple[str, Suite]] = {}
    problems: dict[str, tuple[Problem, ...]] = {}
    for path, data in sorted(files.suites.items()):
        try:
            suite = _read(path, data)
        except SuiteError as error:
            problems[path] = error.problems
            continue
        suites[suite.ref.id] = path, suite
    if len(files.suites) > MOST_SUITES:
        what = f"there are more than {MOST_SUITES} suites; those behind this one are not read"
        last = sorted(files.suites)[-1]
        problems[last] = (Problem(last, 1, "", what),)
        suites = {name: found for name, found in suites.items() if found[0] != last}
    return OwnSuites(suites, problems)


def _read(path: str, data: bytes | None) -> Suite:
    if data is None:
        raise SuiteError([Problem(path, 1, "", f"is larger than {MOST_BYTES} bytes and cannot be read")])
    suite = _parsed(data, path)
    expected = f"{FOLDER}/{suite.ref.id.removeprefix(PREFIX)}.yaml"
    if path != expected:
        what = f"the file of a suite is called as the suite is; name it {expected}, or the suite otherwise"
        raise SuiteError([Problem(path, _line_of(data, "suite:"), "suite", what)])
    return suite


def _line_of(data: bytes, key: str) -> int:
    lines = data.decode("utf-8", "replace").splitlines()
    return next((number for number, line in enumerate(lines, 1) if line.startswith(key)), 1)


@lru_cache(maxsize=64)
def _parsed(data: bytes, path: str) -> Suite:
    suite = suite_from_text(data, path)
    return replace(suite, ref=replace(suite.ref, id=PREFIX + suite.ref.id))


def check(files: OwnFiles, registry: Registry, reserved: Collection[str]) -> tuple[Problem, ...]:
    """Everything that is wrong under `.assay/`, by file and line.

    Args:
        files: what stands there.
        registry: the reviewers known without it.
        reserved: the accounts that the App acts as, which no reviewer may be.
    """
    found = [problem for problems in read_suites(files).problems.values() for problem in problems]
    try:
        own_registry(files, registry, reserved)
    except RegistryError as error:
        found += error.problems
    return tuple(sorted(found, key=lambda problem: (problem.file, problem.line, problem.field)))


def own_registry(files: OwnFiles, registry: Registry, reserved: Collection[str]) -> Registry:
    """The registry with the organisation's entries over it.

    Raises:
        RegistryError: its file has problems.
    """
    if OWN_FILE in files.files and files.reviewers is None:
        what = f"is larger than {MOST_BYTES} bytes and cannot be read"
        raise RegistryError([Problem(OWN_FILE, 1, "", what)])
    return registry if files.reviewers is None else registry.with_own(files.reviewers, reserved=reserved)


def as_problems(label: str, problems: Sequence[Problem], most: int = 10) -> model.Problems:
    """Problems of files as problems of a request, at the answer that led there."""
    items = [
        model.Problem(
            label,
            f"{one.file}:{one.line}: {one.field + ': ' if one.field else ''}{one.what}",
            one.allowed[:20],
            one.meant,
        )
        for one in problems[:most]
    ]
    more = len(problems) - most
    if more > 0:
        items.append(model.Problem(label, f"and {more} more; the check run on the commit lists all"))
    return model.Problems(tuple(items))


_PUBLISH, _VISIBILITY = "Publish", "Fork visibility"


def would_leave(request: model.RunRequest, *, public_control: bool) -> model.Problems | None:
    """What of a request would show an own suite, or what came of it, outside the organisation; None if nothing."""
    if not is_own(request.suite):
        return None
    problems = []
    if request.visibility is model.Visibility.PUBLIC:
        problems.append(model.Problem(_VISIBILITY, _STAYS.format("forks of it are private"), ("private",)))
    if public_control and any(mode is not model.Publish.PRIVATE for mode in request.modes.values()):
        told = _STAYS.format("in a public control repository nothing of it is published")
        problems.append(model.Problem(_PUBLISH, told, ("private",)))
    return model.Problems(tuple(problems)) if problems else None


_STAYS = "an organisation's own suite, and its reports, stay in the organisation: {}"


# --- what a run keeps to ----------------------------------------------------------------------------------------


def freeze(files: OwnFiles, registry: Registry, request: model.RunRequest) -> Frozen:
    """What a run keeps to: its reviewers' entries, and its suite where that is the organisation's own."""
    entries = tuple(entry for name in request.reviewers if (entry := registry.get(name)) is not None)
    reviewers = _REVIEWERS.dump_json(entries, exclude_unset=True).decode()
    if not is_own(request.suite):
        return Frozen(reviewers, files.commit)
    path, _ = read_suites(files).suites[request.suite]
    data = files.suites[path]
    assert data is not None
    return Frozen(reviewers, files.commit, path, data.decode())


def frozen_suite(frozen: Frozen) -> Suite | None:
    """The organisation's own suite of a run; None where its suite is one that ships."""
    return _parsed(frozen.suite.encode(), frozen.suite_file) if frozen.suite_file else None


@lru_cache(maxsize=64)
def _entries(text: str) -> Mapping[ReviewerId, Reviewer]:
    return {ReviewerId(entry.id): entry for entry in _REVIEWERS.validate_json(text)}


def frozen_registry(frozen: Frozen, registry: Registry) -> Registry:
    """The registry as it is for a run: its own reviewers as they were when it was planned, the others as they are."""
    if not frozen.reviewers:
        return registry
    entries = _entries(frozen.reviewers)
    return Registry((*(one for one in registry.reviewers if one.id not in entries), *entries.values()))
