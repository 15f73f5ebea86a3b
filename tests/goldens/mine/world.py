"""One small upstream whose every defect, fix and trap is known, with what GitHub would answer about it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.adapters.history import GitHistory
from goldens.mine.answers import read_answers
from goldens.mine.quarry import Quarry
from tests.goldens.mine.planted import Planted, rows

ROOT = [f"root_{number} = {number}" for number in range(10)]
AVERAGE = ["def average(prices):", "    return sum(prices) / (len(prices) - 1)"]
CART = ["class Cart:", "    def total(self, items):", "        return sum(i.price for i in items[1:])"]
DEEPER = [*CART[:2], f"    {CART[2]}"]
HEADER = ["import logging", "", "LOG = logging.getLogger(__name__)", ""]
WRAPPED = ["if True:", *(f"    {line}" for line in [*HEADER, *DEEPER])]
MORE = [f"more_{number} = {number}" for number in range(30)]


def pull(number: int, ids: Mapping[str, str], landed: str | None, *labels: str, **more: Any) -> dict[str, Any]:
    """A pull request as REST answers it, with some of the many fields nobody needs."""
    return {
        "url": "http://127.0.0.1/ignored",
        "number": number,
        "title": more.get("title", f"fix: change {number} (#{number})"),
        "body": more.get("body"),
        "labels": [{"id": 1, "name": label} for label in labels],
        "user": {"login": more.get("author", "dev"), "type": "User"},
        "merged_at": None if landed is None else "2024-01-01T00:00:00Z",
        "merge_commit_sha": ids[landed] if landed else None,
        "base": {"sha": ids["root"], "ref": "main"},
        "head": {"sha": more.get("head", "0" * 40), "ref": "topic"},
    }


@dataclass(frozen=True)
class World:
    path: Path
    ids: Mapping[str, str]
    answers: Mapping[str, bytes]

    @contextmanager
    def quarry(self, *tips: str, answers: Mapping[str, bytes] | None = None) -> Iterator[Quarry]:
        with GitHistory(self.path) as reader:
            told = read_answers(self.answers if answers is None else answers)
            yield Quarry("acme/shop", reader, ["main", *tips], told)


def planted_world(folder: Path) -> World:
    planted = Planted()
    commit = planted.commit
    core = [*ROOT]
    commit("root", {"app/core.py": rows(*core), "docs/a.md": "a\nb\n", "tests/test_core.py": "x = 1\n"})
    core = [*core, "", *AVERAGE]
    commit("intro1", {"app/core.py": rows(*core)}, "root", subject="Add the average (#1)")
    # 2: a branch of two commits; the second moves and indents what the first wrote.
    commit("b2a", {"app/cart.py": rows(*CART)}, "intro1", subject="Begin the cart")
    commit("b2b", {"app/cart.py": rows(*HEADER, *DEEPER)}, "b2a", subject="Log")
    commit("direct", {"app/side.py": rows("pushed = eval(input())", "kept = 1")}, "intro1", subject="Hot change")
    commit(
        "intro2",
        {"app/cart.py": rows(*HEADER, *DEEPER)},
        "direct",
        "b2b",
        subject="Merge pull request #2 from dev/cart",
    )
    # 3 renames it; 5 indents every line.
    commit("ren3", {}, "intro2", subject="Move (#3)", renames=[("app/cart.py", "shop/cart.py")])
    commit("move3", {"shop/cart.py": rows(*WRAPPED)}, "ren3", subject="Wrap (#5)")
    # 4: a merge that holds a line of its own.
    commit("b4", {"app/four.py": rows("four = 4", "five = 5")}, "intro2", subject="Four")
    evil = rows("four = 4", "five = 5", "evil = undefined_name")
    commit("intro4", {"app/four.py": evil}, "move3", "b4", subject="Merge pull request #4 from dev/four")
    # 30 in 31: a pull request into the branch of another.
    commit("b30", {"app/nest.py": rows("nested = 1 / 0", "other = 2")}, "intro4", subject="Inner (#30)")
    commit("b31", {"app/outer.py": rows("outer = 1")}, "b30", subject="Outer")
    commit("intro31", {"app/nest.py": rows("nested = 1 / 0", "other = 2"), "app/outer.py": rows("outer = 1")}, "intro4",
           "b31", subject="Merge pull request #31 from dev/outer")  # fmt: skip
    # 40: landed, and landed again with its own repair.
    commit("first40", {"app/forty.py": rows("forty = 39")}, "intro31", subject="Forty (#40)")
    # 50: two commits, rebased; only GitHub knows that they belong together.
    commit("r50a", {"app/fifty.py": rows("def fifty(n):", "    return n % 49")}, "first40", subject="Fifty")
    commit("r50b", {"app/fifty_more.py": rows("more = 1")}, "r50a", subject="More of fifty")
    return _fixes(planted, folder, core)


def _fixes(planted: Planted, folder: Path, core: list[str]) -> World:
    last = "r50b"

    def fix(number: int, files: Mapping[str, str | None], subject: str | None = None) -> None:
        nonlocal last
        last = planted.commit(f"fix{number}", files, last, subject=subject or f"Fix {number} (#{number})")

    right = [line.replace(" - 1)", ")") for line in core]
    fix(10, {"app/core.py": rows(*right), "app/added.py": rows(*MORE)})
    cart = [line.replace("items[1:]", "items") for line in WRAPPED]
    fix(11, {"shop/cart.py": rows(*cart), "shop/logo.txt": "x\n"})
    both = [line.replace("def average", "def mean") for line in right]
    cart = [line.replace("class Cart", "class Basket") for line in cart]
    fix(12, {"app/core.py": rows(*both), "shop/cart.py": rows(*cart)})
    older = [line.replace("root_3 = 3", "root_3 = 33") for line in both]
    fix(13, {"app/core.py": rows(*older)})
    fix(14, {"app/side.py": rows("pushed = int(input())", "kept = 1")})
    fix(15, {"app/core.py": rows(*older, *MORE)})
    fix(
        16,
        {
            "tests/test_core.py": "x = 2\n",
            "docs/a.md": "a\nc\n",
            "app/side.py": rows("pushed  =  int(input())", "kept = 1"),
        },
    )
    fix(19, {"app/four.py": rows("four = 4", "five = 5", "evil = None")})
    fix(20, {"app/nest.py": rows("nested = 1", "other = 2")})
    fix(40, {"app/forty.py": rows("forty = 40")}, subject="Forty, again (#40)")
    fix(21, {"app/fifty.py": rows("def fifty(n):", "    return n % 50")})
    fix(22, {f"app/many{number}.py": "x = 1\n" for number in range(11)} | {"app/forty.py": rows("forty = 41")})
    fix(23, {"app/outer.py": rows("outer = 2", *(f"o{number} = 1" for number in range(600)))})
    ids = planted.write(folder / "r.git", last)
    bug = ("kind/bug",)
    listed = [pull(number, ids, f"fix{number}", *bug) for number in (11, 12, 13, 14, 15, 16, 19, 20, 40, 21, 22, 23)]
    listed.append(pull(10, ids, "fix10", "bug", "priority: high", body="Every average is too large.\n\nCloses #9."))
    listed += [pull(1, ids, "intro1", "feature", title="feat(core): Add the average (#1)", body="For the report.")]
    listed += [pull(2, ids, "intro2", title="A cart"), pull(17, ids, None, *bug), pull(18, ids, "move3", "not a bug")]
    fifty = {ids[name]: [pull(50, ids, "r50b", title="Fifty")] for name in ("r50a", "r50b")}
    answers = {
        "pulls-1.json": json.dumps(listed[:7]),
        "pulls-2.json": json.dumps([listed[7:]]),
        "commits.json": json.dumps(fifty),
    }
    return World(folder / "r.git", ids, {name: text.encode() for name, text in answers.items()})
