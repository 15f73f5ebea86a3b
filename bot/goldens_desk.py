"""What `assay goldens` does: suites read, changed and made, and where the pieces are wired for it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.adapters.history import GitHistory
from bot.adapters.mirrors import clone_of, read_pins
from goldens.cutoffs import Exposure, cutoff_of, each_once, exposures, later, read_cutoffs
from goldens.edit import EditError, SuiteText, replace_file
from goldens.from_run import proposals
from goldens.importers import landing, swebench
from goldens.load import SUITE_FILE, is_packaged, load_suite, suite_names
from goldens.mine.answers import Answers, read_answers
from goldens.mine.blame import mine_blame
from goldens.mine.bugfix import mine_bugfix
from goldens.mine.config import MineConfig, config_names, load_config
from goldens.mine.draft import Mined
from goldens.mine.preventable import Complete
from goldens.mine.quarry import Quarry
from goldens.mine.review import mine_review
from goldens.mine.write import write_drafts
from goldens.model import GitPin, Suite
from goldens.sampling import Item
from goldens.verify import Finding, verify
from scoring.bundle import Bundle
from scoring.model import Golden

Deed = Callable[[SuiteText], None]


def find_suite(which: str) -> Suite:
    """A packaged suite by its name, or one of the user's by its path.

    Raises:
        SuiteError: there is none, or it has problems.
    """
    mine = _is_path(which) or (which not in suite_names() and (Path(which) / SUITE_FILE).is_file())
    return load_suite(Path(which) if mine else which)


def chosen(which: str, after: str | None) -> tuple[Suite, str]:
    """A suite, or what of it is dated after a day, and what was left out.

    Raises:
        SuiteError: there is none, the day is none, or nothing is left.
    """
    suite = find_suite(which)
    return (suite, "") if after is None else later(suite, after)


def exposures_of(which: str, file: Path | None, said: Sequence[str]) -> tuple[Exposure, ...]:
    """How much of a suite each model may have seen, by a file of cut-offs and what is said besides.

    Raises:
        SuiteError: there is no such suite, or a cut-off is none.
    """
    given = [*(read_cutoffs(file) if file is not None else ()), *map(cutoff_of, said)]
    return exposures(find_suite(which), each_once(given, str(file or "--cutoff")))


def findings(
    suite: Suite, mirror: Path | None, progress: Callable[[int, int], None] | None = None
) -> tuple[Finding, ...]:
    """What verification finds; with a mirror also about commits and pinned trees.

    Raises:
        GitError: a clone cannot be read.
    """
    trees, pins = (None, None) if mirror is None else read_pins(suite, mirror)
    return verify(suite, trees, pins, progress)


# --- changing a suite that somebody owns ------------------------------------------------------------------------


def owned(which: str) -> Path:
    """The file of a suite that may be changed.

    Raises:
        EditError: it ships with the package, or is not there.
    """
    path = Path(which)
    path = path / SUITE_FILE if path.is_dir() else path
    if not path.is_file() and which in suite_names():
        path = load_suite(which).path
    if not path.is_file():
        raise EditError(f"{which}: no such suite file")
    if is_packaged(path):
        copied = f"cp -r {path.parent} my-{path.parent.name}"
        raise EditError(f"{which} ships with Assay and is never changed; copy it and change the copy: {copied}")
    return path


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change to a suite did."""

    path: Path
    before: Suite
    after: Suite
    scores: tuple[dict[str, Any], ...] = ()
    """By reviewer, before and after, where there was a bundle to count."""
    notes: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "file": str(self.path),
            "before": {"version": self.before.ref.version, "hash": self.before.ref.hash},
            "after": {"version": self.after.ref.version, "hash": self.after.ref.hash},
            "scores": list(self.scores),
            "notes": list(self.notes),
        }


def change(
    which: str, deed: Deed, *, version: str | None = None, bundle: Path | None = None, judge: str | None = None
) -> Changed:
    """Change a suite file and count its version up, all or nothing; count a bundle before and after.

    Raises:
        EditError: the deed cannot be done, or the suite is not the user's.
        SuiteError: the suite has problems, or would have.
        BundleError, Unusable: the bundle cannot be counted; nothing is changed then.
    """
    from bot.analysis.opening import open_bundle

    path = owned(which)
    before, old = load_suite(path), path.read_bytes()
    text = SuiteText(old, str(path))
    deed(text)
    text.bump(version)
    new = text.data()
    evidence = open_bundle(bundle) if bundle is not None else None
    scores = _both(evidence, _statuses(old, path), _statuses(new, path), judge) if evidence is not None else ()
    replace_file(path, old, new)
    after = load_suite(path)
    return Changed(path, before, after, scores, tuple(_notes(evidence, before)))


def amend(path: Path, deed: Deed) -> None:
    """Change a suite file in what no score rests on; its version stays.

    Raises:
        EditError: the deed cannot be done.
        SuiteError: the suite would have problems.
    """
    old = path.read_bytes()
    text = SuiteText(old, str(path))
    deed(text)
    replace_file(path, old, text.data())


def _statuses(data: bytes, path: Path) -> dict[str, Any]:
    suite = SuiteText(data, str(path)).suite
    return {golden.id: (golden.status, golden.reason) for pull in suite.pulls for golden in pull.goldens}


def _both(
    bundle: Bundle, old: Mapping[str, Any], new: Mapping[str, Any], judge: str | None
) -> tuple[dict[str, Any], ...]:
    """A row for each reviewer: what it has with the goldens as they were, and as they are."""
    from bot.analysis.opening import under

    rows = [
        {row.reviewer: row for row in under(_with(bundle, status), "assay", judge).reviewers} for status in (old, new)
    ]
    return tuple(
        {"reviewer": str(name), "before": _figures(rows[0][name]), "after": _figures(rows[1][name])}
        for name in sorted(rows[0])
    )


def _with(bundle: Bundle, statuses: Mapping[str, Any]) -> Bundle:
    def told(golden: Golden) -> Golden:
        status, reason = statuses.get(golden.id, (golden.status, golden.reason))
        return replace(golden, status=status, reason=reason)

    return replace(bundle, pulls=tuple(replace(p, goldens=tuple(map(told, p.goldens))) for p in bundle.pulls))


def _figures(row: Any) -> dict[str, Any]:
    counts = {name: getattr(row.counts, name) for name in ("tp", "fp", "fn")}
    return counts | {name: getattr(row, name).value for name in ("precision", "recall", "f1")}


def _notes(bundle: Bundle | None, suite: Suite) -> list[str]:
    if bundle is None or bundle.suite.hash == suite.ref.hash:
        return []
    return [f"the bundle is of goldens {bundle.suite.hash[:12]}, the suite had {suite.ref.hash[:12]}: counted by id"]


def add_from_run(which: str, bundle: Path) -> tuple[Path, list[dict[str, Any]]]:
    """Put what a run suggests into a suite as drafts; no score changes, so the version stays.

    Raises:
        EditError: the suite is not the user's.
        ValueError: the bundle says nothing about validity, or is of another suite.
    """
    from bot.analysis.opening import open_bundle

    path = owned(which)
    found = proposals(open_bundle(bundle), load_suite(path))
    entries = [(one.pull, one.entry()) for one in found]

    def deed(text: SuiteText) -> None:
        for pull, entry in entries:
            text.add_golden(text.pull(pull), entry)

    if entries:
        amend(path, deed)
    return path, [{"pull": str(pull), **entry} for pull, entry in entries]


# --- making suites ----------------------------------------------------------------------------------------------


def config(which: str) -> MineConfig:
    """Rules of mining, by name or path.

    Raises:
        SuiteError: there are none, or they have problems.
    """
    return load_config(which if which in config_names() else Path(which) if _is_path(which) else which)


def _is_path(which: str) -> bool:
    return "/" in which or which.endswith((".yaml", ".yml"))


@dataclass(frozen=True, slots=True)
class Dig:
    """What to mine, and where."""

    kind: str
    config: MineConfig
    upstream: str
    clone: Path
    answers: Path
    tips: tuple[str, ...] = ("HEAD",)
    copies: bool = False
    complete: Complete | None = None
    """The model that is asked about preventability and wording, by `blame` only."""
    told: Answers | None = None
    """Answers that are read already, in place of the folder's."""
    progress: Callable[[int, int], None] | None = None
    """Is told how many of how many are looked at."""


def check_free(target: Path, *, overwrite: bool) -> None:
    """Make sure before any work that the drafts may be written.

    Raises:
        FileExistsError: the target is there already.
    """
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} is there already; name a new file, or say --force")


def mine(dig: Dig, target: Path, *, overwrite: bool) -> Mined:
    """Mine a clone and write the drafts; nothing is written where there are none.

    Raises:
        GitError: the clone cannot be read.
        SuiteError, HistoryError: an answer or the history cannot be understood.
        FileExistsError: the target is there already.
    """
    check_free(target, overwrite=overwrite)
    told = dig.told or read_answers({path.name: path.read_bytes() for path in sorted(dig.answers.glob("*.json"))})
    with GitHistory(dig.clone) as git:
        quarry = Quarry(dig.upstream, git, dig.tips, told)
        quarry.progress = dig.progress or quarry.progress
        found = _dug(dig, quarry)
    if found.drafts:
        name = f"{dig.config.mine}-{dig.kind}"[:63]
        title = f"Drafts of {dig.upstream} ({dig.kind})"
        write_drafts(found, target, suite=name, title=title, licence=dig.config.licence, overwrite=overwrite)
    return found


def _dug(dig: Dig, quarry: Quarry) -> Mined:
    if dig.kind == "review":
        return mine_review(quarry)
    if dig.kind == "bugfix":
        return mine_bugfix(quarry, dig.config)
    return mine_blame(quarry, dig.config, complete=dig.complete, copies=dig.copies)


def upstream_of(wanted: str | None, rules: MineConfig, clone: Path) -> str:
    """The repository a clone is of: the one named, the only one of the rules, or the one the directory is called.

    Raises:
        EditError: none of that tells.
    """
    if wanted is not None:
        return wanted
    names = [one for one in rules.repositories if one.partition("/")[2] == clone.resolve().name.removesuffix(".git")]
    found = names if len(names) == 1 else list(rules.repositories)
    if len(found) != 1:
        raise EditError(f"which repository is {clone} a clone of? Say --repository; the rules name {', '.join(found)}")
    return found[0]


def import_swebench(
    rows: Sequence[swebench.Row], mirror: Path, target: Path, *, oracle: swebench.Oracle, suite: str, licence: str
) -> swebench.Imported:
    """Make a cold suite of SWE-bench rows, with the files of local clones.

    Raises:
        ImportProblem: the target is there, or no instance is left.
        Leak: a reviewer would be shown what it must find.
        GitError: a clone cannot be read.
    """
    if target.exists():
        raise EditError(f"{target} is there already; name a directory that is not")
    opened: dict[Path, GitHistory] = {}

    def read(repository: str, commit: str, paths: Sequence[str]) -> Sequence[bytes | None] | None:
        clone = clone_of(mirror, repository)
        if clone is None:
            return None
        if clone not in opened:
            opened[clone] = GitHistory(clone)
        return opened[clone].blobs([(commit, path) for path in paths])

    try:
        found = swebench.build(rows, read, suite=suite, oracle=oracle, licence=licence)
    finally:
        for history in opened.values():
            history.close()
    landing.land(target, found.files)
    return found


# --- samples ----------------------------------------------------------------------------------------------------


def items(source: str, after: str | None = None) -> tuple[Item, ...]:
    """What can be drawn from: pull requests of a suite, or the instances of a CSV file, each once.

    Raises:
        SuiteError, EditError: it is neither.
    """
    if not source.endswith(".csv"):
        return tuple(Item(str(pull.id), _repository(pull)) for pull in chosen(source, after)[0].pulls)
    if after is not None:
        raise EditError(f"{source}: a table of instances has no dates; --after is for suites")
    try:
        rows = list(csv.DictReader(Path(source).read_text("utf-8").splitlines()))
    except (OSError, ValueError, csv.Error) as error:
        raise EditError(f"{source}: no table of instances: {error}") from None
    if not rows or "instance_id" not in rows[0]:
        raise EditError(f"{source}: no column instance_id")
    found = {row["instance_id"]: row.get("repo") or _owner_name(row["instance_id"]) for row in rows}
    return tuple(Item(name, repository) for name, repository in found.items())


def _owner_name(instance: str) -> str:
    """SWE-bench calls instances `owner__name-number`."""
    return instance.rpartition("-")[0].replace("__", "/")


def _repository(pull: Any) -> str:
    return pull.source.upstream if isinstance(pull.source, GitPin) else pull.tags.get("repository", pull.language)
