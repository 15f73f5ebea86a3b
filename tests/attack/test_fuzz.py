"""No reader of hostile input raises anything but what it promises, and none takes more time than its input is worth."""

from __future__ import annotations

import importlib.util
import resource
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.attack.targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = 120
MOST_SECONDS = 3.0
"""Of the processor, for any input of some kilobytes."""
MOST_MEMORY = 400 * 1024 * 1024
_QUIET = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@cache
def _seeds(name: str) -> tuple[bytes, ...]:
    return TARGETS[name].begin()


@st.composite
def spoiled(draw: st.DrawFn, name: str) -> bytes:
    """An input to begin with, cut, doubled and with things put in; sometimes just anything."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=300))
    data = bytearray(draw(st.sampled_from(_seeds(name))))
    words = st.sampled_from(TARGETS[name].words or (b"",))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        upto = min(len(data), at + draw(st.integers(0, 60)))
        match draw(st.sampled_from(("put", "cut", "change", "repeat", "word"))):
            case "put":
                data[at:at] = draw(st.binary(max_size=8))
            case "cut":
                del data[at:upto]
            case "change":
                data[at:upto] = draw(st.binary(max_size=upto - at))
            case "repeat":
                data[at:at] = bytes(data[at:upto]) * draw(st.sampled_from((1, 3, 200)))
            case _:
                data[at:at] = draw(words)
    return bytes(data[:60_000])


@pytest.mark.parametrize("name", TARGETS)
def test_a_spoiled_input_is_read_or_refused_as_promised(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    slowest = [0.0]

    @_QUIET
    @given(spoiled(name))
    def check(data: bytes) -> None:
        begun = time.process_time()
        TARGETS[name].run(data)
        slowest[0] = max(slowest[0], time.process_time() - begun)

    check()
    assert slowest[0] < MOST_SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < MOST_MEMORY


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed: no guided fuzzing")
def test_guided_fuzzing_finds_nothing_in_a_thousand_inputs(tmp_path: Path) -> None:
    argv = [
        sys.executable,
        "-m",
        "tests.attack.fuzz",
        "all",
        "--runs",
        "1000",
        "--seconds",
        "40",
        "--keep",
        str(tmp_path),
    ]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    told = done.stdout[-2_000:] + done.stderr[-4_000:]
    assert done.returncode == 0, told
    assert not list(tmp_path.iterdir()), told
