"""One pull request: everything that was said stands at its line, with what came of it, and nothing of it acts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from markupsafe import Markup

from bot import bundle as live
from bot.judging.trials import questions
from bot.model import ForkId, Publish, RunId
from bot.pages import diffing, views_pull
from bot.pages.colouring import coloured
from bot.pages.diffing import Mark
from bot.pages.links import ServedLinks
from bot.pages.markdown import visible
from bot.pages.paper import Visitor
from bot.pages.shelf import Shelf, diff_in
from bot.pages.shipped import shipped
from bot.pages.views import NotThere
from bot.pages.views_pull import Look
from bot.ports import ForkCommits, GitFailure
from bot.workflows import judge
from goldens.load import load_suite
from scoring.bundle import (
    INDEX,
    Bundle,
    BundlePull,
    BundleReviewer,
    BundleTrial,
    Card,
    JudgementSet,
    TrialJudgements,
    parts,
)
from scoring.model import (
    Category,
    Comment,
    Golden,
    GoldenId,
    Judgement,
    Place,
    PullId,
    ReviewerId,
    Severity,
    Shape,
    Side,
    SuiteRef,
    TrialStatus,
    Verdict,
)
from tests.bot.analysis.evidence import live_evidence
from tests.pages.world import HOSTILE, Page, read, write

DIFF = """\
diff --git a/src/pay.py b/src/pay.py
--- a/src/pay.py
+++ b/src/pay.py
@@ -1,4 +1,5 @@
 def pay(amount):
-    return amount
+    rate = 3
+    return amount / rate  # <b>not bold</b>
 # end
 x = 1
diff --git a/src/new.go b/src/new.go
new file mode 100644
--- /dev/null
+++ b/src/new.go
@@ -0,0 +1,2 @@
+package pay
+var \N{RIGHT-TO-LEFT OVERRIDE}x = "<script>"
"""
PULL = PullId("pay")
DIVIDES = Golden(GoldenId("divides"), "It divides", Category.CORRECTNESS, Severity.HIGH, Place("src/pay.py", (2, 3)))
NOWHERE = Golden(GoldenId("nowhere"), "It lacks a test", Category.MAINTAINABILITY, Severity.LOW)


def comment(number: int, body: str, line: int | None, path: str = "src/pay.py", side: Side = Side.RIGHT) -> Comment:
    lines = None if line is None else (line, line)
    link = f"https://forge.example/pull/1#r{number}"
    return Comment(
        f"review_comment/{number}", Shape.INLINE, "amber[bot]", body, link, Place(path, lines, side), "c" * 40
    )


def evidence(*comments: Comment, diff: str | None = DIFF, judges: tuple[str, ...] = ("model-x", "model-y")) -> Bundle:
    """Two reviewers: one says something, the other timed out. Each judge calls the first claim a match."""
    amber = BundleTrial(PULL, ReviewerId("amber"), TrialStatus.REVIEWED_FINDINGS, True, "done", comments, seconds=5.0)
    basil = BundleTrial(PULL, ReviewerId("basil"), TrialStatus.TIMEOUT, True, "no answer in 20 minutes")
    bundle = Bundle(
        SuiteRef("made", "1", "0" * 64),
        Card("made", "a test", "a claim"),
        (BundlePull(PULL, (DIVIDES, NOWHERE), "python", "Pay by rate", changed_lines=5),),
        (amber, basil),
        reviewers=(BundleReviewer(ReviewerId("amber"), "Amber", "Amberworks"),),
        extra={
            "evidence/foreign_before_first.json": json.dumps({"fork-1": {"amber": 3}}).encode(),
            "evidence/forks.json": json.dumps([{"id": "fork-1", "pull_id": PULL}]).encode(),
        },
    )
    if diff is not None:
        bundle = replace(bundle, extra={**bundle.extra, f"evidence/diffs/{PULL}.diff": diff.encode()})
    asked = questions(bundle)[0]
    sets = []
    for name in judges:
        said = tuple(
            Judgement(
                one.id,
                golden.id,
                Verdict.MATCH if golden is DIVIDES and not at else Verdict.NO_MATCH,
                name,
                f"{name} {HOSTILE}",
            )
            for at, one in enumerate(asked.candidates)
            for golden in (DIVIDES, NOWHERE)
        )
        sets.append(JudgementSet(name, (TrialJudgements(PULL, ReviewerId("amber"), said),)))
    return replace(bundle, judgements=tuple(sets))


def shown(
    bundle: Bundle, tmp_path: Path, look: Look = views_pull.PLAIN, visitor: Visitor | None = None
) -> tuple[str, Page]:
    library = Shelf([write(bundle, tmp_path / "run")], Publish.NAMED)
    text = views_pull.pull(library, ServedLinks(), "run", PULL, look, visitor or Visitor())
    return text, read(text)


SAID = (
    comment(1, "This division by `rate` fails for zero.\n\n" + HOSTILE, 3),
    comment(2, "Consider renaming the variable x to something longer.", 99),
    comment(3, "The package has no documentation at all.", 1, "src/new.go"),
)


def test_everything_that_was_said_stands_on_the_page(tmp_path: Path) -> None:
    _, page = shown(evidence(*SAID), tmp_path)
    assert "could see before it spoke" in page.text and "3 comments of others" in page.text
    assert "no answer in 20 minutes" in page.text and "timeout" in page.text
    for number in (1, 2, 3):
        assert f"https://forge.example/pull/1#r{number}" in page.addresses
    assert "found by amber" in page.text and "It lacks a test" in page.text
    assert "model-y" in page.text, "other judges' answers"
    assert "True positive" in page.text and "False positive" in page.text
    assert "cccccccccccc" in page.text, "the commit it was said about"


def test_a_claim_stands_behind_its_line_and_one_without_a_line_at_its_file(tmp_path: Path) -> None:
    text, _ = shown(evidence(*SAID), tmp_path)
    line = text.index("amount / rate")
    first, golden = text.index("This division by"), text.index("It divides")
    assert line < golden < first < text.index("# end"), "the golden first, then the claim, below the line of both"
    assert text.index("Consider renaming") < line, "line 99 is not in the diff, so it stands at the head of its file"
    assert "At no line of the diff" in text and text.index("It lacks a test") > text.index("At no line of the diff")


@pytest.mark.parametrize("view", ["", "split"])
def test_nothing_that_somebody_wrote_acts(tmp_path: Path, view: str) -> None:
    text, page = shown(evidence(*SAID), tmp_path, Look(view=view))
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text and "⟨U+202E⟩" in page.text
    assert "<b>not bold</b>" not in text and "<b>not bold</b>" in page.text
    scripts = page.all("script")
    assert all(set(one) == {"src", "defer"} and one["src"].startswith("/static/") for one in scripts)
    assert not [held for _, held in page.tags if any(name.startswith("on") or name == "style" for name in held)]
    assert not page.all("img") and not page.all("iframe") and not page.all("style")


def test_both_views_hold_the_same_lines_and_remarks(tmp_path: Path) -> None:
    bundle = evidence(*SAID)
    ids = []
    for number, view in enumerate(("", "split")):
        _, page = shown(bundle, tmp_path / str(number), Look(view=view))
        ids.append({held["id"] for _, held in page.tags if held.get("id", "").startswith(("claim-", "golden-"))})
    assert ids[0] == ids[1] and len(ids[0]) == 5


def test_every_address_inside_the_page_is_there(tmp_path: Path) -> None:
    for number, view in enumerate(("", "split")):
        _, page = shown(evidence(*SAID), tmp_path / str(number), Look(view=view))
        ids = [held["id"] for _, held in page.tags if "id" in held]
        assert len(ids) == len(set(ids))
        assert {one[1:] for one in page.addresses if one.startswith("#")} <= set(ids)


def test_one_reviewer_alone_can_be_shown(tmp_path: Path) -> None:
    _, page = shown(evidence(*SAID), tmp_path, Look(reviewer="basil"))
    assert "This division" not in page.text and "no answer in 20 minutes" in page.text


@pytest.mark.parametrize(
    "look", [Look(reviewer="nobody"), Look(view="sideways"), Look(lines="few"), Look(judge="nobody")]
)
def test_what_is_not_there_is_said(tmp_path: Path, look: Look) -> None:
    with pytest.raises(NotThere):
        shown(evidence(*SAID), tmp_path, look)


def test_without_a_diff_everything_is_still_listed(tmp_path: Path) -> None:
    text, page = shown(evidence(*SAID, diff=None), tmp_path)
    assert "does not hold the diff" in page.text and "This division" in page.text and "It divides" in page.text
    assert 'class="diff' not in text


def test_a_diff_that_is_none_is_said_and_hides_nothing(tmp_path: Path) -> None:
    _, page = shown(evidence(*SAID, diff="no diff at all"), tmp_path)
    assert "The diff cannot be read" in page.text and "This division" in page.text


def test_a_comment_without_a_claim_is_shown_with_the_reason(tmp_path: Path) -> None:
    _, page = shown(evidence(*SAID, comment(4, "LGTM!", None)), tmp_path)
    assert "1 comment without a claim" in page.text and "LGTM!" in page.text


def test_only_who_may_write_is_offered_to_decide_otherwise(tmp_path: Path) -> None:
    _, looks = shown(evidence(*SAID), tmp_path / "a", visitor=Visitor("mel"))
    _, writes = shown(evidence(*SAID), tmp_path / "b", visitor=Visitor("wyn", True, "x"))
    assert "Decide otherwise" not in looks.text and "Decide otherwise" in writes.text


def test_the_diff_of_a_suite_that_ships_stands_in_where_the_evidence_holds_none() -> None:
    suite = load_suite("smoke")
    pull = suite.pulls[0]
    text = shipped(suite.ref, pull.id)
    assert text is not None
    paths = {one.path for one in diffing.view(text).files}
    assert {golden.place.path for golden in pull.goldens if golden.place} <= paths
    assert shipped(replace(suite.ref, hash="0" * 64), pull.id) is None, "another version's code would be shown"


# --- diffs


def big(lines: int) -> str:
    body = "".join(f"+line {number}\n" for number in range(1, lines + 1))
    head = "diff --git a/big.txt b/big.txt\nnew file mode 100644\n--- /dev/null\n+++ b/big.txt\n"
    return f"{head}@@ -0,0 +1,{lines} @@\n{body}"


def test_a_huge_diff_is_bounded_but_never_where_something_was_said() -> None:
    mark = Mark("claim-1", Place("big.txt", (9000, 9000)))
    made = diffing.view(big(10_000), [mark])
    rows = [row for row in made.files[0].rows if row.kind == "added"]
    assert len(rows) <= diffing.MOST and made.left_out == 10_000 - len(rows)
    assert next(row for row in rows if row.notes).new == diffing.Half(9000, "+", Markup("line 9000"))
    assert diffing.view(big(10_000), [mark], everything=True).left_out == 0
    assert diffing.view(big(30_000), everything=True).left_out == 30_000 - diffing.ALL


def test_a_mark_on_the_side_before_stands_at_the_removed_line() -> None:
    made = diffing.view(DIFF, [Mark("m", Place("src/pay.py", (2, 2), Side.LEFT))])
    assert next(row for row in made.files[0].rows if row.notes).kind == "removed"


def test_split_puts_what_replaces_a_line_beside_it() -> None:
    rows = diffing.view(DIFF, split=True).files[0].rows
    pairs = [(row.old and row.old.number, row.new and row.new.number) for row in rows if row.kind == "changed"]
    assert pairs == [(2, 2), (None, 3)]


@pytest.mark.parametrize(
    "path", ["a.py", "a.ts", "a.go", "a.c", "a.rs", "a.java", "a.json", "a.yaml", "a.unknown", "a"]
)
def test_colours_lose_no_line_and_no_character(path: str) -> None:
    lines = [
        "",
        "def f(x):  # <tag> & more",
        "\treturn 'a\\n'",
        "",
        '"""open',
        "\x0b\N{RIGHT-TO-LEFT OVERRIDE}x = {",
        "",
    ]
    found = coloured(path, lines)
    assert [read(str(one)).text for one in found] == [" ".join(visible(line).split()) for line in lines]


def test_trees_of_a_suite_become_a_diff_that_reads_back() -> None:
    base = {"kept.txt": b"1\n", "changed.txt": b"a\nb\n", "gone.txt": b"x\n", "picture.bin": b"\x00\x01"}
    head = {"kept.txt": b"1\n", "changed.txt": b"a\nc\n", "new.txt": b"y\n", "picture.bin": b"\x00\x02"}
    made = {one.path: one for one in diffing.view(diffing.between(base, head)).files}
    assert set(made) == {"changed.txt", "gone.txt", "new.txt", "picture.bin"}
    assert (made["gone.txt"].said, made["new.txt"].said, made["picture.bin"].said) == ("deleted", "new file", "binary")
    assert (made["changed.txt"].added, made["changed.txt"].removed) == (1, 1)


# --- the evidence


def test_what_forks_showed_is_kept_beside_the_evidence_and_counts_for_nothing() -> None:
    plain = live_evidence()
    pull = plain.forks[0].pull_id
    kept = replace(plain, diffs={pull: "--- a\udcff\n"})
    made = live.freeze(kept)
    assert diff_in(made, pull) is not None and parts(made)[f"evidence/diffs/{pull}.diff"] == b"--- a\xff\n"
    without = {name: data for name, data in parts(made).items() if "diffs" not in name and name != INDEX}
    assert without == {name: data for name, data in parts(live.freeze(plain)).items() if name != INDEX}


def test_a_run_does_not_fail_for_want_of_a_diff() -> None:
    rows = live_evidence().forks
    assert len(rows) > 2 and all(row.commits for row in rows)

    class Builder:
        def diff(self, run: RunId, fork: ForkId, commits: ForkCommits) -> str:
            if fork == rows[0].id:
                raise GitFailure("the working directory is gone", retryable=False)
            return "x" * (judge.LONGEST_DIFF + 1) if fork == rows[1].id else DIFF

    services: Any = SimpleNamespace(builder=Builder())
    found = dict(judge._diffs(services, RunId("700-1"), [*rows, replace(rows[0], commits=None)]))
    assert found == {row.pull_id: DIFF for row in rows[2:]}
