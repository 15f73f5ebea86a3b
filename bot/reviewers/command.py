"""`command:<argv>`: any program that reads two trees and writes SARIF or JSON.

It is started without a shell, in a fresh folder that holds `base/` and `head/` and nothing else, with an environment
of a few allowed names, and is ended with everything it started once its time is up. This keeps an honest program in its
place and a broken one from doing harm; it is no wall against a hostile one, which runs with the user's own rights.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO

from bot.reviewers import answers, command_child
from bot.reviewers.child import is_plain
from bot.reviewers.kept import Shelf
from bot.reviewers.means import MEGABYTE, ReviewMeans, ToolLimits
from bot.reviewers.options import Options, ReviewerProblem, shortened
from bot.reviewers.protocol import Change, Review, Usage
from bot.reviewers.sarif import read_log
from bot.reviewers.sheet import digest
from scoring.judges.reply import ReplyError

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")
_STDERR = 64 * 1024
_SHOWN = 300
_PATIENCE = 30.0
"""Seconds beyond the command's own that its keeper has."""
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it wrote."""

    how: str
    """`exit`, `time`, `processes`, `start` or `abandoned`."""
    status: int | None
    why: str
    stdout: bytes
    stdout_cut: bool
    stderr: bytes


@dataclass(frozen=True, slots=True)
class Command:
    """Implements `Reviewer` by a program."""

    name: str
    argv: tuple[str, ...]
    limits: ToolLimits
    output: str = ""
    """The file below its folder that it writes its answer to; empty: stdout."""
    passed: tuple[str, ...] = ()
    """Further names of the environment that the user lets it see."""
    shelf: Shelf = field(default_factory=Shelf)

    @classmethod
    def of(cls, name: str, rest: str, options: Options, means: ReviewMeans) -> Command:
        """The reviewer of a command line.

        Raises:
            ReviewerProblem: it cannot be split, its program is not there, or an option cannot be.
        """
        options.only("seconds", "memory", "output", "pass", "keep")
        limits = replace(
            means.limits,
            seconds=options.number("seconds", means.limits.seconds, 0.1, 86_400),
            memory=options.whole("memory", means.limits.memory // MEGABYTE, 0, 1_000_000) * MEGABYTE,
        )
        argv, output = _argv(name, rest), options.given.get("output", "")
        if output and (not is_plain(output) or PurePosixPath(output).parts[0] in ("base", "head")):
            raise ReviewerProblem(f"{name}: output must be a file in the command's folder, not {shortened(output)}")
        passed = tuple(one for one in options.given.get("pass", "").split(",") if one)
        if wrong := [one for one in passed if not one.isidentifier()]:
            raise ReviewerProblem(f"{name}: {shortened(wrong[0])} is no name of an environment variable")
        key = digest("command", *argv, output, str(limits), ",".join(passed), str(means.repeat))
        kept = means.asking.replies if means.asking and options.yes("keep", True) else None
        return cls(name, argv, limits, output, passed, Shelf(kept, key))

    def review(self, change: Change) -> Review:
        """Run the command, if it was not run on these trees before."""
        if (known := self.shelf.get(change)) is not None:
            return known
        review = self._run(change)
        self.shelf.keep(change, review)
        return review

    def _run(self, change: Change) -> Review:
        with _folder(change) as (home, odd):
            work, begun = home / "work", time.monotonic()
            ended = run(self.argv, work, self.limits, _environment(home, self.passed))
            usage = Usage(seconds=time.monotonic() - begun)
            said, cut = (ended.stdout, ended.stdout_cut) if not self.output else self._file(work)
            review = self._read(ended, said, change, (str(work / "head"), "head", str(work / "base"), "base"))
        notes = [f"{path!r}: no name that a file of ours may have" for path in odd]
        if cut:
            notes.append(f"what the command wrote after its first {self.limits.output} bytes: it was cut there")
        failed = review.failed
        if failed and cut:
            failed += f"; its output was cut after {self.limits.output} bytes"
        return replace(review, usage=usage, unread=(*review.unread, *notes), failed=failed)

    def _file(self, work: Path) -> tuple[bytes, bool]:
        """What it wrote to its file; nothing if that is no file of its own folder."""
        path = work / self.output
        if not path.resolve().is_relative_to(work) or path.is_symlink() or not path.is_file():
            return b"", False
        with path.open("rb") as file:
            data = file.read(self.limits.output + 1)
        return data[: self.limits.output], len(data) > self.limits.output

    def _read(self, ended: Ended, said: bytes, change: Change, roots: tuple[str, ...]) -> Review:
        """What it said as a review. A program that says nothing has not said that all is well."""
        problem = self._problem(ended)
        if problem and ended.how != "exit":
            return Review((), failed=problem)
        text = said.decode("utf-8-sig", "replace").strip()
        if not text:
            return Review((), failed=(problem or f"the command wrote nothing {self._where()}") + _told(ended))
        if _is_log(text):
            return read_log(text.encode(), change, roots)
        try:
            answer = answers.read(text, _rooted(change, roots), longest=self.limits.output)
        except ReplyError as error:
            return Review((), failed=f"{problem or 'no SARIF and no JSON list of findings'}: {error}{_told(ended)}")
        remarks = tuple(replace(one, path=_stripped(one.path, change)) for one in answer.remarks)
        return Review(remarks, invalid=answer.invalid, unread=(answers.CUT_OFF,) if answer.cut_off else ())

    def _where(self) -> str:
        return f"to {self.output}" if self.output else "to its output"

    def _problem(self, ended: Ended) -> str:
        """What was wrong with how it ended; empty if nothing was."""
        if ended.how == "start":
            return f"unable: the command cannot be started: {ended.why}"
        if ended.how == "time":
            return f"the command did not end within {self.limits.seconds:g} s and was ended with all it had started"
        if ended.how == "processes":
            return f"the command had more than {self.limits.processes} processes at a time and was ended with them"
        if ended.how != "exit":
            return f"the command was given up: {ended.why or ended.how}"
        return f"the command ended with status {ended.status}" if ended.status else ""


def _argv(name: str, rest: str) -> tuple[str, ...]:
    try:
        argv = shlex.split(rest)
    except ValueError as error:
        raise ReviewerProblem(f"{name}: not a list of arguments: {error}") from None
    if not argv or any("\0" in one for one in argv):
        raise ReviewerProblem(f"{name}: name a program and its arguments")
    found = shutil.which(argv[0])
    if found is None:
        raise ReviewerProblem(f"{name}: there is no program {shortened(argv[0])}")
    return str(Path(found).absolute()), *argv[1:]


@contextmanager
def _folder(change: Change) -> Iterator[tuple[Path, list[str]]]:
    """A fresh folder: `work` with both trees, and a home beside it; and the names that no file of ours may have."""
    with tempfile.TemporaryDirectory(prefix="review-", ignore_cleanup_errors=True) as place:
        home = Path(place).resolve()
        odd: list[str] = []
        for folder in ("work/base", "work/head", "home"):
            (home / folder).mkdir(parents=True)
        for side, files in (("base", change.base), ("head", change.head)):
            for path, content in files.items():
                if not is_plain(path):
                    odd.append(path)
                    continue
                target = home / "work" / side / PurePosixPath(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        yield home, odd


def _environment(home: Path, passed: tuple[str, ...]) -> dict[str, str]:
    own = {name: os.environ[name] for name in (*PASSED_ON, *passed) if name in os.environ}
    return {"LC_ALL": "C.UTF-8", **own, "HOME": str(home / "home"), "TMPDIR": str(home / "home"), "NO_COLOR": "1"}


def run(argv: tuple[str, ...], work: Path, limits: ToolLimits, environment: Mapping[str, str]) -> Ended:
    """Run a command to its end under its limits, and end whatever it leaves behind."""
    told, tell = os.pipe()
    settings = {
        "argv": list(argv),
        "report": tell,
        "seconds": limits.seconds,
        "memory": limits.memory,
        "file": limits.file,
        "processes": limits.processes,
    }
    try:
        keeper = subprocess.Popen(  # nosec B603 # ourselves; the operator's command is one argument
            [sys.executable, "-I", "-S", str(Path(command_child.__file__)), json.dumps(settings)],
            cwd=work,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(tell,),
        )
    except OSError as error:
        os.close(told)
        return Ended("start", None, error.strerror or str(error), b"", False, b"")
    finally:
        os.close(tell)
    with keeper, os.fdopen(told, "rb") as report:
        return _attended(keeper, report, limits)


def _attended(keeper: subprocess.Popen[bytes], report: IO[bytes], limits: ToolLimits) -> Ended:
    assert keeper.stdin and keeper.stdout and keeper.stderr
    out, err = _Drain(keeper.stdout, limits.output), _Drain(keeper.stderr, _STDERR)
    try:
        keeper.wait(limits.seconds + _PATIENCE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        # Its end of the pipe is how the keeper knows that we are still here.
        keeper.stdin.close()
        if keeper.poll() is None:
            keeper.kill()
    stdout, cut = out.taken()
    stderr, _ = err.taken()
    try:
        said = json.loads(report.read(_CHUNK))
    except ValueError:
        said = {"ended": "abandoned", "status": None, "why": "its keeper was ended"}
    return Ended(said["ended"], said["status"], said["why"], stdout, cut, stderr)


class _Drain:
    """Reads a stream to its end and keeps the beginning, so that whoever writes is never held up."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream = stream
        self._most = most
        self._kept = bytearray()
        self._cut = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while data := os.read(self._stream.fileno(), _CHUNK):
            room = self._most - len(self._kept)
            self._kept += data[:room]
            self._cut = self._cut or len(data) > room

    def taken(self) -> tuple[bytes, bool]:
        """What was kept, and whether there was more."""
        self._thread.join(_PATIENCE)
        return bytes(self._kept), self._cut


# --- what it said


def _is_log(text: str) -> bool:
    if not text.startswith("{"):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "runs" in value and "version" in value


def _told(ended: Ended) -> str:
    """The end of what it complained of."""
    words = " ".join(ended.stderr.decode("utf-8", "replace").split())
    return f"; it says: {words[-_SHOWN:]}" if words else ""


def _rooted(change: Change, roots: tuple[str, ...]) -> Change:
    """The change with its files also under the names by which the command sees them."""
    head = dict(change.head)
    for root in roots:
        side = change.base if root.endswith("base") else change.head
        head |= {f"{root}/{path}": data for path, data in side.items()}
    return replace(change, head=head)


def _stripped(path: str | None, change: Change) -> str | None:
    """A path without the folder it lay in."""
    if path is None or path in change.head or path in change.base:
        return path
    for mark in ("/work/head/", "/work/base/"):
        if mark in path:
            return path.partition(mark)[2]
    return path.removeprefix("head/").removeprefix("base/")
