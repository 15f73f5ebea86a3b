"""What local clones of upstream repositories say about the pins of a suite. Reads; never fetches or writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from bot.adapters.git_trees import changed_paths
from bot.adapters.history import GitHistory
from goldens.model import GitPin, GoldenPull, Suite, TreeFiles
from goldens.pins import PinFacts
from goldens.verify import Trees
from scoring.model import GoldenId, PullId

_COMMIT: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")


def read_pins(suite: Suite, mirror: Path) -> tuple[Mapping[PullId, Trees], Mapping[PullId, PinFacts]]:
    """The trees and facts that `goldens.verify.verify` takes, for every pin whose repository is there.

    Args:
        suite: its pinned pull requests are looked up.
        mirror: a directory of clones, each at `owner/name` or `name`, with or without `.git`; or one clone.

    Raises:
        GitError: a clone cannot be read.
    """
    trees: dict[PullId, Trees] = {}
    pins: dict[PullId, PinFacts] = {}
    for clone, pulls in _by_clone(suite, mirror).items():
        repository = _Mirror(clone)
        with repository:
            for pull, pin in pulls:
                pins[pull.id] = repository.facts(pull, pin)
                if pins[pull.id].base_found and pins[pull.id].head_found:
                    trees[pull.id] = repository.trees(pull, pin)
    return trees, pins


def clone_of(mirror: Path, upstream: str) -> Path | None:
    """Where the clone of a repository is, if it is there."""
    return next((path for path in _places(mirror, upstream) if _is_clone(path)), None)


def _by_clone(suite: Suite, mirror: Path) -> dict[Path, list[tuple[GoldenPull, GitPin]]]:
    found: dict[Path, list[tuple[GoldenPull, GitPin]]] = {}
    for pull in suite.pulls:
        if isinstance(pull.source, GitPin):
            clone = clone_of(mirror, pull.source.upstream)
            if clone is not None:
                found.setdefault(clone, []).append((pull, pull.source))
    return found


def _places(mirror: Path, upstream: str) -> Iterator[Path]:
    owner, _, name = upstream.partition("/")
    for parent in (mirror / owner, mirror):
        yield from (parent / f"{name}.git", parent / name)
    yield mirror


def _is_clone(path: Path) -> bool:
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


class _Mirror(GitHistory):
    """One clone, asked about pins."""

    def facts(self, pull: GoldenPull, pin: GitPin) -> PinFacts:
        base, head = self._there(pin.base_sha), self._there(pin.head_sha)
        if not (base and head):
            return PinFacts(base, head)
        told = self._run("merge-base", pin.base_sha, pin.head_sha, accept=(0, 1)).decode("ascii").split()
        return PinFacts(base, head, told[0] if told else None, frozenset(self._fixed(pull, pin)))

    def _there(self, commit: str) -> bool:
        answer = self._run("cat-file", "--batch-check", stdin=f"{commit}^{{commit}}\n".encode("ascii"))
        return answer.split()[1:2] == [b"commit"]

    def _fixed(self, pull: GoldenPull, pin: GitPin) -> Iterator[GoldenId]:
        for golden in pull.goldens:
            fixes = [commit for commit in _COMMIT.findall(golden.fix) if self._there(commit)]
            # A commit that head already holds leaves nothing to list.
            if any(not self._run("rev-list", "-1", fix, f"^{pin.head_sha}") for fix in fixes):
                yield golden.id

    def trees(self, pull: GoldenPull, pin: GitPin) -> Trees:
        """Both trees, as far as verification looks: what changed, and the files that goldens name."""
        raw = self._run(
            "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", pin.base_sha, pin.head_sha, "--"
        )
        paths = sorted(changed_paths(raw) | {golden.place.path for golden in pull.goldens if golden.place})
        return self._tree(pin.base_sha, paths), self._tree(pin.head_sha, paths)

    def _tree(self, commit: str, paths: list[str]) -> TreeFiles:
        contents = self.blobs([(commit, path) for path in paths])
        return TreeFiles({path: data for path, data in zip(paths, contents, strict=True) if data is not None})
