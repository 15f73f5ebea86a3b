"""JSON that is wrong or hostile ends in one clear sentence, never in a stack of frames or a silent reading."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldens.importers import ImportProblem
from goldens.importers.strict import MAX_DEPTH, Node, load, step

BAD = {
    "cut off": (b'{"a": [1, 2', "bad.json: line 1, column 12: expected JSON (Expecting ',' delimiter), found the end"),
    "empty": (b"", "bad.json: line 1, column 1: expected JSON (Expecting value), found the end of the file"),
    "two values": (b"{} {}", "expected JSON (Extra data), found '{}'"),
    "latin-1": ('{"a": "é"}'.encode("latin-1"), "bad.json: $: expected UTF-8 text, found byte 0xe9 at offset 7"),
    "utf-16": ("{}".encode("utf-16"), "expected UTF-8 text, found byte 0xff at offset 0"),
    "a key twice": (
        b'{"x": [{"a": 1, "b": 2, "a": 3}]}',
        "bad.json: $.x[0]: expected each key once, found key 'a' twice",
    ),
    "NaN": (b'{"a": NaN}', "NaN is no JSON number"),
    "infinite": (b'{"a": 1e999}', "1e999 is too large"),
    "minus infinite": (b"[-Infinity]", "-Infinity is no JSON number"),
    "half a surrogate": (
        b'{"a": ["\\ud800"]}',
        "bad.json: $.a[0]: expected Unicode text, found half of a surrogate pair",
    ),
    "half a surrogate as a key": (b'{"\\udfff": 1}', "found half of a surrogate pair"),
    "an endless number": (b"[" + b"9" * 5000 + b"]", "expected finite numbers of a sane length"),
}


@pytest.mark.parametrize(("raw", "says"), BAD.values(), ids=BAD)
def test_what_is_no_sound_json_is_refused_with_its_place(raw: bytes, says: str) -> None:
    with pytest.raises(ImportProblem) as error:
        load(raw, "bad.json")
    assert says in str(error.value)
    assert str(error.value).startswith("bad.json: ")


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 900, 200_000])
@pytest.mark.parametrize("opening", [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_without_end_is_refused_quickly(levels: int, opening: tuple[bytes, bytes]) -> None:
    raw = opening[0] * levels + b"1" + opening[1] * levels
    start = time.process_time()
    with pytest.raises(ImportProblem, match=f"expected at most {MAX_DEPTH} levels of nesting, found deeper nesting"):
        load(raw, "deep.json")
    assert time.process_time() - start < 2


def test_a_byte_order_mark_is_passed_over() -> None:
    assert load(b"\xef\xbb\xbf[1]", "marked.json") == [1]


def test_a_whole_surrogate_pair_is_text() -> None:
    assert load(b'["\\ud83d\\ude00"]', "smile.json") == ["\N{GRINNING FACE}"]


def test_every_problem_is_named_not_just_the_first() -> None:
    node = Node.of(b'{"a": 1, "b": "x", "c": [true]}', "many.json")
    node.get("a").text()
    node.get("b").whole()
    node.get("c").items()[0].number()
    node.get("c").get("d")
    with pytest.raises(ImportProblem) as error:
        node.finish()
    assert str(error.value).splitlines() == [
        "many.json: $.a: expected a text, found the number 1",
        "many.json: $.b: expected a whole number from 0, or null, found 'x'",
        "many.json: $.c[0]: expected a number, or null, found true",
        "many.json: $.c: expected an object, found a list",
    ]


def test_a_misspelt_key_is_recognised() -> None:
    node = Node.of(b'[{"url": "u", "coments": []}]', "g.json")
    node.items()[0].need("comments", {"url"})
    with pytest.raises(ImportProblem) as error:
        node.finish()
    assert str(error.value) == "g.json: $[0]: expected a key 'comments', found 'coments'; did you mean 'comments'?"


def test_a_known_key_is_never_taken_for_a_misspelling() -> None:
    node = Node.of(b'{"comment": "x"}', "g.json")
    node.need("comments", {"comment"})
    with pytest.raises(ImportProblem) as error:
        node.finish()
    assert "did you mean" not in str(error.value)


@pytest.mark.parametrize(
    ("key", "shown"), [("tool", ".tool"), (3, "[3]"), ('a"b', '["a\\"b"]'), ("https://x/y", '["https://x/y"]')]
)
def test_paths_are_json_paths(key: str | int, shown: str) -> None:
    assert step(key) == shown


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_sound_json_is_read_as_it_is(value: object) -> None:
    assert load(json.dumps(value).encode(), "x.json") == value


@given(st.binary(max_size=200))
def test_whatever_the_bytes_it_is_read_or_refused(raw: bytes) -> None:
    try:
        load(raw, "x.json")
    except ImportProblem as problem:
        assert str(problem).startswith("x.json: ")
