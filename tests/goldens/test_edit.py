"""Changing a suite file leaves every other byte alone, whatever style its author has; or nothing is changed at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldens.edit import EditError, SuiteText, replace_file
from goldens.keeping import Who, audit, confirm, dispute, reject, retire
from goldens.load import load_suite
from goldens.located import SuiteError
from goldens.model import AuditVerdict
from scoring.model import GoldenStatus
from tests.goldens.written import YAML, changed, write_suite

WHO = Who("ada", "2026-01-31")
STYLED = """\
# a comment on top
suite: tiny
version: 0.1.0   # counted by hand
title: "A suite: for tests"
licence: MIT
provenance: >-
  Written for
  the tests.

pulls:
- id: mean-price          # first
  language: python
  title: Show what things cost on average
  body: |
    Adds a figure.

    To the overview.
  source: files
  goldens:
  - id: divisor
    finding: The divisor is one short, so every result is too large and a single price divides by zero.
    evidence: |
      return total(prices) / (len(prices) - 1)

    # a remark between fields
    path: shop/prices.py
    lines:
    - 5
    - 6
    category: correctness
    severity: high   # we argued about this
# the end
"""
FLOW = """\
{suite: tiny, version: 0.1.0, title: T, licence: MIT, provenance: P, pulls: [
  {id: mean-price, language: python, title: Show, body: B, source: files, goldens: [
    {id: divisor, path: shop/prices.py, lines: [5, 6], category: correctness, severity: high, finding: F.}]}]}
"""


def doubted(data: str, golden: str = "divisor", reason: str = 'A "caller": checks it. # so') -> str:
    text = SuiteText(data.encode(), "suite.yaml")
    dispute(text, golden, reason, WHO)
    text.bump()
    return text.data().decode()


@pytest.mark.parametrize("data", [YAML, STYLED, FLOW], ids=["plain", "styled", "flow"])
def test_only_what_is_said_changes(data: str, tmp_path: Path) -> None:
    after = doubted(data)
    suite = load_suite(write_suite(tmp_path, after))
    (golden,) = suite.pulls[0].goldens
    assert golden.status is GoldenStatus.DISPUTED
    assert golden.reason == 'A "caller": checks it. # so (ada, 2026-01-31)'
    assert suite.ref.version == "0.1.1"
    said = 'reason: "A \\"caller\\": checks it. # so (ada, 2026-01-31)"'
    put_back = after.replace("version: 0.1.1", "version: 0.1.0")
    for added in (f"\n    status: disputed\n    {said}", f"\n        status: disputed\n        {said}"):
        put_back = put_back.replace(added, "")
    assert put_back.replace(f", status: disputed, {said}", "") == data


def test_line_ends_of_the_file_are_kept() -> None:
    after = doubted(STYLED.replace("\n", "\r\n"))
    assert after.replace("\r\n", "").count("\n") == 0
    assert after.replace("\r\n", "\n") == doubted(STYLED)


def test_a_file_without_a_last_newline_can_grow() -> None:
    short = YAML.rstrip("\n")
    text = SuiteText(short.encode(), "suite.yaml")
    entry = {"id": "n", "category": "api", "severity": "low", "status": "draft", "reason": "r", "finding": "Other: it."}
    text.add_golden(text.pull("mean-price"), entry)
    assert text.data().decode().startswith(short + "\n      - id: n\n")


def test_unicode_before_the_place_does_not_shift_it() -> None:
    data = YAML.replace("A suite for tests", "Prüfung 🧪 \u4f60\u597d")
    assert doubted(data).count("🧪") == 1


@pytest.mark.parametrize("reason", ["a\nb", "x\x1b[31m", "\u2028", "{{ }}", "*x", "- y", "null", "'", "\\", "🧪"])
def test_hostile_reasons_stay_one_text(reason: str, tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, doubted(YAML, reason=f"a {reason} b")))
    assert suite.pulls[0].goldens[0].reason.startswith("a ")
    assert "\x1b" not in suite.path.read_text("utf-8")


def test_a_change_that_would_touch_more_is_refused() -> None:
    # A block that keeps its trailing lines: a golden behind it would take one away.
    data = YAML.replace("        evidence: return", "        evidence: |+\n          return") + "\n\n"
    text = SuiteText(data.encode(), "suite.yaml")
    entry = {"id": "n", "category": "api", "severity": "low", "status": "draft", "reason": "r", "finding": "Other."}
    with pytest.raises(EditError, match="by hand"):
        text.add_golden(text.pull("mean-price"), entry)


def test_an_unknown_golden_is_told_with_the_nearest() -> None:
    with pytest.raises(EditError, match="did you mean 'divisor'"):
        doubted(YAML, golden="divsor")
    with pytest.raises(EditError, match="a reason is needed"):
        doubted(YAML, reason=" \n ")


@pytest.mark.parametrize(
    ("old", "new"), [("1.2.9", "1.2.10"), ("0.1.0+seed42", "0.1.1+seed42"), ("2", "3"), ("1.0.0-rc1", "1.0.0-rc2")]
)
def test_the_last_number_of_a_version_is_counted_up(old: str, new: str) -> None:
    text = SuiteText(changed("version: 0.1.0", f'version: "{old}"').encode(), "suite.yaml")
    assert text.bump() == new
    with pytest.raises(EditError, match="another"):
        SuiteText(YAML.encode(), "x").bump("0.1.0")
    with pytest.raises(EditError, match="no number"):
        SuiteText(changed("version: 0.1.0", "version: first").encode(), "x").bump()


def test_the_last_golden_cannot_be_retired_by_accident(tmp_path: Path) -> None:
    with pytest.raises(EditError, match="--clean"):
        retire(SuiteText(YAML.encode(), "x"), "divisor", "wrong", WHO)
    text = SuiteText(YAML.encode(), "x")
    retire(text, "divisor", "wrong", WHO, clean=True)
    suite = load_suite(write_suite(tmp_path, text.data().decode()))
    assert suite.pulls[0].clean and suite.pulls[0].retired[0].reason == "wrong (ada, 2026-01-31)"


DRAFT = changed(
    "        severity: high\n",
    "        severity: high\n        status: draft\n        reason: mined\n        unverified: [severity, finding]\n",
)


def test_a_confirmed_draft_says_who_and_nothing_of_its_past(tmp_path: Path) -> None:
    text = SuiteText(DRAFT.encode(), "x")
    confirm(text, "divisor", WHO)
    assert text.data().decode() == changed(
        "language: python\n", 'language: python\n    confirmed_by: ["ada, 2026-01-31 (divisor)"]\n'
    )
    with pytest.raises(EditError, match="is live, not draft"):
        confirm(SuiteText(YAML.encode(), "x"), "divisor", WHO)


def test_a_draft_whose_status_stands_first_can_be_confirmed(tmp_path: Path) -> None:
    odd = DRAFT.replace("      - id: divisor\n", "      - status: draft\n        id: divisor\n").replace(
        "        status: draft\n        reason", "        reason"
    )
    text = SuiteText(odd.encode(), "x")
    confirm(text, "divisor", WHO)
    (golden,) = load_suite(write_suite(tmp_path, text.data().decode())).pulls[0].goldens
    assert (golden.status, golden.reason, golden.unverified) == (GoldenStatus.LIVE, "", ())


def test_a_rejected_draft_stays_on_record(tmp_path: Path) -> None:
    text = SuiteText(DRAFT.replace("    language", "    clean: true\n    language").encode(), "x")
    reject(text, "divisor", "It is intended.", WHO)
    (golden,) = load_suite(write_suite(tmp_path, text.data().decode())).pulls[0].retired
    assert golden.reason == "rejected: It is intended. (ada, 2026-01-31); it was: mined"


def test_rejecting_all_that_is_known_leaves_the_pull_request_out_but_not_clean(tmp_path: Path) -> None:
    text = SuiteText(DRAFT.encode(), "x")
    reject(text, "divisor", "It is intended.", WHO)
    suite = load_suite(write_suite(tmp_path, text.data().decode()))
    assert suite.pulls == () and suite.unconfirmed[0].retired[0].id == "divisor"
    with pytest.raises(SuiteError, match="rejected: true, but"):
        load_suite(write_suite(tmp_path, DRAFT.replace("    language", "    rejected: true\n    language")))


def test_one_person_cannot_be_drafter_and_confirmer() -> None:
    text = SuiteText(YAML.encode(), "x")
    audit(text, "divisor", AuditVerdict.BUG, "ada")
    once = text.data()
    with pytest.raises(EditError, match="somebody else"):
        audit(SuiteText(once, "x"), "divisor", None, "ada", confirm=True)
    second = SuiteText(once, "x")
    audit(second, "divisor", AuditVerdict.RELATED, "bob", confirm=True)
    assert b"audit: {verdict: related, drafted_by: ada, confirmed_by: bob}" in second.data()
    with pytest.raises(EditError, match="confirmed it"):
        audit(SuiteText(second.data(), "x"), "divisor", AuditVerdict.BUG, "eve")
    with pytest.raises(EditError, match="nothing to confirm"):
        audit(SuiteText(YAML.encode(), "x"), "divisor", None, "bob", confirm=True)


def test_a_file_that_somebody_else_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_bytes(b"theirs")
    with pytest.raises(EditError, match="meanwhile"):
        replace_file(path, b"ours", b"new")
    path.chmod(0o640)
    replace_file(path, b"theirs", b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    assert [one.name for one in tmp_path.iterdir()] == ["suite.yaml"]


def test_a_file_that_is_read_only_is_left_alone(tmp_path: Path) -> None:
    path = write_suite(tmp_path, YAML)
    path = path if path.is_file() else path / "suite.yaml"
    path.chmod(0o444)
    old = path.read_bytes()
    with pytest.raises(EditError, match="read-only; nothing was written"):
        replace_file(path, old, old + b"# more\n")
    assert path.read_bytes() == old
    assert [one.name for one in path.parent.iterdir() if one.name.startswith(".")] == []
