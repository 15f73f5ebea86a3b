"""The packaged suite `cold`: each defect is real, and the file without it keeps its promise. Both are run."""

from __future__ import annotations

import io
import random
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from goldens.cold import ColdFile, admit, cold_files, is_cold, withheld_of
from goldens.leakage import Leak
from goldens.load import load_suite
from goldens.model import Suite, TreeFiles
from goldens.verify import verify


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("cold")


def module(suite: Suite, pull: str, side: str) -> Any:
    """The single file of one side, run as a module."""
    source = next(one for one in suite.pulls if one.id == pull).source
    assert isinstance(source, tuple)
    tree: TreeFiles = source[side == "head"]
    ((path, data),) = tree.files.items()
    made = ModuleType(f"cold_{side}_{path.rpartition('/')[2].removesuffix('.py')}")
    # Dataclasses look their module up while the class is made.
    sys.modules[made.__name__] = made
    try:
        exec(compile(data, f"{side}/{path}", "exec"), made.__dict__)
    finally:
        del sys.modules[made.__name__]
    return made


def ceiling(code: Any, tmp: Path) -> bool:
    return bool(max(code.Policy(attempts=10, spread=0.0).pauses(random.Random(1))) <= 30.0)


def attempts(code: Any, tmp: Path) -> bool:
    calls: list[int] = []

    def call() -> None:
        calls.append(1)
        raise code.Refused

    clock = SimpleNamespace(sleep=lambda seconds: None)
    for count in (1, 4):
        with pytest.raises(code.GaveUp):
            code.attempt(call, code.Policy(attempts=count), clock, random.Random(1))
    return len(calls) == 5


def end_of_day(code: Any, tmp: Path) -> bool:
    postings = [code.Posting("rent", Decimal("5.00"), date(2026, 1, day)) for day in (1, 2)]
    closing = code.statement("rent", postings, date(2026, 1, 1), date(2026, 1, 2)).closing
    return bool(code.balances(postings, date(2026, 1, 2)) == {"rent": closing})


def cents(code: Any, tmp: Path) -> bool:
    return bool(sum(code.split(Decimal("10.00"), {"a": 1, "b": 1, "c": 1}).values()) == Decimal("10.00"))


def neighbours(code: Any, tmp: Path) -> bool:
    store = code.Store(tmp / "root")
    store.save("bob", "cv.pdf", io.BytesIO(b"bob"))
    for name in ("../bob/cv.pdf", "../../root-of-others/x"):
        try:
            store.save("ada", name, io.BytesIO(b"ada"))
        except code.NotAllowed:
            continue
        return False
    return (tmp / "root" / "bob" / "cv.pdf").read_bytes() == b"bob"


def no_scratch(code: Any, tmp: Path) -> bool:
    with pytest.raises(code.TooLarge):
        code.Store(tmp / "root", limit=3).save("ada", "big", io.BytesIO(b"12345"))
    return list((tmp / "root" / "ada").iterdir()) == []


def one_holder(code: Any, tmp: Path) -> bool:
    both, given = threading.Barrier(2), []

    def now() -> float:
        # Whoever reads the clock waits a moment for the other: under the lock the other cannot come.
        with suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.2)
        return 0.0

    hall = code.Hall(["a1"], now)

    def want(name: str) -> None:
        with suppress(code.Taken):
            given.append(hall.hold("a1", name))

    threads = [threading.Thread(target=want, args=(name,)) for name in ("ada", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(given) == 1


def ten_minutes(code: Any, tmp: Path) -> bool:
    time = [0.0]
    hall = code.Hall(["a1"], lambda: time[0])
    hall.hold("a1", "ada")
    time[0] = 601.0
    try:
        hall.buy("a1", "ada")
    except code.Taken:
        return bool(hall.free() == ["a1"])
    return False


def no_formulas(code: Any, tmp: Path) -> bool:
    layout = code.Layout({"note": "Note"})
    (row,) = code.read_back(code.document(layout, [{"note": "=1+1"}]))
    return not row["Note"].startswith("=")


def least_used_goes(code: Any, tmp: Path) -> bool:
    cache, rendered = code.PageCache(2), list[str]()

    def render(name: str) -> Callable[[], tuple[str, frozenset[str]]]:
        def made() -> tuple[str, frozenset[str]]:
            rendered.append(name)
            return name, frozenset()

        return made

    for name in "abaca":
        cache.page(name, render(name))
    return rendered.count("a") == 1


def accounts_agree(code: Any, tmp: Path) -> bool:
    cache = code.PageCache(100)
    cache.page("p", lambda: ("text", frozenset({"x", "y"})))
    cache.changed("x")
    try:
        return bool(cache.used == 0 and cache.changed("y") == 0)
    except KeyError:
        return False


def edits_count(code: Any, tmp: Path) -> bool:
    index = code.Index([code.Article(1, "Tea", "old words")])
    index.add(code.Article(1, "Tea", "new words"))
    return bool(index.find("old") == [] and len(index.find("new")) == 1)


def readers_see_public(code: Any, tmp: Path) -> bool:
    index = code.Index([code.Article(1, "Tea", "", public=False), code.Article(2, "Tea", "")])
    return [hit.id for hit in index.find("tea")] == [2] and len(index.find("tea", staff=True)) == 2


def kinds_are_values(code: Any, tmp: Path) -> bool:
    queue = code.Queue(str(tmp / "jobs.db"))
    queue.add("secret", {}, 0.0)
    taken = queue.take("w", ("none') or ('1' = '1",), 1.0)
    queue.close()
    return taken is None


def three_attempts(code: Any, tmp: Path) -> bool:
    queue, tries = code.Queue(str(tmp / "jobs.db"), most_attempts=3), 0
    queue.add("mail", {}, 0.0)
    while (job := queue.take("w", ("mail",), 1.0)) is not None:
        tries += 1
        queue.failed(job, 0.0)
    stuck = queue.count("stuck")
    queue.close()
    return tries == 3 and stuck == 1


PROMISES: dict[tuple[str, str], Callable[[Any, Path], bool]] = {
    ("backoff-schedule", "ceiling-not-applied"): ceiling,
    ("backoff-schedule", "last-attempt-missing"): attempts,
    ("ledger-balances", "day-itself-left-out"): end_of_day,
    ("ledger-balances", "cents-lost-in-split"): cents,
    ("upload-store", "other-owners-reachable"): neighbours,
    ("upload-store", "scratch-left-behind"): no_scratch,
    ("seat-bookings", "seat-held-twice"): one_holder,
    ("seat-bookings", "expired-hold-sells"): ten_minutes,
    ("csv-export", "formulas-run"): no_formulas,
    ("page-cache", "oldest-not-least-used"): least_used_goes,
    ("page-cache", "accounts-drift"): accounts_agree,
    ("search-index", "old-words-stay"): edits_count,
    ("search-index", "drafts-shown-to-readers"): readers_see_public,
    ("job-queue", "kinds-pasted-into-sql"): kinds_are_values,
    ("job-queue", "one-attempt-too-many"): three_attempts,
}


@pytest.mark.parametrize(("pull", "golden"), list(PROMISES), ids="/".join)
def test_the_defect_breaks_what_the_sound_file_keeps(suite: Suite, pull: str, golden: str, tmp_path: Path) -> None:
    promise = PROMISES[pull, golden]
    for side in ("base", "head"):
        (tmp_path / side).mkdir()
    assert promise(module(suite, pull, "base"), tmp_path / "base")
    assert not promise(module(suite, pull, "head"), tmp_path / "head")


def test_every_golden_is_run_and_the_suite_is_sound(suite: Suite) -> None:
    assert {(pull.id, golden.id) for pull in suite.pulls for golden in pull.goldens} == set(PROMISES)
    assert verify(suite) == ()
    assert is_cold(suite)
    assert all(len(cold_files(pull)) == 1 and len(pull.goldens) in (1, 2) for pull in suite.pulls)


def test_a_cold_reviewer_is_shown_the_file_and_not_where_to_look(suite: Suite) -> None:
    pull = suite.pulls[0]
    (file,) = cold_files(pull)
    withheld = withheld_of(suite)[pull.id]
    first = withheld.lines[0][0]
    fair = f"Say what is wrong with this file.\n\n{file.path}\n{file.text}"
    assert admit(pull, file, fair, withheld) == fair
    for telling in (f"Look at line {first}.", f"Lines {first + 2} to 90", f"@@ -{first} +{first} @@"):
        with pytest.raises(Leak, match=pull.id):
            admit(pull, file, f"{telling}\n{fair}", withheld)


def test_pinned_pull_requests_are_not_read_cold() -> None:
    with pytest.raises(ValueError, match="pinned to commits"):
        cold_files(load_suite("cpp16").pulls[0])
    assert not is_cold(load_suite("cpp16"))
    assert cold_files(load_suite("smoke").pulls[0])[0] != ColdFile("", "")
