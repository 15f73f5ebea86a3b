"""Reading GitHub's objects where a server may leave out what GitHub itself always sends. Needed parts stay needed."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.model import Actor, Raw


def author(raw: Raw) -> Actor | None:
    """Who wrote it; None where the account is gone."""
    user = raw.get("user")
    if not user or not user.get("login"):
        return None
    login = str(user["login"])
    return Actor(login, str(user.get("type") or ("Bot" if login.endswith("[bot]") else "User")))


def written_by(raw: Raw, login: str) -> bool:
    """Whether it is this account's."""
    who = author(raw)
    return who is not None and who.login.lower() == login.lower()


def created(raw: Raw) -> datetime | None:
    """When it was made; None where the server does not say."""
    text = raw.get("created_at")
    if not text:
        return None
    moment = datetime.fromisoformat(str(text))
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def issue_number(comment: Raw) -> int | None:
    """The issue that a comment of a repository-wide list stands on."""
    for name in ("issue_url", "html_url"):
        number = str(comment.get(name) or "").partition("#")[0].rstrip("/").rpartition("/")[2]
        if number.isdecimal():
            return int(number)
    return None


def link(raw: Raw) -> str:
    """Where people see it; empty where the server has no pages."""
    return str(raw.get("html_url") or "")
