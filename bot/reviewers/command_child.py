"""The process between us and a command: it starts the command, and ends it with everything that came of it.

Run as a script with one argument, its settings in JSON. Everything the command starts stays below this process, even
what cuts itself off from its parents, and is ended when time is up, when there are too many of them, when the command
itself has ended, or when the process that wanted the answer is gone.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SUBREAPER = 36
"""Linux's prctl for: orphans below me become my children."""
_TICK = 0.03
_GRACE = 10.0
_PROC = Path("/proc")


def _adopt() -> None:
    """Become the parent of all orphans below."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)


def _limit(memory: int, file: int, processes: int) -> None:
    """What the command and each of its children may take."""
    os.umask(0o077)
    wanted = {resource.RLIMIT_FSIZE: file, resource.RLIMIT_CORE: 0}
    if memory:
        wanted[resource.RLIMIT_AS] = memory
    for what, most in wanted.items():
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most, most) if hard == resource.RLIM_INFINITY else (min(most, hard),) * 2)
    # The kernel counts all of the user's threads, so those that are there already come on top. It never limits root.
    if os.geteuid() != 0:
        most = _threads_of(os.geteuid()) + processes
        _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        resource.setrlimit(resource.RLIMIT_NPROC, (most if hard < 0 else min(most, hard), hard))


def _processes() -> Iterator[Path]:
    return (one for one in _PROC.iterdir() if one.name.isdigit()) if _PROC.is_dir() else iter(())


def _threads_of(user: int) -> int:
    """How many threads a user has now."""
    count = 0
    for one in _processes():
        with suppress(OSError):
            count += sum(1 for _ in (one / "task").iterdir()) if one.stat().st_uid == user else 0
    return count


def _parents() -> Iterator[tuple[int, int]]:
    """Every process with its parent; those that have ended and are only not taken leave of do not count."""
    for one in _processes():
        try:
            text = (one / "stat").read_bytes()
        except OSError:
            continue
        fields = text[text.rfind(b")") + 2 :].split()
        if fields and fields[0] != b"Z":
            yield int(one.name), int(fields[1])


def _below(root: int) -> set[int]:
    """Everything that came of a process."""
    children: dict[int, list[int]] = {}
    for process, parent in _parents():
        children.setdefault(parent, []).append(process)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def _signal(processes: set[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def _end_all(command: subprocess.Popen[bytes]) -> None:
    """End everything below. First all are stopped, so that none makes another one while it is looked for."""
    until = time.monotonic() + _GRACE
    # The command is not reaped before, so the number of its group is still its own.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(command.pid, signal.SIGKILL)
    while time.monotonic() < until and (left := _below(os.getpid())):
        _signal(left, signal.SIGSTOP)
        _signal(left | _below(os.getpid()), signal.SIGKILL)
        time.sleep(_TICK / 4)


def _over(command: subprocess.Popen[bytes]) -> bool:
    return os.waitid(os.P_PID, command.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _watch(command: subprocess.Popen[bytes], seconds: float, processes: int) -> str:
    """Wait for the command's end, or for a reason to end it."""
    until = time.monotonic() + seconds
    while not _over(command):
        if time.monotonic() >= until:
            return "time"
        if select.select([0], [], [], _TICK)[0] and not os.read(0, 1):
            return "abandoned"
        if len(_below(os.getpid())) > processes:
            return "processes"
    return "exit"


def main(settings: dict[str, object]) -> None:
    """Run a command and write how it ended to the descriptor that the settings name."""
    argv, report = settings["argv"], settings["report"]
    assert isinstance(argv, list) and isinstance(report, int)
    memory, file, processes = (int(str(settings[key])) for key in ("memory", "file", "processes"))
    os.set_inheritable(report, False)
    _adopt()
    with os.fdopen(report, "w", encoding="utf-8") as told:
        try:
            command = subprocess.Popen(  # nosec B603 # no shell; what the operator named is to be run
                argv,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=lambda: _limit(memory, file, processes),
            )
        except (OSError, subprocess.SubprocessError) as error:
            json.dump({"ended": "start", "status": None, "why": getattr(error, "strerror", None) or str(error)}, told)
            return
        ended = "abandoned"
        try:
            ended = _watch(command, float(str(settings["seconds"])), processes)
        finally:
            _end_all(command)
        json.dump({"ended": ended, "status": command.wait(), "why": ""}, told)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
