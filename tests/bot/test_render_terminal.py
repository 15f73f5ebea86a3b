"""The terminal and the picture: the same figures, and no text that does anything."""

from __future__ import annotations

import dataclasses
import io
import re
from xml.etree import ElementTree

from rich.console import Console

from bot.model import Publish
from bot.render import Surface, leaderboard_svg
from bot.render.terminal import leaderboard_plain, leaderboard_table, progress_line, progress_lines, show_leaderboard
from scoring.model import Counts, Estimate, ReviewerId
from tests.bot.render_world import EVIL, assert_snapshot, progress, report, row, surface

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = Surface({ReviewerId("acme"): "[bold red]Acme[/] \x1b]0;pwned\x07 & <script>"}, {}, public=False)


def test_plain_columns() -> None:
    assert_snapshot("render_leaderboard.txt", leaderboard_plain(report(), surface()))


def test_without_a_terminal_the_columns_are_plain() -> None:
    out = io.StringIO()
    show_leaderboard(report(), surface(), Console(file=out, width=40))
    assert out.getvalue() == leaderboard_plain(report(), surface()) + "\n"


def test_on_a_terminal_it_is_a_table() -> None:
    out = io.StringIO()
    show_leaderboard(report(), surface(), Console(file=out, width=160, force_terminal=True, color_system=None))
    text = out.getvalue()
    assert "│     1 │ Acme " in text
    assert "0.50 [0.20\N{EN DASH}0.80]" in text
    assert "1 of 2 · 1 timeout" in text
    assert "does not separate Acme from Omega" in text


def test_a_name_is_neither_markup_nor_an_escape_sequence() -> None:
    out = io.StringIO()
    Console(file=out, width=200, force_terminal=True, color_system=None).print(leaderboard_table(report(), HOSTILE))
    for text in (out.getvalue(), leaderboard_plain(report(), HOSTILE)):
        assert "[bold red]Acme[/]" in text
        assert "\x1b]" not in text
        assert "\x07" not in text


def test_wide_letters_keep_the_columns_straight() -> None:
    names = {ReviewerId("acme"): "審査官", ReviewerId("omega"): "Omega"}
    lines = leaderboard_plain(report(), Surface(names, {}, public=False)).splitlines()
    assert lines[3].index("0.50") + 3 == lines[4].index("0.33")


def test_progress_is_one_line_and_its_warnings() -> None:
    assert progress_line(progress()) == (
        "waiting: 1/2 pull requests over · 2 waiting · 3 reviewed, with findings · 1 rate limited"
    )
    lines = progress_lines(progress(note="n\x1b[2J", warnings=("w", "w", EVIL)), surface())
    assert lines[1] == "n [2J"
    assert lines[2] == "warning: w"
    assert len(lines) == 4
    assert not any("\n" in line or "\x1b" in line for line in lines)


# --- the picture -------------------------------------------------------------------------------------------------


def picture(svg: str) -> tuple[ElementTree.Element, list[str]]:
    """The drawing and its texts."""
    root = ElementTree.fromstring(svg)
    return root, [node.text or "" for node in root.iter(f"{SVG}text")]


def test_the_picture_says_in_text_what_it_draws() -> None:
    root, texts = picture(leaderboard_svg(report(), surface()))
    for expected in (
        "Acme",
        "0.50 [0.20\N{EN DASH}0.80]",
        "1 TP · 1 FP · 1 FN · 1 unscored",
        "trials scored: 2 of 2",
        "\N{EN DASH}",
        "not scored",
    ):
        assert expected in texts
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "F1 by reviewer, suite harbour"
    assert "Omega: F1 0.33 [0.06\N{EN DASH}0.79], 1 TP · 2 FP · 1 FN." in (root.findtext(f"{SVG}desc") or "")
    assert root.get("aria-labelledby") == "title desc"


def test_a_dot_and_a_bar_stand_where_the_figures_are() -> None:
    root, _ = picture(leaderboard_svg(report(), surface()))
    bars = [(node.get("x1"), node.get("x2")) for node in root.iter(f"{SVG}line") if node.get("class") == "bar"]
    dots = [node.get("cx") for node in root.iter(f"{SVG}circle")]
    assert bars == [("256", "454"), ("209.8", "450.7")]
    assert dots == ["355", "298.9"]


def test_an_interval_beyond_the_axis_is_drawn_to_its_end() -> None:
    odd = dataclasses.replace(row("acme", None, Counts(), {}, 1), f1=Estimate(1.0, 0.9, 1.2, 3))
    root, _ = picture(leaderboard_svg(dataclasses.replace(report(), reviewers=(odd,)), surface()))
    assert [node.get("x2") for node in root.iter(f"{SVG}line") if node.get("class") == "bar"] == ["520"]


def test_the_picture_runs_and_loads_nothing() -> None:
    hostile = dataclasses.replace(report(), judge=EVIL + "\ufffe<script>", profile=EVIL)
    svg = leaderboard_svg(hostile, HOSTILE)
    root, texts = picture(svg)
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= {
        *("svg", "title", "desc", "style", "rect", "line", "circle", "text")
    }
    assert "[bold red]Acme[/] ]0;…" in texts
    assert not re.search(r"\bon\w+=\"|href=|url\(|@import", svg)
    assert "prefers-color-scheme: dark" in svg


def test_the_picture_keeps_secrets_too() -> None:
    here = surface(public=True, modes={"acme": Publish.PRIVATE})
    root, texts = picture(leaderboard_svg(report(), here))
    assert root.findtext(f"{SVG}desc") == "No reviewer may be shown."
    assert texts[-1].endswith("Private and not shown: 3.")
