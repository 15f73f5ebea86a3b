"""Forking one pull request of a long history: ours against cloning and pushing all of it, over smart HTTP.

Both ways end with the two commits' trees on a branch each of an empty repository of the same host. The host is git's
own http-backend; every byte of every request and answer is counted there.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.history import Made, Shape, build
from tests.bench.table import Row
from tests.bench.wire import Wire, bare, serving

FULL = Shape(commits=50_000, files=20_000)
SHORT = Shape(commits=5_000, files=20_000)
"""The same trees with a tenth of the history: what memory is compared with."""
_TIMES_FEWER_BYTES = 20
_TIMES_FASTER = 5
_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """What one way of forking took."""

    seconds: float
    bytes: int
    client_memory: int
    """Bytes of the largest git process on our side of the wire."""


def measured(wire: Wire, way: str, made: Made, folder: Path) -> Cost:
    """Fork in a process of its own, so that its children's memory is known."""
    target = bare(wire.root / "o" / f"{way}.git")
    command = (sys.executable, "-m", __name__, way, wire.url, made.base, made.head, str(folder / made.head / way))
    before = wire.bytes
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    check(made, target)
    return Cost(told["seconds"], wire.bytes - before, told["memory"])


def check(made: Made, target: Path) -> None:
    """Make sure that the trees arrived."""
    for branch, commit in (("main", made.base), ("work/change", made.head)):
        trees = [
            subprocess.run(["git", "-C", path, "rev-parse", f"{name}^{{tree}}"], check=True, capture_output=True).stdout
            for path, name in ((made.path, commit), (target, branch))
        ]
        if trees[0] != trees[1]:
            raise RuntimeError(f"{target.name}: the tree of {branch} is not that of the pull request")


def compare(folder: Path, full: Shape, short: Shape) -> list[Row]:
    """Measure both ways on one host."""
    with serving(folder) as wire:
        begun = time.perf_counter()
        made = build(folder / "acme" / "widgets.git", full)
        building = time.perf_counter() - begun
        theirs, ours = (measured(wire, way, made, folder) for way in ("clone", "ours"))
        made = build(folder / "acme" / "widgets.git", short)
        less = measured(wire, "ours", made, folder)
    megabytes = [cost.bytes / 1_000_000 for cost in (ours, theirs)]
    name = f"{full.commits:,} commits x {full.files:,} files"
    return [
        Row(f"making a repository of {name}", building, "s"),
        Row(
            "forking a pull request of it, bytes both ways; against: clone and push all of it",
            megabytes[0],
            "MB",
            megabytes[1],
            megabytes[1] / _TIMES_FEWER_BYTES,
        ),
        Row("- time", ours.seconds, "s", theirs.seconds, theirs.seconds / _TIMES_FASTER),
        Row("- largest git process of ours", *_megabytes(ours.client_memory, "MB", theirs.client_memory)),
        Row(
            f"- the same; against: {short.commits:,} commits",
            *_megabytes(ours.client_memory, "MB", less.client_memory),
            limit=1.25 * less.client_memory / _MEBIBYTE,
        ),
    ]


def _megabytes(one: int, unit: str, other: int) -> tuple[float, str, float]:
    return one / _MEBIBYTE, unit, other / _MEBIBYTE


def run() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-fork-") as folder:
        return compare(Path(folder), FULL, SHORT)


# --- the two ways, each in a process of its own -----------------------------------------------------------------


def _ours(url: str, base: str, head: str, folder: Path) -> None:
    from bot.adapters.git import Authored, Git
    from bot.composition import strip_rules
    from bot.model import ForkId
    from bot.neutral import identity, messages
    from goldens.model import GitPin

    git = Git()
    authored = Authored(strip_rules(), identity(b"s" * 32, ForkId("one")), messages("Change some files"))
    pin = GitPin("acme/widgets", 1, base, head)
    made = git.trees_from_pin(folder, pin, [url], authored)
    git.push(folder, f"{url}/o/ours.git", None, {"main": made.base_sha, "work/change": made.head_sha})


def _clone(url: str, base: str, head: str, folder: Path) -> None:
    refs = (f"{base}:refs/heads/main", f"{head}:refs/heads/work/change")
    commands = (
        ("clone", "--quiet", "--bare", f"{url}/acme/widgets.git", str(folder)),
        ("-C", str(folder), "fetch", "--quiet", "origin", "refs/pull/1/head"),
        ("-C", str(folder), "push", "--quiet", f"{url}/o/clone.git", *refs),
    )
    for command in commands:
        subprocess.run(["git", *command], check=True)


def main(arguments: Sequence[str]) -> None:
    """Fork in one of the ways and print what it took."""
    way, url, base, head, folder = arguments
    begun = time.perf_counter()
    {"ours": _ours, "clone": _clone}[way](url, base, head, Path(folder))
    seconds = time.perf_counter() - begun
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    sys.stdout.write(json.dumps({"seconds": seconds, "memory": memory}))


if __name__ == "__main__":
    main(sys.argv[1:])
