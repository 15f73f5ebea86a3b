"""Whatever an evaluation's lists say, the walk over them counts it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goldens.importers import Options
from scoring.model import Category, Golden, GoldenId, Severity
from tests.goldens.importers.material import (
    URL,
    candidates,
    evaluation,
    form,
    golden_file,
)
from tests.goldens.importers.test_martian import recount

TEXTS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6)


@given(TEXTS, TEXTS, st.data())
def test_whatever_the_lists_say_the_walk_counts_it(goldens: list[str], claims: list[str], draw: st.DataObject) -> None:
    """Evaluations made by the order-dependent rule itself, then stored, rebuilt and counted again."""
    truth = [Golden(GoldenId(f"g{n}"), "G" + text, Category.API, Severity.LOW) for n, text in enumerate(goldens)]
    verdicts: dict[tuple[str, str], float] = {}
    for golden in truth:
        for claim in claims:
            verdicts[golden.finding, claim] = draw.draw(st.sampled_from([0.0, 0.0, 0.3, 0.6, 0.9]))
    stored = _stored([one.finding for one in truth], claims, verdicts)
    with_form = form("martian")
    files = {
        "golden_comments/x.json": golden_file(*(one.finding for one in truth)),
        "judge/candidates.json": candidates(*claims),
        "judge/evaluations.json": {URL: {"bot": stored}},
    }
    bundle = with_form.build({name: json.dumps(value).encode() for name, value in files.items()}, Options())
    assert recount(bundle) == {"bot": (stored["tp"], stored["fp"], stored["fn"])}
    again = json.loads(with_form.generate(bundle, {})["judge/evaluations.json"])[URL]["bot"]
    assert [again[key] for key in ("tp", "fp", "fn")] == [stored[key] for key in ("tp", "fp", "fn")]


@given(st.lists(st.sampled_from("gh"), min_size=1, max_size=3), st.integers(1, 6), st.data())
def test_groups_that_were_applied_are_counted_as_applied(goldens: list[str], many: int, draw: st.DataObject) -> None:
    claims = [f"c{n}" for n in range(many)]
    of = [draw.draw(st.integers(0, 2)) for _ in claims]
    groups = [[n for n, own in enumerate(of) if own == group] for group in sorted(set(of))]
    strengths = st.sampled_from([0.0, 0.0, 0.3, 0.6, 0.9])
    verdicts = {(golden, claim): draw.draw(strengths) for golden in goldens for claim in claims}
    stored = _stored(goldens, claims, verdicts, [[claims[n] for n in group] for group in groups])
    files = {
        "golden_comments/x.json": golden_file(*goldens),
        "judge/candidates.json": candidates(*claims),
        "judge/dedup_groups.json": {URL: {"bot": groups}},
        "judge/evaluations.json": {URL: {"bot": stored}},
    }
    bundle = form("martian").build({name: json.dumps(value).encode() for name, value in files.items()}, Options())
    assert recount(bundle) == {"bot": (stored["tp"], stored["fp"], stored["fn"])}
    assert "inconsistent" not in bundle.judgements[0].details


def _stored(
    goldens: list[str],
    claims: list[str],
    verdicts: dict[tuple[str, str], float],
    groups: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """What the source's own rule stores."""
    siblings = {one: group for group in groups for one in group}
    best: dict[str, tuple[str, float]] = {}
    flagged: set[str] = set()
    for golden in goldens:
        for claim in claims:
            if verdicts[golden, claim] > best.get(golden, ("", 0.0))[1]:
                best[golden] = (claim, verdicts[golden, claim])
                flagged |= {claim, *siblings.get(claim, ())}
    unmatched = [claim for claim in dict.fromkeys(claims) if claim not in flagged]
    missed = [golden for golden in dict.fromkeys(goldens) if golden not in best]
    found: list[tuple[str, str, Any]] = [(golden, claim, how) for golden, (claim, how) in best.items()]
    return evaluation(found, unmatched, missed, total_candidates=len(claims))
