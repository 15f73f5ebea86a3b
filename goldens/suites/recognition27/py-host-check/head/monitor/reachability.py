"""Whether the hosts we depend on answer."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

HOSTS = ("db.internal", "cache.internal", "mail.internal")


@dataclass(frozen=True)
class Answer:
    """What came back from a host."""

    host: str
    reachable: bool
    output: str


def check_all(hosts: Sequence[str] = HOSTS) -> list[Answer]:
    """Ask every host once."""
    return [_ask(host) for host in hosts]


def check_form(form: dict[str, str]) -> Answer:
    """Ask the host in the form of the status page, with a count of packets."""
    host, count = form["host"].strip(), int(form.get("count", "1"))
    done = subprocess.getstatusoutput(f"ping -c {count} {host}")
    return Answer(host, done[0] == 0, done[1])


def _ask(host: str) -> Answer:
    done = subprocess.run(["ping", "-c", "1", host], capture_output=True, text=True, timeout=10)
    return Answer(host, done.returncode == 0, done.stdout)
