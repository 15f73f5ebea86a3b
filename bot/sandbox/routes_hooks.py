"""Routes of an App's webhook: its configuration and what was delivered."""

from __future__ import annotations

import json
from typing import Any

from bot.sandbox.deliveries import Attempt
from bot.sandbox.errors import ApiError, not_found
from bot.sandbox.links import maybe
from bot.sandbox.routing import Answer, Call, route

Json = dict[str, Any]
HIDDEN = "********"
"""What GitHub shows of a secret."""


def _config(call: Call) -> Answer:
    app = call.caller.app
    assert app is not None
    told = {"content_type": "json", "insecure_ssl": "0", "url": app.webhook_url or ""}
    return Answer({**told, "secret": HIDDEN} if app.webhook_secret else told)


@route("GET", "/app/hook/config", auth="app")
def get_config(call: Call) -> Answer:
    """Where deliveries go."""
    return _config(call)


@route("PATCH", "/app/hook/config", auth="app")
def set_config(call: Call) -> Answer:
    """Change address or secret."""
    app = call.caller.app
    assert app is not None
    if "url" in call.body:
        app.webhook_url = call.optional_text("url")
    if "secret" in call.body:
        app.webhook_secret = call.optional_text("secret")
    return _config(call)


def _item(attempt: Attempt) -> Json:
    return {
        "id": attempt.id,
        "guid": attempt.guid,
        "delivered_at": maybe(attempt.delivered_at),
        "redelivery": attempt.redelivery,
        "duration": attempt.duration,
        "status": attempt.status,
        "status_code": attempt.status_code,
        "event": attempt.event,
        "action": attempt.action,
        "installation_id": attempt.installation_id,
        "repository_id": attempt.repository_id,
        "throttled_at": None,
    }


def _mine(call: Call) -> list[Attempt]:
    assert call.caller.app is not None
    return call.deliveries.attempts(call.caller.app)


@route("GET", "/app/hook/deliveries", auth="app")
def list_deliveries(call: Call) -> Answer:
    """Newest first, page by page with a cursor."""
    found = _mine(call)
    status = call.query.get("status")
    if status is not None:
        found = [one for one in found if (one.status_code < 400) == (status == "success")]
    cursor = call.query.get("cursor")
    if cursor is not None:
        found = [one for one in found if one.id < _read_cursor(cursor)]
    text = call.query.get("per_page", "30")
    size = min(int(text), 100) if text.isascii() and text.isdigit() and int(text) else 30
    shown = found[:size]
    headers = {}
    if len(found) > size:
        kept = "".join(f"&{name}={value}" for name, value in (("status", status), ("per_page", size)) if value)
        url = call.links.api(f"/app/hook/deliveries?cursor=v1_{shown[-1].id}{kept}")
        headers["Link"] = f'<{url}>; rel="next"'
    return Answer([_item(one) for one in shown], headers=headers)


def _read_cursor(text: str) -> int:
    digits = text.removeprefix("v1_")
    if not (digits.isascii() and digits.isdigit()):
        raise ApiError(400, "Invalid cursor")
    return int(digits)


def _one(call: Call) -> Attempt:
    found = next((one for one in _mine(call) if one.id == call.params["delivery_id"]), None)
    if found is None:
        raise not_found()
    return found


@route("GET", "/app/hook/deliveries/<int:delivery_id>", auth="app")
def get_delivery(call: Call) -> Answer:
    """One delivery with its payload."""
    attempt = _one(call)
    request = {"headers": attempt.request_headers, "payload": json.loads(attempt.body)}
    response = {"headers": attempt.response_headers, "payload": attempt.response_body}
    return Answer({**_item(attempt), "url": attempt.app.webhook_url or "", "request": request, "response": response})


@route("POST", "/app/hook/deliveries/<int:delivery_id>/attempts", auth="app")
def redeliver(call: Call) -> Answer:
    """Deliver it again, under the same GUID."""
    call.deliveries.redeliver(_one(call))
    return Answer({}, 202)
