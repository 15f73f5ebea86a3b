"""Each mistake that would make a suite unfair or wrong is planted once, and must be found with the right words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from goldens.load import load_suite
from goldens.model import GitPin, GoldenPull, Suite, TreeFiles
from goldens.verify import verify
from goldens.wording import comments, references, shared, words
from scoring.model import Golden, GoldenId, Place, Severity, Side
from tests.goldens.written import BASE, HEAD, YAML, changed, write_suite
from tests.shared import case

SECOND = """\
      - id: divisor-again
        path: shop/prices.py
        lines: [6, 6]
        category: correctness
        severity: high
        finding: The divisor is one too short, every result is too large.
        evidence: (len(prices) - 1)
"""


def told(folder: Path, yaml: str = YAML, base: str = BASE, head: str = HEAD) -> list[str]:
    return [str(finding) for finding in verify(load_suite(write_suite(folder, yaml, base, head)))]


def altered(suite: Suite, **fields: object) -> list[str]:
    """The findings on the suite with its only golden changed."""
    pull = suite.pulls[0]
    golden = replace(pull.goldens[0], **fields)  # type: ignore[arg-type]
    return [str(finding) for finding in verify(replace(suite, pulls=(replace(pull, goldens=(golden,)),)))]


def test_a_sound_suite_has_no_findings(tmp_path: Path) -> None:
    assert told(tmp_path) == []


# --- places and evidence ----------------------------------------------------------------------------------------


def test_evidence_on_other_lines_is_found(tmp_path: Path) -> None:
    assert told(tmp_path, changed("lines: [5, 6]", "lines: [5, 5]")) == [
        "error: mean-price/divisor: its evidence is not at lines 5-5 of shop/prices.py in the head tree, "
        "but elsewhere in the file [evidence-missing]"
    ]


def test_evidence_that_is_nowhere_is_found(tmp_path: Path) -> None:
    assert told(tmp_path, changed("(len(prices) - 1)", "(len(prices) - 2)")) == [
        "error: mean-price/divisor: its evidence is not at lines 5-6 of shop/prices.py in the head tree "
        "[evidence-missing]"
    ]


def test_a_defect_that_was_there_before_is_found(tmp_path: Path) -> None:
    assert told(tmp_path, base=HEAD.replace("sum", "max")) == [
        "error: mean-price/divisor: its evidence stands in the base tree too: the change did not bring it "
        "[evidence-not-new]"
    ]


def test_a_defect_that_came_along_with_a_renamed_file_is_found(tmp_path: Path) -> None:
    path = write_suite(tmp_path, base=HEAD, head=HEAD.replace("sum", "max"))
    old = tmp_path / "mean-price" / "base" / "shop"
    old.rename(tmp_path / "mean-price" / "base" / "store")
    assert [finding.rule for finding in verify(load_suite(path))] == ["evidence-not-new"]


def test_evidence_may_run_over_lines_and_lose_its_indentation(tmp_path: Path) -> None:
    block = "evidence: |\n          def mean(prices):\n          return total(prices)"
    yaml = changed("evidence: return total(prices) / (len(prices) - 1)", block)
    assert told(tmp_path, yaml) == []


def test_a_removed_check_is_a_golden_of_the_left_side(tmp_path: Path) -> None:
    base = BASE.replace("    return", "    if not prices:\n        return 0\n    return")
    yaml = changed("evidence: return total(prices) / (len(prices) - 1)", "evidence: 'if not prices:'")
    left = yaml.replace("lines: [5, 6]", "lines: [2, 3]\n        side: LEFT")
    assert told(tmp_path / "a", left, base) == []
    kept = HEAD.replace("    return sum", "    if not prices:\n        return 0\n    return sum")
    assert told(tmp_path / "b", left, base, kept) == [
        "error: mean-price/divisor: its evidence stands in the head tree too: the change did not bring it "
        "[evidence-not-new]"
    ]


def test_lines_the_diff_does_not_show_are_a_warning(tmp_path: Path) -> None:
    far = "".join(f"x{number} = {number}\n" for number in range(20))
    yaml = changed("lines: [5, 6]", "lines: [2, 2]").replace("evidence: return total(prices) / (len(prices) - 1)", "")
    assert told(tmp_path, yaml, far, far + "y = 1\n") == [
        "warning: mean-price/divisor: the diff does not show its lines; no inline comment can hit it [outside-diff]"
    ]


def test_a_file_that_is_not_changed_is_a_warning(tmp_path: Path) -> None:
    path = write_suite(tmp_path, changed("path: shop/prices.py", "path: README"))
    for side in ("base", "head"):
        (tmp_path / "mean-price" / side / "README").write_bytes(b"1\n2\n3\n4\n5\n6\n")
    pull = load_suite(path).pulls[0]
    bare = replace(pull, goldens=(replace(pull.goldens[0], evidence=""),))
    assert [str(finding) for finding in verify(replace(load_suite(path), pulls=(bare,)))] == [
        "warning: mean-price/divisor: its file is not changed; no inline comment can hit it [outside-diff]"
    ]


def test_places_that_do_not_exist_are_found_in_suites_made_by_code(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path))
    assert altered(suite, place=Place("shop/price.py", (5, 6))) == [
        "error: mean-price/divisor: shop/price.py is not in the head tree [no-such-file]"
    ]
    assert altered(suite, place=Place("shop/prices.py", (5, 900))) == [
        "error: mean-price/divisor: lines 5-900 are not in shop/prices.py of the head tree (6 lines) [no-such-lines]"
    ]
    assert altered(suite, place=Place("shop/prices.py", (0, 5))) == [
        "error: mean-price/divisor: lines 0-5 are not in shop/prices.py of the head tree (6 lines) [no-such-lines]"
    ]
    assert altered(suite, place=Place("shop/prices.py", (5, 5), Side.LEFT)) == [
        "error: mean-price/divisor: lines 5-5 are not in shop/prices.py of the base tree (2 lines) [no-such-lines]"
    ]
    assert altered(suite, place=None) == []


def test_unknown_words_are_found_in_suites_made_by_code(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path))
    assert altered(suite, severity="worst") == [
        "error: mean-price/divisor: unknown severity 'worst' or category <Category.CORRECTNESS: 'correctness'> "
        "[unknown-word]"
    ]


def test_equal_trees_are_found(tmp_path: Path) -> None:
    assert told(tmp_path, base=HEAD) == [
        "error: mean-price: base and head are the same; there is nothing to review [same-trees]"
    ]


# --- one defect, one golden -------------------------------------------------------------------------------------


def test_one_defect_told_twice_is_found(tmp_path: Path) -> None:
    assert told(tmp_path, YAML + SECOND) == [
        "error: mean-price/divisor-again: says the same as divisor; drop one, or give both a group and a place of "
        "its own [near-duplicate]"
    ]


def test_two_defects_on_one_line_are_no_duplicates(tmp_path: Path) -> None:
    other = SECOND.replace(
        "The divisor is one too short, every result is too large.", "An empty list is not handled by this function."
    )
    assert told(tmp_path, YAML + other) == []


def golden(name: str, finding: str, lines: tuple[int, int], group: str | None = None) -> Golden:
    return Golden(
        GoldenId(name),
        finding,
        load_suite("smoke").pulls[0].goldens[0].category,
        Severity.LOW,
        Place("shop/prices.py", lines),
        group=group,
    )


def test_a_group_may_say_one_thing_at_several_places(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path))
    same = "The caller is not told that the file stayed open."

    def rules(*goldens: Golden) -> list[str]:
        pull = replace(suite.pulls[0], goldens=goldens)
        return [finding.rule for finding in verify(replace(suite, pulls=(pull,)))]

    assert rules(golden("a", same, (2, 2), "open"), golden("b", same, (6, 6), "open")) == []
    assert rules(golden("a", same, (2, 2)), golden("b", same, (6, 6))) == ["near-duplicate"]
    assert rules(golden("a", same, (6, 6), "open"), golden("b", same, (6, 6), "open")) == ["near-duplicate"]


# --- what the texts give away -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Follows #12.", "a reference (#12)"),
        ("Follows acme/shop#12.", "a reference (acme/shop#12)"),
        ("Follows GH-12.", "a reference (GH-12)"),
        ("Thanks to @dev-one.", "a mention or address (@dev-one)"),
        ("Ask dev1@example.com.", "a mention or address (@example)"),
        ("See https://example.com/x for more.", "a link (https://example.com/x)"),
        ("See www.example.com for more.", "a link (www.example.com)"),
        ("As in 1a2b3c4d5e6f7a8b9c0d.", "a commit id (1a2b3c4d5e6f7a8b9c0d)"),
    ],
)
def test_texts_that_lead_back_are_found(tmp_path: Path, body: str, expected: str) -> None:
    yaml = changed("body: Adds a figure to the overview.", f"body: '{body}'")
    assert told(tmp_path, yaml) == [f"error: mean-price: the body holds {expected} [text-leads-back]"]


def test_the_shared_leaky_text_is_refused() -> None:
    shared_case = case("66")["input"]
    assert {what.split(" (")[0] for what in references(shared_case["body"])} == {
        "a reference",
        "a mention or address",
        "a link",
        "a commit id",
        "a trailer",
    }
    assert list(references(shared_case["title"])) == ["a reference (#860)"]


@pytest.mark.parametrize(
    "text", ["Adds 3 # signs", "C# and F#", "costs 5 @ 2", "defaced decade", "1234567 rows", "&#39; is kept", "a/b"]
)
def test_harmless_texts_lead_nowhere(text: str) -> None:
    assert list(references(text)) == []


def test_a_text_that_names_the_game_is_found(tmp_path: Path) -> None:
    assert told(tmp_path, changed("body: Adds a figure", "body: A benchmark. Adds a figure")) == [
        "error: mean-price: the body says 'benchmark' [text-is-staged]"
    ]


def test_a_text_that_names_a_defect_is_a_warning(tmp_path: Path) -> None:
    assert told(tmp_path, changed("body: Adds a figure", "body: No more leaks. Adds a figure")) == [
        "warning: mean-price: the body says 'leak' [text-names-a-defect]"
    ]


def test_a_text_that_shares_the_findings_words_is_found(tmp_path: Path) -> None:
    assert told(
        tmp_path, changed("body: Adds a figure", "body: Results are shorter by the divisors. Adds a figure")
    ) == ["error: mean-price/divisor: the body shares 'divisor', 'result' with its finding [gives-away]"]
    assert told(tmp_path, changed("title: Show what", "title: Divisors and what")) == [
        "warning: mean-price/divisor: the title shares 'divisor' with its finding [gives-away]"
    ]


def test_words_of_the_code_itself_give_nothing_away(tmp_path: Path) -> None:
    assert (
        told(tmp_path, changed("body: Adds a figure", "body: Returns the total of prices and their mean. A figure"))
        == []
    )


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# TODO", ["error: mean-price: a new comment says 'TODO' [comment-names-a-defect]"]),
        ("# this is wrong", ["error: mean-price: a new comment says 'wrong' [comment-names-a-defect]"]),
        ('"""Planted."""', ["error: mean-price: a new comment says 'planted' [comment-names-a-defect]"]),
        (
            "# the divisor makes results large",
            ["error: mean-price/divisor: the comment shares 'divisor', 'larg', 'result' with its finding [gives-away]"],
        ),
        ("# what people pay", []),
        ('note = "this is wrong"', []),
    ],
)
def test_comments_that_point_at_the_defect_are_found(tmp_path: Path, comment: str, expected: list[str]) -> None:
    assert told(tmp_path, head=HEAD + "    " + comment + "\n") == expected


def test_an_old_comment_is_nobodys_hint(tmp_path: Path) -> None:
    note = "# TODO: this is wrong\n"
    yaml = changed("lines: [5, 6]", "lines: [6, 7]")
    assert told(tmp_path, yaml, note + BASE, note + HEAD) == []


@pytest.mark.parametrize(
    ("code", "language", "expected"),
    [
        ('a = "# no"  # yes', "python", ["# yes"]),
        ("def f():\n    '''Doc.'''\n    return '#'", "python", ["'''Doc.'''"]),
        ('a = "\\"# no" # yes', "python", ["# yes"]),
        ('u = "http://x" // yes', "go", ["// yes"]),
        ("a /* one\ntwo */ b // three", "c", ["/* one\ntwo */", "// three"]),
        ("`a // no ${b}` // yes", "typescript", ["// yes"]),
        ("/* never closed", "c", ["/* never closed"]),
        ("'''never closed", "python", ["'''never closed"]),
    ],
)
def test_comments_are_told_from_strings(code: str, language: str, expected: list[str]) -> None:
    assert comments(code, language) == expected


def test_words_are_compared_without_case_joints_and_endings() -> None:
    assert words("retryDelays RETRY_DELAY retried") == words("retry delay")
    assert shared("Closes the files", "file is never closed", frozenset()) == ("clos", "fil")
    assert shared("Closes the files", "file is never closed", words("open_file")) == ("clos",)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["/*", '"""', "'", "`", "\\", "#", "@", "a/", "a.", "0a", "http", "//", "_A"])
def test_hostile_text_costs_linear_time(piece: str) -> None:
    text = piece * 100_000
    for language in ("python", "c"):
        comments(text, language)
    list(references(text))
    words(text)


# --- pinned pull requests ---------------------------------------------------------------------------------------


def pinned(pull: GoldenPull) -> GoldenPull:
    return replace(pull, source=GitPin("acme/shop", 7, "1" * 40, "2" * 40))


def test_what_cannot_be_checked_is_said(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path))
    suite = replace(suite, pulls=(pinned(suite.pulls[0]),))
    assert [str(finding) for finding in verify(suite)] == [
        "note: mean-price: its trees are not here: places unchecked [not-checked]"
    ]


def test_fetched_trees_are_checked(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path))
    pull = suite.pulls[0]
    assert isinstance(pull.source, tuple)
    suite = replace(suite, pulls=(pinned(pull),))
    assert verify(suite, {pull.id: pull.source}) == ()
    assert [finding.rule for finding in verify(suite, {pull.id: (TreeFiles({}), pull.source[0])})] == ["no-such-lines"]
