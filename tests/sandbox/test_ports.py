"""A port that an outgoing connection takes while the App is down keeps it from starting again."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from bot.sandbox.ports import free_port

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


@pytest.mark.skipif(not RANGE.exists(), reason="only Linux says which ports it gives to outgoing connections")
def test_no_port_is_given_that_the_system_gives_to_outgoing_connections() -> None:
    low, high = map(int, RANGE.read_text().split())
    given = {free_port() for _ in range(200)}
    assert len(given) > 150
    assert not [port for port in given if low <= port <= high]


def test_the_wanted_port_is_given_where_nobody_listens_and_another_one_where_somebody_does() -> None:
    wanted = free_port()
    assert free_port(wanted) == wanted
    with socket.create_server(("127.0.0.1", wanted)):
        assert free_port(wanted) != wanted
