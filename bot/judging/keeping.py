"""What judges said, added to a bundle that stands: the evidence and the other judges are never touched.

The index decides what is in a bundle, and it is replaced in one step, last. Until then a new part is a stray file;
a crash at any moment leaves the bundle as it was or as it is to be.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import TypeAdapter

from scoring.bundle import INDEX, JudgementSet, index_of, judgement_part, load_parts

_SET = TypeAdapter(JudgementSet)
_FOLDER = "judgements/"


class AlreadyJudged(ValueError):
    """The bundle holds a judge of that name, and nobody said to replace it."""


def keep(folder: Path, sets: Sequence[JudgementSet], *, replace: bool = False) -> None:
    """Add what judges said to a bundle's folder.

    Args:
        folder: The bundle.
        sets: What is added.
        replace: Whether a set of the same name gives way.

    Raises:
        AlreadyJudged: there is a set of that name and `replace` was not asked for.
        BundleError: the folder holds no whole bundle.
        OSError: it cannot be written.
    """
    with _alone(folder):
        found = load_parts(lambda name: (folder / name).read_bytes())
        held = {_judge(data): name for name, data in found.items() if name.startswith(_FOLDER)}
        if not replace and (twice := sorted(one.judge for one in sets if one.judge in held)):
            raise AlreadyJudged(f"{folder} holds judgements of {', '.join(twice)} already")
        gone = [held[one.judge] for one in sets if one.judge in held]
        fresh = dict(_part(one, found) for one in sets)
        for name, data in fresh.items():
            _land(folder / name, data)
        parts = {name: data for name, data in found.items() if name not in gone or name in fresh} | fresh
        _land(folder / INDEX, index_of(parts))
        for name in set(gone) - set(fresh):
            (folder / name).unlink(missing_ok=True)
        _tidy(folder)


def _tidy(folder: Path) -> None:
    """Remove what writers left who died at it: we are alone, so that nobody writes any of it now."""
    for half in folder.rglob(".*.json.*"):
        half.unlink(missing_ok=True)


def _part(one: JudgementSet, found: Mapping[str, bytes]) -> tuple[str, bytes]:
    """The part's name and bytes. A part that is in the index is never written over: the new one has its own name."""
    data, name = _SET.dump_json(one, indent=1), judgement_part(one.judge)
    if name in found and found[name] != data:
        name = f"{name.removesuffix('.json')}.{hashlib.sha256(data).hexdigest()[:8]}.json"
    return name, data


def _judge(data: bytes) -> str:
    return _SET.validate_json(data).judge


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One writer at a time: two that read the same index would each drop what the other added."""
    door = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(door, fcntl.LOCK_EX)
        yield
    finally:
        os.close(door)


def _land(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    with scratch.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)
