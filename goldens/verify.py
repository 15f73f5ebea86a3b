"""Is a suite fit to measure with? Offline checks of the truth: places, evidence, and what the texts give away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from goldens.model import GitPin, GoldenPull, Suite, TreeFiles
from goldens.trees import Change, Reach, changes, is_binary, reach, resolve, split_lines
from goldens.wording import alike, code_words, comments, references, shared, staged, telling, words
from scoring.model import Category, Golden, GoldenId, Place, PullId, Severity, Side

Trees = tuple[TreeFiles, TreeFiles]
"""The base and the head tree of a pull request."""

ALIKE = 0.8
"""From this share of common words on, two findings say the same."""
ALIKE_AT_ONE_PLACE = 0.4
"""The same, for goldens whose lines overlap."""


class Level(StrEnum):
    """What a finding means for the suite."""

    ERROR = "error"
    """The suite must not be used: a score against it would be wrong."""
    WARNING = "warning"
    """Look at it: it may be meant."""
    NOTE = "note"
    """Something could not be checked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `verify` has to say about a suite."""

    level: Level
    rule: str
    pull: PullId
    golden: GoldenId | None
    message: str

    def __str__(self) -> str:
        where = f"{self.pull}/{self.golden}" if self.golden else self.pull
        return f"{self.level}: {where}: {self.message} [{self.rule}]"


def verify(suite: Suite, trees: Mapping[PullId, Trees] | None = None) -> tuple[Finding, ...]:
    """Check every pull request of a suite, in suite order; no findings means fit.

    Args:
        suite: what to check.
        trees: the trees of git-pinned pull requests, where somebody has fetched them. Without, their places cannot be
            checked and a note says so.
    """
    found: list[Finding] = []
    for pull in suite.pulls:
        found += _check_texts(pull)
        found += _check_goldens(pull)
        pair = (trees or {}).get(pull.id) if isinstance(pull.source, GitPin) else pull.source
        if pair is None:
            found.append(_about(pull, Level.NOTE, "not-checked", "its trees are not here: places unchecked"))
        else:
            found += _check_trees(pull, *pair)
    return tuple(found)


def _about(pull: GoldenPull, level: Level, rule: str, message: str, golden: Golden | None = None) -> Finding:
    return Finding(level, rule, pull.id, golden.id if golden else None, message)


# --- what needs no trees ----------------------------------------------------------------------------------------


def _check_texts(pull: GoldenPull) -> Iterator[Finding]:
    for name, text in (("title", pull.title), ("body", pull.body)):
        for what in references(text):
            yield _about(pull, Level.ERROR, "text-leads-back", f"the {name} holds {what}")
        for word in staged(text):
            yield _about(pull, Level.ERROR, "text-is-staged", f"the {name} says {word!r}")
        for word in telling(text):
            yield _about(pull, Level.WARNING, "text-names-a-defect", f"the {name} says {word!r}")


def _check_goldens(pull: GoldenPull) -> Iterator[Finding]:
    for golden in pull.goldens:
        if golden.severity not in tuple(Severity) or golden.category not in tuple(Category):
            what = f"unknown severity {golden.severity!r} or category {golden.category!r}"
            yield _about(pull, Level.ERROR, "unknown-word", what, golden)
    for one, other in combinations(pull.goldens, 2):
        likeness = alike(one.finding, other.finding)
        if one.group is not None and one.group == other.group and one.place != other.place:
            continue
        if likeness >= (ALIKE_AT_ONE_PLACE if _overlap(one.place, other.place) else ALIKE):
            what = f"says the same as {one.id}; drop one, or give both a group and a place of its own"
            yield _about(pull, Level.ERROR, "near-duplicate", what, other)


def _overlap(one: Place | None, other: Place | None) -> bool:
    if one is None or other is None or (one.path, one.side) != (other.path, other.side):
        return one is other
    if one.lines is None or other.lines is None:
        return True
    return one.lines[0] <= other.lines[1] and other.lines[0] <= one.lines[1]


# --- what needs the trees ---------------------------------------------------------------------------------------


def _check_trees(pull: GoldenPull, base: TreeFiles, head: TreeFiles) -> Iterator[Finding]:
    if dict(base.files) == dict(head.files):
        yield _about(pull, Level.ERROR, "same-trees", "base and head are the same; there is nothing to review")
        return
    diff = changes(base.files, head.files)
    for golden in pull.goldens:
        if golden.place is not None:
            yield from _check_place(pull, golden, resolve(golden.place, diff), diff, (base, head))
    yield from _check_giveaways(pull, diff, base, head)


def _check_place(
    pull: GoldenPull, golden: Golden, place: Place, diff: tuple[Change, ...], trees: Trees
) -> Iterator[Finding]:
    name, tree = ("base", trees[0]) if place.side is Side.LEFT else ("head", trees[1])
    if place.path not in tree.files:
        yield _about(pull, Level.ERROR, "no-such-file", f"{place.path} is not in the {name} tree", golden)
        return
    length = len(split_lines(tree.files[place.path]))
    if place.lines and not 1 <= place.lines[0] <= place.lines[1] <= length:
        what = f"lines {place.lines[0]}-{place.lines[1]} are not in {place.path} of the {name} tree ({length} lines)"
        yield _about(pull, Level.ERROR, "no-such-lines", what, golden)
        return
    near = reach(place, diff)
    if near is not Reach.IN_DIFF:
        what = f"{_OUTSIDE[near]}; no inline comment can hit it"
        yield _about(pull, Level.WARNING, "outside-diff", what, golden)
    if golden.evidence:
        yield from _check_evidence(pull, golden, place, tree.files[place.path], _counterpart(place, diff, trees))


_OUTSIDE = {
    Reach.LINES_NOT_SHOWN: "the diff does not show its lines",
    Reach.FILE_NOT_IN_DIFF: "its file is not changed",
}


def _counterpart(place: Place, diff: tuple[Change, ...], trees: Trees) -> bytes | None:
    """The same file on the other side, under the name it has there."""
    other = _other(place.side)
    change = next((change for change in diff if place.path == _path_on(change, place.side)), None)
    path = _path_on(change, other) if change else place.path
    tree = trees[0] if other is Side.LEFT else trees[1]
    return tree.files.get(path) if path else None


def _other(side: Side) -> Side:
    return Side.RIGHT if side is Side.LEFT else Side.LEFT


def _path_on(change: Change, side: Side) -> str | None:
    return change.old if side is Side.LEFT else change.new


def _check_evidence(
    pull: GoldenPull, golden: Golden, place: Place, here: bytes, there: bytes | None
) -> Iterator[Finding]:
    name, other = ("base", "head") if place.side is Side.LEFT else ("head", "base")
    lines = split_lines(here)
    first, last = place.lines or (1, len(lines))
    if not _holds(lines[first - 1 : last], golden.evidence):
        at = f"at lines {first}-{last} of {place.path}"
        elsewhere = ", but elsewhere in the file" if _holds(lines, golden.evidence) else ""
        what = f"its evidence is not {at} in the {name} tree{elsewhere}"
        yield _about(pull, Level.ERROR, "evidence-missing", what, golden)
    if there is not None and _holds(split_lines(there), golden.evidence):
        what = f"its evidence stands in the {other} tree too: the change did not bring it"
        yield _about(pull, Level.ERROR, "evidence-not-new", what, golden)


def _holds(lines: list[str], snippet: str) -> bool:
    """Whether the snippet is there; indentation aside, because YAML blocks lose it."""
    return "\n".join(line.strip() for line in snippet.splitlines()) in "\n".join(line.strip() for line in lines)


def _check_giveaways(pull: GoldenPull, diff: tuple[Change, ...], base: TreeFiles, head: TreeFiles) -> Iterator[Finding]:
    """Words in the texts and in new comments that lead to a defect, beyond what old files and new code show anyway."""
    before = [_text(base, change.old) for change in diff]
    after = [_text(head, change.new) for change in diff]
    known = code_words([*after, *head.files], pull.language).union(*(words(text) for text in before))
    old = {comment for text in before for comment in comments(text, pull.language)}
    fresh = [comment for text in after for comment in comments(text, pull.language) if comment not in old]
    for word in sorted({word for comment in fresh for word in (*telling(comment), *staged(comment))}):
        if pull.goldens:
            yield _about(pull, Level.ERROR, "comment-names-a-defect", f"a new comment says {word!r}")
    for golden in pull.goldens:
        for name, text in (("title", pull.title), ("body", pull.body), ("comment", "\n".join(fresh))):
            given = shared(text, golden.finding, known)
            if given:
                level = Level.ERROR if telling(" ".join(given)) or len(given) > 1 else Level.WARNING
                what = f"the {name} shares {', '.join(map(repr, given))} with its finding"
                yield _about(pull, level, "gives-away", what, golden)


def _text(tree: TreeFiles, path: str | None) -> str:
    data = tree.files[path] if path else b""
    return "" if is_binary(data) else data.decode("utf-8", errors="replace")
