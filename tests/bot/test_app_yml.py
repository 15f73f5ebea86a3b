"""`app.yml` asks for what the code uses, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.adapters.github_permissions import OPTIONAL, USES, needed
from bot.webhooks import EVENTS

_ROOT = Path(__file__).resolve().parents[2]

_EVENT_NEEDS = {
    "check_run": "checks",
    "issue_comment": "issues",
    "issues": "issues",
    "pull_request": "pull_requests",
    "pull_request_review": "pull_requests",
    "pull_request_review_comment": "pull_requests",
    "push": "contents",
    "status": "statuses",
}

_MANIFEST_FIELDS = {
    "name": str,
    "url": str,
    "hook_attributes": dict,
    "redirect_url": str,
    "callback_urls": list,
    "setup_url": str,
    "description": str,
    "public": bool,
    "default_events": list,
    "default_permissions": dict,
    "request_oauth_on_install": bool,
    "setup_on_update": bool,
}


@pytest.fixture
def app() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((_ROOT / "app.yml").read_text(encoding="utf-8"))
    return loaded


def test_every_field_is_one_of_githubs_manifest_and_of_its_type(app: dict[str, Any]) -> None:
    assert all(isinstance(value, _MANIFEST_FIELDS[name]) for name, value in app.items())
    assert set(app["hook_attributes"]) == {"url", "active"}
    assert app["hook_attributes"]["active"] is True
    assert app["hook_attributes"]["url"].endswith("/webhooks/github")
    assert app["url"].startswith("https://")


def test_the_app_is_private_and_asks_for_what_the_table_of_uses_says(app: dict[str, Any]) -> None:
    assert app["public"] is False
    assert app["default_permissions"] == needed()


def test_what_the_app_can_do_without_is_asked_for_too(app: dict[str, Any]) -> None:
    assert set(app["default_permissions"]) >= OPTIONAL
    assert all(calls for uses in USES.values() for calls in uses.values()), "a permission that no call needs"


def test_the_app_cannot_touch_workflows_or_members(app: dict[str, Any]) -> None:
    assert not {"workflows", "members", "actions", "secrets"} & set(app["default_permissions"])
    assert app["default_permissions"]["organization_administration"] == "read"


def test_the_events_are_those_that_webhooks_reads(app: dict[str, Any]) -> None:
    assert tuple(app["default_events"]) == EVENTS
    assert set(EVENTS) == set(_EVENT_NEEDS)


def test_no_event_is_subscribed_to_without_the_permission_it_needs(app: dict[str, Any]) -> None:
    assert {_EVENT_NEEDS[event] for event in app["default_events"]} <= set(app["default_permissions"])


def test_events_that_github_always_delivers_are_not_listed(app: dict[str, Any]) -> None:
    assert not [event for event in app["default_events"] if event.startswith(("installation", "github_app"))]
