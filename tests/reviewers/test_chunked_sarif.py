"""Changes in parts, and logs as reviews."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bot.reviewers.choose import choose
from bot.reviewers.chunked import chunks, merged
from bot.reviewers.functions import functions
from bot.reviewers.means import ReviewMeans
from bot.reviewers.offline import reviewed
from bot.reviewers.protocol import Remark, Review
from bot.reviewers.record import status_of
from goldens.diff import read_diff
from goldens.load import load_suite
from scoring.model import Severity, TrialStatus
from tests.reviewers.make import MODEL, change, finding, findings, world

LONG = (
    b"import os\n\n\ndef first(a):\n"
    + b"".join(b"    a = step_%d(a)\n" % n for n in range(20))
    + b"    return a\n\n\nclass Shop:\n    @property\n    def second(self):\n"
    + b"".join(b"        self.x_%d = 1\n" % n for n in range(20))
    + b"        return self\n"
)
EDITED = (
    LONG.replace(b"import os\n", b"import os, sys\n")
    .replace(b"step_3(a)", b"step_3(a) + 1")
    .replace(b"step_17(a)", b"step_17(a) + 1")
    .replace(b"self.x_9 = 1", b"self.x_9 = 2")
)


def test_a_change_is_cut_into_its_functions_and_what_stands_outside() -> None:
    parts = list(chunks(change({"f.py": LONG}, {"f.py": EDITED}), by_function=True))
    files = [read_diff(part.diff)[0] for _, part in parts]
    spans = [(one.hunks[0].new_start, one.hunks[0].new_start + one.hunks[0].new_count - 1) for one in files]
    assert spans == [(4, 25), (29, 51), (1, 3)]
    assert [one.added_lines for one in files] == [(8, 22), (40,), (1,)]
    assert parts[0][0] == "f.py: lines 4 to 25"


def test_every_change_of_a_suite_is_in_some_part() -> None:
    from bot.reviewers.changes import change_of, files_of

    for pull in [*load_suite("smoke").pulls, *load_suite("synthetic").pulls[:30]]:
        whole = change_of(pull)
        for by_function in (True, False):
            covered: dict[str, set[int]] = {}
            for _, part in chunks(whole, by_function):
                for one in files_of(part):
                    covered.setdefault(one.path, set()).update(one.added_lines)
                    assert set(one.added_lines) <= {n for f in files_of(whole) for n in f.added_lines}
            assert covered == {one.path: set(one.added_lines) for one in files_of(whole)}


@pytest.mark.parametrize(
    ("path", "content", "spans"),
    [
        (
            "a.ts",
            b"const x = 1;\nexport const f = async () => {\n  return 1;\n};\nclass A {\n  g() {\n  }\n}\n",
            [(2, 4), (6, 7)],
        ),
        ("a.go", b"package a\nfunc F() {\n}\nfunc (s S) G() {\n}\n", [(2, 3), (4, 5)]),
        ("a.c", b"int x;\nint f(void)\n{\n  return 1;\n}\n", [(2, 5)]),
        ("a.rs", b"impl A {\n  fn f() {\n  }\n}\n", [(2, 3)]),
        ("A.java", b"class A {\n  int f() {\n    return 1;\n  }\n}\n", [(2, 4)]),
        ("a.py", b"@x\ndef f():\n    def g():\n        pass\n    return g\n", [(1, 5)]),
        ("a.txt", b"def f():\n    pass\n", []),
    ],
)
def test_functions_are_found(path: str, content: bytes, spans: list[tuple[int, int]]) -> None:
    assert functions(path, content) == spans


def test_each_part_is_asked_about_alone_and_the_same_finding_is_said_once(tmp_path: Path) -> None:
    def answer(prompt: str) -> str:
        rows = [finding(path="f.py", start_line=1, end_line=1, description="Both imports are unused here.")]
        if "step_3" in prompt:
            rows.append(finding(path="f.py", start_line=8, end_line=8, description="The sum is one too high."))
        return findings(*rows)

    with world(tmp_path, answer) as found:
        review = choose(f"chunked:single-shot:{MODEL}", found.means()).review(change({"f.py": LONG}, {"f.py": EDITED}))
        shown = [one.body["messages"][-1]["content"] for one in found.models.seen]
    assert [len(re.findall(r"(?m)^@@", text)) for text in shown] == [1, 1, 1]
    assert sorted(one.start_line or 0 for one in review.remarks) == [1, 8]
    assert review.usage.calls == 3


def test_a_part_that_failed_is_a_gap_and_only_all_of_them_a_failure() -> None:
    good, bad = Review((Remark("x", "f.py", 1, 1),)), Review((), failed="budget: out")
    both = merged([("one", good), ("two", bad)])
    assert not both.failed and both.unread == ("two: budget: out",) and len(both.remarks) == 1
    assert merged([("one", bad), ("two", bad)]).failed == "budget: out"


def test_more_parts_than_may_be_are_told() -> None:
    review = choose("chunked:static?most=1", ReviewMeans()).review(change({"f.py": LONG}, {"f.py": EDITED}))
    assert len(review.unread) == 2 and all("more than 1 parts" in text for text in review.unread)


def test_rounds_of_parts_are_put_together(tmp_path: Path) -> None:
    def answer(prompt: str) -> str:
        number = 8 if "step_3" in prompt else 1
        return findings(finding(path="f.py", start_line=number, end_line=number, description=f"Wrong at {number}."))

    with world(tmp_path, answer) as found:
        reviewer = choose(f"chunked:reflexion:{MODEL}?rounds=1", found.means())
        review = reviewer.review(change({"f.py": LONG}, {"f.py": EDITED}))
    assert [one.name for one in review.rounds] == ["draft", "round-1", "final"]
    assert review.rounds[-1].remarks == review.remarks


def _log(*results: object, **run: object) -> bytes:
    one = {"tool": {"driver": {"name": "t"}}, "results": list(results), **run}
    return json.dumps({"version": "2.1.0", "runs": [one]}).encode()


def _result(uri: str, line: int = 2, **more: object) -> dict[str, object]:
    place = {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}
    return {"ruleId": "R", "level": "warning", "message": {"text": "Wrong."}, "locations": [place], **more}


def test_a_log_is_a_review(tmp_path: Path) -> None:
    gone = _result("pay/split.py", baselineState="absent")
    (tmp_path / "log.sarif").write_bytes(_log(_result("pay/split.py"), _result("no/such.py"), gone))
    review = choose(f"sarif:{tmp_path / 'log.sarif'}", ReviewMeans()).review(change())
    (one,) = review.remarks
    assert (one.path, one.start_line, one.kind, one.severity) == ("pay/split.py", 2, "R", Severity.MEDIUM)
    assert len(review.invalid) == 1 and "no/such.py" in review.invalid[0]


def test_a_folder_holds_a_log_for_each_pull_request(tmp_path: Path) -> None:
    (tmp_path / "one.sarif").write_bytes(_log(_result("pay/split.py")))
    reviewer = choose(f"sarif:{tmp_path}", ReviewMeans())
    assert len(reviewed(reviewer, "one", change()).remarks) == 1
    missing = reviewed(reviewer, "two", change())
    assert status_of(missing) is TrialStatus.UNABLE and "two.sarif" in missing.failed
    assert status_of(reviewed(reviewer, "../one", change())) is TrialStatus.UNABLE


@pytest.mark.parametrize(
    ("data", "status", "why"),
    [
        (b"{}", TrialStatus.ERROR, "no log that can be read"),
        (b"not json", TrialStatus.ERROR, "no log that can be read"),
        (b'{"version": "2.1.0", "runs": []}', TrialStatus.UNABLE, "no run"),
        (
            b'{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}}]}',
            TrialStatus.UNABLE,
            "nothing was scanned",
        ),
        (_log(invocations=[{"executionSuccessful": False}]), TrialStatus.ERROR, "did not succeed"),
    ],
)
def test_a_log_that_tells_of_no_review_is_no_clean_review(
    tmp_path: Path, data: bytes, status: TrialStatus, why: str
) -> None:
    (tmp_path / "log.sarif").write_bytes(data)
    review = choose(f"sarif:{tmp_path / 'log.sarif'}", ReviewMeans()).review(change())
    assert status_of(review) is status and why in review.failed
