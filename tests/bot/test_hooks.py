"""The hook endpoint: verified before it is parsed, queued before it is answered, never a 5xx for what is sent."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from bot.model import Event, IssueOpened
from bot.web.app import create_app
from bot.web.hooks import LARGEST, Intake
from tests.bot import deliveries

GUID = "aaaaaaaa-0000-4000-8000-000000000001"


class Queue:
    """Where accepted events go, as a durable queue would take them: by id, once."""

    def __init__(self) -> None:
        self.events: dict[str, Event] = {}
        self.broken = False

    def accept(self, guid: str, event: Event, told: Callable[[bool], None]) -> None:
        if not self.broken:
            self.events.setdefault(guid, event)
        told(not self.broken)


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def client(queue: Queue) -> FlaskClient:
    intake = Intake([deliveries.SECRET], deliveries.APP_ID, lambda: deliveries.SLUG, queue.accept)
    app = create_app(intake, ready=lambda: None, metrics=lambda: b"assay_up 1\n")
    return app.test_client()


def post(client: FlaskClient, body: bytes, **headers: str) -> int:
    sent = deliveries.headers("issues", body) | {"X-GitHub-Delivery": GUID} | headers
    return client.post("/webhooks/github", data=body, headers=sent).status_code


def opened() -> bytes:
    return json.dumps(deliveries.payload("issues")).encode()


def test_a_genuine_delivery_is_queued_under_its_guid_and_accepted(client: FlaskClient, queue: Queue) -> None:
    assert post(client, opened()) == 202
    assert isinstance(queue.events[GUID], IssueOpened)


def test_a_redelivered_guid_joins(client: FlaskClient, queue: Queue) -> None:
    assert [post(client, opened()) for _ in range(3)] == [202, 202, 202]
    assert len(queue.events) == 1


@pytest.mark.parametrize("signature", ["sha256=" + "0" * 64, "", "sha1=abc"])
def test_a_forged_delivery_is_refused_before_it_is_read(client: FlaskClient, queue: Queue, signature: str) -> None:
    assert post(client, b"{not json", **{"X-Hub-Signature-256": signature}) == 401
    assert queue.events == {}


def test_a_delivery_without_a_guid_is_refused_not_guessed(client: FlaskClient, queue: Queue) -> None:
    assert post(client, opened(), **{"X-GitHub-Delivery": "; drop table"}) == 400
    assert queue.events == {}


def test_a_body_that_github_would_not_send_is_too_large(client: FlaskClient) -> None:
    assert post(client, b"x" * (LARGEST + 1)) == 413


def test_an_event_that_is_none_of_ours_is_ignored_with_200(client: FlaskClient, queue: Queue) -> None:
    body = opened()
    sent = deliveries.headers("star", body) | {"X-GitHub-Delivery": GUID}
    assert client.post("/webhooks/github", data=body, headers=sent).status_code == 200
    assert queue.events == {}


def test_a_delivery_that_could_not_be_queued_is_not_acknowledged(client: FlaskClient, queue: Queue) -> None:
    queue.broken = True
    assert post(client, opened()) == 500


def test_health_readiness_and_metrics_answer(client: FlaskClient) -> None:
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200
    told = client.get("/metrics")
    assert (told.text, told.content_type) == ("assay_up 1\n", "text/plain; version=0.0.4; charset=utf-8")


def test_a_process_whose_database_is_gone_is_not_ready(queue: Queue) -> None:
    def broken() -> None:
        raise RuntimeError("no database")

    intake = Intake([deliveries.SECRET], deliveries.APP_ID, lambda: deliveries.SLUG, queue.accept)
    client = create_app(intake, ready=broken, metrics=bytes).test_client()
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200


def test_while_our_own_slug_is_not_known_deliveries_are_taken_all_the_same(queue: Queue) -> None:
    intake = Intake([deliveries.SECRET], deliveries.APP_ID, lambda: "", queue.accept)
    app = create_app(intake, ready=lambda: None, metrics=bytes)
    assert post(app.test_client(), opened()) == 202


def test_every_delivery_is_counted_by_what_became_of_it(queue: Queue) -> None:
    counted: list[str] = []
    secrets, slug = [deliveries.SECRET], deliveries.SLUG
    intake = Intake(secrets, deliveries.APP_ID, lambda: slug, queue.accept, count=counted.append)
    client = create_app(intake, ready=lambda: None, metrics=bytes).test_client()
    post(client, opened())
    post(client, opened(), **{"X-GitHub-Event": "star"})
    post(client, opened(), **{"X-Hub-Signature-256": "sha256=" + "0" * 64})
    post(client, b"x" * (LARGEST + 1))
    queue.broken = True
    assert post(client, opened()) == 500
    assert counted == ["queued", "ignored", "rejected", "rejected", "failed"]
