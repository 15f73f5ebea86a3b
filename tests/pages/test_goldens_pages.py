"""Goldens are browsed, doubted and confirmed on the pages; what ships is never changed by it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from bot import disputes
from bot.cli import main
from bot.disputes import Doubt
from goldens.edit import EditError
from goldens.keeping import drafts
from goldens.load import load_suite, suite_names
from scoring.model import GoldenStatus
from tests.pages.served import MEMBER, WRITER, Desk, desk
from tests.pages.world import HOSTILE, read

SMOKE = load_suite("smoke")
PULL = next(pull for pull in SMOKE.pulls if pull.goldens)
GOLDEN = PULL.goldens[0]
DRAFTS = """\
suite: mine
version: 1.0.0
title: Drafts of a test
licence: MIT
provenance: Written for a test.
pulls:
  - id: first
    title: Add a loop
    body: It loops.
    language: python
    source: files
    goldens:
      - id: off-by-one
        finding: The loop misses the last line.
        category: correctness
        severity: high
        path: loop.py
        lines: [1, 2]
        status: draft
        reason: mined <b>here</b>
      - id: no-close
        finding: The file is never closed.
        category: resources
        severity: low
        path: loop.py
        lines: [2, 2]
        status: draft
        reason: mined
"""


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with desk(tmp_path_factory.mktemp("goldens")) as made:
        yield made


def get(person: requests.Session, acme: Desk, path: str) -> requests.Response:
    return person.get(f"{acme.url}/{path}", timeout=60)


def send(person: requests.Session, acme: Desk, path: str, **data: str) -> requests.Response:
    page = read(get(person, acme, "goldens").text)
    csrf = next(one["value"] for one in page.all("input") if one["name"] == "csrf")
    return person.post(f"{acme.url}/{path}", data={"csrf": csrf, **data}, headers={"Origin": acme.url}, timeout=60)


def test_every_suite_that_ships_is_listed_with_its_hash(acme: Desk) -> None:
    text = read(get(acme.signed_in(MEMBER), acme, "goldens").text).text
    for name in suite_names():
        suite = load_suite(name)
        assert suite.ref.hash[:12] in text and suite.title in text


def test_every_golden_of_a_suite_can_be_reached_and_read(acme: Desk) -> None:
    mel = acme.signed_in(MEMBER)
    listed = read(get(mel, acme, "goldens/smoke").text)
    links = [one for one in listed.addresses if one.startswith("/goldens/smoke/")]
    assert len(links) == len(SMOKE.pulls)
    for link, pull in zip(links, SMOKE.pulls, strict=True):
        page = read(get(mel, acme, link[1:]).text)
        for golden in pull.goldens:
            assert " ".join(golden.finding.split()) in page.text and golden.status.value in page.text
        assert ("none: it is clean" in page.text) == pull.clean


def test_a_pull_request_whose_trees_do_not_ship_says_where_they_are(acme: Desk) -> None:
    pinned = load_suite("cpp16").pulls[0]
    text = read(get(acme.signed_in(MEMBER), acme, f"goldens/cpp16/{pinned.id}").text).text
    assert "do not ship with the suite" in text and pinned.goldens[0].finding[:40] in text


def test_filters_narrow_and_say_what_there_is(acme: Desk) -> None:
    mel = acme.signed_in(MEMBER)
    wanted = [pull for pull in SMOKE.pulls if pull.language == "go"]
    page = read(get(mel, acme, "goldens/smoke?language=go").text)
    assert len([one for one in page.addresses if one.startswith("/goldens/smoke/")]) == len(wanted)
    assert f"{len(wanted)} of {len(SMOKE.pulls)} pull requests" in page.text
    refused = get(mel, acme, "goldens/smoke?language=fortran")
    assert refused.status_code == 404 and "python" in read(refused.text).text
    for path in (
        "goldens/nothing",
        "goldens/smoke/nothing",
        "goldens/smoke?page=99",
        f"goldens/smoke/{PULL.id}?view=x",
    ):
        assert get(mel, acme, path).status_code == 404


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line: its exit code, and all that it says."""

    def called(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["assay", "goldens", "disputes", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out + said.err

    return called


def test_a_doubt_is_noted_shown_and_put_into_a_copy_only(acme: Desk, tmp_path: Path, run: Run) -> None:
    wyn, path = acme.signed_in(WRITER), f"goldens/smoke/{PULL.id}"
    answer = send(wyn, acme, f"{path}/dispute", golden=GOLDEN.id, reason=f"A caller checks it. {HOSTILE}")
    assert answer.status_code == 200 and "Your doubt is noted" in read(answer.text).text
    assert "A caller checks it." in read(get(wyn, acme, path).text).text
    assert load_suite("smoke").ref == SMOKE.ref
    noted = acme.services.bundles.parent / "disputes" / "smoke.jsonl"
    row = json.loads(noted.read_bytes().splitlines()[-1])
    assert (row["golden"], row["who"], row["hash"]) == (GOLDEN.id, WRITER, SMOKE.ref.hash)

    listed = run(str(noted))
    assert listed[0] == 0 and GOLDEN.id in listed[1] and "\N{RIGHT-TO-LEFT OVERRIDE}" not in listed[1]
    refused = run(str(noted), "--apply", "smoke")
    assert refused[0] == 2 and "never changed" in refused[1]
    copy = tmp_path / "my-smoke"
    shutil.copytree(SMOKE.path.parent, copy)
    done = run(str(noted), "--apply", str(copy / "suite.yaml"))
    assert done[0] == 0, done[1]
    after = next(one for pull in load_suite(copy / "suite.yaml").pulls for one in pull.goldens if one.id == GOLDEN.id)
    assert after.status is GoldenStatus.DISPUTED and WRITER in after.reason
    twice = run(str(noted), "--apply", str(copy / "suite.yaml"))
    assert twice[0] == 2, "it is in doubt already"


@pytest.mark.parametrize(
    ("golden", "reason", "status"), [(GOLDEN.id, "  ", 400), ("no-such-golden", "x", 404), ("", "x", 404)]
)
def test_a_doubt_needs_a_golden_and_a_reason(acme: Desk, golden: str, reason: str, status: int) -> None:
    path = f"goldens/smoke/{PULL.id}/dispute"
    assert send(acme.signed_in(WRITER), acme, path, golden=golden, reason=reason).status_code == status


def test_who_may_only_read_notes_no_doubt(acme: Desk) -> None:
    mel = acme.signed_in(MEMBER)
    assert "Doubt this golden" not in get(mel, acme, f"goldens/smoke/{PULL.id}").text
    assert send(mel, acme, f"goldens/smoke/{PULL.id}/dispute", golden=GOLDEN.id, reason="x").status_code == 403


def test_drafts_are_confirmed_and_rejected_by_name(acme: Desk) -> None:
    folder = acme.services.bundles.parent / "drafts"
    for side, code in (("base", "a = 1\n"), ("head", "for a in b[:-1]:\n    open(a)\n")):
        (folder / "first" / side).mkdir(parents=True)
        (folder / "first" / side / "loop.py").write_text(code)
    file = folder / "mine.yaml"
    file.write_text(DRAFTS)
    (folder / "broken.yaml").write_text("suite: [")
    wyn = acme.signed_in(WRITER)
    assert "2 drafts wait" in read(get(wyn, acme, "goldens").text).text
    page = get(wyn, acme, "goldens/drafts").text
    assert "mined <b>here</b>" in read(page).text and "<b>here</b>" not in page and "broken.yaml" in page
    mel = acme.signed_in(MEMBER)
    assert send(mel, acme, "goldens/drafts/mine.yaml", golden="off-by-one", verdict="confirm").status_code == 403
    assert (
        send(wyn, acme, "goldens/drafts/mine.yaml", golden="no-close", verdict="reject", reason="").status_code != 200
    )
    done = send(wyn, acme, "goldens/drafts/mine.yaml", golden="no-close", verdict="reject", reason="The caller does.")
    assert done.status_code == 200 and "Rejected." in read(done.text).text
    assert "Confirmed." in send(wyn, acme, "goldens/drafts/mine.yaml", golden="off-by-one", verdict="confirm").text
    made = load_suite(file)
    assert not list(drafts(made)) and [one.id for one in made.pulls[0].goldens] == ["off-by-one"]
    assert WRITER in made.pulls[0].confirmed_by[0]
    for name in ("..%2f..%2fmine.yaml", "nothing.yaml", "first"):
        assert send(wyn, acme, f"goldens/drafts/{name}", golden="x", verdict="confirm").status_code == 404


def test_a_file_of_doubts_names_the_line_that_is_wrong() -> None:
    good = disputes.line_of(Doubt("smoke", "1", "0", "p", "g", "why", "wyn", "2026-01-02T10:00:00+00:00"))
    assert len(disputes.read(good + b"\n" + good, "x.jsonl")) == 2
    with pytest.raises(EditError, match=r"x\.jsonl:2: golden"):
        disputes.read(good + good.replace(b'"golden"', b'"gold"'), "x.jsonl")
    with pytest.raises(EditError, match=r"x\.jsonl:1"):
        disputes.read(b"{", "x.jsonl")
