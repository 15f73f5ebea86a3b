"""A person's ruling counts at once, is kept for good, and can be taken back; the judge stays what it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests
import sqlalchemy as sa

from bot.adapters.database import open_engine, upgrade
from bot.adapters.store import SqlStore
from bot.analysis.opening import open_bundle, under
from bot.judging import adjudicating, keeping, trials
from bot.judging import rulings as rules
from bot.model import RepoName, RunId
from bot.pages import rulings as pages
from bot.pages.choosing import in_order
from bot.pages.markdown import visible
from bot.pages.rulings import Docket, Mask
from bot.pages.views import NotThere
from bot.ports import RunRow
from bot.rulings import AlreadyUndone, Ruling, as_of, standing, taking_back
from scoring.bundle import Bundle, JudgementSet, TrialJudgements
from scoring.model import Verdict
from tests.bot.render_world import plan
from tests.pages.served import MEMBER, WRITER, Desk, desk
from tests.pages.world import made_bundle, read, write

NOW = datetime(2026, 1, 2, 10, tzinfo=UTC)
RUN = RunId("700-1")
NAMES = ("revbot-aa", "revbot-ab")


def two_minds() -> Bundle:
    """Two judges: the second says nothing of the first pair of each trial and the opposite of the second."""
    bundle = made_bundle(3, NAMES, judges=("model-x",))
    first = bundle.judgements[0]
    other = tuple(_other(one) for one in first.trials)
    return replace(
        bundle,
        judgements=(
            replace(first, trials=tuple(_open(one) for one in first.trials)),
            JudgementSet("model-y", other),
        ),
    )


def _open(one: TrialJudgements) -> TrialJudgements:
    said = tuple(replace(each, verdict=Verdict.UNDECIDED) if not at else each for at, each in enumerate(one.judgements))
    return replace(one, judgements=said)


def _other(one: TrialJudgements) -> TrialJudgements:
    flip = {Verdict.MATCH: Verdict.NO_MATCH, Verdict.NO_MATCH: Verdict.MATCH}
    said = tuple(
        replace(each, verdict=Verdict.UNDECIDED if not at else flip[each.verdict] if at == 1 else each.verdict)
        for at, each in enumerate(one.judgements)
    )
    return replace(one, judgements=said)


def docket(bundle: Bundle, rulings: tuple[Ruling, ...] = ()) -> Docket:
    return pages.docket(bundle, pages.pairs(bundle, trials.questions(bundle)), rulings, "model-x")


def ruling(number: int, on: Docket, at: int = 0, verdict: str = "match", undoes: int | None = None) -> Ruling:
    item = on.queue[at].item
    when = f"2026-01-02T10:00:{number:02}+00:00"
    return Ruling(
        number, item.pull, item.reviewer, item.candidate.id, item.golden.id, verdict, "", "wyn", when, "", undoes
    )


# --- the record


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[sa.Engine]:
    made = open_engine(f"sqlite:///{tmp_path / 'app.db'}")
    upgrade(made)
    yield made
    made.dispose()


def stored(engine: sa.Engine) -> SqlStore:
    store, asked = SqlStore(engine), plan()
    row = RunRow(RUN, 700, 5, RepoName("acme", "control"), 12, asked, b"s" * 32, "done", NOW)
    assert store.create_run(row, asked.request.reviewers)
    return store


def test_a_ruling_is_taken_back_once_and_only_in_its_own_run(engine: sa.Engine) -> None:
    store, made = stored(engine), ruling(0, docket(two_minds()))
    kept = store.add_ruling(RUN, made)
    assert kept.id == 1 and store.rulings(RUN) == (kept,)
    back = store.add_ruling(RUN, taking_back(kept, "mel", "2026-01-02T11:00:00+00:00"))
    assert standing(store.rulings(RUN)) == () and store.rulings(RUN) == (kept, back)
    for twice in (taking_back(kept, "mel", "later"), replace(made, undoes=77)):
        with pytest.raises(AlreadyUndone):
            store.add_ruling(RUN, twice)
    with pytest.raises(AlreadyUndone):
        store.add_ruling(RunId("800-1"), taking_back(kept, "mel", "later"))
    assert len(store.rulings(RUN)) == 2


def test_what_held_at_any_time_can_be_told_from_the_record() -> None:
    on = docket(two_minds())
    first, second = ruling(1, on), ruling(2, on, 1)
    record = (first, second, taking_back(first, "mel", "later"))
    record = (*record[:2], replace(record[2], id=3))
    assert [standing(as_of(record, last)) for last in range(4)] == [(), (first,), (first, second), (second,)]


# --- what it changes


def test_the_queue_is_what_judges_left_open_or_disagree_about() -> None:
    bundle = two_minds()
    on = docket(bundle)
    expected = {one.pair for one in adjudicating.open_items(bundle, bundle.judgements)}
    assert {one.item.pair for one in on.queue} == expected and len(expected) > 4
    assert {one.item.why for one in on.queue} == {"undecided", "the judges disagree"}


def test_what_a_ruling_changes_is_what_counting_anew_gives(tmp_path: Path) -> None:
    bundle = two_minds()
    on = docket(bundle)
    changed = 0
    for at in range(len(on.queue)):
        for verdict in rules.VERDICTS:
            made = ruling(1, on, at, verdict)
            told = pages.effect(docket(bundle, (made,)), 1)
            for last, column in ((0, "before"), (1, "after")):
                _, over = rules.applied(bundle, on.base, (made,), last)
                report = under(replace(bundle, judgements=(over,)), "assay", None).report
                assert report is not None
                row = next(one for one in report.reviewers if one.reviewer == made.reviewer)
                figures = {one.name: getattr(one, column) for one in told.figures}
                assert figures["TP"] == str(row.counts.tp) and figures["FP"] == str(row.counts.fp)
                assert figures["F1"] == ("undefined" if row.f1.value is None else f"{row.f1.value:.3f}")
            changed += any(one.changed for one in told.figures)
    assert changed > 3


def test_taking_back_gives_the_same_figures_as_before() -> None:
    bundle = two_minds()
    first = ruling(1, docket(bundle))
    back = replace(taking_back(first, "mel", "2026-01-02T11:00:00+00:00"), id=2)
    there, gone = (pages.effect(docket(bundle, (first, back)), number) for number in (1, 2))
    assert [(one.name, one.after, one.before) for one in there.figures] == [
        (one.name, one.before, one.after) for one in gone.figures
    ]
    assert not there.can_undo and not gone.can_undo


def test_the_terminal_and_the_pages_see_each_others_decisions(tmp_path: Path) -> None:
    folder = write(two_minds(), tmp_path / "run")
    bundle = open_bundle(folder)
    on = docket(bundle)
    by_hand = adjudicating.decide(on.queue[1].item, "no_match", reason="", who="tess", when="2026-01-01T00:00:00+00:00")
    people = adjudicating.as_set([by_hand], bundle)
    keeping.keep(folder, [people, adjudicating.overlaid(on.base, people)], replace=True)

    bundle, made = open_bundle(folder), ruling(1, on)
    assert [one.decision.who for one in docket(bundle).queue if one.decision] == ["tess"]
    people, over = rules.applied(bundle, on.base, (made,))
    keeping.keep(folder, [people, over], replace=True)

    bundle = open_bundle(folder)
    earlier = adjudicating.decisions(rules.people_of(bundle))
    assert [one.who for one in earlier] == ["tess", "wyn"]
    assert rules.missing(bundle, (made,)) == ()
    # Undone at the terminal: it writes what is left.
    left = adjudicating.as_set(earlier[:1], bundle)
    keeping.keep(folder, [left], replace=True)
    assert rules.missing(open_bundle(folder), (made,)) == (made,)


def test_a_judge_that_people_corrected_never_takes_the_place_of_the_runs_own() -> None:
    bundle = two_minds()
    on = docket(bundle)
    people, over = rules.applied(bundle, on.base, (ruling(1, on),))
    for order in ((over, people, *bundle.judgements), (*bundle.judgements, people, over)):
        names = in_order(replace(bundle, judgements=order), "model-x")
        assert names[0] == "model-x" and "model-x+human" in names and "human" not in names


def test_who_said_it_is_hidden_wherever_it_is_named() -> None:
    bundle = made_bundle(1, NAMES)
    mask = Mask(bundle)
    for text in ("revbot-aa says", "by The revbot-ab", "RevBot-AA[bot] found", "(vendor of revbot-ab)"):
        assert "revbot" not in mask.hide(text).lower()
    assert mask.hide("a robot arm") == "a robot arm"


# --- over HTTP


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with desk(tmp_path_factory.mktemp("rulings")) as made:
        made.add_run("700-1", two_minds())
        made.add_run("8000-1", two_minds())
        made.add_run("9000-1")
        yield made


def form(person: requests.Session, address: str) -> dict[str, str]:
    page = read(person.get(address, timeout=20).text)
    return {one["name"]: one["value"] for one in page.all("input") if "value" in one and one["name"] != "ruling"}


def send(person: requests.Session, acme: Desk, address: str, data: dict[str, str]) -> requests.Response:
    return person.post(address, data=data, headers={"Origin": acme.url}, timeout=20)


def test_a_verdict_is_overturned_counted_shown_and_undone(acme: Desk) -> None:
    wyn = acme.signed_in(WRITER)
    address = f"{acme.url}/runs/700-1/adjudicate"
    before = wyn.get(address, timeout=20).text
    asked = form(wyn, address)
    done = send(wyn, acme, address, {**asked, "verdict": "match", "note": "same <b>loop</b>"})
    page = read(done.text)
    assert done.status_code == 200 and "done=1" in done.url
    assert "Decided" in page.text and "before" in page.text and "same <b>loop</b>" in page.text
    assert "<b>loop</b>" not in done.text
    board = wyn.get(f"{acme.url}/runs/700-1/pulls/change-0?judge=model-x%2Bhuman", timeout=20)
    assert board.status_code == 200 and "judged by model-x+human" in read(board.text).text
    plain = wyn.get(f"{acme.url}/runs/700-1/pulls/change-0", timeout=20)
    assert "judged by model-x" in read(plain.text).text and "model-x+human)" not in read(plain.text).text
    undone = send(wyn, acme, f"{address}/undo", {"csrf": asked["csrf"], "ruling": "1"})
    assert "Taken back" in read(undone.text).text and f"taken back by {WRITER}" in read(undone.text).text
    again = send(wyn, acme, f"{address}/undo", {"csrf": asked["csrf"], "ruling": "1"})
    assert again.status_code in (400, 409)
    assert form(wyn, address)["item"] == asked["item"], "it is open again"
    assert len(read(before).all("form")) > 0


def test_who_may_only_read_sees_the_queue_and_changes_nothing(acme: Desk) -> None:
    mel = acme.signed_in(MEMBER)
    address = f"{acme.url}/runs/8000-1/adjudicate"
    page = read(mel.get(address, timeout=20).text)
    assert "Question 1 of" in page.text and not [
        one for one in page.all("form") if one["action"].endswith("adjudicate")
    ]
    csrf = next(one["value"] for one in page.all("input") if one["name"] == "csrf")
    item = pages.key_of(docket(two_minds()).queue[0].item)
    refused = send(mel, acme, address, {"csrf": csrf, "item": item, "verdict": "match"})
    assert refused.status_code == 403 and acme.store.rulings(RunId("8000-1")) == ()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"csrf": "x"}, 403),
        ({"verdict": "maybe"}, 400),
        ({"verdict": ""}, 400),
        ({"item": "f" * 16}, 404),
        ({"item": "x" * 5000}, 404),
    ],
)
def test_a_form_that_is_none_of_ours_decides_nothing(acme: Desk, change: dict[str, str], status: int) -> None:
    wyn = acme.signed_in(WRITER)
    address = f"{acme.url}/runs/8000-1/adjudicate"
    answer = send(wyn, acme, address, {**form(wyn, address), "verdict": "match", **change})
    assert answer.status_code == status and acme.store.rulings(RunId("8000-1")) == ()


def test_the_question_names_nobody_and_no_judges_answer(acme: Desk) -> None:
    wyn = acme.signed_in(WRITER)
    text = wyn.get(f"{acme.url}/runs/8000-1/adjudicate", timeout=20).text
    asked = text[text.index('class="question"') : text.index("</section>", text.index('class="question"'))]
    assert not re.search("revbot|model-y|plain enough", asked)


def test_a_run_that_is_not_judged_has_nothing_to_decide(acme: Desk) -> None:
    answer = acme.signed_in(WRITER).get(f"{acme.url}/runs/9000-1/adjudicate", timeout=20)
    assert answer.status_code == 404 and "before the run is judged" in read(answer.text).text


def test_a_ruling_on_evidence_without_a_judge_is_refused() -> None:
    bundle = replace(two_minds(), judgements=())
    with pytest.raises(NotThere):
        docket(bundle)


def test_reasons_are_shown_by_number_where_they_hide_something() -> None:
    assert visible("a\N{RIGHT-TO-LEFT ISOLATE}b") == "a⟨U+2067⟩b"
