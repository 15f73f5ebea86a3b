"""Tracing fixes to the pull requests that brought their defects, in a made clone of 50,000 commits.

Every line of the clone says which pull request wrote it, so each answer is checked; a wrong one ends the benchmark.
"""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Generic, TypeVar

from bot.adapters.history import GitHistory
from goldens.mine.answers import Answers
from goldens.mine.draft import Rejected
from goldens.mine.lines import read, sites
from goldens.mine.quarry import Quarry, commit_fixes
from goldens.mine.reader import BlameAsk
from goldens.mine.trace import trace
from tests.bench.table import Row

COMMITS, FILES, TRACED, PLAIN = 50_000, 2_000, 400, 20
T = TypeVar("T")
EVERY = 25
"""One pull request in so many is a fix."""
LIMIT = 1000 / 50
"""Milliseconds: fifty fixes a second."""


def run() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-blame-") as folder:
        clone = Path(folder) / "clone.git"
        upstream = Upstream(random.Random(7))
        making = measured(lambda: _make(clone, upstream))
        with GitHistory(clone) as reader:
            reading = measured(lambda: Quarry("acme/shop", reader, ["main"], Answers()))
            quarry = reading.result
            assert len(quarry.history.ids) == COMMITS
            chosen = random.Random(8).sample(sorted(upstream.fixes), TRACED)
            tracing = measured(lambda: _trace(quarry, upstream, chosen))
            plain = measured(lambda: _plain(quarry, chosen[:PLAIN]))
    each, git_alone = 1000 / TRACED, 1000 / PLAIN
    shared = f"- the same, with its share of reading the history once for {TRACED} fixes"
    return [
        Row(f"making a clone of {COMMITS:,} commits", making.wall, "s"),
        Row("reading its history", reading.wall, "s"),
        Row("- time of the processor, git's included", reading.worked, "s"),
        Row(
            "tracing a fix; against git blame without our lineage",
            tracing.wall * each,
            "ms",
            plain.wall * git_alone,
            LIMIT,
        ),
        Row("- time of the processor", tracing.worked * each, "ms", plain.worked * git_alone, LIMIT),
        Row(shared, (tracing.worked + reading.worked) * each, "ms", limit=LIMIT),
        Row("- commits that touched its file, on average", tracing.result / TRACED, ""),
    ]


@dataclass(frozen=True)
class Measured(Generic[T]):
    result: T
    wall: float
    worked: float
    """Seconds of the processor, those of finished children included."""


def measured(deed: Callable[[], T]) -> Measured[T]:
    wall, worked = time.perf_counter(), sum(os.times()[:4])
    result = deed()
    return Measured(result, time.perf_counter() - wall, sum(os.times()[:4]) - worked)


def _trace(quarry: Quarry, upstream: Upstream, chosen: list[int]) -> int:
    """Trace fixes and check every answer; how often their files had been touched."""
    by_subject = {subject: number for number, subject in enumerate(quarry.history.subjects)}
    fixes = commit_fixes(quarry, [by_subject[f"Mend (#{number})"] for number in chosen])
    deep = 0
    for (_, found), number in zip(trace(quarry, fixes), chosen, strict=True):
        path, brought = upstream.fixes[number]
        if isinstance(found, Rejected) or found.pull.number != brought:
            raise AssertionError(f"#{number} mends what #{brought} brought, but was traced to {found}")
        deep += len(quarry.history.touched[path])
    return deep


def _plain(quarry: Quarry, chosen: list[int]) -> None:
    """The same lines of the same files, with git looking at every commit itself."""
    by_subject = {subject: number for number, subject in enumerate(quarry.history.subjects)}
    fixes = commit_fixes(quarry, [by_subject[f"Mend (#{number})"] for number in chosen])
    diffs = quarry.diffs([(fix.base, fix.head) for fix in fixes], context=0, ignore_blanks=True)
    for fix, diff in zip(fixes, diffs, strict=True):
        for path, span in sites(read(diff, fix.subject)):
            quarry.git.blame(BlameAsk(quarry.id(fix.base), path, (span,)))


@dataclass
class Upstream:
    """A history as a stream for `git fast-import`: squashed, merged and stale branches, hot files and quiet ones."""

    rng: random.Random
    fixes: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Number of a fix -> its file, and the pull request it mends."""
    files: dict[str, list[tuple[bytes, int]]] = field(default_factory=dict)
    marks: int = 0

    def stream(self) -> Iterator[bytes]:
        self.files = {
            f"src/p{n % 40:02d}/m{n:04d}.py": [(b"base_%d_%d = 0" % (n, k), 0) for k in range(40)] for n in range(FILES)
        }
        names, odds = list(self.files), list(accumulate(1 / (rank + 10) for rank in range(FILES)))
        yield b"feature done\n" + self._commit(b"Begin", [], names)
        number = 0
        while self.marks < COMMITS:
            number += 1
            chosen = list(dict.fromkeys(self.rng.choices(names, cum_weights=odds, k=self.rng.choice([1, 1, 2, 3]))))
            if number % EVERY == 0 and (mended := self._mend(chosen[0], number)):
                yield self._commit(b"Mend (#%d)" % number, [self.marks], [mended])
            else:
                yield from self._feature(number, chosen)
        yield b"reset refs/heads/main\nfrom :%d\n\ndone\n" % self.marks

    def _feature(self, number: int, chosen: list[str]) -> Iterator[bytes]:
        main, way = self.marks, self.rng.random()
        if way < 0.1 and main > 200 and self.marks + 2 <= COMMITS:
            name = f"src/new/n{number}.py"
            self.files[name] = [(b"new_%d_%d = 1" % (number, k), number) for k in range(10)]
            yield self._commit(b"Begin it", [self._older(main)], [name])
            yield self._commit(b"Merge pull request #%d from dev/stale" % number, [main, self.marks], [name])
            return
        for name in chosen:
            self._write(self.files[name], number)
        if way < 0.5 and self.marks + 2 <= COMMITS:
            yield self._commit(b"Work on it", [main], chosen)
            yield self._commit(b"Merge pull request #%d from dev/topic" % number, [main, self.marks], chosen)
        else:
            yield self._commit(b"Work (#%d)" % number, [main], chosen)

    def _older(self, main: int) -> int:
        return max(1, main - self.rng.randrange(200))

    def _write(self, lines: list[tuple[bytes, int]], number: int) -> None:
        at = self.rng.randrange(len(lines))
        lines[at:at] = [(b"v_%d_%d = step(%d)" % (number, k, at), number) for k in range(self.rng.randrange(3, 8))]
        cut = self.rng.randrange(len(lines))
        del lines[cut : cut + (6 if len(lines) > 120 else 1)]

    def _mend(self, name: str, number: int) -> str | None:
        lines = self.files[name]
        at = next((k for k in self.rng.sample(range(len(lines)), len(lines)) if lines[k][1]), None)
        if at is None:
            return None
        self.fixes[number] = name, lines[at][1]
        lines[at] = (b"mended_%d = careful(%d)" % (number, at), number)
        return name

    def _commit(self, subject: bytes, parents: list[int], names: list[str]) -> bytes:
        self.marks += 1
        out = [
            b"commit refs/heads/main\nmark :%d\ncommitter A <a@b.example> %d +0000\n"
            % (self.marks, 1_500_000_000 + self.marks * 60)
        ]
        out.append(b"data %d\n%s\n" % (len(subject), subject))
        out += [b"%s :%d\n" % (word, parent) for word, parent in zip((b"from", b"merge"), parents, strict=False)]
        for name in names:
            content = b"\n".join(line for line, _ in self.files[name]) + b"\n"
            out.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(content), content))
        return b"".join(out)


def _make(clone: Path, upstream: Upstream) -> None:
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(clone)], check=True)
    with subprocess.Popen(
        ["git", "--git-dir", str(clone), "fast-import", "--quiet", "--force"], stdin=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        for piece in upstream.stream():
            process.stdin.write(piece)
        process.stdin.close()
    assert process.returncode == 0
