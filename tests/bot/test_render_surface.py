"""Who is named where: what a public surface keeps back, and that nothing gives it away."""

from __future__ import annotations

import dataclasses

import pytest

from bot.model import Publish
from bot.render import Surface, leaderboard_comment, leaderboard_svg
from bot.render.terminal import leaderboard_plain
from scoring.model import Comment, ReviewerId, Shape, TrialScore
from tests.bot.render_world import RUN, report, scored, surface
from tests.shared import case

MIXED = {"acme": Publish.NAMED, "zeta": Publish.PRIVATE, "omega": Publish.ANONYMOUS}


def test_case_70_a_public_page_names_whom_it_may() -> None:
    loaded = case("70")
    tools = loaded["input"]["tools"]
    modes = {ReviewerId(tool["name"]): Publish(tool["publish"]) for tool in tools}
    public, private = Surface(modes=modes, public=True), Surface(modes=modes, public=False)
    assert [public.name(r) for r in modes if public.shown(r)] == loaded["expected"]["public_page"]
    assert [private.name(r) for r in modes if private.shown(r)] == loaded["expected"]["private_report"]


def test_who_is_not_listed_is_private() -> None:
    assert not Surface().shown(ReviewerId("newcomer"))
    with pytest.raises(ValueError, match="private"):
        Surface().name(ReviewerId("newcomer"))


def test_labels_go_on_after_z() -> None:
    modes = {ReviewerId(f"r{index}"): Publish.ANONYMOUS for index in range(30)}
    labels = [Surface(modes=modes).name(reviewer) for reviewer in modes]
    assert labels[0] == "Tool A"
    assert labels[25:28] == ["Tool Z", "Tool AA", "Tool AB"]
    assert len(set(labels)) == 30


def with_words() -> TrialScore:
    """A trial of the named reviewer whose texts speak of an anonymous one."""
    said = Comment("review_comment/1", Shape.INLINE, "acme-reviewer[bot]", "Omega-ai said so too", "https://x.test/1")
    score = scored()
    candidates = (dataclasses.replace(score.candidates[0], title="as omega found"), *score.candidates[1:])
    trial = dataclasses.replace(score.trial, comments=(said,))
    return dataclasses.replace(score, trial=trial, candidates=candidates)


def test_the_redacted_tree_holds_nothing_that_names_an_anonymous_tool() -> None:
    whole = report()
    others = tuple(s for s in whole.trials if s.trial.reviewer != "acme")
    whole = dataclasses.replace(whole, trials=(with_words(), *others), notes=(*whole.notes, "Omega is slow", "A note"))
    kept = surface(public=True, modes=MIXED).redacted(whole)
    assert [row.reviewer for row in kept.reviewers] == ["acme", "Tool C"]
    assert {score.trial.reviewer for score in kept.trials} == {"acme"}
    assert kept.notes == ("A note",)
    assert "omega" not in repr(kept).lower()
    assert "zeta" not in repr(kept).lower()
    assert "https://" not in repr(kept)
    assert kept.trials[0].candidates[1].title == whole.trials[0].candidates[1].title


def test_where_everybody_is_named_nothing_is_redacted() -> None:
    whole = report()
    assert surface(public=False).redacted(whole) is whole
    everybody = surface(public=True, modes=dict.fromkeys(("acme", "zeta", "omega"), Publish.NAMED))
    assert everybody.redacted(whole) is whole


def test_every_public_rendering_keeps_the_secret_and_says_how_many() -> None:
    here = surface(public=True, modes=MIXED)
    links = {("injection", "omega"): "https://github.com/o/secret/runs/1", "injection": "https://github.com/o/secret"}
    comment = leaderboard_comment(report(), run=RUN, links=links, surface=here, report_url=None)  # type: ignore[arg-type]
    for text in (comment, leaderboard_svg(report(), here), leaderboard_plain(report(), here)):
        assert "Acme" in text
        assert "Tool C" in text
        assert "omega" not in text.lower()
        assert "zeta" not in text.lower()
        assert "secret" not in text
        assert "rivate and not shown: 1" in text


def test_places_are_among_the_rows_shown() -> None:
    here = surface(public=True, modes={"omega": Publish.NAMED})
    comment = leaderboard_comment(report(), run=RUN, links={}, surface=here, report_url=None)
    assert "| 1 | Omega |" in comment
    assert "Private and not shown: 2. Places are among the 1 shown." in comment
