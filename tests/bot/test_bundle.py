"""What a live run's bundle says of its reviewers."""

from __future__ import annotations

from dataclasses import replace

from bot import bundle
from bot.registry import Registry
from scoring.bundle import load, parts
from tests.bot.analysis.evidence import live_evidence


def test_who_makes_a_reviewer_travels_with_the_bundle() -> None:
    evidence = live_evidence()
    first, *others = evidence.registry.reviewers
    known = Registry((first.model_copy(update={"vendor": "openai"}), *others))
    written = parts(bundle.freeze(replace(evidence, registry=known)))
    read = load(lambda name: written[name])
    assert [one.vendor for one in read.reviewers] == ["openai", ""]
