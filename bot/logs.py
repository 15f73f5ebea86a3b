"""Logging to stderr, as lines for people or JSON for machines, with everything that could be a secret blotted out."""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType

BLOT = "[redacted]"
_SECRETS = re.compile(
    r"gh[pousr]_[A-Za-z0-9._-]{16,}"
    r"|github_pat_\w{16,}"
    r"|\bsk-[A-Za-z0-9_-]{16,}"
    r"|x-access-token:[^@\s]{1,2000}@"
    r"|(?<=://)[^/@\s:]{1,200}:[^/@\s]{1,2000}(?=@)"
    r"|(?i:bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----"
)
_ABOUT: ContextVar[Mapping[str, str]] = ContextVar("about", default={})  # noqa: B039 - never changed in place
_NOISY = ("urllib3", "github", "alembic", "dbos")
_known: re.Pattern[str] | None = None
"""The secrets of this process, by their values."""


def know(secrets: Collection[str]) -> None:
    """Blot these out wherever they stand, whatever they look like; instead of those known before."""
    global _known
    # The longest first: of two secrets one may be the beginning of the other.
    ordered = sorted(filter(None, secrets), key=len, reverse=True)
    _known = re.compile("|".join(re.escape(secret) for secret in ordered)) if ordered else None


def redact(text: str) -> str:
    """The text with tokens, passwords in addresses and keys replaced, and every secret that is known by its value."""
    return _SECRETS.sub(BLOT, text if _known is None else _known.sub(BLOT, text))


@contextmanager
def about(**ids: str) -> Iterator[None]:
    """Say of every line logged inside which run, fork, delivery or workflow it is about."""
    token = _ABOUT.set({**_ABOUT.get(), **ids})
    try:
        yield
    finally:
        _ABOUT.reset(token)


def _shown(text: str) -> str:
    """One line that steers no terminal: a text of somebody else's must not look like a line of ours."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


class _Lines(logging.Formatter):
    """For people: the ids stand at the end, a traceback below and set in."""

    def format(self, record: logging.LogRecord) -> str:
        ids = "".join(f" {name}={value}" for name, value in _ABOUT.get().items())
        head = f"{self.formatTime(record)} {record.levelname} {record.name} {record.getMessage()}{ids}"
        trace = redact(self.formatException(record.exc_info)) if record.exc_info else ""
        return "\n".join([_shown(redact(head)), *(f"    {_shown(line)}" for line in trace.split("\n") if line)])


class _Json(logging.Formatter):
    """For machines: one object a line."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
            **{name: redact(value) for name, value in _ABOUT.get().items()},
        }
        if record.exc_info:
            entry["trace"] = redact(self.formatException(record.exc_info))
        return json.dumps(entry)


def stderr_handler(kind: str) -> logging.Handler:
    """What writes log lines to stderr, redacted; as `text` or `json`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if kind == "json" else _Lines())
    return handler


def configure(level: str = "INFO", kind: str = "text", secrets: Collection[str] = ()) -> None:
    """Send all logging of this process to stderr, redacted; what nobody caught, and warnings, too.

    Args:
        level: The least that is logged.
        kind: `text` or `json`.
        secrets: What is blotted out besides all that looks like a secret.
    """
    know(secrets)
    logging.basicConfig(level=level, handlers=[stderr_handler(kind)], force=True)
    logging.captureWarnings(True)
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel("WARNING")
    # The engine gives its log a handler of its own unless it finds one, and that handler blots nothing out.
    engine = logging.getLogger("dbos")
    engine.handlers, engine.propagate = [logging.NullHandler()], True
    sys.excepthook = _fell_over
    threading.excepthook = lambda args: _fell_over(
        args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback, "a thread fell over"
    )


def _fell_over(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None, what: str = "fell over"
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    logging.getLogger("assay").critical(what, exc_info=(kind, error, trace))
