"""The App as a process of its own, as an operator would run it, configured by settings alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "SYSTEMROOT")


class AppProcess:
    """One running App. It can be killed at any moment and started again on the same data."""

    def __init__(
        self, settings: Mapping[str, str], log: Path, command: Sequence[str] = ("serve",), *, module: str = "bot"
    ) -> None:
        """A process that is not started yet.

        Args:
            settings: Its environment, beside what every process needs.
            log: Where its output goes; its folder is where it works.
            command: What `assay` is told to do.
            module: What Python runs as `assay`.
        """
        self._module = module
        self._settings = settings
        self._command = command
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the App; it does not wait for it to be ready."""
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ} | dict(self._settings)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # nosec B603 # ourselves, with words of ours
                [sys.executable, "-m", self._module, *self._command],
                env=environment,
                cwd=self.log.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def exited(self) -> int | None:
        """The exit code if it has ended."""
        return None if self._process is None else self._process.poll()

    def kill(self) -> None:
        """End it and all its children at once, with no chance to tidy up."""
        self._signal(signal.SIGKILL)

    def pause(self) -> None:
        """Let it and its children do nothing, until `go_on`."""
        if self._process is not None:
            _signal_group(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """End a pause."""
        if self._process is not None:
            _signal_group(self._process.pid, signal.SIGCONT)

    def stop(self) -> None:
        """End it as a service manager would; after ten seconds, at once."""
        self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        _signal_group(self._process.pid, number)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            _signal_group(self._process.pid, signal.SIGKILL)
            self._process.wait(10)
        # A master that is gone may leave its worker for a moment, and the worker holds the executor slot.
        _signal_group(self._process.pid, signal.SIGKILL)
        self._process = None

    def tail(self, lines: int = 20) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


@contextmanager
def running(settings: Mapping[str, str], log: Path, command: Sequence[str] = ("serve",)) -> Iterator[AppProcess]:
    """The App, started, and ended on the way out."""
    app = AppProcess(settings, log, command)
    app.start()
    try:
        yield app
    finally:
        app.stop()
