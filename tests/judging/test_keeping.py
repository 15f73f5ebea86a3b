"""Adding to a bundle, keeping answers, spending: nothing half done, nothing lost, nothing spent twice."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from bot.adapters.llm import _retry_after
from bot.adapters.replies import SqliteReplies
from bot.judging import keeping
from bot.judging.budget import Budget, Limits, Slot
from bot.judging.context import around
from bot.judging.keeping import AlreadyJudged, keep
from bot.judging.store import cache_of
from goldens.importers.folder import read_bundle, verify, write_bundle
from scoring.bundle import JudgementSet
from scoring.judges.asks import Ask, Message, Question, Reply
from scoring.model import Place, PullId, ReviewerId
from tests.judging.make import bundle


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bundle(bundle(), tmp_path / "bundle")
    return tmp_path / "bundle"


def said(name: str, note: str = "") -> JudgementSet:
    return JudgementSet(name, (), {"note": note})


def held(folder: Path) -> dict[str, str]:
    return {one.judge: one.details["note"] for one in read_bundle(folder).judgements}


def test_adding_touches_no_other_part(folder: Path) -> None:
    keep(folder, [said("first", "a")])
    before = dict(verify(folder))
    keep(folder, [said("second", "b")])
    after = dict(verify(folder))
    assert before.items() < after.items()
    assert len(after) == len(before) + 1


def test_a_judge_is_replaced_only_when_told(folder: Path) -> None:
    keep(folder, [said("one", "a")])
    with pytest.raises(AlreadyJudged, match="one"):
        keep(folder, [said("one", "b")])
    for note in "bcb":
        keep(folder, [said("one", note)], replace=True)
        assert held(folder) == {"one": note}
    assert len(list((folder / "judgements").iterdir())) == 1


@pytest.mark.parametrize("step", [1, 2])
def test_a_crash_at_any_step_leaves_a_whole_bundle(folder: Path, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(folder, [said("one", "a")])
    land, count = keeping._land, 0

    def dying(path: Path, data: bytes) -> None:
        nonlocal count
        count += 1
        if count == step:
            raise KeyboardInterrupt
        land(path, data)

    monkeypatch.setattr(keeping, "_land", dying)
    with pytest.raises(KeyboardInterrupt):
        keep(folder, [said("one", "b")], replace=True)
    assert held(folder) == {"one": "a"}
    monkeypatch.undo()
    keep(folder, [said("one", "b")], replace=True)
    assert held(folder) == {"one": "b"}


def test_two_writers_lose_nothing(folder: Path) -> None:
    names = [f"judge-{number}" for number in range(8)]
    threads = [threading.Thread(target=keep, args=(folder, [said(name)])) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(held(folder)) == names


# --- answers


def test_answers_outlive_the_process_and_know_who_paid(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "judge-cache.db"
    first = SqliteReplies(path)
    assert first.get("k") is None
    reply = Reply("text \ud83d \U0001f600", "m", 10, 2, 0.25, 1.5, "stop")
    first.put("k", reply, "run-1")
    first.put("l", Reply("", "m"), "run-1")
    first.put("m", Reply("", "m", cost=1.0), "run-2")
    second = SqliteReplies(path)
    assert second.get("k") == reply
    assert (second.spent("run-1"), second.spent("nobody")) == (0.25, 0.0)
    first.close()
    second.close()
    assert cache_of(tmp_path / "bundle") == tmp_path / "judge-cache.db"


# --- money


class Priced:
    """A model that costs a dollar a call."""

    def complete(self, ask: Ask) -> Reply:
        raise AssertionError("nobody asked for a call")

    def count_tokens(self, model: str, text: str) -> int:
        return 1

    def price(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 1.0

    def window(self, model: str) -> int | None:
        return None

    def missing_key(self, model: str) -> str | None:
        return None


def some_ask() -> Ask:
    question = Question(PullId("p"), ReviewerId("r"), (), ())
    return Ask("k", "m", (Message("user", "x"),), {}, {"max_tokens": 5}, question, {})


def test_what_is_under_way_is_set_aside_and_waited_for() -> None:
    budget = Budget(Limits(max_cost=1.5), Priced())
    first = budget.take(some_ask())
    assert isinstance(first, Slot)
    second: list[Slot | str] = []
    waiting = threading.Thread(target=lambda: second.append(budget.take(some_ask())))
    waiting.start()
    waiting.join(0.1)
    assert second == [], "one dollar is aside, so the second call has to wait for the first"
    budget.give_back(first, 0.2)
    waiting.join(5)
    assert isinstance(second[0], Slot)
    budget.give_back(second[0], None)
    assert budget.cost == pytest.approx(1.2), "what nobody knows the cost of counts in full"
    assert isinstance(budget.take(some_ask()), str)


def test_what_a_run_spent_before_a_restart_still_counts() -> None:
    assert isinstance(Budget(Limits(max_cost=1.5), Priced(), spent=0.6).take(some_ask()), str)
    assert isinstance(Budget(Limits(max_cost=1.5), Priced(), spent=0.5).take(some_ask()), Slot)


def test_a_refused_call_costs_neither_money_nor_a_call() -> None:
    budget = Budget(Limits(max_cost=1.0, max_calls=1), Priced())
    slot = budget.take(some_ask())
    assert isinstance(slot, Slot)
    budget.give_back(slot, "nothing")
    assert isinstance(budget.take(some_ask()), Slot)


@pytest.mark.parametrize(("given", "wanted"), [("7", 7), ("0.5", 0.5), ("soon", None), ("-1", None), ("", None)])
def test_retry_after_in_seconds(given: str, wanted: float | None) -> None:
    assert _retry_after({"retry-after": given}) == wanted


def test_retry_after_as_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    seconds = _retry_after({"retry-after": later})
    assert seconds is not None
    assert 60 < seconds <= 90
    assert _retry_after({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}) == 0


# --- context


def lines(count: int, **other: str) -> bytes:
    return "".join(f"{other.get(f'at{number}', f'line {number}')}\n" for number in range(1, count + 1)).encode()


def test_context_is_the_diff_near_the_lines_and_nothing_else() -> None:
    base, head = {"a.py": lines(200)}, {"a.py": lines(200, at100="changed"), "b.py": lines(60)}
    shown = around(base, head, [Place("a.py", (100, 100)), Place("gone.py", (1, 1)), Place("b.py", (30, 31))])
    assert set(shown) == {"a.py", "b.py"}
    rows = shown["a.py"].split("\n")
    assert "-line 100" in rows
    assert "+changed" in rows
    assert " line 95" in rows
    assert " line 60" not in rows
    assert "+line 30" in shown["b.py"].split("\n")
    assert "+line 1" not in shown["b.py"].split("\n")


def test_context_of_a_file_that_did_not_change_is_its_lines() -> None:
    tree = {"a.py": lines(100), "logo.png": b"\x00\x01"}
    shown = around(tree, tree, [Place("a.py", (50, 50)), Place("logo.png")])
    assert set(shown) == {"a.py"}
    assert shown["a.py"].startswith("@@ line 38 @@\n line 38\n")
