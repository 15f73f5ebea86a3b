"""SWE-Review-Bench's tables: sites, comments in the order they were made, and the audit."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldens.importers import FORMATS, ImportProblem
from scoring.model import Severity, TrialStatus
from tests.goldens.importers.material import data, put

SWE = FORMATS["swe"]
SITES = "instance_id,site_id,file,line_start,line_end\nx__y-1,site-0001,a.py,10,12\nx__y-2,site-0001,b.py,1,4\n"
COMMENTS = (
    "reviewer,instance_id,comment_idx,file,line_start,line_end,severity\n"
    "bot,x__y-1,2,a.py,5,6,low\nbot,x__y-1,1,a.py,11,11,high\nmute,x__y-2,1,b.py,1,1,medium\n"
)


def tables(sites: str = SITES, comments: str = COMMENTS) -> dict[str, bytes]:
    return {"sites.csv": sites.encode(), "comments.csv": comments.encode()}


def test_comments_stand_in_the_order_they_were_made(tmp_path: Path) -> None:
    bundle = SWE.read(put(tmp_path, tables()))
    claims = bundle.trials[0].candidates or ()
    assert [(one.place.lines, one.severity) for one in claims if one.place] == [
        ((11, 11), Severity.HIGH),
        ((5, 6), Severity.LOW),
    ]


def test_every_reviewer_has_a_trial_on_every_instance(tmp_path: Path) -> None:
    bundle = SWE.read(put(tmp_path, tables()))
    found = {(str(trial.pull), str(trial.reviewer)): trial.status for trial in bundle.trials}
    assert len(found) == 4
    assert found["x__y-2", "bot"] is TrialStatus.REVIEWED_CLEAN


def test_the_pilot_is_the_whole_of_what_the_pilots_reviewers_were_asked() -> None:
    bundle = SWE.read(data("swe"))
    assert len(bundle.pulls) == 20
    assert sum(len(pull.goldens) for pull in bundle.pulls) == 32
    assert len(bundle.trials) == 60
    assert sum(len(trial.candidates or ()) for trial in bundle.trials) == 321
    assert {trial.reviewer for trial in bundle.trials} == {"claude-sonnet-4-5", "gpt-4o-mini", "static"}


def test_sites_alone_are_all_instances() -> None:
    bundle = SWE.read(data("swe", "oracle_sites_n100.csv"))
    assert (len(bundle.pulls), sum(len(pull.goldens) for pull in bundle.pulls)) == (100, 149)
    assert bundle.trials == ()


def test_an_audit_tags_the_instances_it_looked_at() -> None:
    bundle = SWE.read(data("swe"))
    tags = [pull.tags["audit"] for pull in bundle.pulls if "audit" in pull.tags]
    assert set(tags) == {"bug", "no_bug"}


def test_quoted_cells_and_carriage_returns_are_read(tmp_path: Path) -> None:
    sites = 'instance_id,site_id,file,line_start,line_end\r\nx,s,"a, b.py",1,2\r\n'
    pull = SWE.read(put(tmp_path, {"s.csv": sites.encode()})).pulls[0]
    assert pull.goldens[0].place is not None and pull.goldens[0].place.path == "a, b.py"


MALFORMED = {
    "a column misspelt": (
        tables(comments=COMMENTS.replace("severity", "severty")),
        "expected the columns",
    ),
    "cells short": (tables(sites=SITES + "x__y-3,site-0001\n"), "sites.csv: row 4: expected 5 cells, found 2"),
    "a line that is none": (
        tables(sites=SITES.replace("10,12", "ten,12")),
        "sites.csv: row 2.line_start: expected a whole number from 1, found 'ten'",
    ),
    "lines the wrong way": (tables(sites=SITES.replace("10,12", "12,10")), "row 2: expected line_start and line_end"),
    "an endless number": (tables(sites=SITES.replace("10,12", "9" * 5000 + ",12")), "expected a whole number from 1"),
    "digits of another script": (tables(sites=SITES.replace("10,12", "\u0661,12")), "expected a whole number from 1"),
    "a severity": (
        tables(comments=COMMENTS.replace("low", "lov")),
        "row 2.severity: expected one of high, medium, low, found 'lov'; did you mean 'low'?",
    ),
    "an unknown instance": (
        tables(comments=COMMENTS.replace("x__y-2", "x__y-9")),
        "row 4.instance_id: expected an instance that has sites",
    ),
    "a site twice": (tables(sites=SITES + "x__y-1,site-0001,a.py,10,12\n"), "row 4: expected each site once"),
    "an open quote": (tables(sites=SITES + 'x,"'), "sites.csv: $: expected a table of comma-separated values"),
    "a column twice": (
        {"s.csv": b"instance_id,site_id,file,line_start,line_end,file\n"},
        "expected each column once, found 'file' twice",
    ),
    "comments alone": ({"c.csv": COMMENTS.encode()}, "c.csv: $: expected a table of sites"),
}


@pytest.mark.parametrize(("files", "says"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_table_is_named_with_row_and_column(files: dict[str, bytes], says: str, tmp_path: Path) -> None:
    put(tmp_path, files)
    # A table whose columns are not known is not the format's: it is read when somebody points at it.
    path = tmp_path / "comments.csv" if "expected the columns" in says else tmp_path
    with pytest.raises(ImportProblem) as error:
        SWE.read(path)
    assert says in str(error.value)
