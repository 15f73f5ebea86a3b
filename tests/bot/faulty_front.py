"""`python -m tests.bot.faulty_front PORT`: the web server in front of an intake that breaks for some deliveries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication

from bot.model import Event
from bot.web.app import create_app
from bot.web.hooks import Intake
from bot.web.intake import Together
from bot.web.receiving import ReceivingWorker
from tests.bot import deliveries


class Faulty(BaseApplication):  # type: ignore[misc]
    """Deliveries named `a...` break as they are taken, those named `b...` as they are told of."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.wake: Callable[[], None] = lambda: None
        together = Together(lambda _deliveries: None, lambda: self.wake())

        def accept(guid: str, event: Event, told: Callable[[bool], None]) -> None:
            if guid.startswith("a"):
                raise ZeroDivisionError(guid)
            together.put(guid, None, self._breaks if guid.startswith("b") else told)

        self.intake = Intake([deliveries.SECRET], deliveries.APP_ID, lambda: deliveries.SLUG, accept)
        self._together = together
        super().__init__()

    @staticmethod
    def _breaks(_kept: bool) -> Any:
        raise ZeroDivisionError("told")

    def load_config(self) -> None:
        options = {"worker_class": ReceivingWorker, "threads": 2, "graceful_timeout": 1}
        for name, value in {"bind": f"127.0.0.1:{self._port}", **options}.items():
            self.cfg.set(name, value)
        self.cfg.set("control_socket_disable", True)

    def load(self) -> Flask:
        self._together.start()
        return create_app(self.intake, ready=lambda: None, metrics=bytes)


if __name__ == "__main__":
    Faulty(int(sys.argv[1])).run()
