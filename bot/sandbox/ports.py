"""Ports for processes that are started, ended and started again."""

from __future__ import annotations

import secrets
import socket

_QUIET = range(20_000, 32_768)
"""Ports that no system gives to outgoing connections: what is free here stays so until the one who asked listens."""


def free_port(wanted: int = 0) -> int:
    """The wanted port if nobody listens there, else any free one."""
    tries = (secrets.choice(_QUIET) for _ in range(100))
    for port in filter(None, (wanted, *tries)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port on 127.0.0.1")
