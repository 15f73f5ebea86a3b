"""Pictures that can be read in light and dark, without colour, by a screen reader, and by a program."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from bot.analysis.pictures import forest, lines, matrix, points
from bot.analysis.pictures.forest import Line
from bot.analysis.pictures.lines import Curve
from bot.analysis.pictures.points import Point, front
from scoring.model import Estimate

SVG = "{http://www.w3.org/2000/svg}"
EVIL = (
    "a$x_1$b $",
    "_hidden",
    "</text><script>alert(1)</script>",
    "-->]]>&amp;",
    "\x1b[31m\u202eevil",
    "日本語レビュー",
    "%s {x}",
)


def _forest(names: tuple[str, ...]) -> str:
    rows = [Line(name, Estimate(0.5, 0.25, 0.75, 4), "#1") for name in names]
    return forest.draw("suite", "F1", [*rows, Line("bare", Estimate(0.4, None, None, 1)),
                                       Line("none", Estimate(None, None, None, 0, "nothing was scored"))])  # fmt: skip


def _difference(names: tuple[str, ...]) -> str:
    return forest.draw("suite", "difference", [Line(name, Estimate(-0.1, -0.3, 0.1, 4)) for name in names],
                       difference=True)  # fmt: skip


def _plane(names: tuple[str, ...]) -> str:
    return points.precision_recall("suite", [Point(name, 0.1 * at, 0.5) for at, name in enumerate(names)], ["absent"])


def _cost(names: tuple[str, ...]) -> str:
    return points.cost("suite", [Point(name, 0.1 * at, 0.5) for at, name in enumerate(names)], ["absent"])


def _sweep(names: tuple[str, ...]) -> str:
    rows = [{"tolerance": at, "reviewer": name, "instance_hit_rate": at / 10} for name in names for at in (10, 0, 3)]
    return lines.sweep("suite", rows)


def _curve(names: tuple[str, ...]) -> str:
    return lines.draw("power", "pull requests", "chance", [Curve(name, (2, 3), (0.1, 0.9)) for name in names], goal=0.8)


def _matrix(names: tuple[str, ...]) -> str:
    shares: dict[tuple[str, str], matrix.Share] = {
        (one, other): (None if at == 0 else 0.5, 3) for at, one in enumerate(names) for other in names[at + 1 :]
    }
    return matrix.draw("suite", names, shares, dict.fromkeys(names, 7))


Draw = Callable[[tuple[str, ...]], str]
every = pytest.mark.parametrize("draw", [_forest, _difference, _plane, _cost, _sweep, _curve, _matrix])


def texts(svg: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@every
def test_the_same_values_give_the_same_bytes_and_no_date(draw: Draw) -> None:
    made = draw(("acme", "zeta"))
    assert made == draw(("acme", "zeta"))
    assert "<metadata" not in made
    assert not re.search(r"\b20\d\d-\d\d-\d\d", made)


@every
def test_text_is_text_and_names_stand_in_it(draw: Draw) -> None:
    said = "\n".join(texts(draw(("acme", "zeta"))))
    words = ElementTree.fromstring(draw(("acme", "zeta"))).find(f"{SVG}desc")
    assert words is not None
    for name in ("acme", "zeta"):
        assert name in said
        assert name in (words.text or "")


@every
def test_a_screen_reader_is_told_what_it_is(draw: Draw) -> None:
    root = ElementTree.fromstring(draw(("acme", "zeta")))
    assert root.get("role") == "img"
    ids = {one.get("id") for one in (root.find(f"{SVG}title"), root.find(f"{SVG}desc")) if one is not None}
    assert ids == set((root.get("aria-labelledby") or "").split())


@every
def test_a_dark_page_changes_every_colour_that_is_used(draw: Draw) -> None:
    made = draw(("acme", "zeta"))
    style = made[made.index("<style>") : made.index("</style>")]
    body = made[made.index("</style>") :]
    assert "prefers-color-scheme: dark" in style
    used = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", body))
    assert used
    assert [colour for colour in used if f"fill: {colour}" not in style or f"stroke: {colour}" not in style] == []
    assert "currentColor" not in body


@every
def test_hostile_names_are_names(draw: Draw, recwarn: pytest.WarningsRecorder) -> None:
    made = draw(EVIL)
    root = ElementTree.fromstring(made)
    assert not list(root.iter(f"{SVG}script"))
    assert "\u202e" not in made
    assert "\x1b" not in made
    said = "\n".join(texts(made))
    for name in ("a$x_1$b $", "_hidden", "日本語レビュー", "%s {x}"):
        assert name in said
    assert not [one for one in recwarn if issubclass(one.category, UserWarning)]


@every
def test_nothing_in_it_reaches_out(draw: Draw) -> None:
    made = draw(("acme", "zeta"))
    assert not re.search(r'(?:href|src)="(?!#)', made.replace('xlink:href="#', 'x="#'))
    assert "@import" not in made
    assert not re.search(r"url\((?!#)", made)


def test_shapes_differ_where_colours_repeat() -> None:
    made = _sweep(tuple(f"r{at}" for at in range(6)))
    root = ElementTree.fromstring(made)
    marks = [one.get("d") for one in root.iter(f"{SVG}path") if (one.get("id") or "").startswith("m")]
    assert len(set(marks)) >= 6


def test_undefined_is_said_and_not_drawn_as_nought() -> None:
    assert any("nothing was scored" in one for one in texts(_forest(("acme",))))
    assert any("0.40, no interval" in one for one in texts(_forest(("acme",))))


def test_the_lines_of_equal_f1_are_labelled() -> None:
    assert {"F1 0.2", "F1 0.4", "F1 0.6", "F1 0.8"} <= set(texts(_plane(("acme",))))


def test_points_in_one_place_share_a_number_tag() -> None:
    made = points.precision_recall("s", [Point("a", 0.5, 0.5), Point("b", 0.5, 0.5), Point("c", 0.1, 0.5)])
    assert "1, 2" in texts(made)


def test_the_front_is_what_nobody_beats() -> None:
    held = [Point("dear", 3, 0.5), Point("cheap", 1, 0.2), Point("best", 2, 0.6), Point("same", 2, 0.6),
            Point("worse", 2, 0.4)]  # fmt: skip
    assert [held[at].label for at in front(held)] == ["cheap", "best", "same"]
    assert front([]) == []


@pytest.mark.parametrize("names", [(), ("one",)])
@every
def test_few_or_no_reviewers_are_drawn_too(draw: Draw, names: tuple[str, ...]) -> None:
    if draw is _matrix and not names:
        return
    ElementTree.fromstring(draw(names))
