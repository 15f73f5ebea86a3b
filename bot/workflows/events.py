"""From a delivery to the story it starts. A hook only nudges: whatever it says is read afresh from GitHub."""

from __future__ import annotations

import functools
from typing import assert_never, get_args

from pydantic import TypeAdapter

from bot.model import ButtonPressed, Event, Installed, IssueCommented, IssueEdited, IssueOpened, PullActivity, Pushed
from bot.workflows import engine
from bot.workflows.collect import nudge
from bot.workflows.ids import button_key, command_key, issue_key
from bot.workflows.services import current


def dump_event(event: Event) -> engine.Json:
    """An event as the JSON that queue rows hold: reduced, no payload, no token."""
    return {"kind": type(event).__name__, **_adapter(type(event).__name__).dump_python(event, mode="json")}


def load_event(data: engine.Json) -> Event:
    """The event that `dump_event` wrote."""
    fields = {name: value for name, value in data.items() if name != "kind"}
    return _adapter(data["kind"]).validate_python(fields)


@functools.cache
def _adapter(kind: str) -> TypeAdapter[Event]:
    kinds = {one.__name__: one for one in get_args(Event)}
    return TypeAdapter(kinds[kind])


@engine.workflow("on_event")
def on_event(data: engine.Json) -> None:
    """Start or nudge what an event is about."""
    event = load_event(data)
    match event:
        case IssueOpened() | IssueEdited():
            key = issue_key(event.issue_id, event.body)
            engine.enqueue("start", "consider_issue", key, event.installation, str(event.repo), event.issue)
        case IssueCommented():
            engine.enqueue(
                "events",
                "consider_command",
                command_key(event.comment_id),
                event.installation,
                str(event.repo),
                event.issue,
                event.comment_id,
            )
        case ButtonPressed():
            # A press has no id of its own; a delivery that comes twice is one workflow, and so one moment.
            at = engine.step("now", lambda: current().clock().timestamp())
            key = button_key(event.check, event.identifier, at)
            who = [event.sender.login, event.sender.type]
            args = [event.installation, str(event.repo), event.head_sha, event.identifier, *who, key]
            engine.enqueue("events", "consider_button", key, *args)
        case PullActivity():
            fork = current().store.fork_by_repo(event.repo)
            if fork is not None:
                nudge(fork)
        case Pushed():
            args = [event.installation, str(event.repo), event.sha]
            engine.enqueue("events", "check_own", f"own-{event.repo}-{event.sha}", *args, 1)
        case Installed():
            engine.enqueue("events", "welcome", f"welcome-{event.installation}", event.installation, event.account)
        case _:
            assert_never(event)
