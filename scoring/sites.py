"""Matching by position alone: remarks against the sites that a fix touched, as SWE-Review-Bench does it.

A remark hits a site if their line ranges, widened by the tolerance, overlap in one file. What it says plays no part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from statistics import mean, median
from typing import Protocol

from scoring.model import Place
from scoring.prf import ratio

TOLERANCE = 3
_TEST_FOLDERS = frozenset({"test", "tests", "testing"})
_TEST_NAME = re.compile(r"(?:test_[^/]*|[^/]*_test|conftest)\.py")


class Assignment(StrEnum):
    """To how many sites a remark may be counted."""

    FIRST = "first"
    """To the first it hits, in patch order: the reference."""
    ALL = "all"
    """To every one it hits."""


@dataclass(frozen=True, slots=True)
class Span:
    """A closed line range of a file. `lines` is None where no usable lines are given."""

    path: str
    lines: tuple[int, int] | None

    @property
    def valid(self) -> bool:
        """Whether it can be anywhere at all."""
        return self.lines is not None and 1 <= self.lines[0] <= self.lines[1]


def span_of(place: Place | None) -> Span:
    """A place as these rules take it."""
    return Span("", None) if place is None else Span(place.path, place.lines)


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reviewer said, as far as these rules look: where, and how bad."""

    span: Span
    rank: int = 3
    """0 high, 1 medium, 2 low, 3 anything else."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance scored at one tolerance."""

    sites: int
    comments: int
    sites_hit: frozenset[int]
    """Places of the sites hit, in patch order, from 0."""
    hits: tuple[bool, ...]
    """For each remark, in order, whether it hit a site."""
    held: tuple[int | None, ...]
    """For each remark the first site it hit."""
    file_hit: bool
    precision_at: Mapping[int, float]
    buckets: Mapping[str, int]
    """Remarks by distance to the nearest site."""

    @property
    def hit(self) -> bool:
        """Whether any site was hit."""
        return bool(self.sites_hit)

    @property
    def false_positives(self) -> int:
        """Remarks that hit nothing; several on one site are all hits."""
        return self.comments - sum(self.hits)


class Sampler(Protocol):
    """A seeded source of samples, such as `random.Random(42)`."""

    def sample(self, population: range, k: int) -> list[int]:
        """`k` different members."""
        ...


def sample_rows(population: int, n: int, rng: Sampler) -> list[int]:
    """The rows of a sample, in order. A smaller sample of one seed is not promised to lie in a larger one."""
    return sorted(rng.sample(range(population), n))


@lru_cache(maxsize=8192)
def normal_path(path: str | None) -> str:
    """A path as these rules compare it: one leading `a/` or `b/` goes, then one leading `./`.

    No case folding and no `..`. A folder that is really called `a` is lost; that is the published rule.
    """
    text = (path or "").strip().replace("\\", "/")
    if text.startswith(("a/", "b/")):
        text = text[2:]
    return text.removeprefix("./")


def gap(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Lines from one closed range to another: 0 where they overlap, 1 where they touch."""
    return max(0, one[0] - other[1], other[0] - one[1])


def hits(remark: Span, site: Span, tolerance: int = TOLERANCE) -> bool:
    """Whether a remark is within the tolerance of a site."""
    if tolerance < 0:
        raise ValueError(f"a tolerance is 0 lines or more, not {tolerance}")
    distance = distance_of(remark, site)
    return distance is not None and distance <= tolerance


def distance_of(remark: Span, site: Span) -> int | None:
    """Lines between a remark and a site; None where the files differ or either has no usable lines."""
    if not (remark.valid and site.valid) or normal_path(remark.path) != normal_path(site.path):
        return None
    assert remark.lines is not None
    assert site.lines is not None
    return gap(remark.lines, site.lines)


def bucket(remark: Span, sites: Sequence[Span]) -> str:
    """How far a remark is from the nearest site, in the words of the published tables."""
    if not remark.valid:
        return "invalid"
    distances = [found for site in sites if (found := distance_of(remark, site)) is not None]
    if not distances:
        return "wrong_file"
    nearest = min(distances)
    return "d0" if nearest == 0 else "d1-3" if nearest <= 3 else "d4-10" if nearest <= 10 else "d>10"


def score_instance(
    remarks: Sequence[Remark],
    sites: Sequence[Span],
    tolerance: int = TOLERANCE,
    assignment: Assignment = Assignment.FIRST,
    ks: Sequence[int] = (1, 3, 5),
) -> Instance:
    """Score one instance.

    Args:
        remarks: What the reviewer said, in its order.
        sites: The sites, in patch order.
        tolerance: How many lines off a remark may be.
        assignment: To how many sites a remark may be counted.
        ks: For which k to give the precision of the first k remarks.
    """
    hit = [[at for at, site in enumerate(sites) if hits(remark.span, site, tolerance)] for remark in remarks]
    taken = [found if assignment is Assignment.ALL else found[:1] for found in hit]
    right = tuple(bool(found) for found in hit)
    counted: dict[str, int] = {}
    for remark in remarks:
        name = bucket(remark.span, sites)
        counted[name] = counted.get(name, 0) + 1
    return Instance(
        sites=len(sites),
        comments=len(remarks),
        sites_hit=frozenset(at for found in taken for at in found),
        hits=right,
        held=tuple(found[0] if found else None for found in hit),
        file_hit=file_hit((remark.span.path for remark in remarks), (site.path for site in sites)),
        precision_at={k: precision_at(remarks, right, k) for k in ks},
        buckets=dict(sorted(counted.items())),
    )


def precision_at(remarks: Sequence[Remark], right: Sequence[bool], k: int) -> float:
    """The share of hits among the first k remarks, worst first and then by line; 0 without remarks."""
    order = sorted(range(len(remarks)), key=lambda at: (remarks[at].rank, (remarks[at].span.lines or (0, 0))[0]))
    first = order[:k]
    return sum(right[at] for at in first) / len(first) if first else 0.0


def file_hit(remarks: Iterable[str], sites: Iterable[str]) -> bool:
    """Whether any remark is in a file of a site."""
    return not {normal_path(path) for path in remarks}.isdisjoint({normal_path(path) for path in sites})


def is_test_file(path: str) -> bool:
    """Whether a path is a test: by a folder, or by its name, in any case of letters."""
    folders, _, name = normal_path(path).casefold().rpartition("/")
    return bool(_TEST_FOLDERS & set(folders.split("/"))) or _TEST_NAME.fullmatch(name) is not None


def multi_file(paths: Iterable[str]) -> bool:
    """Whether a defect is in two or more files that are no tests."""
    return len({normal_path(path) for path in paths if not is_test_file(path)}) >= 2


@dataclass(frozen=True, slots=True)
class Sums:
    """Instances of one reviewer added up."""

    instances: int
    """Loaded: instances without a remark, or without a review, count as missed."""
    scored: int
    instance_hits: int
    sites: int
    sites_hit: int
    comments: int
    hit_comments: int
    file_hits: int
    false_positives_mean: float
    false_positives_median: float
    precision_at: Mapping[int, float]
    """Mean over the instances scored."""

    @property
    def hit_rate(self) -> float:
        """Instances hit per instance loaded."""
        return ratio(self.instance_hits, self.instances) or 0.0

    @property
    def site_recall(self) -> float:
        """Sites hit per site of the instances loaded."""
        return ratio(self.sites_hit, self.sites) or 0.0


def add_up(scored: Sequence[Instance], instances: int, sites: int, ks: Sequence[int] = (1, 3, 5)) -> Sums:
    """The sums of a reviewer.

    Args:
        scored: The instances it was scored on.
        instances: How many were loaded.
        sites: How many sites those have.
        ks: As in `score_instance`.
    """
    alarms = [one.false_positives for one in scored]
    return Sums(
        instances=instances,
        scored=len(scored),
        instance_hits=sum(one.hit for one in scored),
        sites=sites,
        sites_hit=sum(len(one.sites_hit) for one in scored),
        comments=sum(one.comments for one in scored),
        hit_comments=sum(sum(one.hits) for one in scored),
        file_hits=sum(one.file_hit for one in scored),
        false_positives_mean=mean(alarms) if alarms else 0.0,
        false_positives_median=float(median(alarms)) if alarms else 0.0,
        precision_at={k: mean(one.precision_at[k] for one in scored) if scored else 0.0 for k in ks},
    )
