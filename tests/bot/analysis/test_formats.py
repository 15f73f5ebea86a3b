"""The same result in every format, and names that try to be more than names."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from bot.analysis.formats import Form, render
from bot.analysis.sheet import Column, Document, Kind, Sheet, as_json
from bot.render.figures import UNDEFINED
from scoring.model import Estimate

EVIL = (
    '=HYPERLINK("http://evil.test")',
    "+1+cmd|' /C calc'!A0",
    "@octocat",
    "<script>alert(1)</script>",
    "[go](javascript:alert(1)) | cell",
    "`` ``` ~~x~~ <!-- hidden -->",
    "\x1b[31mred\u202egnp",
    "line\nbreak\r\nand \x00 nul",
)


def document(*names: str) -> Document:
    columns = (
        Column("reviewer", "reviewer"),
        Column("f1", "F1", Kind.ESTIMATE),
        Column("tp", "TP", Kind.COUNT),
        Column("difference", "difference", Kind.DIFFERENCE),
        Column("p", "p", Kind.SMALL),
    )
    rows = tuple(
        (name, Estimate(0.5, 0.25, 0.75, 8), at, Estimate(-0.5, -0.75, -0.25, 8), 0.000012)
        for at, name in enumerate(names)
    )
    missing = ("nobody", Estimate(None, None, None, 0, "nothing was scored"), None, Estimate(0.1, None, None, 1), None)
    sheet = Sheet("main", "Main", columns, (*rows, missing), ("a note",))
    return Document("A title", (sheet,), {"names": list(names)}, "main", ("A sentence.",), ("A caveat.",))


def text(form: Form, *names: str) -> str:
    made = render(document(*names), form)
    assert isinstance(made, str)
    return made


@pytest.mark.parametrize("form", list(Form))
def test_the_same_document_gives_the_same_bytes(form: Form) -> None:
    assert render(document("acme"), form) == render(document("acme"), form)


def test_json_is_the_record() -> None:
    assert json.loads(text(Form.JSON, "acme", *EVIL)) == {"names": ["acme", *EVIL]}


def test_a_table_is_aligned_and_its_gaps_have_reasons() -> None:
    lines = text(Form.TABLE, "acme", "a-much-longer-name").splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("reviewer"))
    assert len({line.index("0.50 [") for line in lines[head + 1 : head + 3]}) == 1
    assert "-0.500 [-0.750 to -0.250]" in lines[head + 1]
    assert "1.2e-05" in lines[head + 1]
    assert "(1) nothing was scored" in lines
    assert "A sentence." in lines
    assert "- A caveat." in lines


def test_csv_holds_numbers_in_full_and_estimates_in_five_columns() -> None:
    rows = list(csv.DictReader(io.StringIO(text(Form.CSV, "acme"))))
    assert rows[0]["f1"] == "0.5"
    assert [rows[0][f"f1_{part}"] for part in ("low", "high", "n", "reason")] == ["0.25", "0.75", "8", ""]
    assert rows[1]["f1"] == ""
    assert rows[1]["f1_reason"] == "nothing was scored"


def test_no_text_in_csv_is_a_formula_and_negative_numbers_stay_numbers() -> None:
    rows = list(csv.DictReader(io.StringIO(text(Form.CSV, *EVIL))))
    assert not [row["reviewer"] for row in rows if row["reviewer"][0] in "=+-@\t\r"]
    assert float(rows[0]["difference"]) == -0.5


def test_markdown_shows_words_and_does_nothing() -> None:
    made = text(Form.MARKDOWN, *EVIL)
    body = [line for line in made.splitlines() if line.startswith("|")]
    assert len(body) == 2 + len(EVIL) + 1
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in body} == {6}
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(made)
    inside = [one for token in tokens for one in token.children or ()]
    assert not [one for one in inside if one.type in ("link_open", "image")]
    assert not [token for token in tokens if token.type == "html_block"]
    tags = {one.content for one in inside if one.type == "html_inline"}
    assert tags <= {"<sup>", "</sup>", "<code>", "</code>"}
    spoken = "".join(one.content for one in inside if one.type == "text")
    assert "@octocat" not in spoken
    assert f"0.50 [0.25{UNDEFINED}0.75]" in made


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def test_a_page_has_no_script_no_handler_and_no_request() -> None:
    made = text(Form.HTML, *EVIL)
    page = _Page()
    page.feed(made)
    assert not {"script", "img", "iframe", "link", "a", "object"} & set(page.tags)
    assert not [name for name in page.attributes if name.startswith("on") or name in ("src", "href")]
    assert "&lt;script&gt;" in made
    assert page.tags.count("tr") == 1 + len(EVIL) + 1
    assert "url(" not in made
    assert "\u202e" not in made


def test_a_workbook_holds_numbers_as_numbers_and_text_as_text() -> None:
    made = render(document(*EVIL), Form.XLSX)
    assert isinstance(made, bytes)
    with zipfile.ZipFile(io.BytesIO(made)) as book:
        names = book.namelist()
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
        about = book.read("xl/sharedStrings.xml").decode()
    assert "xl/worksheets/sheet2.xml" in names
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    assert not list(sheet.iter(f"{space}f"))
    assert not list(sheet.iter(f"{space}hyperlink"))
    assert "0.25" in [one.text for one in sheet.iter(f"{space}v")]
    assert "A caveat." in about


def test_a_number_that_is_none_is_refused_not_written() -> None:
    for odd in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON cannot hold"):
            as_json({"x": [odd]})
