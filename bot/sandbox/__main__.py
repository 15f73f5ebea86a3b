"""The sandbox as a process of its own: `python -m bot.sandbox --data DIR --port P --ready-file F`."""

from __future__ import annotations

import argparse
import json
import os
import signal
import threading
from pathlib import Path

from bot.sandbox.server import Sandbox


def main() -> None:
    """Serve until told to end. The ready file holds the address and the control token, for its owner only."""
    parser = argparse.ArgumentParser(prog="python -m bot.sandbox", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder for the git repositories")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--ready-file", type=Path, help="written as JSON once the sandbox answers")
    options = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with Sandbox(options.data, port=options.port) as sandbox:
        if options.ready_file is not None:
            _announce(options.ready_file, {"url": sandbox.url, "control_token": sandbox.control_token})
        ended.wait()


def _announce(path: Path, told: dict[str, str]) -> None:
    scratch = path.with_name(path.name + ".part")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(told, file)
    scratch.replace(path)


if __name__ == "__main__":
    main()
