"""The real words of two reviewers, read by the registry that ships."""

from __future__ import annotations

from functools import cache
from importlib import resources

import pytest

from bot.conversation import Tone, tone
from bot.model import Asks, Settled, Waiting
from bot.patterns import bounded, window
from bot.registry import Registry, Reviewer, load_registry
from bot.scrape import read
from bot.settle import decide
from scoring.model import ReviewerId, TrialStatus
from tests.bot.talk import ASKED, OPENED, at, comment, inline, review, snapshot
from tests.shared import SHARED

BANNERS = SHARED / "data" / "real_comments" / "banners"


@cache
def shipped() -> Registry:
    text = resources.files("manifests").joinpath("reviewers.yaml").read_text(encoding="utf-8")
    return load_registry(("reviewers.yaml", text))


def known(id_: str) -> Reviewer:
    entry = shipped().get(id_)
    assert entry is not None
    return entry


def banner(name: str) -> tuple[str, Reviewer]:
    path = BANNERS / name
    if not path.exists():
        pytest.skip(f"{path} is missing: the shared reference material is not here")
    return path.read_text(encoding="utf-8"), known(name.split("__")[0])


def settled(name: str) -> Settled:
    """What a trial ends as whose reviewer said only this."""
    body, entry = banner(name)
    shot = snapshot(issue_comments=[comment(1, entry.logins[0].login, body, "10:02:00")])
    decision = decide(shot, entry, Asks((OPENED,) * entry.wait.max_asks), at("12:00:00"))
    assert isinstance(decision, Settled)
    return decision


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("coderabbit__rate-limit-bold-window.md", TrialStatus.RATE_LIMITED),
        ("coderabbit__rate-limit-fair-usage.md", TrialStatus.RATE_LIMITED),
        ("coderabbit__rate-limit-legacy.md", TrialStatus.RATE_LIMITED),
        ("coderabbit__rate-limit-no-window.md", TrialStatus.RATE_LIMITED),
        ("coderabbit__cli-rate-limit.json", TrialStatus.RATE_LIMITED),
        ("codex__usage-limit.md", TrialStatus.RATE_LIMITED),
        ("coderabbit__review-skipped-auto-reviews-disabled.md", TrialStatus.SKIPPED),
        ("coderabbit__reviews-paused.md", TrialStatus.SKIPPED),
        ("coderabbit__already-reviewed.md", TrialStatus.SKIPPED),
        ("coderabbit__summary-only-free-plan.md", TrialStatus.SKIPPED),
        ("coderabbit__review-skipped-too-many-files.md", TrialStatus.UNABLE),
        ("codex__connect-notice.md", TrialStatus.UNABLE),
        ("codex__environment-notice.md", TrialStatus.UNABLE),
        ("coderabbit__review-failed.md", TrialStatus.ERROR),
        ("coderabbit__review-in-progress.md", TrialStatus.TIMEOUT),
        ("coderabbit__completion-reply.md", TrialStatus.TIMEOUT),
        ("coderabbit__no-actionable-comments.md", TrialStatus.REVIEWED_CLEAN),
        ("codex__clean-summary-legacy.md", TrialStatus.REVIEWED_CLEAN),
        ("coderabbit__findings-outside-diff.md", TrialStatus.REVIEWED_FINDINGS),
        ("coderabbit__findings-failed-to-post.md", TrialStatus.REVIEWED_FINDINGS),
        ("coderabbit__findings-nested-quotes.md", TrialStatus.REVIEWED_FINDINGS),
        ("codex__findings-outside-diff.md", TrialStatus.REVIEWED_FINDINGS),
    ],
)
def test_a_real_text_alone_ends_a_trial_as(name: str, status: TrialStatus) -> None:
    assert settled(name).status is status


def test_a_clean_text_about_another_commit_proves_nothing_about_this_one() -> None:
    body, entry = banner("codex__clean-summary-tada.md")
    for text, status in [
        (body, TrialStatus.TIMEOUT),
        (body.replace("4d9e8bca82", "c" * 10), TrialStatus.REVIEWED_CLEAN),
    ]:
        shot = snapshot(issue_comments=[comment(1, entry.logins[0].login, text, "10:02:00")])
        decision = decide(shot, entry, ASKED, at("12:00:00"))
        assert isinstance(decision, Settled)
        assert decision.status is status


def test_a_person_quoting_the_command_is_no_review() -> None:
    body, entry = banner("codex__review-command.md")
    assert tone(body, entry) is Tone.PROSE
    shot = snapshot(issue_comments=[comment(1, "dev-one", body, "10:02:00")])
    assert decide(shot, entry, ASKED, at("10:10:00")) == Waiting(at("10:30:00"))


@pytest.mark.parametrize(
    ("name", "minutes"),
    [
        ("coderabbit__rate-limit-bold-window.md", 40),
        ("coderabbit__rate-limit-fair-usage.md", 48),
        ("coderabbit__rate-limit-legacy.md", 3),
        ("coderabbit__cli-rate-limit.json", 32),
        ("coderabbit__rate-limit-no-window.md", None),
    ],
)
def test_the_window_of_a_real_rate_limit_is_read(name: str, minutes: int | None) -> None:
    body, entry = banner(name)
    assert entry.signals.window is not None
    match = bounded(entry.signals.window).search(window(body))
    assert (int(match["minutes"]) if match else None) == minutes


@pytest.mark.parametrize(
    "name",
    [
        *sorted(path.name for path in BANNERS.glob("*__findings-*.md")),
        "coderabbit__finding-with-also-applies-trailer.md",
    ],
)
def test_a_real_text_with_findings_is_kept_and_the_rest_is_not(name: str) -> None:
    body, entry = banner(name)
    shot = snapshot(reviews=[review(1, entry.logins[0].login, body, "10:02:00")])
    scraped = read(shot, shipped(), our_logins=frozenset())
    assert [item.body for item in scraped.by_reviewer[ReviewerId(entry.id)]] == [body.lstrip("\r\n")]


@pytest.mark.parametrize(
    "name",
    [
        "coderabbit__rate-limit-fair-usage.md",
        "coderabbit__review-skipped-too-many-files.md",
        "coderabbit__review-in-progress.md",
        "coderabbit__review-failed.md",
        "coderabbit__completion-reply.md",
        "coderabbit__no-actionable-comments.md",
        "coderabbit__thread-ack-also-applies.md",
        "codex__clean-summary-legacy.md",
        "codex__connect-notice.md",
        "codex__usage-limit.md",
    ],
)
def test_a_real_text_without_findings_is_left_out_and_counted(name: str) -> None:
    body, entry = banner(name)
    shot = snapshot(issue_comments=[comment(1, entry.logins[0].login, body, "10:02:00")])
    scraped = read(shot, shipped(), our_logins=frozenset())
    assert scraped.by_reviewer[ReviewerId(entry.id)] == ()
    assert sum(scraped.excluded.values()) == 1


@pytest.mark.parametrize(
    ("name", "withdrawn"),
    [
        ("coderabbit__reply-withdrawn.md", True),
        ("coderabbit__reply-withdrawn-confirmed.md", True),
        ("coderabbit__reply-withdrawn-marker.md", True),
        ("coderabbit__reply-retained.md", False),
        ("coderabbit__thread-ack-also-applies.md", False),
    ],
)
def test_a_real_reply_withdraws_or_does_not(name: str, withdrawn: bool) -> None:
    body, entry = banner(name)
    login = entry.logins[0].login
    thread = [inline(1, login, "**Bad.**", "10:02:00"), inline(2, login, body, "10:05:00", in_reply_to_id=1)]
    scraped = read(snapshot(review_comments=thread), shipped(), our_logins=frozenset())
    (found,) = scraped.by_reviewer[ReviewerId(entry.id)]
    assert bool(found.flags) is withdrawn
