"""What an actor reads of a fork whose names and patches nobody vouches for."""

from __future__ import annotations

import base64
from contextlib import closing
from typing import Any

from bot.reviewers.finding import Finding
from bot.reviewers.patch import read_patch
from bot.sandbox.actors.api import Api
from bot.sandbox.actors.change import Change, read_change, remark
from bot.sandbox.actors.jobs import Job
from tests.bot.actors.loopback import Asked, Loopback, Reply, loopback
from tests.shared import case


class Fixed:
    def token(self) -> str:
        return "t"

    def renew(self) -> str:
        return "t"


def read(files: list[dict[str, Any]], contents: Reply | None = None) -> tuple[Change, Loopback]:
    good = {"type": "file", "encoding": "base64", "content": base64.encodebytes(b"x = 1\n" * 40).decode()}

    def answer(asked: Asked) -> Reply:
        return Reply(200, files) if "/files" in asked.path else contents or Reply(200, good)

    with loopback(answer) as server, closing(Api(server.url, "a[bot]", Fixed())) as api:
        return read_change(api, Job("o/r", 1, "c0ffee"), (".py",)), server


def row(
    name: str, status: str = "modified", patch: str | None = "@@ -0,0 +1 @@\n+x = 1", changes: int = 1
) -> dict[str, Any]:
    told: dict[str, Any] = {"filename": name, "status": status, "changes": changes}
    return told if patch is None else told | {"patch": patch}


def test_files_come_in_the_order_of_their_names_with_their_new_lines() -> None:
    change, _ = read([row("b.py"), row("-a b.py"), row("c.txt")])
    assert list(change.files) == ["-a b.py", "b.py"]
    assert change.files["b.py"].startswith(b"x = 1\nx = 1\n")
    assert change.patches["b.py"].added == {1}
    assert change.unread == ()


def test_a_name_that_climbs_out_is_never_asked_for() -> None:
    change, server = read([row("../../../orgs/o/secrets.py"), row("a/../b.py")])
    assert change.unread == ("../../../orgs/o/secrets.py", "a/../b.py")
    assert [asked.path for asked in server.asked if "/files" not in asked.path] == []
    assert change.touched


def test_a_removed_file_is_no_file() -> None:
    change, _ = read([row("gone.py", status="removed")])
    assert not change.touched


def test_a_file_without_a_patch_is_unread_unless_it_was_only_renamed() -> None:
    change, _ = read(
        [row("big.py", patch=None, changes=90_000), row("moved.py", status="renamed", patch=None, changes=0)]
    )
    assert change.unread == ("big.py",)
    assert list(change.files) == ["moved.py"]
    assert not change.patches["moved.py"].added


def test_what_is_no_file_or_too_large_is_unread() -> None:
    for contents in (
        Reply(200, {"type": "symlink", "target": "/etc/passwd"}),
        Reply(200, {"type": "file", "encoding": "none", "content": ""}),
        Reply(404, {"message": "Not Found"}),
    ):
        change, _ = read([row("a.py")], contents)
        assert (change.files, change.unread) == ({}, ("a.py",))


def test_a_patch_that_cannot_be_read_makes_its_file_unread() -> None:
    change, _ = read([row("a.py", patch="@@ nonsense")])
    assert change.unread == ("a.py",)


def test_the_shared_case_of_a_change_over_the_limits() -> None:
    answers = case("69")["input"]["answers"]
    files = [{"changes": f["additions"] + f["deletions"], **f} for f in answers["files"]]
    good = Reply(200, {"type": "file", "encoding": "base64", "content": ""})

    def answer(asked: Asked) -> Reply:
        return Reply(200, files) if "/files" in asked.path else good

    with loopback(answer) as server, closing(Api(server.url, "a[bot]", Fixed())) as api:
        change = read_change(api, Job("o/r", 1, "c0ffee"), (".py", ".json"))
    assert list(change.files) == ["src/app.py"]
    assert change.unread == ("gen/big.json",)


def test_a_comment_stands_on_its_whole_range_only_where_one_hunk_shows_it() -> None:
    patch = read_patch("@@ -1,1 +1,3 @@\n a\n+b\n+c\n@@ -9,1 +11,2 @@\n x\n+y")

    def placed(line: int, end: int) -> dict[str, Any]:
        made = remark(Finding("a.py", line, end, "R", "", "m", "x"), patch, lambda finding: finding.message)
        return {key: made.get(key) for key in ("start_line", "line", "side", "start_side") if key in made}

    assert placed(2, 2) == {"line": 2, "side": "RIGHT"}
    assert placed(2, 3) == {"start_line": 2, "start_side": "RIGHT", "line": 3, "side": "RIGHT"}
    assert placed(3, 11) == {"line": 3, "side": "RIGHT"}
