"""No secret reaches a log, no line of it is forged, and machines find out what it is about."""

from __future__ import annotations

import base64
import json
import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot import logs
from bot.logs import redact
from bot.secret_values import secrets_of
from bot.settings import load_settings
from bot.workflows import engine

SECRETS = (
    "ghs_" + "A1b2." * 103 + "x",
    "ghs_" + "eyJ" + "Z" * 513,
    *(f"gh{kind}_" + "x" * 36 for kind in "pousr"),
    "github_pat_" + "y" * 40,
    "sk-proj-" + "k" * 40,
    "eyJhbGciOiJSUzI1NiJ9" + ".eyJpc3MiOiIxMjM0NTYifQ" + ".c2lnbmF0dXJlLW9mLWl0",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE" + "A" * 200 + "\n-----END RSA PRIVATE KEY-----",
)
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----"
ODD = 'correct "horse"\\battery\tstaple'
"""A secret that nothing gives away, and that is written differently wherever it is quoted."""
AUTHOR = "plain-looking-author-token"


class Told:
    """What has been logged."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys, self._text = capsys, ""

    def text(self) -> str:
        self._text += self._capsys.readouterr().err
        return self._text


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Iterator[Told]:
    """The log; that of this process is as before afterwards."""
    root, engine = logging.getLogger(), logging.getLogger("dbos")
    before = (root.handlers[:], root.level, sys.excepthook, threading.excepthook, engine.handlers, engine.propagate)
    yield Told(capsys)
    logging.captureWarnings(False)
    logs.know(())
    root.handlers[:], level, sys.excepthook, threading.excepthook, engine.handlers, engine.propagate = before
    root.setLevel(level)


def objects(told: Told) -> list[dict[str, Any]]:
    return [json.loads(line) for line in told.text().split("\n") if line]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("around", ["{}", "Authorization: Bearer {}", "https://x-access-token:{}@github.test/o/r.git"])
def test_a_secret_is_blotted_out_wherever_it_stands(secret: str, around: str) -> None:
    shown = redact(around.replace("{}", secret))
    assert secret not in shown
    assert secret[40:80] not in shown or len(secret) < 60
    assert "[redacted]" in shown


@pytest.mark.parametrize("kind", ["text", "json"])
def test_a_traceback_is_redacted_too(told: Told, kind: str) -> None:
    logs.configure("INFO", kind)
    try:
        raise ValueError(f"refused {SECRETS[1]}")
    except ValueError:
        logging.getLogger("assay.workflows").exception("failed")
    assert SECRETS[1][:100] not in told.text()
    assert "ValueError: refused [redacted]" in told.text()


def test_ordinary_text_is_left_alone() -> None:
    assert redact("run 1234-1 of northwind/assay is done") == "run 1234-1 of northwind/assay is done"


def settings_with_secrets(folder: Path) -> frozenset[str]:
    (folder / "app.pem").write_text(PEM)
    settings = load_settings(
        {
            "ASSAY_AUTHOR_TOKEN": AUTHOR,
            "ASSAY_WEBHOOK_SECRET": f"first webhook secret\n{ODD}",
            "ASSAY_PRIVATE_KEY_FILE": str(folder / "app.pem"),
            "ASSAY_DATABASE_URL": "postgresql://assay:p%40ss-word@db.example.com/assay",
        }
    )
    return secrets_of(settings, {"OPENAI_API_KEY": "provider-key-of-ours", "PATH": "/usr/bin", "SORT_KEY": "date"})


@pytest.mark.parametrize("kind", ["text", "json"])
@pytest.mark.parametrize(
    "quoted",
    [
        AUTHOR,
        "first webhook secret",
        ODD,
        repr({"secret": ODD}),
        json.dumps({"secret": ODD}),
        "p@ss-word",
        "p%40ss-word",
        "hkiG9w0BAQEFAASC",
        PEM.replace("\n", "\\n"),
        "provider-key-of-ours",
        "basic " + base64.b64encode(f"x-access-token:{AUTHOR}".encode()).decode(),
    ],
)
def test_our_own_secrets_are_known_by_their_values(tmp_path: Path, told: Told, kind: str, quoted: str) -> None:
    logs.configure("INFO", kind, settings_with_secrets(tmp_path))
    logging.getLogger("assay").info("somebody says %s, and more", quoted)
    shown = objects(told)[0]["message"] if kind == "json" else told.text()
    assert "[redacted]" in shown and "and more" in shown
    for part in (quoted, "horse", "staple", AUTHOR, "hkiG9w0", "ss-word", "provider-key"):
        assert part not in told.text()


def test_what_is_no_secret_is_not_taken_for_one(tmp_path: Path) -> None:
    known = settings_with_secrets(tmp_path)
    assert not {"date", "/usr/bin", "assay", "-----BEGIN PRIVATE KEY-----"} & known
    logs.know(known)
    try:
        assert redact("the database is db.example.com/assay") == "the database is db.example.com/assay"
    finally:
        logs.know(())


FORGED = "x\n2026-01-01 00:00:00,000 INFO assay.web all is well"
ENDS = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029")


@pytest.mark.parametrize("end", ENDS)
def test_hostile_text_makes_no_line_of_its_own(told: Told, end: str) -> None:
    hostile = FORGED.replace("\n", end) + "\x1b[2J"
    for kind in ("text", "json"):
        logs.configure("INFO", kind)
        with logs.about(run=hostile):
            try:
                raise ValueError(hostile)
            except ValueError:
                logging.getLogger("assay.web").exception("a comment says: %s", hostile)
    assert "\x1b" not in told.text()
    lines = [line for line in told.text().splitlines() if "all is well" in line]
    assert lines and not any(line.startswith("2026-01-01") for line in lines)
    assert told.text().splitlines() == told.text().split("\n")[:-1]


def test_a_machine_finds_out_what_a_line_is_about(told: Told) -> None:
    logs.configure("INFO", "json")
    log = logging.getLogger("assay.workflows")
    with logs.about(workflow="open-1-1-f1", run="1-1", fork="f1"):
        log.info("made")
        with logs.about(reviewer="lintwarden"):
            log.info("settled")
    with logs.about(delivery=SECRETS[2]):
        log.info("odd")
    log.info("alone")
    made, settled, odd, alone = objects(told)
    assert made.items() >= {"message": "made", "run": "1-1", "fork": "f1", "workflow": "open-1-1-f1"}.items()
    assert settled["run"] == "1-1" and settled["reviewer"] == "lintwarden" and "reviewer" not in made
    assert odd["delivery"] == "[redacted]"
    assert set(alone) == {"at", "level", "logger", "message"}


def test_what_libraries_and_dying_threads_say_goes_the_same_way(told: Told) -> None:
    logging.getLogger("dbos").addHandler(logging.StreamHandler())
    logs.configure("INFO", "json")

    def die() -> None:
        raise ValueError(SECRETS[3])

    thread = threading.Thread(target=die)
    thread.start()
    thread.join()
    logging.getLogger("dbos").warning("Database connection failed: %s", SECRETS[3])
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(f"deprecated: {SECRETS[3]}", stacklevel=1)
    try:
        die()
    except ValueError as error:
        sys.excepthook(ValueError, error, error.__traceback__)
    assert [one["logger"] for one in objects(told)] == ["assay", "dbos", "py.warnings", "assay"]
    assert SECRETS[3] not in told.text()


def test_the_workflow_of_a_delivery_is_about_the_delivery(told: Told) -> None:
    logs.configure("INFO", "json")
    guid = "aaaaaaaa-0000-4000-8000-000000000001"
    for workflow in (f"gh-{guid}", "open-1-1-f1"):
        with logs.about(**engine.about_of(workflow)):
            logging.getLogger("assay.workflows").info("at work")
    first, second = objects(told)
    assert (first["workflow"], first["delivery"]) == (f"gh-{guid}", guid)
    assert second["workflow"] == "open-1-1-f1" and "delivery" not in second
