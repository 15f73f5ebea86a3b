"""A git host on loopback that counts every byte: git's own http-backend behind a server that passes both ways on."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

_PIECE = 64 * 1024


@dataclass
class Wire:
    """What went over the wire so far, headers included."""

    root: Path
    url: str = ""
    received: int = 0
    sent: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def bytes(self) -> int:
        return self.received + self.sent


class _Counted:
    """A socket's file that counts what is read or written."""

    def __init__(self, inner: Any, wire: Wire) -> None:
        self._inner = inner
        self._wire = wire

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _in(self, data: bytes) -> bytes:
        with self._wire.lock:
            self._wire.received += len(data)
        return data

    def read(self, size: int = -1) -> bytes:
        return self._in(bytes(self._inner.read(size)))

    def readline(self, size: int = -1) -> bytes:
        return self._in(bytes(self._inner.readline(size)))

    def write(self, data: bytes) -> int:
        with self._wire.lock:
            self._wire.sent += len(data)
        return int(self._inner.write(data))


class _Handler(BaseHTTPRequestHandler):
    wire: Wire
    protocol_version = "HTTP/1.1"
    wbufsize = _PIECE

    def setup(self) -> None:
        super().setup()
        self.rfile = _Counted(self.rfile, self.wire)  # type: ignore[assignment]
        self.wfile = _Counted(self.wfile, self.wire)  # type: ignore[assignment]

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        env = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.wire.root), "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": "bench",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
        }  # fmt: skip
        with subprocess.Popen(
            ["git", "http-backend"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as backend:
            assert backend.stdin is not None and backend.stdout is not None
            feeder = threading.Thread(target=self._feed, args=(backend.stdin,))
            feeder.start()
            self._answer(backend.stdout)
            feeder.join()

    do_POST = do_GET

    def _feed(self, sink: IO[bytes]) -> None:
        with sink:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    self._copy(sink, size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                self._copy(sink, int(self.headers.get("Content-Length", 0)))

    def _copy(self, sink: IO[bytes], size: int) -> None:
        while size and (data := self.rfile.read(min(size, _PIECE))):
            sink.write(data)
            size -= len(data)

    def _answer(self, source: IO[bytes]) -> None:
        status, lines = 200, []
        while (line := source.readline().strip()) != b"":
            name, _, value = line.decode("latin-1").partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            else:
                lines.append((name, value))
        self.send_response(status)
        for name, value in (*lines, ("Transfer-Encoding", "chunked")):
            self.send_header(name, value)
        self.end_headers()
        while data := source.read1(_PIECE):  # type: ignore[attr-defined]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()


@contextmanager
def serving(root: Path) -> Iterator[Wire]:
    """Serve the repositories under a folder; those made by `bare` take pushes."""
    wire = Wire(root)
    handler = type("Handler", (_Handler,), {"wire": wire})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        wire.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield wire
        finally:
            server.shutdown()
            thread.join()


def bare(path: Path) -> Path:
    """A new, empty repository that takes pushes."""
    shutil.rmtree(path, ignore_errors=True)
    for command in (("init", "-q", "--bare", str(path)), ("-C", str(path), "config", "http.receivepack", "true")):
        subprocess.run(["git", *command], check=True)
    subprocess.run(["git", "-C", str(path), "config", "uploadpack.allowFilter", "true"], check=True)
    return path
