"""Webhook deliveries: signed, sent from the background, recorded, and repeatable."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from bot.sandbox.faults import Fault, Faults
from bot.sandbox.state import App, Installation
from bot.sandbox.world import World

Json = dict[str, Any]
Callback = Callable[[str, Json], None]
TIMEOUT = 10.0
"""Seconds GitHub gives a receiver."""
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Attempt:
    """One attempt to deliver an event."""

    id: int
    guid: str
    app: App
    event: str
    action: str | None
    installation_id: int
    repository_id: int | None
    body: bytes
    redelivery: bool = False
    delivered_at: datetime | None = None
    duration: float = 0.0
    status: str = "pending"
    status_code: int = 0
    request_headers: dict[str, str] = field(default_factory=dict)
    response_headers: dict[str, str] = field(default_factory=dict)
    response_body: str = ""


def sign(secret: str, body: bytes) -> str:
    """The value of X-Hub-Signature-256."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class Deliveries:
    """Sends events to the Apps' URLs and to callbacks in this process, one at a time for each."""

    def __init__(self, world: World, faults: Faults) -> None:
        self._world = world
        self._faults = faults
        self._lock = threading.Condition()
        self._next_id = 12_000_000_000
        self._attempts: list[Attempt] = []
        self._pending = 0
        self._pools: dict[object, ThreadPoolExecutor] = {}
        self._callbacks: dict[str, list[Callback]] = {}
        self._timers: set[threading.Timer] = set()
        self._held: dict[str, list[Attempt]] = {}
        self._stopped = False
        self.failures: list[BaseException] = []
        """What callbacks raised."""
        world.listeners.append(self._listen)

    # --- what the sandbox offers ------------------------------------------------------------------------------

    def subscribe(self, slug: str, callback: Callback) -> None:
        """Call back with `(event, payload)` for everything that App hears, in order, on a thread of its own."""
        with self._lock:
            self._callbacks.setdefault(slug, []).append(callback)

    def attempts(self, app: App) -> list[Attempt]:
        """The finished attempts for an App, newest first."""
        with self._lock:
            return [one for one in reversed(self._attempts) if one.app is app and one.status != "pending"]

    def redeliver(self, attempt: Attempt) -> None:
        """Try again under the same GUID."""
        again = self._attempt(attempt.app, attempt.guid, attempt.event, attempt.body, like=attempt)
        self._enqueue(again)

    def wait_idle(self, timeout: float = 30.0) -> bool:
        """Wait until nothing is on its way, and callbacks are done. False: the time was not enough."""
        with self._lock:
            return self._lock.wait_for(lambda: self._pending == 0, timeout)

    def stop(self) -> None:
        """Drop what is not on its way, and wait for what is."""
        with self._lock:
            self._stopped = True
            timers, pools = list(self._timers), list(self._pools.values())
        for timer in timers:
            timer.cancel()
            timer.join()
        for pool in pools:
            pool.shutdown(wait=True, cancel_futures=True)

    # --- the way of an event ----------------------------------------------------------------------------------

    def _listen(self, app: App, installation: Installation, event: str, payload: Json) -> None:
        body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        for callback in self._callbacks.get(app.slug, []):
            self._submit(callback, partial(callback, event, json.loads(body)))
        if app.webhook_url is None:
            return
        name = f"{event}.{payload['action']}" if "action" in payload else event
        fault = self._faults.on_delivery(app.slug, name)
        if fault is not None and fault.kind == "lose_delivery":
            return
        attempt = self._attempt(app, str(uuid.uuid4()), event, body, payload=payload, installation=installation)
        self._route(attempt, fault)

    def _attempt(
        self,
        app: App,
        guid: str,
        event: str,
        body: bytes,
        *,
        payload: Mapping[str, Any] | None = None,
        installation: Installation | None = None,
        like: Attempt | None = None,
    ) -> Attempt:
        with self._lock:
            self._next_id += 1
            number = self._next_id
        if like is not None:
            made = Attempt(
                number, guid, app, event, like.action, like.installation_id, like.repository_id, body, redelivery=True
            )
        else:
            assert payload is not None and installation is not None
            repo = payload["repository"]["id"] if "repository" in payload else None
            made = Attempt(number, guid, app, event, payload.get("action"), installation.id, repo, body)
        with self._lock:
            self._attempts.append(made)
        return made

    def _route(self, attempt: Attempt, fault: Fault | None) -> None:
        kind = fault.kind if fault else None
        if kind == "reorder_delivery":
            with self._lock:
                self._held.setdefault(attempt.app.slug, []).append(attempt)
            return
        if kind == "drop_delivery":
            self._record(attempt, 502, "failed to connect to host", 0.0)
        elif fault is not None and kind == "delay_delivery":
            self._later(fault.seconds, attempt)
        else:
            self._enqueue(attempt)
        if kind == "duplicate_delivery":
            self._enqueue(attempt)
        with self._lock:
            held = self._held.pop(attempt.app.slug, [])
        for one in held:
            self._enqueue(one)

    def _later(self, seconds: float, attempt: Attempt) -> None:
        def fire() -> None:
            with self._lock:
                self._timers.discard(timer)
            self._enqueue(attempt)
            self._done()

        with self._lock:
            timer = threading.Timer(seconds, fire)
            self._timers.add(timer)
            self._pending += 1
            timer.start()

    def _enqueue(self, attempt: Attempt) -> None:
        self._submit(attempt.app.slug, lambda: self._send(attempt))

    def _submit(self, key: object, work: Callable[[], None]) -> None:
        with self._lock:
            if self._stopped:
                return
            self._pending += 1
            pool = self._pools.get(key)
            if pool is None:
                pool = self._pools[key] = ThreadPoolExecutor(1, thread_name_prefix="sandbox-delivery")
            future = pool.submit(work)
        future.add_done_callback(self._finished)

    def _finished(self, future: Future[None]) -> None:
        if not future.cancelled() and (problem := future.exception()) is not None:
            _log.error("an event could not be handed over", exc_info=problem)
            self.failures.append(problem)
        self._done()

    def _done(self) -> None:
        with self._lock:
            self._pending -= 1
            self._lock.notify_all()

    # --- one HTTP request -------------------------------------------------------------------------------------

    def _headers(self, attempt: Attempt) -> dict[str, str]:
        app = attempt.app
        headers = {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/5a4d0b1",
            "X-GitHub-Delivery": attempt.guid,
            "X-GitHub-Event": attempt.event,
            "X-GitHub-Hook-ID": str(app.hook_id),
            "X-GitHub-Hook-Installation-Target-ID": str(app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
        }
        if app.webhook_secret is not None:
            headers["X-Hub-Signature-256"] = sign(app.webhook_secret, attempt.body)
        return headers

    def _send(self, attempt: Attempt) -> None:
        url = urlsplit(attempt.app.webhook_url or "")
        started = time.monotonic()
        attempt.request_headers = self._headers(attempt)
        if url.scheme != "http" or url.hostname not in _LOOPBACK:
            self._record(attempt, 502, "failed to connect to host", 0.0)
            return
        connection = http.client.HTTPConnection(url.hostname, url.port or 80, timeout=TIMEOUT)
        try:
            connection.request("POST", url.path or "/", attempt.body, attempt.request_headers)
            answer = connection.getresponse()
            attempt.response_body = answer.read(65536).decode("utf-8", "replace")
            attempt.response_headers = dict(answer.getheaders())
            code, told = answer.status, answer.reason or "OK"
        except TimeoutError:
            code, told = 504, "Service Timeout"
        except (OSError, http.client.HTTPException):
            code, told = 502, "failed to connect to host"
        finally:
            connection.close()
        self._record(attempt, code, "OK" if code < 300 else told, time.monotonic() - started)

    def _record(self, attempt: Attempt, code: int, status: str, duration: float) -> None:
        with self._lock:
            attempt.delivered_at, attempt.duration = self._world.now(), round(duration, 2)
            attempt.status_code, attempt.status = code, status
