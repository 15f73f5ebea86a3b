"""gunicorn around the web application, with the engine in its one worker process."""

from __future__ import annotations

import os
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter

from bot import composition
from bot.settings import Settings
from bot.web.app import create_app


class Server(BaseApplication):  # type: ignore[misc]
    """One process that takes deliveries and works on runs: the default for one machine."""

    def __init__(self, settings: Settings, *, level: str) -> None:
        self._settings = settings
        self._level = level
        self._application: Flask | None = None
        self._slot: Any = None
        super().__init__()

    def load_config(self) -> None:
        """Give gunicorn its options."""
        for name, value in {
            "bind": self._settings.bind,
            "workers": 1,
            "worker_class": "gthread",
            "threads": 8,
            "timeout": 120,
            "graceful_timeout": 10,
            "loglevel": self._level,
            "post_worker_init": self._launch,
            "worker_exit": _leave,
            "control_socket_disable": True,
        }.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Flask:
        """The web application; its parts come to life when the worker launches."""
        # First of all: two processes that make the same tables at once get in each other's way.
        self._slot = composition.executor_slot(self._settings)
        self._slot.__enter__()
        databases = composition.open_databases(self._settings)
        services = composition.start_worker(self._settings, databases)
        return create_app(
            composition.intake_of(self._settings, services, databases),
            ready=composition.readiness_of(databases),
            metrics=lambda: composition.metrics_of(services),
        )

    def _launch(self, worker: Any) -> None:
        worker.log.info("Assay takes deliveries at http://%s/webhooks/github", self._settings.bind)


def _leave(_arbiter: Any, worker: Any) -> None:
    # Crash-only: waiting workflows would keep the process from ending, and whatever is under way resumes at the start.
    # A worker that could not start must say so, or the arbiter starts another one for ever.
    os._exit(0 if worker.booted else Arbiter.WORKER_BOOT_ERROR)
