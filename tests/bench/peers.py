"""Servers that deliveries are sent to: ours, and Probot, each as real processes on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.sandbox.ports import free_port
from tests.bot import deliveries

REPOSITORY = Path(__file__).parents[2]
PROBOT = "probot@14.3.2"
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Server:
    """One server, maybe of several processes."""

    urls: tuple[str, ...]
    processes: tuple[psutil.Process, ...]

    def spent(self) -> float:
        """Seconds of processor time that it has taken so far, children included."""
        everybody = [one for top in self.processes for one in (top, *top.children(recursive=True))]
        return sum(times.user + times.system for times in (one.cpu_times() for one in everybody))


def cache() -> Path:
    """Where what is installed for benchmarks stays; outside the repository."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "assay-bench"


def probot_folder() -> Path | None:
    """Probot, installed by npm once; None where that cannot be."""
    folder = cache() / PROBOT.replace("@", "-")
    if not (folder / "node_modules" / ".bin" / "probot").exists():
        if shutil.which("npm") is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--no-save", PROBOT]
        if subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, timeout=300).returncode:
            return None
    return folder


@contextmanager
def probot(installed: Path, work: Path) -> Iterator[Server]:
    """Probot as its users start it, with an App that only acknowledges, and no log of what it acknowledged."""
    port = free_port()
    environment = {
        "APP_ID": str(deliveries.APP_ID),
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "PRIVATE_KEY_PATH": str(_key(work)),
        "WEBHOOK_SECRET": deliveries.SECRET.decode(),
        "LOG_LEVEL": "warn",
        "NODE_ENV": "production",
    }
    app = installed / "app.mjs"
    shutil.copyfile(HERE / "probot" / "app.mjs", app)
    command = [str(installed / "node_modules" / ".bin" / "probot"), "run", str(app)]
    with _running(command, environment, port, work / "probot.txt") as process:
        yield Server((f"http://127.0.0.1:{port}/api/github/webhooks",), (process,))


@contextmanager
def ours(work: Path, processes: int, more: Mapping[str, str] | None = None) -> Iterator[Server]:
    """`assay serve --web-only`, so many times, on one SQLite database with all that makes it durable."""
    with ExitStack() as stack:
        urls, found = [], []
        for _ in range(processes):
            port = free_port()
            environment = {
                "ASSAY_APP_ID": str(deliveries.APP_ID),
                "ASSAY_BIND": f"127.0.0.1:{port}",
                "ASSAY_DATA_DIR": str(work / "data"),
                # Nobody is asked for anything: a delivery is taken on its own.
                "ASSAY_GITHUB_API_URL": "http://127.0.0.1:9",
                "ASSAY_PRIVATE_KEY_FILE": str(_key(work)),
                "ASSAY_WEBHOOK_SECRET": deliveries.SECRET.decode(),
                **(more or {}),
            }
            # As Probot's, without a line in the log for each delivery.
            command = [sys.executable, "-m", "bot", "serve", "--web-only", "--quiet"]
            found.append(stack.enter_context(_running(command, environment, port, work / f"ours-{port}.txt")))
            urls.append(f"http://127.0.0.1:{port}/webhooks/github")
        yield Server(tuple(urls), tuple(found))


@contextmanager
def _running(command: Sequence[str], more: Mapping[str, str], port: int, log: Path) -> Iterator[psutil.Process]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    with log.open("wb") as out:
        process = psutil.Popen(command, cwd=REPOSITORY, env=kept | dict(more), stdout=out, stderr=out)
    try:
        give_up = time.monotonic() + 90
        while not _answers(port):
            if time.monotonic() > give_up or process.poll() is not None:
                raise RuntimeError(f"{command[0]} does not answer:\n{log.read_text(encoding='utf-8')[-2000:]}")
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except psutil.TimeoutExpired:
            process.kill()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def _key(folder: Path) -> Path:
    path = folder / "key.pem"
    if not path.exists():
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        form, none = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, none))
    return path
