"""gunicorn around the web application, with the engine in its one worker process."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger

from bot import composition, composition_web, composition_workers
from bot.settings import Settings
from bot.web.app import create_app
from bot.web.hooks import Intake
from bot.web.metrics import Metrics
from bot.web.receiving import ReceivingWorker
from bot.web.wiring import site_of

Address = tuple[str, int]
THREADS = 8
"""As many pages are answered at a time; deliveries need none."""

SWITCH_SECONDS = 0.001
"""For which a thread may compute while others wait: at Python's 5 ms each answer would wait that long for workflows."""


class _Logger(Logger):  # type: ignore[misc]
    """gunicorn's own log, through ours: in the same form, and redacted."""

    def setup(self, cfg: Any) -> None:
        """Leave the handlers to the root."""
        super().setup(cfg)
        for log in (self.error_log, self.access_log):
            log.handlers.clear()
            log.propagate = True


class Server(BaseApplication):  # type: ignore[misc]
    """One process that takes deliveries and works on runs: the default for one machine."""

    def __init__(self, settings: Settings, *, level: str, work: bool = True, metrics: Address | None = None) -> None:
        """A server.

        Args:
            settings: The operator's.
            level: Of gunicorn's log.
            work: Whether runs are worked on here too; if not, workers of their own do.
            metrics: Where the metrics are served too; None: at `/metrics` for this machine only.
        """
        self._settings = settings
        self._work = work
        self._metrics = metrics
        self._level = level
        self._application: Flask | None = None
        self._slot: Any = None
        self.intake: Intake | None = None
        """Where deliveries go, once the worker process has loaded the application."""
        self.wake: Callable[[], None] = lambda: None
        """Wakes the worker's loop; the worker sets it."""
        super().__init__()

    def load_config(self) -> None:
        """Give gunicorn its options."""
        for name, value in {
            "bind": self._settings.bind,
            "workers": 1,
            "worker_class": ReceivingWorker,
            "threads": THREADS,
            "timeout": 120,
            "graceful_timeout": 10,
            "loglevel": self._level,
            "post_worker_init": self._launch,
            "worker_exit": _leave,
            "control_socket_disable": True,
            "logger_class": _Logger,
            # What a proxy says of who asks is read in one place, and only where there is one.
            "forwarded_allow_ips": "",
        }.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Flask:
        """The web application; its parts come to life when the worker launches."""
        if self._work:
            # First of all: two processes that make the same tables at once get in each other's way.
            self._slot = composition_workers.executor_slot(self._settings)
            slot = self._slot.__enter__()
            databases = composition.open_databases(self._settings)
            services = composition_workers.start_worker(self._settings, databases, slot)
        else:
            databases = composition.open_databases(self._settings)
            composition.migrate_engine(databases)
            services = composition.services_of(self._settings, databases)
        metrics = Metrics(services.app.rates, composition_web.standing_of(self._settings, databases))
        if self._metrics is not None:
            metrics.serve(*self._metrics)
        self.intake = composition_web.intake_of(self._settings, services, databases, metrics, lambda: self.wake())
        # What is loaded by now stays: the collector need not look at it again and again.
        gc.freeze()
        sys.setswitchinterval(SWITCH_SECONDS)
        return create_app(
            self.intake,
            ready=composition.readiness_of(databases),
            metrics=metrics.exposition,
            site=site_of(self._settings, services),
            trusted_proxies=self._settings.trusted_proxies,
        )

    def _launch(self, worker: Any) -> None:
        worker.log.info("Assay takes deliveries at http://%s/webhooks/github", self._settings.bind)


def _leave(_arbiter: Any, worker: Any) -> None:
    # Crash-only: waiting workflows would keep the process from ending, and whatever is under way resumes at the start.
    # A worker that could not start must say so, or the arbiter starts another one for ever.
    os._exit(0 if worker.booted else Arbiter.WORKER_BOOT_ERROR)
