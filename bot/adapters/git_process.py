"""One git process: fed, read to its end, and ended with its helpers when it takes too long or says too much."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final

from bot.adapters.git_bytes import GitError, GitKind

_STDERR_KEPT: Final = 64 * 1024
_PIECE: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a process."""

    code: int
    out: bytes
    stderr: bytes
    expired: bool


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a git process together with the helpers it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _feed(pipe: IO[bytes], content: bytes) -> None:
    with suppress(BrokenPipeError), pipe:
        pipe.write(content)


def _drain(pipe: IO[bytes], kept: bytearray) -> None:
    while chunk := pipe.read(8192):
        kept += chunk[: max(0, _STDERR_KEPT - len(kept))]


def _read(pipe: IO[bytes], limit: int) -> bytes:
    """All there is, or a little more than the limit. In pieces: one large read would set its whole size aside."""
    pieces, size = [], 0
    while size <= limit and (piece := pipe.read(_PIECE)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def finish(process: subprocess.Popen[bytes], stdin: bytes, seconds: float, limit: int) -> Finished:
    """Feed a process and read it to its end; it is ended at the time limit, or once it has printed too much."""
    expired, stderr = threading.Event(), bytearray()
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None

    def expire() -> None:
        expired.set()
        _kill(process)

    timer = threading.Timer(seconds, expire)
    helpers = [
        threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True),
        threading.Thread(target=_drain, args=(process.stderr, stderr), daemon=True),
    ]
    with process:
        try:
            for thread in (timer, *helpers):
                thread.start()
            out = _read(process.stdout, limit)
            if len(out) > limit:
                _kill(process)
            for thread in helpers:
                thread.join()
            code = process.wait()
        finally:
            timer.cancel()
            if process.poll() is None:
                _kill(process)
    return Finished(code, out, bytes(stderr), expired.is_set())


def start(args: Sequence[str], env: Mapping[str, str], home: str, lock: int | None) -> subprocess.Popen[bytes]:
    """Start git in `home` with this environment and no other.

    Raises:
        GitError: there is no git.
    """
    try:
        return subprocess.Popen(  # nosec B603 # no shell; the caller guards every argument that comes from outside
            ("git", *args),
            env=dict(env),
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
        )
    except FileNotFoundError:
        raise GitError(GitKind.NO_GIT, "there is no git on the PATH; install git 2.31 or newer") from None
