"""Review bots that live at the other stand-in: what they say is written down here, so what a run must find is known."""

from __future__ import annotations

import time

from tests.flows.foreign import Foreign, Json, Opened, Repo, Said

REGISTRY = """\
version: 1
reviewers:
  - id: heronlake
    name: Heronlake
    logins: [{login: "heronlake[bot]"}]
    app_slugs: [heronlake]
    trigger: {kind: auto}
    wait: {floor: 1, quiet: 4, grace: 1, deadline: 40}
    signals: {done: ['Heronlake read \\d{1,4} files'], not_findings: ['Heronlake read \\d{1,4} files']}
  - id: pinemarten
    name: Pinemarten
    logins: [{login: "pinemarten[bot]"}]
    app_slugs: [pinemarten]
    trigger: {kind: auto}
    wait: {floor: 1, quiet: 20, grace: 1, deadline: 40}
    signals: {placeholder: ['Pinemarten is reading'], done: ['Pinemarten is through'], clean: ['nothing to say']}
  - id: oreweight
    name: Oreweight
    logins: [{login: "oreweight[bot]"}]
    app_slugs: [oreweight]
    check_names: [oreweight]
    findings_in_checks: true
    trigger: {kind: auto}
    wait: {floor: 1, quiet: 3, grace: 1, deadline: 40}
    signals: {done: ['Oreweight finished']}
  - id: saltmarsh
    name: Saltmarsh
    logins: [{login: "saltmarsh[bot]"}]
    trigger: {kind: comment, text: "@saltmarsh look"}
    wait: {floor: 1, quiet: 3, grace: 1, deadline: 40}
    signals: {clean: ['Saltmarsh: all is well'], skipped: ['Saltmarsh passes']}
"""
BOTS = ("heronlake", "pinemarten", "oreweight", "saltmarsh")
TOTALS, RING = "billing/totals.py", "src/ring.c"

SHELL = (
    TOTALS,
    38,
    "The default list of the parameter `redeemed` is created once and shared: it survives the call, so a voucher code "
    "used by one order counts as redeemed in all later orders.",
)
CENTS = (
    TOTALS,
    35,
    "`voucher_discount` truncates with int() and drops the fraction of a cent instead of going through to_cents, which "
    "rounds half up: 15 percent of 999 gives 149 instead of 150.",
)
WRONG = (TOTALS, 52, "Importing `date` here makes the interpreter start slower; load the calendar lazily.")
PEEK = (
    RING,
    44,
    "`ring_peek` compares offset with > instead of >=: an offset equal to count passes the check and a stale byte that "
    "is not stored is reported as success.",
)
LEAK = (
    RING,
    60,
    "`ring_grow` overwrites the data pointer without a call to free, so the previous allocation is lost each time.",
)

EXPECTED = {
    "heronlake": (3, 1, 1),
    "pinemarten": (1, 0, 3),
    "oreweight": (1, 0, 3),
    "saltmarsh": (0, 0, 4),
}
"""Reviewer -> (tp, fp, fn) over `order-totals` and `ring-buffer`, which hold two goldens each."""


def script(pause: float) -> tuple[Opened, Said]:
    """What the bots do when a pull request is opened, and when something is said on one; slower with `pause`."""

    def on_pull(world: Foreign, repo: Repo, issue: Json) -> None:
        totals = "order totals" in issue["title"]
        number = int(issue["number"])
        early = world.comment(repo, number, "Pinemarten is reading.", "pinemarten[bot]")
        time.sleep(pause)
        notes = [SHELL, CENTS, WRONG] if totals else [PEEK]
        world.review(repo, number, "heronlake[bot]", "Heronlake read 3 files.", notes)
        annotations = [{"path": LEAK[0], "start_line": 60, "end_line": 60, "annotation_level": "warning"}]
        body: Json = {"name": "oreweight", "status": "completed", "conclusion": "success"}
        output = {"title": "Oreweight finished", "summary": "Oreweight finished."}
        found = [] if totals else [annotations[0] | {"message": LEAK[2]}]
        world.check(repo, issue["sha"], "oreweight", body | {"output": output | {"annotations": found}})
        time.sleep(pause)
        said = f"`{TOTALS}` line 38: {SHELL[2]}" if totals else "nothing to say."
        world.edit(repo, early, f"{said}\n\nPinemarten is through.")

    def on_comment(world: Foreign, repo: Repo, number: int, body: str) -> None:
        if body == "@saltmarsh look":
            world.comment(repo, number, "Saltmarsh: all is well.", "saltmarsh[bot]")

    return on_pull, on_comment
