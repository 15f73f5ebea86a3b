"""Is a suite fit to measure with? Offline checks of the truth: places, evidence, and what the texts give away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from goldens.findings import Finding, GoldenReport, Level, about, by_golden
from goldens.model import Direction, GitPin, GoldenPull, Suite, TreeFiles
from goldens.pins import PinFacts, check_names, check_pin, check_size
from goldens.trees import Change, Reach, changes, is_binary, reach, resolve, size_between, split_lines
from goldens.wording import alike, code_words, comments, references, shared, staged, telling, words
from scoring.model import Category, Golden, GoldenStatus, Place, PullId, Severity, Side

__all__ = ["Finding", "GoldenReport", "Level", "PinFacts", "Trees", "by_golden", "verify"]

Trees = tuple[TreeFiles, TreeFiles]
"""The base and the head tree of a pull request."""

ALIKE = 0.8
"""From this share of common words on, two findings say the same."""
ALIKE_AT_ONE_PLACE = 0.4
"""The same, for goldens whose lines overlap."""
NEAR = 5
"""How far from a golden's lines the names in a description may stand."""

_SPAN = re.compile(r"`([^`\n]{1,200})`")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def verify(
    suite: Suite,
    trees: Mapping[PullId, Trees] | None = None,
    pins: Mapping[PullId, PinFacts] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Finding, ...]:
    """Check every pull request of a suite, in suite order; no error means fit.

    Args:
        suite: what to check.
        trees: the trees of git-pinned pull requests, where somebody has fetched them. Without, their places cannot be
            checked and a note says so.
        pins: what the upstream repositories say about the commits, where somebody has asked them.
        progress: is told how many pull requests of how many are checked.
    """
    found: list[Finding] = [*_check_directions(suite), *_check_drafts(suite)]
    for number, pull in enumerate(suite.pulls, start=1):
        found += _check_texts(pull)
        found += _check_goldens(pull)
        if pins and pull.id in pins:
            found += check_pin(pull, pins[pull.id])
        pair = (trees or {}).get(pull.id) if isinstance(pull.source, GitPin) else pull.source
        if pair is None:
            found.append(about(pull, Level.NOTE, "not-checked", "its trees are not here: places unchecked"))
            found += _check_shared(pull, frozenset(), [])
        else:
            found += _check_trees(pull, *pair)
        if progress is not None:
            progress(number, len(suite.pulls))
    return tuple(found)


# --- what needs no trees ----------------------------------------------------------------------------------------


def _check_directions(suite: Suite) -> Iterator[Finding]:
    if len({pull.direction for pull in suite.pulls}) > 1:
        for pull in suite.pulls:
            if pull.direction is Direction.INVERTED:
                what = "it runs backwards and others do not; no figure may mix the two"
                yield about(pull, Level.WARNING, "mixed-directions", what)


def _check_drafts(suite: Suite) -> Iterator[Finding]:
    if suite.unconfirmed and not suite.pulls:
        what = "no pull request of the suite has a confirmed golden: there is nothing to measure with"
        yield about(suite.unconfirmed[0], Level.ERROR, "nothing-confirmed", what)
    for pull in suite.unconfirmed:
        what = "no golden of it is confirmed; it is left out of every run"
        yield about(pull, Level.NOTE, "unconfirmed", what)
    for pull in (*suite.pulls, *suite.unconfirmed):
        for golden in pull.drafts:
            yield about(pull, Level.NOTE, "draft", f"not scored: {golden.reason}", golden)


def _check_texts(pull: GoldenPull) -> Iterator[Finding]:
    yield from check_names(pull)
    for name, text in (("title", pull.title), ("body", pull.body)):
        for what in references(text):
            yield about(pull, Level.ERROR, "text-leads-back", f"the {name} holds {what}")
        for word in staged(text):
            yield about(pull, Level.ERROR, "text-is-staged", f"the {name} says {word!r}")
        for word in telling(text):
            yield about(pull, Level.WARNING, "text-names-a-defect", f"the {name} says {word!r}")


def _check_goldens(pull: GoldenPull) -> Iterator[Finding]:
    for golden in pull.goldens:
        if golden.severity not in tuple(Severity) or golden.category not in tuple(Category):
            what = f"unknown severity {golden.severity!r} or category {golden.category!r}"
            yield about(pull, Level.ERROR, "unknown-word", what, golden)
        if golden.status is GoldenStatus.DISPUTED:
            yield about(pull, Level.NOTE, "disputed", golden.reason or "no reason given", golden)
        if not golden.status.scored:
            what = "a draft that nobody confirmed" if golden.status is GoldenStatus.DRAFT else "retired"
            yield about(pull, Level.ERROR, f"{golden.status}-but-scored", f"it is {what} and must not count", golden)
    for one, other in combinations(pull.goldens, 2):
        likeness = alike(one.finding, other.finding)
        if one.group is not None and one.group == other.group and one.place != other.place:
            continue
        if likeness >= (ALIKE_AT_ONE_PLACE if _overlap(one.place, other.place) else ALIKE):
            what = f"says the same as {one.id}; drop one, or give both a group and a place of its own"
            yield about(pull, Level.ERROR, "near-duplicate", what, other)


def _overlap(one: Place | None, other: Place | None) -> bool:
    if one is None or other is None or (one.path, one.side) != (other.path, other.side):
        return one is other
    if one.lines is None or other.lines is None:
        return True
    return one.lines[0] <= other.lines[1] and other.lines[0] <= one.lines[1]


# --- what needs the trees ---------------------------------------------------------------------------------------


def _check_trees(pull: GoldenPull, base: TreeFiles, head: TreeFiles) -> Iterator[Finding]:
    if dict(base.files) == dict(head.files):
        yield about(pull, Level.ERROR, "same-trees", "base and head are the same; there is nothing to review")
        return
    diff = changes(base.files, head.files)
    yield from check_size(pull, size_between(base.files, head.files))
    for golden in pull.goldens:
        if golden.place is not None:
            yield from _check_place(pull, golden, resolve(golden.place, diff), diff, (base, head))
    yield from _check_giveaways(pull, diff, base, head)


def _check_place(
    pull: GoldenPull, golden: Golden, place: Place, diff: tuple[Change, ...], trees: Trees
) -> Iterator[Finding]:
    name, tree = ("base", trees[0]) if place.side is Side.LEFT else ("head", trees[1])
    if place.path not in tree.files:
        yield about(pull, Level.ERROR, "no-such-file", f"{place.path} is not in the {name} tree", golden)
        return
    length = len(split_lines(tree.files[place.path]))
    if place.lines and not 1 <= place.lines[0] <= place.lines[1] <= length:
        what = f"lines {place.lines[0]}-{place.lines[1]} are not in {place.path} of the {name} tree ({length} lines)"
        yield about(pull, Level.ERROR, "no-such-lines", what, golden)
        return
    near = reach(place, diff)
    if near is not Reach.IN_DIFF:
        what = f"{_OUTSIDE[near]}; no inline comment can hit it"
        yield about(pull, Level.WARNING, "outside-diff", what, golden)
    if "evidence" in golden.unverified:
        yield from _check_description(pull, golden, place, tree.files[place.path])
    elif golden.evidence:
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
        yield about(pull, Level.ERROR, "evidence-missing", what, golden)
    if there is not None and _holds(split_lines(there), golden.evidence):
        what = f"its evidence stands in the {other} tree too: the change did not bring it"
        yield about(pull, Level.ERROR, "evidence-not-new", what, golden)


def _check_description(pull: GoldenPull, golden: Golden, place: Place, here: bytes) -> Iterator[Finding]:
    """Evidence that nobody has compared with the code is a description; what it sets in backticks must be there."""
    lines = split_lines(here)
    names = {name for span in _SPAN.findall(golden.evidence) for name in _NAME.findall(span)}
    code = {name for line in lines for name in _NAME.findall(line)}
    first, last = place.lines or (1, len(lines))
    near = {name for line in lines[max(0, first - 1 - NEAR) : last + NEAR] for name in _NAME.findall(line)}
    if missing := sorted(names - code):
        what = f"{place.path} does not have {', '.join(missing)}, which its evidence names"
        yield about(pull, Level.WARNING, "evidence-unconfirmed", what, golden)
    elif names and not names & near:
        what = f"nothing that its evidence names stands within {NEAR} lines of {first}-{last} of {place.path}"
        yield about(pull, Level.WARNING, "evidence-unconfirmed", what, golden)


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
            yield about(pull, Level.ERROR, "comment-names-a-defect", f"a new comment says {word!r}")
    yield from _check_shared(pull, known, fresh)


def _check_shared(pull: GoldenPull, known: frozenset[str], fresh: list[str]) -> Iterator[Finding]:
    for golden in pull.goldens:
        for name, text in (("title", pull.title), ("body", pull.body), ("comment", "\n".join(fresh))):
            given = shared(text, golden.finding, known)
            if given:
                level = Level.ERROR if telling(" ".join(given)) or len(given) > 1 else Level.WARNING
                what = f"the {name} shares {', '.join(map(repr, given))} with its finding"
                yield about(pull, level, "gives-away", what, golden)


def _text(tree: TreeFiles, path: str | None) -> str:
    data = tree.files[path] if path else b""
    return "" if is_binary(data) else data.decode("utf-8", errors="replace")
