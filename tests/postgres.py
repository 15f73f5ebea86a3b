"""A PostgreSQL of the tests' own on loopback: the system's programs, a new folder, ended when the tests are over."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from bot.sandbox.ports import free_port

REQUIRED = "REQUIRE_ORACLES"
"""Set to 1 where a missing PostgreSQL is a failure and not a reason to skip."""
_FAST = ("fsync=off", "full_page_writes=off")
"""Only what a crash of the machine would need: one of the server must lose nothing that was committed."""


@dataclass(slots=True)
class Postgres:
    """A running server."""

    programs: Path
    data: Path
    port: int
    user: str | None
    """Who it runs as, where we are root and it refuses to."""
    _names: Iterator[int] = field(default_factory=itertools.count)

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"assay_{next(self._names)}"
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self._url(name)

    def _url(self, name: str) -> str:
        return f"postgresql://assay@127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = " ".join(f"-c {one}" for one in (*_FAST, f"port={self.port}", "max_connections=300"))
        options += f" -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.data}"
        self._run("pg_ctl", "-D", str(self.data), "-w", "-l", str(self.data / "log.txt"), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """End it: `immediate` is a crash, `fast` hangs up on everybody in good order."""
        self._run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop")

    def restart(self, down: float = 0) -> None:
        """A crash, an outage of some seconds, and a start."""
        self.stop()
        time.sleep(down)
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self.programs / program), *arguments],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self.user,
            cwd="/",
            timeout=60,
        )


def programs() -> Path | None:
    """Where `initdb` is; distributions keep it out of the path."""
    found = [Path(one).resolve().parent for one in [shutil.which("initdb"), shutil.which("pg_ctl")] if one]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in found if (folder / "initdb").exists()), None)


@contextmanager
def running() -> Iterator[Postgres]:
    """A server, where there is a PostgreSQL to run."""
    folder = programs()
    if folder is None:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail("PostgreSQL is not installed, and REQUIRE_ORACLES=1 asks for it")
        pytest.skip("PostgreSQL is not installed: what needs it is NOT tested")
    # A socket's path may have 107 characters; pytest's own folders are too deep for that.
    with tempfile.TemporaryDirectory(prefix="assay-pg-") as top:
        user = "postgres" if os.geteuid() == 0 else None
        server = Postgres(folder, Path(top) / "data", free_port(), user)
        if user is not None:
            account = pwd.getpwnam(user)
            os.chown(top, account.pw_uid, account.pw_gid)
        server._run("initdb", "-D", str(server.data), "-U", "assay", "-A", "trust", "--no-sync", "-E", "UTF8")
        server.start()
        try:
            yield server
        finally:
            server.stop()
