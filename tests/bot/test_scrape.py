"""Who said what where: the shared cases, and inputs of the same kinds."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest

from bot.model import Snapshot
from bot.registry import Login, Signals
from bot.scrape import Revision, Scraped, merge_pages, read, revisions
from scoring.model import Comment, ReviewerId, Shape, Side
from tests.bot.talk import HEAD, OPENED, at, check, command, comment, inline, registry, review, reviewer, snapshot, user
from tests.shared import case, case_file

ACME = ReviewerId("acme")
ZETA = ReviewerId("zeta")
BOT = "acme-reviewer[bot]"
BOTH = registry(reviewer("acme"), reviewer("zeta", "zeta-review[bot]", slugs=("zeta-review",), findings_in_checks=True))
OURS = frozenset({"our-benchmark-app[bot]", "bench-author"})


def scrape(shot: Snapshot, **more: Any) -> Scraped:
    return read(shot, BOTH, our_logins=OURS, **more)


def one(scraped: Scraped) -> Comment:
    (only,) = scraped.by_reviewer[ACME]
    return only


# --- places


def test_case_11_an_outdated_comment_stays_at_its_original_line_and_commit() -> None:
    given = case("11")
    found = one(scrape(snapshot(review_comments=given["input"]["review_comments"])))
    anchor = given["expected"]["anchor"]
    assert found.place is not None
    assert (found.place.path, found.place.lines) == (anchor["path"], (anchor["line"], anchor["line"]))
    assert (found.commit, found.outdated) == (anchor["commit"], anchor["outdated"])
    assert found.shape is Shape.INLINE


def test_case_12_a_file_level_comment_has_no_line_and_is_not_outdated() -> None:
    given = case("12")
    found = one(scrape(snapshot(review_comments=given["input"]["review_comments"])))
    assert found.shape is Shape.FILE
    assert found.place is not None
    assert (found.place.path, found.place.lines, found.outdated) == ("src/app.py", None, False)


@pytest.mark.parametrize(
    ("given", "lines", "side", "outdated"),
    [
        ({"line": 9, "start_line": 4, "start_side": "RIGHT"}, (4, 9), Side.RIGHT, False),
        ({"line": 9, "start_line": 4, "start_side": "LEFT"}, (9, 9), Side.RIGHT, False),
        ({"line": 4, "start_line": 9, "start_side": "RIGHT"}, (4, 9), Side.RIGHT, False),
        ({"line": 5, "side": "LEFT", "start_line": 2, "start_side": "LEFT"}, (2, 5), Side.LEFT, False),
        ({"line": 5, "side": None}, (5, 5), Side.RIGHT, False),
        ({"line": None, "original_line": 8, "original_start_line": 6}, (6, 8), Side.RIGHT, True),
        ({"line": None, "original_line": None}, None, Side.RIGHT, False),
        ({"line": 1, "original_line": 1, "subject_type": "file"}, None, Side.RIGHT, False),
    ],
)
def test_every_way_github_gives_a_place(
    given: dict[str, Any], lines: tuple[int, int] | None, side: Side, outdated: bool
) -> None:
    found = one(scrape(snapshot(review_comments=[inline(1, BOT, "Bad", "10:05:00", **given)])))
    assert found.place is not None
    assert (found.place.lines, found.place.side, found.outdated) == (lines, side, outdated)
    assert found.shape is (Shape.INLINE if lines else Shape.FILE)


# --- threads


def test_case_14_only_thread_roots_are_findings_and_a_withdrawal_is_flagged() -> None:
    given = case("14")
    scraped = scrape(snapshot(review_comments=given["input"]["review_comments"]))
    found = one(scraped)
    assert found.id == "review_comment/1"
    assert found.flags == (given["expected"]["flags"]["1"],)
    assert scraped.by_reviewer[ZETA] == ()
    assert scraped.excluded == {"reply": 2}
    assert [stray.author for stray in scraped.unattributed] == ["dev-one"]


@pytest.mark.parametrize(
    ("replies", "withdrawn"),
    [
        ([(BOT, "I'm withdrawing this comment. Sorry for the noise.")], True),
        ([(BOT, "So this finding should be withdrawn.\n\n<!-- <review_comment_withdrawn> -->")], True),
        ([(BOT, "My finding was incorrect.")], True),
        ([(BOT, "This was a false positive.")], True),
        ([(BOT, "I am not withdrawing this.")], False),
        ([(BOT, "The bounded loop does not cover this. I'm retaining the finding.")], False),
        ([(BOT, "I can't take this one back.")], False),
        ([(BOT, "Thanks for the context!")], False),
        ([("zeta-review[bot]", "That is a false positive.")], False),
        ([("dev-one", "Please withdraw this.")], False),
        ([(BOT, "I'm withdrawing this."), (BOT, "On reflection I stand by my finding.")], False),
        ([(BOT, "I stand by this."), (BOT, "You are right, I take this one back")], True),
    ],
)
def test_only_the_authors_last_word_withdraws(replies: list[tuple[str, str]], withdrawn: bool) -> None:
    thread = [inline(1, BOT, "Cache key misses the tenant", "10:05:00")]
    for number, (login, body) in enumerate(replies, 2):
        thread.append(inline(number, login, body, f"10:0{number + 4}:00", in_reply_to_id=1))
    assert bool(one(scrape(snapshot(review_comments=thread))).flags) is withdrawn


def test_a_withdrawal_after_the_freeze_changes_nothing() -> None:
    thread = [
        inline(1, BOT, "Cache key misses the tenant", "10:05:00"),
        inline(2, BOT, "I'm withdrawing this.", "10:50:00", in_reply_to_id=1),
    ]
    assert one(scrape(snapshot(review_comments=thread), frozen_at=at("10:30:00"))).flags == ()


# --- authors


def test_case_15_a_ghost_is_counted_and_never_matches() -> None:
    given = case("15")["input"]
    lists = {name: given[name] for name in ("review_comments", "reviews", "issue_comments")}
    scraped = scrape(snapshot(**lists))
    assert scraped.ghosts == 3
    assert all(not comments for comments in scraped.by_reviewer.values())
    assert scraped.unattributed == ()


def test_case_17_commands_and_acknowledgements_are_no_findings() -> None:
    given = case("17")["input"]
    asked = registry(reviewer("acme", trigger=command("/acme review")))
    scraped = read(snapshot(issue_comments=given["issue_comments"]), asked, our_logins=OURS)
    assert scraped.by_reviewer[ACME] == ()
    assert scraped.excluded == {"bare": 1, "command": 1, "ours": 1}
    assert [stray.author for stray in scraped.unattributed] == ["github-actions[bot]"]
    assert scraped.unknown_bots == ("github-actions[bot]",)


def test_case_27_two_bots_a_marker_and_a_user_account() -> None:
    given = case("27")
    tools = [
        reviewer(name).model_copy(
            update={
                "logins": tuple(
                    Login(login=login, type=tool.get("actor_type", "Bot"), body_marker=tool.get("body_marker"))
                    for login in tool["logins"]
                )
            }
        )
        for name, tool in given["input"]["tools"].items()
    ]
    comments = [
        comment(raw["id"], raw["user"], raw["body"], "10:05:00") | {"user": {"login": raw["user"], "type": raw["type"]}}
        for raw in given["input"]["comments"]
    ]
    scraped = read(snapshot(issue_comments=comments), registry(*tools), our_logins=OURS)
    for name in given["input"]["tools"]:
        ids = [int(found.id.split("/")[1]) for found in scraped.by_reviewer[ReviewerId(name)]]
        assert ids == given["expected"][name]
    assert [int(stray.id.split("/")[1]) for stray in scraped.unattributed] == given["expected"]["unattributed"]
    assert scraped.by_reviewer[ReviewerId("wfbot")][0].body == "B"
    assert scraped.unknown_bots == ()


def test_an_unknown_bot_is_reported_and_an_impostor_person_is_not_the_bot() -> None:
    comments = [
        comment(1, "new-reviewer[bot]", "Lock is not released", "10:05:00"),
        comment(2, "acme-reviewer", "I am a person", "10:06:00"),
    ]
    scraped = scrape(snapshot(issue_comments=comments))
    assert scraped.unknown_bots == ("new-reviewer[bot]",)
    assert [stray.id for stray in scraped.unattributed] == ["issue_comment/1", "issue_comment/2"]


def test_our_own_text_is_never_a_finding_even_under_a_reviewers_login() -> None:
    scraped = read(snapshot(issue_comments=[comment(1, BOT, "Bad", "10:05:00")]), BOTH, our_logins=frozenset({BOT}))
    assert scraped.by_reviewer[ACME] == ()
    assert scraped.excluded == {"ours": 1}


# --- reviews, summaries and checks


def test_case_19_the_summary_and_both_inline_findings_are_kept_for_extraction() -> None:
    given = case("19")["input"]
    body = case_file("19_review_body.md").decode()
    reviews = [{name: value for name, value in raw.items() if name != "body_file"} for raw in given["reviews"]]
    reviews[0]["body"] = body
    scraped = scrape(snapshot(reviews=reviews, review_comments=given["review_comments"]))
    found = scraped.by_reviewer[ACME]
    assert [(comment.id, comment.shape) for comment in found] == [
        ("review/500", Shape.REVIEW_BODY),
        ("review_comment/1", Shape.INLINE),
        ("review_comment/2", Shape.INLINE),
    ]
    assert found[0].body == body
    assert [item.place.lines for item in found[1:] if item.place] == [(41, 43), (88, 88)]


def test_case_28_annotations_are_findings_other_kinds_are_counted_and_skipped_did_not_run() -> None:
    given = case("28")["input"]
    kinds = Signals(not_findings=(r'zeta-meta: \{"kind":"(?!code_review")',))
    zeta = reviewer("zeta", "zeta-review[bot]", slugs=("zeta-review",), findings_in_checks=True, signals=kinds)
    shot = snapshot(check_runs=given["check_runs"], issue_comments=given["issue_comments"])
    scraped = read(shot, registry(zeta), our_logins=OURS)
    found = scraped.by_reviewer[ZETA]
    annotations = [item for item in found if item.shape is Shape.ANNOTATION]
    assert [item.place.lines for item in annotations if item.place] == [(3, 3), (9, 10)]
    assert [item.body for item in annotations] == ["Index may be -1", "Result ignored"]
    assert [item.id for item in found if item.shape is Shape.ISSUE_COMMENT] == ["issue_comment/2"]
    assert scraped.excluded == {"did_not_run": 1, "not_findings": 1}


def test_annotations_of_a_reviewer_whose_checks_are_no_findings_are_counted() -> None:
    lint = {"path": "a.py", "start_line": 1, "end_line": 1, "message": "x"}
    quiet = registry(reviewer("acme", slugs=("acme",)))
    scraped = read(
        snapshot(check_runs=[check(7, "acme", "Acme", "success", "10:05:00", annotations=(lint,))]),
        quiet,
        our_logins=OURS,
    )
    assert scraped.by_reviewer[ACME] == ()
    assert scraped.excluded == {"annotations_not_findings": 1}


def test_case_29_only_the_dismissed_review_holds_a_finding() -> None:
    given = case("29")
    reviews = [raw | {"user": user(given["input"]["all_by"])} for raw in given["input"]["reviews"]]
    scraped = scrape(snapshot(reviews=reviews))
    assert [int(item.id.split("/")[1]) for item in scraped.by_reviewer[ACME]] == given["expected"]["findings_from"]
    assert scraped.excluded == {"bare": 1, "empty": 1, "pending": 1}


def test_an_approval_that_says_more_than_lgtm_is_kept() -> None:
    reviews = [review(1, BOT, "LGTM, but the lock is never released", "10:05:00", "APPROVED")]
    assert len(scrape(snapshot(reviews=reviews)).by_reviewer[ACME]) == 1


def test_comments_of_a_review_nobody_submitted_are_ignored() -> None:
    shot = snapshot(
        reviews=[review(9, BOT, "draft", "10:05:00", "PENDING")],
        review_comments=[inline(1, BOT, "Bad", "10:05:00", pull_request_review_id=9)],
    )
    assert scrape(shot).by_reviewer[ACME] == ()


def test_refusals_placeholders_and_clean_texts_hold_no_claim_but_a_clean_text_with_items_does() -> None:
    signals = Signals(
        placeholder=("is reading",), clean=(r"posted: 0\b",), rate_limited=("slow down",), skipped=("skipped",)
    )
    known = registry(reviewer("acme", signals=signals))
    bodies = ["Acme is reading", "Comments posted: 0", "slow down", "Review skipped", ""]
    carried = "Comments posted: 0\n\n<summary>src/mail.py (1)</summary>\n\n`7`: **Address is not checked.**"
    comments = [comment(number, BOT, body, "10:05:00") for number, body in enumerate([*bodies, carried])]
    scraped = read(snapshot(issue_comments=comments), known, our_logins=OURS)
    assert [item.id for item in scraped.by_reviewer[ACME]] == ["issue_comment/5"]
    assert scraped.excluded == {"clean": 1, "empty": 1, "placeholder": 1, "rate_limited": 1, "skipped": 1}


def test_an_inline_finding_about_rate_limits_is_not_taken_for_a_refusal() -> None:
    known = registry(reviewer("acme", signals=Signals(rate_limited=("rate limited",), skipped=("skipped",))))
    shot = snapshot(review_comments=[inline(1, BOT, "A rate limited client is skipped here", "10:05:00")])
    assert len(read(shot, known, our_logins=OURS).by_reviewer[ACME]) == 1


# --- time, order, pages, revisions


def test_late_comments_and_late_edits_are_kept_flagged_and_never_scored() -> None:
    shot = snapshot(
        issue_comments=[
            comment(1, BOT, "Made late", "11:20:00"),
            comment(2, BOT, "Edited late", "10:05:00", "11:20:00"),
        ],
        review_comments=[inline(3, BOT, "In time", "11:00:00")],
    )
    scraped = scrape(shot, frozen_at=OPENED + timedelta(hours=1))
    assert one(scraped).id == "review_comment/3"
    assert [(item.id, item.flags) for item in scraped.late[ACME]] == [
        ("issue_comment/2", ("after_freeze",)),
        ("issue_comment/1", ("after_freeze",)),
    ]


def test_foreign_texts_before_the_first_own_finding_are_counted() -> None:
    shot = snapshot(
        review_comments=[
            inline(1, "zeta-review[bot]", "One", "10:04:00"),
            inline(2, "zeta-review[bot]", "Two", "10:05:00"),
            inline(3, BOT, "Three", "10:06:00"),
            inline(4, "zeta-review[bot]", "Four", "10:07:00"),
        ],
        issue_comments=[comment(5, "dev-one", "hello", "10:01:00")],
    )
    assert scrape(shot).foreign_before_first == {ACME: 2, ZETA: 0}
    silent = scrape(snapshot(issue_comments=[comment(5, BOT, "One remark", "10:01:00")]))
    assert silent.foreign_before_first == {ACME: 0}


def test_the_order_github_lists_things_in_changes_nothing() -> None:
    items = [inline(number, BOT, f"Finding {number}", f"10:{number % 7:02}:00") for number in range(1, 30)]
    items[4] |= {"created_at": None, "updated_at": None}
    expected = scrape(snapshot(review_comments=items))
    for seed in range(5):
        shuffled = random.Random(seed).sample(items, len(items))
        assert scrape(snapshot(review_comments=shuffled)) == expected


def test_case_26_pages_that_overlap_are_merged_and_a_failed_page_is_unknown() -> None:
    given = case("26")
    pages = [[{"id": number} for number in page["ids"]] for page in given["input"]["pages"] if "ids" in page]
    assert len(merge_pages(pages)) == given["expected"]["unique_ids"]
    with pytest.raises(ValueError, match="page 3 was not read"):
        merge_pages([pages[0], pages[1], None])


def test_of_two_versions_of_one_object_the_later_edit_is_kept_wherever_it_came() -> None:
    old, new = comment(1, BOT, "old", "10:00:00"), comment(1, BOT, "new", "10:00:00", "10:09:00")
    for pages in ([[old], [new]], [[new], [old]]):
        assert [raw["body"] for raw in merge_pages(pages)] == ["new"]


def test_an_object_listed_twice_is_one_finding() -> None:
    twice = [inline(1, BOT, "Bad", "10:05:00")] * 2
    assert len(scrape(snapshot(review_comments=twice)).by_reviewer[ACME]) == 1


def test_revisions_count_the_bodies_we_saw() -> None:
    def shot(body: str) -> Snapshot:
        return snapshot(issue_comments=[comment(1, BOT, body, "10:05:00")])

    seen: dict[str, Revision] = {}
    for body, number in [("a", 1), ("a", 1), ("b", 2), ("a", 3)]:
        seen = revisions(seen, shot(body))
        assert seen["issue_comment/1"].number == number
        assert one(scrape(shot(body))).revision == seen["issue_comment/1"].digest
    assert revisions(seen, snapshot()) == seen


def test_a_timestamp_that_is_none_is_an_error_not_a_guess() -> None:
    with pytest.raises(ValueError, match="yesterday"):
        scrape(snapshot(issue_comments=[comment(1, BOT, "x", "10:05:00") | {"created_at": "yesterday"}]))


def test_a_comment_keeps_what_is_needed_to_find_it_again() -> None:
    found = one(scrape(snapshot(review_comments=[inline(91, BOT, "Bad", "10:05:00")])))
    assert (found.id, found.author, found.commit) == ("review_comment/91", BOT, HEAD)
    assert found.permalink == "https://example.test/c/91"
    assert (found.created_at, found.updated_at) == ("2026-01-02T10:05:00Z", "2026-01-02T10:05:00Z")
