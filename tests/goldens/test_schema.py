"""Every mistake in a suite file is told with its line, its field, what is allowed and what was probably meant."""

from __future__ import annotations

import time

import pytest

from goldens.located import MAX_BYTES
from goldens.schema import Pin, SuiteError, parse_suite
from tests.goldens.written import PINNED, YAML, changed, line_of

GOLDEN_FIELDS = (
    "id, path, lines, side, category, severity, finding, evidence, group, "
    "impact, discoverability, label, status, reason, fix, unverified, audit"
)


def problems(yaml: str | bytes) -> list[str]:
    data = yaml if isinstance(yaml, bytes) else yaml.encode("utf-8")
    with pytest.raises(SuiteError) as raised:
        parse_suite(data, "tiny.yaml")
    assert str(raised.value) == "\n".join(map(str, raised.value.problems))
    return str(raised.value).splitlines()


def test_a_good_file_is_read_whole() -> None:
    suite, document = parse_suite(YAML.encode(), "tiny.yaml")
    assert suite.pulls[0].goldens[0].lines == (5, 6)
    assert document.locate(("pulls", 0, "goldens", 0, "severity")) == (17, "pulls[0].goldens[0].severity")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "        severity: high",
            "        severty: high",
            [
                "tiny.yaml:13: pulls[0].goldens[0].severity: missing",
                f"tiny.yaml:17: pulls[0].goldens[0].severty: unknown field; allowed: {GOLDEN_FIELDS}; "
                "did you mean 'severity'?",
            ],
        ),
        (
            "severity: high",
            "severity: hihg",
            [
                "tiny.yaml:17: pulls[0].goldens[0].severity: 'hihg' is not a severity; "
                "allowed: critical, high, medium, low; did you mean 'high'?"
            ],
        ),
        (
            "severity: high",
            "severity: HIGH",
            [
                "tiny.yaml:17: pulls[0].goldens[0].severity: 'HIGH' is not a severity; "
                "allowed: critical, high, medium, low; did you mean 'high'?"
            ],
        ),
        (
            "severity: high",
            "severity: 3",
            ["tiny.yaml:17: pulls[0].goldens[0].severity: 3 is not a severity; allowed: critical, high, medium, low"],
        ),
        (
            "category: correctness",
            "category: correctnes",
            [
                "tiny.yaml:16: pulls[0].goldens[0].category: 'correctnes' is not a category; allowed: correctness, "
                "security, performance, concurrency, resources, error_handling, api, maintainability; "
                "did you mean 'correctness'?"
            ],
        ),
        (
            "lines: [5, 6]",
            "lines: [0, 6]",
            ["tiny.yaml:15: pulls[0].goldens[0].lines: lines start at 1, not 0"],
        ),
        (
            "lines: [5, 6]",
            "lines: [6, 5]",
            ["tiny.yaml:15: pulls[0].goldens[0].lines: the range [6, 5] ends before it starts"],
        ),
        (
            "lines: [5, 6]",
            "lines: 5",
            ["tiny.yaml:15: pulls[0].goldens[0].lines: must be two line numbers: [first, last]"],
        ),
        (
            "lines: [5, 6]",
            "lines: [5, true]",
            ["tiny.yaml:15: pulls[0].goldens[0].lines[1]: must be two line numbers: [first, last]"],
        ),
        (
            "path: shop/prices.py",
            "path: ../../etc/passwd",
            [
                "tiny.yaml:14: pulls[0].goldens[0].path: '../../etc/passwd' is not a path inside the tree; "
                "write it like src/app/cart.py"
            ],
        ),
        (
            "        path: shop/prices.py\n",
            "",
            ["tiny.yaml:13: pulls[0].goldens[0]: lines and evidence need a path"],
        ),
        (
            "version: 0.1.0",
            "version: 1",
            ["tiny.yaml:2: version: must be text; put it in quotes"],
        ),
        (
            "title: A suite for tests",
            "title: '  '",
            ["tiny.yaml:3: title: must not be blank"],
        ),
        (
            "id: mean-price",
            "id: ../mean",
            ["tiny.yaml:7: pulls[0].id: '../mean' is not an id: small letters, digits and dashes, at most 63"],
        ),
        (
            "source: files",
            "source: file",
            [
                "tiny.yaml:11: pulls[0].source: 'file' is not a source; "
                "allowed: files, a pin of upstream, number, base_sha, head_sha"
            ],
        ),
        (
            "    source: files",
            "    source: files\n    clean: true",
            ["tiny.yaml:7: pulls[0]: clean: true, but there are goldens"],
        ),
        (
            "language: python",
            "language: python\n    language: go",
            ["tiny.yaml:9: pulls[0]: 'language' again; it is already on line 8"],
        ),
        (
            "language: python",
            "? [a, b]\n    : python",
            ["tiny.yaml:8: pulls[0]: a key must be plain text"],
        ),
    ],
)
def test_a_mistake_is_told_exactly(old: str, new: str, expected: list[str]) -> None:
    assert problems(changed(old, new)) == expected


def test_all_mistakes_are_told_at_once() -> None:
    yaml = changed("severity: high", "severity: bad", changed("licence: MIT", "license: MIT"))
    assert [line.split(": ")[1] for line in problems(yaml)] == [
        "licence",
        "pulls[0].goldens[0].severity",
        "license",
    ]


def test_a_forgotten_list_of_goldens_does_not_pass_for_clean() -> None:
    without = YAML[: YAML.index("    goldens:")]
    assert problems(without) == [
        "tiny.yaml:7: pulls[0]: no goldens; write clean: true if the pull request has no known defect"
    ]
    suite, _ = parse_suite((without + "    clean: true\n").encode(), "tiny.yaml")
    assert suite.pulls[0].goldens == ()


def test_ids_are_unique_in_the_whole_suite() -> None:
    second = YAML[YAML.index("  - id: mean-price") :]
    yaml = YAML + second
    assert problems(yaml) == [
        "tiny.yaml:20: pulls[1].id: 'mean-price' is already used on line 7; ids are unique in a suite",
        "tiny.yaml:26: pulls[1].goldens[0].id: 'divisor' is already used on line 13; ids are unique in a suite",
    ]


def pinned(**fields: object) -> str:
    pin = {"upstream": "acme/shop", "number": 7, "base_sha": PINNED, "head_sha": PINNED[::-1], **fields}
    text = "".join(f"\n      {name}: {value}" for name, value in pin.items() if value is not None)
    return changed("source: files", f"source:{text}")


def test_a_git_pin_is_read() -> None:
    suite, _ = parse_suite(pinned().encode(), "tiny.yaml")
    assert suite.pulls[0].source == Pin(upstream="acme/shop", number=7, base_sha=PINNED, head_sha=PINNED[::-1])


def test_a_commit_id_of_digits_alone_stays_text() -> None:
    suite, _ = parse_suite(pinned(base_sha="1" * 40).encode(), "tiny.yaml")
    source = suite.pulls[0].source
    assert isinstance(source, Pin)
    assert source.base_sha == "1" * 40


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"base_sha": "main"},
            "tiny.yaml:14: pulls[0].source.base_sha: 'main' is not a full commit id in small hex digits",
        ),
        ({"number": 0}, "tiny.yaml:13: pulls[0].source.number: numbers start at 1, not 0"),
        ({"number": "seven"}, "tiny.yaml:13: pulls[0].source.number: must be a whole number"),
        ({"upstream": "shop"}, "tiny.yaml:12: pulls[0].source.upstream: 'shop' is not a repository; write owner/name"),
        ({"head_sha": None}, "tiny.yaml:11: pulls[0].source.head_sha: missing"),
        ({"head_sha": PINNED}, "tiny.yaml:11: pulls[0].source: base_sha and head_sha are the same commit"),
        (
            {"head": PINNED},
            "tiny.yaml:16: pulls[0].source.head: unknown field; allowed: upstream, number, base_sha, head_sha; "
            "did you mean 'head_sha'?",
        ),
    ],
)
def test_a_bad_pin_is_told_exactly(fields: dict[str, object], expected: str) -> None:
    assert problems(pinned(**fields)) == [expected]


# --- hostile bytes ----------------------------------------------------------------------------------------------


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    started = time.process_time()
    assert problems("\n".join(levels)) == ["tiny.yaml:1: anchor &a0; anchors are not allowed, write the value out"]
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("suite: *x", "tiny.yaml:1: alias *x; aliases are not allowed, write the value out"),
        ("a: 1\nsuite: &x y", "tiny.yaml:2: anchor &x; anchors are not allowed, write the value out"),
        ("suite: !!python/object/apply:os.system [id]", "tiny.yaml:1: tag tag:yaml.org,2002:python/object/apply:"),
        ("suite: !!binary aGk=", "tiny.yaml:1: tag tag:yaml.org,2002:binary; tags are not allowed"),
        ("suite:\n  <<: {a: b}", "tiny.yaml:1: suite: must be text; put it in quotes"),
        ("[" * 5000, "tiny.yaml:1: nested more than 16 deep"),
        ("a: b\n---\nc: d", "tiny.yaml:2: not YAML: but found another document"),
        ("a: b\n  c: d", "tiny.yaml:2: not YAML: mapping values are not allowed here"),
        ("a: \x07", "tiny.yaml:1: a control character that YAML does not allow"),
        ("", "tiny.yaml:1: the file is empty"),
        ("# nothing", "tiny.yaml:1: the file is empty"),
        ("- a", "tiny.yaml:1: must be a mapping of fields"),
    ],
)
def test_tricks_and_broken_yaml_are_refused(yaml: str, expected: str) -> None:
    assert any(line.startswith(expected) for line in problems(yaml))


def test_bytes_that_are_not_text_are_refused_with_their_line() -> None:
    assert problems(b"suite: a\ntitle: \xff") == ["tiny.yaml:2: byte 16 is not UTF-8"]


def test_a_huge_file_is_not_parsed() -> None:
    assert problems(b"#" * (MAX_BYTES + 1)) == [f"tiny.yaml:1: {MAX_BYTES + 1} bytes; at most {MAX_BYTES} are read"]


@pytest.mark.parametrize("text", ["no", "1.10", "0x1f", "1:30", "2026-13-45", "1e3", ".nan", "0777"])
def test_text_that_yaml_likes_to_convert_stays_text(text: str) -> None:
    suite, _ = parse_suite(changed("title: A suite for tests", f"title: {text}").encode(), "tiny.yaml")
    assert suite.title == text


def test_windows_line_ends_change_nothing() -> None:
    crlf, _ = parse_suite(YAML.replace("\n", "\r\n").encode(), "tiny.yaml")
    assert crlf == parse_suite(YAML.encode(), "tiny.yaml")[0]


def test_lines_of_problems_come_from_the_file() -> None:
    yaml = "# a comment\n\n" + changed("severity: high", "severity: worst")
    assert problems(yaml)[0].startswith(f"tiny.yaml:{line_of('severity: worst', yaml)}: ")
