"""Logging to stderr, with everything that could be a secret blotted out."""

from __future__ import annotations

import logging
import re
import sys

_SECRETS = re.compile(
    r"gh[pousr]_[A-Za-z0-9._-]{16,}"
    r"|github_pat_\w{16,}"
    r"|x-access-token:[^@\s]{1,2000}@"
    r"|(?i:bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----"
)


def redact(text: str) -> str:
    """The text with tokens and keys replaced."""
    return _SECRETS.sub("[redacted]", text)


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def configure(level: str = "INFO") -> None:
    """Send all logging of this process to stderr, redacted."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for noisy in ("urllib3", "github", "alembic", "dbos"):
        logging.getLogger(noisy).setLevel("WARNING")
