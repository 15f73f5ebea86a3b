"""What upstream says of a pin, what is doubted, what a text gives away without the trees, and a report per golden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from goldens.load import load_suite
from goldens.model import Direction, Suite, TreeFiles
from goldens.pins import PinFacts
from goldens.trees import Size
from goldens.verify import Trees, by_golden, verify
from scoring.model import GoldenId, GoldenStatus, Place, PullId
from tests.goldens.written import BASE, HEAD, PINNED, changed, write_suite

HEAD_SHA = PINNED[::-1]
PULL = PullId("mean-price")
GOOD = PinFacts(base_found=True, head_found=True, merge_base=PINNED)
TREES: Trees = (TreeFiles({"shop/prices.py": BASE.encode()}), TreeFiles({"shop/prices.py": HEAD.encode()}))


@pytest.fixture
def pinned(tmp_path: Path) -> Suite:
    pin = f"source: {{upstream: acme/web-store, number: 7, base_sha: {PINNED}, head_sha: {HEAD_SHA}}}"
    return load_suite(write_suite(tmp_path, changed("source: files", pin)))


def altered(suite: Suite, **fields: object) -> Suite:
    return replace(suite, pulls=(replace(suite.pulls[0], **fields),))  # type: ignore[arg-type]


def told(suite: Suite, facts: PinFacts = GOOD, trees: Trees = TREES) -> list[str]:
    return [str(finding) for finding in verify(suite, {PULL: trees}, {PULL: facts})]


def with_golden(suite: Suite, **fields: object) -> Suite:
    golden = replace(suite.pulls[0].goldens[0], **fields)  # type: ignore[arg-type]
    return altered(suite, goldens=(golden,))


def test_a_pin_that_upstream_knows_has_no_findings(pinned: Suite) -> None:
    assert told(pinned) == []


def test_a_missing_commit_is_found(pinned: Suite) -> None:
    assert told(pinned, PinFacts(base_found=True, head_found=False)) == [
        f"error: mean-price: head_sha {HEAD_SHA} is not in the repository [no-such-commit]"
    ]
    assert [line.split()[2] for line in told(pinned, PinFacts(base_found=False, head_found=False))] == [
        "base_sha",
        "head_sha",
    ]


def test_a_base_that_is_not_the_merge_base_is_found(pinned: Suite) -> None:
    other = "f" * 40
    assert told(pinned, PinFacts(True, True, other)) == [
        f"error: mean-price: base_sha {PINNED} is not the merge base with head; it is {other} [not-merge-base]"
    ]
    assert told(pinned, PinFacts(True, True, None)) == [
        f"error: mean-price: base_sha {PINNED} is not the merge base with head; the two commits have none "
        "[not-merge-base]"
    ]


def test_run_backwards_the_head_is_the_merge_base(pinned: Suite) -> None:
    back = altered(pinned, direction=Direction.INVERTED)
    assert told(back, PinFacts(True, True, HEAD_SHA)) == []
    assert told(back, GOOD) == [
        f"error: mean-price: head_sha {HEAD_SHA} is not the merge base with base, which must hold the fix; it is "
        f"{PINNED} [not-merge-base]"
    ]
    assert told(pinned, PinFacts(True, True, HEAD_SHA))[0].endswith("[not-merge-base]")


def test_a_golden_whose_fix_is_already_in_head_is_found(pinned: Suite) -> None:
    suite = with_golden(pinned, fix="commit 12ab")
    assert told(suite, replace(GOOD, fixed=frozenset({GoldenId("divisor")}))) == [
        "error: mean-price/divisor: head contains its fix (commit 12ab) [already-fixed]"
    ]


def test_a_declared_size_is_compared_with_the_trees(pinned: Suite) -> None:
    assert told(altered(pinned, declared_size=Size(1, 4))) == []
    assert told(altered(pinned, declared_size=Size(2, 9))) == [
        "warning: mean-price: declared as 2 files, 9 lines; the trees differ in 1, 4 [size-differs]"
    ]


# --- texts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("As Acme does it", "acme"),
        ("Show prices in the store.", "store"),
        ("For WEB clients", "web"),
        ("New (web-store) page", "store"),
    ],
)
def test_a_text_that_names_upstream_is_found(pinned: Suite, text: str, part: str) -> None:
    found = told(altered(pinned, title=text))
    assert f"error: mean-price: the title says {part!r}, as upstream is called [text-names-upstream]" in found
    assert told(altered(pinned, body=text))


def test_a_word_that_only_contains_upstreams_name_is_fine(pinned: Suite) -> None:
    assert told(altered(pinned, title="Restore webbing", body="Stored.")) == []


def test_without_trees_every_common_word_counts(pinned: Suite) -> None:
    suite = altered(pinned, title="Show the divisor", body="Every single price.")
    lines = [str(finding) for finding in verify(suite)]
    assert lines == [
        "note: mean-price: its trees are not here: places unchecked [not-checked]",
        "warning: mean-price/divisor: the title shares 'divisor' with its finding [gives-away]",
        "error: mean-price/divisor: the body shares 'pric', 'singl' with its finding [gives-away]",
    ]


# --- evidence that nobody has compared --------------------------------------------------------------------------


@pytest.mark.parametrize("evidence", ["`len(prices) - 1` in the mean", "the divisor", "`total(...)` divided", ""])
def test_a_description_whose_names_are_there_is_fine(pinned: Suite, evidence: str) -> None:
    assert told(with_golden(pinned, evidence=evidence, unverified=("evidence",))) == []


def test_a_description_that_names_what_is_not_there_is_a_warning(pinned: Suite) -> None:
    suite = with_golden(pinned, evidence="`median(prices)` in `Shop::mean`", unverified=("evidence",))
    assert told(suite) == [
        "warning: mean-price/divisor: shop/prices.py does not have Shop, median, which its evidence names "
        "[evidence-unconfirmed]"
    ]


def test_a_description_whose_names_are_far_away_is_a_warning(pinned: Suite) -> None:
    head = HEAD + "\n" * 30 + "tail = 1\n"
    suite = with_golden(pinned, evidence="`mean`", unverified=("evidence",), place=Place("shop/prices.py", (37, 37)))
    trees = (TREES[0], TreeFiles({"shop/prices.py": head.encode()}))
    assert told(suite, trees=trees) == [
        "warning: mean-price/divisor: nothing that its evidence names stands within 5 lines of 37-37 of "
        "shop/prices.py [evidence-unconfirmed]"
    ]


# --- doubts and directions --------------------------------------------------------------------------------------


def test_disputed_goldens_are_listed_with_their_reasons(pinned: Suite) -> None:
    suite = with_golden(pinned, status=GoldenStatus.DISPUTED, reason="The caller checks it.")
    assert told(suite) == ["note: mean-price/divisor: The caller checks it. [disputed]"]


def test_a_suite_made_by_code_must_not_score_a_retired_golden(pinned: Suite) -> None:
    suite = with_golden(pinned, status=GoldenStatus.RETIRED, reason="The caller checks it.")
    assert told(suite) == ["error: mean-price/divisor: it is retired and must not count [retired-but-scored]"]


def test_a_suite_that_mixes_directions_is_told(pinned: Suite) -> None:
    pull = pinned.pulls[0]
    back = replace(pull, id=PullId("other"), direction=Direction.INVERTED)
    both = replace(pinned, pulls=(pull, back))
    assert [(finding.pull, finding.rule) for finding in verify(both, {PULL: TREES, back.id: TREES})] == [
        ("other", "mixed-directions")
    ]
    alone = replace(pinned, pulls=(back,))
    assert verify(alone, {back.id: TREES}) == ()


# --- a report per golden ----------------------------------------------------------------------------------------


def test_every_golden_has_a_report(tmp_path: Path) -> None:
    yaml = changed("lines: [5, 6]", "lines: [5, 5]") + (
        "      - id: gone\n        category: api\n        severity: low\n        finding: Something else altogether.\n"
        "        status: retired\n        reason: It was wrong.\n"
    )
    suite = load_suite(write_suite(tmp_path, yaml))
    live, gone = by_golden(suite, verify(suite))
    assert (live.golden, live.sound, live.checked) == ("divisor", False, True)
    assert [finding.rule for finding in live.findings] == ["evidence-missing"]
    assert (gone.status, gone.reason, gone.sound, gone.checked) == ("retired", "It was wrong.", True, False)


def test_a_golden_whose_trees_are_missing_is_not_called_checked(pinned: Suite) -> None:
    (report,) = by_golden(pinned, verify(pinned))
    assert (report.checked, report.sound) == (False, True)
    (report,) = by_golden(pinned, verify(pinned, {PULL: TREES}))
    assert report.checked
