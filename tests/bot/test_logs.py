"""No secret reaches a log."""

from __future__ import annotations

import io
import logging

import pytest

from bot.logs import _Formatter, redact

SECRETS = (
    "ghs_" + "A1b2." * 100,
    "ghp_" + "x" * 36,
    "github_pat_" + "y" * 40,
    "eyJhbGciOiJSUzI1NiJ9" + ".eyJpc3MiOiIxMjM0NTYifQ" + ".c2lnbmF0dXJlLW9mLWl0",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE" + "A" * 200 + "\n-----END RSA PRIVATE KEY-----",
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("around", ["{}", "Authorization: Bearer {}", "https://x-access-token:{}@github.test/o/r.git"])
def test_a_secret_is_blotted_out_wherever_it_stands(secret: str, around: str) -> None:
    shown = redact(around.replace("{}", secret))
    assert secret not in shown
    assert "[redacted]" in shown


def test_a_traceback_is_redacted_too() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Formatter("%(message)s"))
    logger = logging.getLogger("test of redaction")
    logger.addHandler(handler)
    logger.propagate = False
    try:
        raise ValueError(f"refused {SECRETS[1]}")
    except ValueError:
        logger.exception("failed")
    assert SECRETS[1] not in stream.getvalue()
    assert "ValueError" in stream.getvalue()


def test_ordinary_text_is_left_alone() -> None:
    assert redact("run 1234-1 of northwind/assay is done") == "run 1234-1 of northwind/assay is done"
