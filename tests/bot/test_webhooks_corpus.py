"""No signed payload makes `parse` raise: fields removed, nulled, of another kind or far too big."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import Event, Ignored, PullActivity, Rejected
from bot.webhooks import EVENTS, _json, parse
from tests.bot.deliveries import APP_ID, SECRET, SLUG, Payload, headers, payload

_ALL = (*EVENTS, "installation")
_RESULTS = (*get_args(Event), Ignored, Rejected)
_REMOVED = object()
_WRONG: st.SearchStrategy[object] = st.one_of(
    st.sampled_from(
        [_REMOVED, None, True, False, 0, -1, 2**63, 10**400, 1.5, 1e308, "", "\x00", "\ud800", [], {}, [None], [[]]]
    ),
    st.text(max_size=20),
    st.integers(),
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=2), max_leaves=4
    ),
    st.dictionaries(st.sampled_from(["login", "id", "number", "sha", "pull_request"]), st.none() | st.text(max_size=5)),
)


def _paths(value: object, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*at, key)
            yield from _paths(inner, (*at, key))


def _changed(content: Payload, path: tuple[str, ...], value: object) -> Payload:
    changed = copy.deepcopy(content)
    inner: Any = changed
    for key in path[:-1]:
        inner = inner.get(key) if isinstance(inner, dict) else None
    if isinstance(inner, dict):
        if value is _REMOVED:
            inner.pop(path[-1], None)
        else:
            inner[path[-1]] = value
    return changed


@st.composite
def spoiled(draw: st.DrawFn) -> tuple[str, Payload]:
    event = draw(st.sampled_from(_ALL))
    content = payload(event)
    if event == "issue_comment" and draw(st.booleans()):
        content["issue"]["pull_request"] = {"url": "x"}
    if event == "issues" and draw(st.booleans()):
        content |= {"action": "edited", "changes": {"body": {"from": "x"}}}
    if event == "check_run" and draw(st.booleans()):
        content |= {"action": "requested_action", "requested_action": {"identifier": "cleanup"}}
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(sorted(_paths(content))))
        content = _changed(content, path, draw(_WRONG))
        if not content:
            break
    return event, content


def _parse(event: str, body: bytes) -> object:
    return parse(headers(event, body), body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)


@settings(max_examples=400, deadline=None)
@given(spoiled())
def test_a_spoiled_payload_is_read_ignored_or_rejected_but_never_raises(delivery: tuple[str, Payload]) -> None:
    event, content = delivery
    answer = _parse(event, json.dumps(content).encode())
    assert isinstance(answer, _RESULTS)
    if isinstance(answer, Rejected):
        assert answer.status == 400
    if isinstance(answer, PullActivity):
        assert answer.pull is not None or answer.head_sha is not None


@pytest.mark.parametrize("event", _ALL)
def test_each_single_field_may_be_missing_null_or_of_another_kind(event: str) -> None:
    whole = payload(event)
    assert isinstance(_parse(event, json.dumps(whole).encode()), get_args(Event))
    for path in _paths(whole):
        for value in (_REMOVED, None, 7, "x", [], {}, True, 10**4000):
            answer = _parse(event, json.dumps(_changed(whole, path, value)).encode())
            assert isinstance(answer, _RESULTS), (path, value)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(_ALL), st.binary(max_size=200))
def test_signed_bytes_of_any_kind_never_raise(event: str, body: bytes) -> None:
    assert isinstance(_parse(event, body), _RESULTS)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(max_size=30), st.text(max_size=80), max_size=5), st.binary(max_size=50))
def test_headers_of_any_kind_never_raise(strange: dict[str, str], body: bytes) -> None:
    assert isinstance(parse(strange, body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG), _RESULTS)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON, st.binary(max_size=4), st.integers(0, 60), st.booleans())
def test_the_quick_reader_takes_and_refuses_what_the_standard_one_does(
    value: Any, bytes_within: bytes, at: int, ascii_only: bool
) -> None:
    whole = json.dumps({"sha": value}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    body = whole[:at] + bytes_within + whole[at:]
    try:
        expected = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        expected = _REMOVED
    try:
        found = _json(body)
    except (ValueError, RecursionError):
        found = _REMOVED
    assert repr(found) == repr(expected)


def _no_constant(word: str) -> None:
    raise ValueError(word)


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": 1, "a": 2}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": "\\ud83d"}',
        b'{"a": 1e999, "b": -0.0, "c": 123456789012345678901234567890}',
        b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}",
    ],
)
def test_odd_json_is_read_as_the_standard_reader_does(body: bytes) -> None:
    assert repr(_json(body)) == repr(json.loads(body))
