"""The registry of the sandbox's reviewers reads, and its patterns fit what each of them posts."""

from __future__ import annotations

from importlib.resources import files

import pytest

from bot.conversation import Tone, tone
from bot.patterns import bounded
from bot.registry import Registry, load_registry
from bot.reviewers.finding import Finding
from bot.sandbox.actors import gatewatch, lintwarden, meterbot, quill_texts, quillreview
from scoring.model import Severity

NAME = "sandbox-reviewers.yaml"


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_registry((NAME, (files("manifests") / NAME).read_text(encoding="utf-8")))


FOUND = (
    Finding(
        "a/b.py",
        3,
        4,
        "B006",
        "mutable",
        "Do not use `<details>` here",
        "ruff",
        Severity.MEDIUM,
        note="It bites. Often.",
    ),
    Finding(
        "c.ts",
        1,
        1,
        "typescript-eval-call",
        "eval-call",
        "`eval` runs text",
        "ast-grep",
        Severity.HIGH,
        fix="a\n```\nb",
    ),
)
MILD = (Finding("a/b.py", 9, 9, "SIM105", "", "Use `contextlib.suppress`", "ruff", Severity.LOW),)

SAID = [
    ("lintwarden", lintwarden.verdict(0, ()), Tone.CLEAN),
    ("lintwarden", lintwarden.verdict(1, ()), Tone.DONE),
    ("lintwarden", lintwarden.verdict(12, ("x.py",)), Tone.DONE),
    ("lintwarden", lintwarden.verdict(0, ("x.py",)), Tone.UNABLE),
    ("lintwarden", lintwarden.SKIPPED, Tone.SKIPPED),
    ("lintwarden", lintwarden.failed("Ruff did not end within 20 s"), Tone.ERROR),
    ("lintwarden", lintwarden.said(FOUND[0]), Tone.PROSE),
    ("gatewatch", gatewatch.verdict(0, ()), Tone.CLEAN),
    ("gatewatch", gatewatch.verdict(1, ()), Tone.DONE),
    ("gatewatch", gatewatch.verdict(2, ()), Tone.DONE),
    ("gatewatch", gatewatch.verdict(0, ("x.py",)), Tone.UNABLE),
    ("gatewatch", gatewatch.SKIPPED, Tone.SKIPPED),
    ("gatewatch", gatewatch.FAILED, Tone.ERROR),
    ("gatewatch", gatewatch.said(FOUND[0]), Tone.PROSE),
    ("quillreview", quill_texts.PLACEHOLDER, Tone.PLACEHOLDER),
    ("quillreview", quill_texts.SKIPPED, Tone.SKIPPED),
    ("quillreview", quill_texts.failed("ast-grep did not end within 20 s"), Tone.ERROR),
    ("quillreview", quill_texts.summary((), (), ()), Tone.CLEAN),
    ("quillreview", quill_texts.summary((), (), ("x.py",)), Tone.UNABLE),
    ("quillreview", quill_texts.summary(FOUND, MILD, ()), Tone.PROSE),
    ("quillreview", quill_texts.summary((), MILD, ()), Tone.PROSE),
    ("quillreview", quill_texts.review(FOUND), Tone.DONE),
    ("quillreview", quill_texts.review(()), Tone.DONE),
    ("quillreview", quill_texts.inline(FOUND[1]), Tone.PROSE),
    ("meterbot", meterbot.NOTICE, Tone.RATE_LIMITED),
]


@pytest.mark.parametrize(("who", "text", "kind"), SAID)
def test_every_text_is_taken_for_what_it_is(registry: Registry, who: str, text: str, kind: Tone) -> None:
    reviewer = registry.get(who)
    assert reviewer is not None
    assert tone(text, reviewer) is kind


@pytest.mark.parametrize(
    ("who", "text", "number"),
    [
        ("lintwarden", lintwarden.verdict(1, ()), "1"),
        ("gatewatch", gatewatch.verdict(12, ()), "12"),
        ("quillreview", quill_texts.review(FOUND), "2"),
        ("quillreview", quill_texts.review(()), "0"),
    ],
)
def test_the_announced_number_is_read(registry: Registry, who: str, text: str, number: str) -> None:
    reviewer = registry.get(who)
    assert reviewer is not None
    assert reviewer.signals.announced is not None
    found = bounded(reviewer.signals.announced).search(text)
    assert found is not None
    assert found[1] == number


def test_meterbots_window_is_longer_than_any_wait(registry: Registry) -> None:
    reviewer = registry.get("meterbot")
    assert reviewer is not None
    assert reviewer.signals.window is not None
    found = bounded(reviewer.signals.window).search(meterbot.NOTICE)
    assert found is not None
    assert found.groupdict() == {"hours": None, "minutes": "45", "seconds": None}
    assert reviewer.wait.deadline < 45 * 60


def test_the_waits_are_those_of_the_demo(registry: Registry) -> None:
    waits = {reviewer.id: reviewer.wait for reviewer in registry.reviewers}
    assert {who: wait.deadline for who, wait in waits.items()} == {
        "lintwarden": 45,
        "gatewatch": 45,
        "quillreview": 45,
        "meterbot": 45,
        "mutebot": 15,
    }
    assert {(w.quiet, w.floor, w.grace, w.ask_gap, w.max_asks) for w in waits.values()} == {(10, 1, 1, 60, 2)}


def test_the_commands_and_checks_are_those_the_actors_know(registry: Registry) -> None:
    gate, meter, quill = (registry.get(who) for who in ("gatewatch", "meterbot", "quillreview"))
    assert gate and meter and quill and meter.rerun
    assert gate.trigger.text == gatewatch.COMMAND
    assert meter.rerun.text == meterbot.COMMAND
    assert gate.check_names == (gatewatch.CHECK,)
    assert quill.check_names == (quillreview.CHECK,)


def test_quoted_code_opens_no_markup_of_its_own() -> None:
    body = quill_texts.inline(FOUND[0])
    assert body.count("<details>") - body.count("`<details>`") == body.count("</details>")
    hostile = Finding("a.py", 1, 1, "F1", "", "x <!-- y </details> \n\n# z", "ruff", Severity.HIGH)
    text = quill_texts.summary((hostile,), (), ())
    assert "<!-- y" not in text
    assert "</details>" not in text
    assert "\n# z" not in text


def test_a_fix_cannot_end_its_own_fence() -> None:
    assert "````suggestion\na\n```\nb\n````" in quill_texts.inline(FOUND[1])
