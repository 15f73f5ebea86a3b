"""Commands about forks: rehearse them here, and ask every reviewer once before a run does."""

from __future__ import annotations

import difflib
import hashlib
import json
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli_common import (
    BAD_INPUT,
    CHECK_FAILED,
    DONE,
    NOT_CARRIED_OUT,
    Failure,
    counting,
    deliver,
    ready_settings,
    say,
    settings_now,
    working,
    write,
)
from bot.cli_completion import suites
from bot.cli_goldens_keep import refusing_goldens

if TYPE_CHECKING:
    from bot.forking.preflight import Answer
    from bot.forking.rehearsal import Rehearsal, Rehearsed
    from bot.registry import Registry, Reviewer
    from bot.workflows.services import Services
    from goldens.model import Suite

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.argument("which", metavar="SUITE[/PULL]", shell_complete=suites)
@click.option("--dry-run", is_flag=True, help="Make the forks, show everything about them, and keep nothing.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Keep them as bare repositories in this new folder."
)
@click.option("--upstream", metavar="URL", help="Where pinned commits are fetched. Default: the setting of that name.")
@click.option("--mirror", type=_FOLDER, help="Local clones instead, each at owner/name or name, with or without .git.")
@click.option(
    "--reviewer", "reviewers", multiple=True, metavar="ID", help="Whom the forks are for. Default: everybody."
)
@click.option("--seed", help="The same seed gives the same names and commits. Default: another one each time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def fork(which: str, dry_run: bool, output: Path | None, as_json: bool, seed: str | None, **given: Any) -> None:
    """Rehearse the forks of a suite: names, texts, commits, proof, hazards, leaks, and what still tells the origin.

    Sends nothing. Exits with 1 if a pull request cannot be forked or something we author is not neutral, and with 3 if
    commits could not be had. Forks on GitHub are made by a run, which a benchmark issue starts.

    Example: assay fork smoke/order-totals --dry-run
    """
    if dry_run == (output is not None):
        raise click.UsageError(
            "say --dry-run to see the forks, or -o FOLDER to keep them as bare repositories; forks on GitHub are made "
            "by a run, which a benchmark issue starts"
        )
    if output is not None and output.exists() and any(output.iterdir()):
        raise Failure(f"{output} is not empty; name a new folder", BAD_INPUT)
    with refusing_goldens(), working("reading the suite") as stage:
        rehearsal, pulls = _rehearsal(which, seed, **given)
        try:
            plans = rehearsal.plans(pulls)
        except ValueError as error:
            raise Failure(str(error), BAD_INPUT) from None
        done = list(rehearsal.run(plans, counting(stage, "making forks", unit="forks"), output))
    rows = {"suite": rehearsal.suite.ref.id, "unable": _unable(rehearsal), "forks": [one.record() for one in done]}
    if output is not None:
        deliver(json.dumps(rows, indent=1), output / "forks.json")
    write(json.dumps(rows, indent=1) if as_json else _as_text(rows, done))
    sys.exit(_code([one.status for one in done]))


def _code(statuses: Sequence[str]) -> int:
    if "failed" in statuses:
        return NOT_CARRIED_OUT
    return DONE if all(status == "ready" for status in statuses) else CHECK_FAILED


def _rehearsal(
    which: str, seed: str | None, upstream: str | None, mirror: Path | None, reviewers: tuple[str, ...]
) -> tuple[Rehearsal, tuple[str, ...] | None]:
    """What is to be rehearsed, by which rules, from where."""
    from bot.adapters.git import Git
    from bot.composition import registry_of, strip_rules
    from bot.forking.rehearsal import Rehearsal, Sources
    from bot.neutral_reviewers import tree_needs

    if upstream is not None and mirror is not None:
        raise click.UsageError("--upstream and --mirror both say where commits are; name one")
    settings, (suite, pulls) = settings_now(), _suite_and_pull(which)
    registry = registry_of(settings)
    chosen = chosen_reviewers(registry, reviewers)
    addresses = [upstream] if upstream else [] if mirror else [settings.upstream_url, settings.mirror_url]
    sources = Sources(tuple(address for address in addresses if address), mirror)
    local = mirror is not None or any(address.startswith("file:") for address in sources.upstreams)
    secret = seed.encode() if seed is not None else secrets.token_bytes(32)
    rehearsal = Rehearsal(
        suite=suite,
        reviewers=chosen,
        secret=hashlib.sha256(b"assay rehearsal\0" + secret).digest(),
        sources=sources,
        rules=strip_rules(),
        needs=tree_needs(registry.reviewers, chosen, granted=settings.workflows_granted),
        granted=settings.workflows_granted,
        git=Git(allow_file=local, allow_http=any(address.startswith("http:") for address in sources.upstreams)),
    )
    return rehearsal, pulls


def chosen_reviewers(registry: Registry, wanted: Sequence[str]) -> tuple[Reviewer, ...]:
    """The reviewers of these ids, or all that are still offered."""
    if not wanted:
        return tuple(entry for entry in registry.reviewers if not entry.retired)
    found = []
    for name in dict.fromkeys(wanted):
        entry = registry.get(name)
        if entry is None:
            raise Failure(f"--reviewer {name[:60]}: nobody is called so{_guess(name, registry.ids)}", BAD_INPUT)
        found.append(entry)
    return tuple(found)


def _guess(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name[:60], known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(known)}"


def _suite_and_pull(which: str) -> tuple[Suite, tuple[str, ...] | None]:
    """A suite by name or path, or one pull request of it behind a last slash."""
    from bot.goldens_desk import find_suite
    from goldens.load import suite_names

    head, slash, tail = which.rpartition("/")
    if not slash or Path(which).exists() or not (head in suite_names() or Path(head).exists()):
        return find_suite(which), None
    suite = find_suite(head)
    known = [pull.id for pull in suite.pulls]
    if tail not in known:
        raise Failure(f"{head} has no pull request {tail[:80]}{_guess(tail, known)}", BAD_INPUT)
    return suite, (tail,)


def _unable(rehearsal: Rehearsal) -> dict[str, str]:
    from bot.neutral_reviewers import action_problem

    found = {one.id: action_problem(one, granted=rehearsal.granted) for one in rehearsal.reviewers}
    return {reviewer: problem for reviewer, problem in found.items() if problem is not None}


# --- as text ----------------------------------------------------------------------------------------------------


def _as_text(rows: dict[str, Any], done: Sequence[Rehearsed]) -> str:
    lines = [line for one in done for line in (*_fork_lines(one), "")]
    lines += [f"{reviewer} cannot take part: {problem}" for reviewer, problem in rows["unable"].items()]
    counts = {status: sum(one.status == status for one in done) for status in ("ready", "leaks", "refused", "failed")}
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    return "\n".join([*lines, f"{rows['suite']}: {told} of {len(done)}"])


def _fork_lines(one: Rehearsed) -> list[str]:
    plan, who = one.plan, one.author
    pairs = [
        ("repository", f"{plan.names[0]} (if taken: {', '.join(plan.names[1:3])}, ...)"),
        ("branches", f"{plan.head_branch} into {plan.base_branch}"),
        ("title", plan.title),
        *(("body" if not number else "", line) for number, line in enumerate(plan.body.splitlines())),
        ("author", f"{who.name} <{who.email}>, {who.base_date:%Y-%m-%d} and {who.head_date:%Y-%m-%d}"),
        *(_made_lines(one)),
        *((finding.verdict.value, f"{finding.path}: {finding.detail}") for finding in one.findings),
        *(("leak", leak) for leak in one.leaks),
    ]
    if not one.leaks:
        pairs.append(("leaks", "none: nothing we author names the upstream, the tool or the run"))
    return [f"{plan.pull}: {one.status}", *(f"  {name:<11} {_plain(text)}".rstrip() for name, text in pairs)]


def _made_lines(one: Rehearsed) -> list[tuple[str, str]]:
    from bot.neutral_residual import KINDS

    made = one.commits
    if made is None:
        return [("problem", one.problem)]
    lists = (("stripped", made.stripped), ("kept", made.kept), ("put in", made.injected))
    counts = "; ".join(f"{KINDS[kind]}: {count}" for kind, count in made.residual.items())
    return [
        ("base", f"commit {made.base_sha} tree {made.base_tree}"),
        ("head", f"commit {made.head_sha} tree {made.head_tree}"),
        ("patch", f"id {made.patch_id}, equal to that of the golden pull request"),
        *([("base is", made.base_is)] if made.base_is else []),
        *((name, ", ".join(paths)) for name, paths in lists if paths),
        *(("note", note) for note in made.notes),
        ("residual", counts or "nothing"),
    ]


def _plain(text: str) -> str:
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


# --- preflight --------------------------------------------------------------------------------------------------


@click.command()
@click.option("--org", metavar="LOGIN", help="The account to ask on. Default: that of the control repository.")
@click.option("--reviewer", "reviewers", multiple=True, metavar="ID", help="Whom to ask. Default: everybody.")
@click.option("--minutes", type=click.IntRange(1, 1440), help="How long to wait. Default: as each reviewer needs.")
@click.option("--keep", is_flag=True, help="Leave the repositories as they are, and do not archive them.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def preflight(org: str | None, reviewers: tuple[str, ...], minutes: int | None, keep: bool, as_json: bool) -> None:
    """Ask every reviewer once, on one tiny pull request each, and show who answered how and how fast.

    It is a run like any other: an issue in the control repository asks for it, and it posts its results there. Exits
    with 1 if somebody did not review, and with 3 if it could not be carried out.

    Example: assay preflight --org acme --reviewer coderabbit --reviewer greptile
    """
    from bot.forking.preflight import PreflightError
    from bot.ports import GitHubError

    try:
        with working("reaching GitHub") as stage:
            run, found = _preflight(org, reviewers, minutes, keep, stage)
    except (PreflightError, GitHubError) as error:
        raise Failure(str(error), NOT_CARRIED_OUT) from None
    rows = [one.record() for one in found]
    write(json.dumps({"run": run, "reviewers": rows}, indent=1) if as_json else _answers_text(rows))
    sys.exit(DONE if all(one.answered for one in found) else CHECK_FAILED)


def _preflight(
    org: str | None, reviewers: tuple[str, ...], minutes: int | None, keep: bool, stage: Callable[[str], None]
) -> tuple[str, list[Answer]]:
    from bot import composition
    from bot.forking import preflight as flight
    from bot.forking.asking import body_of, smallest
    from bot.workflows import engine
    from bot.workflows.ids import issue_key

    settings = ready_settings()
    registry = composition.registry_of(settings)
    chosen = chosen_reviewers(registry, reviewers)
    databases = composition.open_databases(settings)
    composition.migrate_engine(databases)
    services = composition.services_of(settings, databases)
    installation, account = _installation(services, org)
    github, control = services.github(installation), services.control(account)
    suite = services.load_suite("smoke")
    body = body_of(suite.ref.id, smallest(suite).id, chosen, minutes)
    stage(f"asking in {control}")
    issue = flight.ask(github, control, secrets.token_hex(4), body, services.clock)
    door = engine.client(databases.engine, databases.engine_url)
    key = issue_key(issue["id"], issue.get("body"))
    engine.submit(door, "start", "consider_issue", key, installation, str(control), issue["number"], 1)
    watch = flight.Watch(services.store, github, control, issue, stage)
    with flight.working_beside(settings.data_dir / "preflight.log"):
        run = watch.begun(180)
        say(f"preflight in {control}#{issue['number']}: at most {run.plan.minutes:.0f} minutes")
        run = watch.ended(run, flight.longest(run.plan))
        if not keep:
            stage("archiving")
            engine.submit(door, "publish", "archive_run", f"archive-{run.id}", run.id)
            if not watch.archived(run.id, 120):
                say(f"not every fork is archived yet; see assay status {run.id}")
    author = github.author()
    ours = frozenset({author.login, github.identity().login})
    bot = not author.is_user
    return run.id, flight.answers(services.store, run, services.registry_of(run), services.web_url, ours, bot)


def _installation(services: Services, org: str | None) -> tuple[int, str]:
    """Where to ask: the account named, that of the control repository, or the only one there is."""
    there = services.app.installations()
    wanted = org or (services.control_repo.owner if services.control_repo else None)
    fitting = [one for one in there if wanted is None or one[1].lower() == wanted.lower()]
    names = ", ".join(account for _, account in there) or "none"
    if not fitting:
        raise Failure(
            f"the App is not installed on {wanted or 'any account'}; accounts that have it: {names}", BAD_INPUT
        )
    if len(fitting) > 1:
        raise Failure(f"the App is installed on several accounts, so say --org; there are {names}", BAD_INPUT)
    return fitting[0]


def _answers_text(rows: Sequence[dict[str, Any]]) -> str:
    head = ("reviewer", "status", "seconds", "comments", "pull request")
    cells = [
        (
            row["reviewer"],
            row["status"],
            "-" if row["seconds"] is None else f"{row['seconds']:.0f}",
            str(row["comments"]),
            row["pull_request"] or "-",
        )
        for row in rows
    ]
    widths = [max(len(line[at]) for line in (head, *cells)) for at in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *cells)]
    told = [f"{row['reviewer']}: {'; '.join(filter(None, (row['reason'], row['advice'])))}" for row in rows]
    notes = [_plain(line) for line, row in zip(told, rows, strict=True) if row["advice"] or not row["answered"]]
    answered = sum(bool(row["answered"]) for row in rows)
    return "\n".join([*(line.rstrip() for line in lines), "", *notes, f"{answered} of {len(rows)} reviewed."])


COMMANDS = (fork, preflight)
