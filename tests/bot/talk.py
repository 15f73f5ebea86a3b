"""Small makers of GitHub's objects, for tests of what is read from a conversation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from bot.model import Asks, RepoName, Snapshot
from bot.registry import Login, Registry, Reviewer, Signals, TriggerSpec, Wait

HEAD = "c" * 40
OPENED = datetime(2026, 1, 2, 10, 0, tzinfo=UTC)
ASKED = Asks((OPENED,))


def at(clock: str) -> datetime:
    """`10:07:40` on the day of the test."""
    hours, minutes, seconds = (int(part) for part in clock.split(":"))
    return OPENED.replace(hour=hours, minute=minutes, second=seconds)


def stamp(clock: str | datetime) -> str:
    moment = at(clock) if isinstance(clock, str) else clock
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def user(login: str | None) -> dict[str, str] | None:
    if login is None:
        return None
    return {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}


def comment(number: int, login: str | None, body: str, clock: str, edited: str | None = None) -> dict[str, Any]:
    return {
        "id": number,
        "user": user(login),
        "body": body,
        "created_at": stamp(clock),
        "updated_at": stamp(edited or clock),
        "html_url": f"https://example.test/c/{number}",
    }


def inline(number: int, login: str | None, body: str, clock: str, line: int | None = 3, **more: Any) -> dict[str, Any]:
    place = {
        "path": "src/app.py",
        "line": line,
        "original_line": line,
        "start_line": None,
        "original_start_line": None,
        "side": "RIGHT",
        "start_side": None,
        "commit_id": HEAD,
        "original_commit_id": HEAD,
        "subject_type": "line",
        "pull_request_review_id": 500,
    }
    return comment(number, login, body, clock) | place | more


def review(number: int, login: str, body: str, clock: str, state: str = "COMMENTED", **more: Any) -> dict[str, Any]:
    stamped = {"id": number, "user": user(login), "body": body, "state": state, "submitted_at": stamp(clock)}
    return stamped | {"commit_id": HEAD} | more


def check(
    number: int,
    slug: str,
    name: str,
    conclusion: str | None,
    clock: str,
    title: str = "",
    summary: str = "",
    annotations: tuple[dict[str, Any], ...] = (),
) -> dict[str, Any]:
    return {
        "id": number,
        "name": name,
        "app": {"slug": slug},
        "head_sha": HEAD,
        "status": "completed" if conclusion else "in_progress",
        "conclusion": conclusion,
        "started_at": stamp(OPENED + timedelta(seconds=5)),
        "completed_at": stamp(clock) if conclusion else None,
        "output": {"title": title, "summary": summary, "annotations_count": len(annotations)},
        "annotations": list(annotations),
    }


def snapshot(**lists: Any) -> Snapshot:
    """A snapshot of a pull request with these lists of objects."""
    made = {name: tuple(value) for name, value in lists.items()}
    return Snapshot(RepoName("acme", "shop"), 1, HEAD, OPENED, {}, **made)


def reviewer(
    id_: str = "acme",
    *logins: str,
    slugs: tuple[str, ...] = (),
    checks: tuple[str, ...] = (),
    wait: Wait | None = None,
    signals: Signals | None = None,
    **more: Any,
) -> Reviewer:
    """A reviewer with short waits: floor 60 s, quiet 180 s, grace 30 s, deadline an hour."""
    accounts = tuple(
        Login(login=login, type="Bot" if login.endswith("[bot]") else "User")
        for login in logins or (f"{id_}-reviewer[bot]",)
    )
    return Reviewer(
        id=id_,
        name=id_.title(),
        logins=accounts,
        app_slugs=slugs,
        check_names=checks,
        wait=wait or Wait(floor=60, quiet=180, grace=30, deadline=3600, ask_gap=300, max_asks=2),
        signals=signals or Signals(),
        **more,
    )


def registry(*reviewers: Reviewer) -> Registry:
    return Registry(reviewers)


def command(text: str) -> TriggerSpec:
    return TriggerSpec.model_validate({"kind": "comment", "text": text})
