"""Running an analyser as a child process: no shell, an allow-listed environment, an end even for a runaway."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

_OUTPUT_LIMIT = 32 * 1024 * 1024
_PASSED_ON = ("PATH", "SYSTEMROOT")


class ToolFailed(Exception):
    """An analyser gave no usable answer. The text names the tool and what went wrong, and no local path."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a child process left behind."""

    status: int
    stdout: bytes
    stderr: bytes


def run_tool(name: str, argv: Sequence[str], *, cwd: Path, seconds: float) -> Ran:
    """Run `argv` in `cwd` to its end, or end it together with every process it started.

    Raises:
        ToolFailed: it could not be started, ran too long, or wrote too much.
    """
    # Files instead of pipes: a grandchild that keeps a pipe open could otherwise hold us past the time limit.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(  # nosec B603 # no shell; a linter of ours, paths behind `--`
                list(argv),
                cwd=cwd,
                env=_environment(cwd.parent),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as problem:
            raise ToolFailed(f"{name} could not be started: {problem.strerror}") from problem
        try:
            status = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired as problem:
            raise ToolFailed(f"{name} did not end within {seconds:g} s") from problem
        finally:
            _end(process)
        return Ran(status, _read(name, out), _read(name, err))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole process group. The leader is not reaped before, so the group id is still ours."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _read(name: str, stream: IO[bytes]) -> bytes:
    stream.seek(0)
    data = stream.read(_OUTPUT_LIMIT + 1)
    if len(data) > _OUTPUT_LIMIT:
        raise ToolFailed(f"{name} wrote more than {_OUTPUT_LIMIT} bytes")
    return data


def _environment(home: Path) -> dict[str, str]:
    own = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    fixed = {"HOME": str(home), "TMPDIR": str(home), "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "NO_COLOR": "1"}
    return own | fixed


def is_plain(path: str) -> bool:
    """Whether a path of the fork may be written below a directory of ours and asked for by URL.

    The names come from the fork: a `..`, an absolute name or a NUL would leave the directory or the URL's folder.
    """
    try:
        raw = path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    parts = path.split("/")
    return b"\0" not in raw and all(part not in ("", ".", "..") and len(part.encode()) <= 255 for part in parts)


@contextmanager
def written(files: Mapping[str, bytes]) -> Iterator[Path]:
    """The files below a fresh directory `tree`, which is deleted with everything in it afterwards.

    Files whose names are not plain are left out. The parent of the tree is the children's home directory.
    """
    with tempfile.TemporaryDirectory(prefix="analyse-", ignore_cleanup_errors=True) as home:
        tree = Path(home).resolve() / "tree"
        tree.mkdir()
        for path, content in files.items():
            if is_plain(path):
                target = tree / PurePosixPath(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        yield tree


def targets(files: Iterable[str], suffixes: tuple[str, ...]) -> list[str]:
    """The files with one of the suffixes, as arguments: sorted, and never readable as an option.

    The analysers tell languages by lower-case suffixes, so no other spelling is taken.
    """
    return [f"./{path}" for path in sorted(files) if is_plain(path) and path.endswith(suffixes)]


def relative(reported: str, tree: Path) -> str:
    """A path as an analyser wrote it, as the fork calls it."""
    path = Path(reported)
    return path.relative_to(tree).as_posix() if path.is_absolute() else path.as_posix()
