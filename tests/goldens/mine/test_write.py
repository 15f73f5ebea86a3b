"""Drafts on disk: loadable by the suite schema, marked as drafts, whole or not there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import pytest

from goldens.load import load_suite
from goldens.located import SuiteError
from goldens.mine.blame import mine_blame
from goldens.mine.bugfix import mine_bugfix
from goldens.mine.config import load_config
from goldens.mine.draft import Mined
from goldens.mine.write import REASON, draft_yaml, write_drafts
from goldens.model import Direction, GitPin
from scoring.model import GoldenStatus
from tests.goldens.mine.world import World


class Words(TypedDict):
    suite: str
    title: str
    licence: str


WORDS: Words = {"suite": "shop-drafts", "title": "Drafts of the shop", "licence": "NOASSERTION"}


@pytest.fixture(scope="module")
def mined(world: World) -> Mined:
    with world.quarry() as quarry:
        return mine_blame(quarry, load_config("vibeops"))


def test_drafts_come_back_as_a_suite_of_unconfirmed_goldens(mined: Mined, world: World, tmp_path: Path) -> None:
    write_drafts(mined, tmp_path / "deep" / "suite.yaml", **WORDS)
    suite = load_suite(tmp_path / "deep" / "suite.yaml")
    assert suite.pulls == ()
    assert [pull.id for pull in suite.unconfirmed] == [draft.id for draft in mined.drafts]
    pull = next(pull for pull in suite.unconfirmed if pull.id == "pull-1")
    assert pull.source == GitPin("acme/shop", 1, world.ids["root"], world.ids["intro1"])
    (golden,) = pull.drafts
    assert golden.status is GoldenStatus.DRAFT and golden.reason.startswith(REASON)
    assert golden.place is not None and golden.place.lines == (13, 13)
    assert "title" in pull.unverified and pull.confirmed_by == ()
    assert f"kept {len(mined.kept)}" in suite.provenance and "several_pull_requests 2" in suite.provenance
    assert "no model is configured" in suite.provenance.lower()


def test_inverted_drafts_say_so(world: World, tmp_path: Path) -> None:
    with world.quarry() as quarry:
        write_drafts(mine_bugfix(quarry, load_config("vibeops")), tmp_path / "suite.yaml", **WORDS)
    assert {pull.direction for pull in load_suite(tmp_path / "suite.yaml").unconfirmed} == {Direction.INVERTED}


def test_nothing_is_replaced_unless_told(mined: Mined, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError):
        write_drafts(mined, path, **WORDS)
    assert path.read_text(encoding="utf-8") == "mine"
    write_drafts(mined, path, **WORDS, overwrite=True)
    assert load_suite(path).unconfirmed
    assert [one.name for one in tmp_path.iterdir()] == ["suite.yaml"]


def test_a_draft_that_no_suite_may_hold_leaves_nothing_behind(mined: Mined, tmp_path: Path) -> None:
    bad = replace(mined, drafts=(*mined.drafts, replace(mined.drafts[0], upstream="not a name")))
    with pytest.raises(SuiteError, match="owner/name"):
        write_drafts(bad, tmp_path / "suite.yaml", **WORDS)
    with pytest.raises(ValueError, match="no drafts"):
        write_drafts(Mined(), tmp_path / "suite.yaml", **WORDS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "*anchor &x !tag",
        "no",
        "1.10",
        "a\x1b[31mred\x07",
        "\udcff\u2028\x85\ufeff",
        "# not a comment: {{x}}",
        "- a\n- b",
        "'\"\\",
    ],
)
def test_hostile_text_stays_text(text: str, mined: Mined) -> None:
    draft = mined.drafts[0]
    golden = replace(draft.goldens[0], finding=text, evidence=text, source=text)
    data = draft_yaml(Mined((replace(draft, title=text, body=text, goldens=(golden,)),)), **WORDS)
    assert b"\x1b" not in data and b"\x07" not in data
    assert draft_yaml(Mined((replace(draft, title=text, body=text, goldens=(golden,)),)), **WORDS) == data


def test_the_same_mining_gives_the_same_bytes(mined: Mined, world: World) -> None:
    with world.quarry() as quarry:
        again = mine_blame(quarry, load_config("vibeops"))
    assert draft_yaml(again, **WORDS) == draft_yaml(mined, **WORDS)
