"""From a delivery to the story it starts. A hook only nudges: whatever it says is read afresh from GitHub."""

from __future__ import annotations

from typing import assert_never

from pydantic import TypeAdapter

from bot.model import Event, Installed, IssueCommented, IssueOpened, PullActivity
from bot.workflows import engine
from bot.workflows.collect import nudge
from bot.workflows.ids import command_key, issue_key
from bot.workflows.services import current


def dump_event(event: Event) -> engine.Json:
    """An event as the JSON that queue rows hold: reduced, no payload, no token."""
    return {"kind": type(event).__name__, **TypeAdapter(type(event)).dump_python(event, mode="json")}


def load_event(data: engine.Json) -> Event:
    """The event that `dump_event` wrote."""
    kinds = {kind.__name__: TypeAdapter[Event](kind) for kind in (IssueOpened, IssueCommented, PullActivity, Installed)}
    fields = {name: value for name, value in data.items() if name != "kind"}
    return kinds[data["kind"]].validate_python(fields)


@engine.workflow("on_event")
def on_event(data: engine.Json) -> None:
    """Start or nudge what an event is about."""
    event = load_event(data)
    match event:
        case IssueOpened():
            engine.enqueue(
                "start", "consider_issue", issue_key(event.issue_id), event.installation, str(event.repo), event.issue
            )
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
        case PullActivity():
            fork = current().store.fork_by_repo(event.repo)
            if fork is not None:
                nudge(fork)
        case Installed():
            engine.enqueue("events", "welcome", f"welcome-{event.installation}", event.installation, event.account)
        case _:
            assert_never(event)
