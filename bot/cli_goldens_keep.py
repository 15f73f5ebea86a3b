"""Commands that change a suite which somebody owns: doubt, retire, audit, review drafts, take drafts from a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bot.cli_common import BAD_INPUT, NOT_CARRIED_OUT, Failure, refusing, say, working, write

if TYPE_CHECKING:
    from bot.goldens_desk import Changed
    from goldens.edit import SuiteText
    from goldens.keeping import Who
    from goldens.stats import AuditStats

VERDICTS = ("bug", "related", "unrelated")
"""As in `goldens.model`, which is loaded when it is needed."""
_THERE = click.Path(exists=True, path_type=Path)
_F = TypeVar("_F", bound=Callable[..., Any])
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_by = click.option("--by", required=True, metavar="NAME", help="Who decides; it stands in the suite beside the day.")


@contextmanager
def refusing_goldens() -> Iterator[None]:
    """Turn what is wrong with suites, clones and rows into a failure of one line a problem."""
    try:
        with refusing():
            yield
    # What the errors are called is looked up when there is one: a command loads only what it needs.
    except _bad_input() as error:
        raise Failure(str(error), BAD_INPUT) from None
    except _not_carried_out() as error:
        raise Failure(getattr(error, "message", str(error)), NOT_CARRIED_OUT) from None


def _bad_input() -> tuple[type[Exception], ...]:
    from goldens.edit import EditError
    from goldens.from_run import RunError
    from goldens.located import SuiteError
    from goldens.mine.history import HistoryError
    from goldens.sampling import SampleError
    from goldens.synth.model import SynthError

    return EditError, HistoryError, RunError, SampleError, SuiteError, SynthError


def _not_carried_out() -> tuple[type[Exception], ...]:
    from bot.adapters.git_bytes import GitError
    from goldens.leakage import Leak

    return GitError, Leak


def _who(name: str) -> Who:
    from goldens.keeping import Who

    if not name.strip():
        raise click.UsageError("--by needs a name")
    return Who(" ".join(name.split()), datetime.now(UTC).date().isoformat())


def _changing(command: _F) -> _F:
    """The options of every command that changes what is scored."""
    options = (
        click.option("--reason", required=True, help="Why, in a sentence; it stands in the suite."),
        _by,
        click.option("--bundle", type=_THERE, help="Count this run before and after."),
        click.option("--judge", help="Whose answers to count: one stored in the bundle, or `lexical`."),
        click.option("--to-version", help="The new version. Default: the last number counted up."),
        _json,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(short_help="Doubt a golden of your own suite; it stays scored.")
@click.argument("suite")
@click.argument("golden")
@_changing
def dispute(suite: str, golden: str, reason: str, by: str, as_json: bool, **given: Any) -> None:
    """Doubt a golden of your own suite: it stays scored, and is named as doubted.

    All of the file but what is said stays as it is, byte for byte; the version is counted up.

    Example: assay goldens dispute shop/suite.yaml divisor-one-short --reason "A caller checks it." --by ada
    """
    from goldens.keeping import dispute as doubt

    who = _who(by)
    _change(suite, lambda text: doubt(text, golden, reason, who), as_json, **given)


@click.command(short_help="Take a golden of your own suite out of the score.")
@click.argument("suite")
@click.argument("golden")
@click.option("--clean", is_flag=True, help="It was the last one: its pull request has no defect left.")
@_changing
def retire(suite: str, golden: str, clean: bool, reason: str, by: str, as_json: bool, **given: Any) -> None:
    """Take a golden of your own suite out of the score: it was wrong, or is spent. It stays on record.

    Example: assay goldens retire shop/suite.yaml divisor-one-short --reason "It is intended." --by ada --bundle run1
    """
    from goldens.keeping import retire as gone

    who = _who(by)
    _change(suite, lambda text: gone(text, golden, reason, who, clean=clean), as_json, **given)


def _change(
    suite: str,
    deed: Callable[[SuiteText], None],
    as_json: bool,
    *,
    bundle: Path | None,
    judge: str | None,
    to_version: str | None,
) -> None:
    from bot import goldens_desk as desk

    with refusing_goldens(), working(f"changing {suite}"):
        done = desk.change(suite, deed, version=to_version, bundle=bundle, judge=judge)
    if as_json:
        write(json.dumps(done.record(), indent=1))
    else:
        _tell_change(done)


def _tell_change(done: Changed) -> None:
    old, new = done.before.ref, done.after.ref
    write(f"{new.id} {old.version} {old.hash[:12]} -> {new.version} {new.hash[:12]}")
    for row in done.scores:
        was, now = row["before"], row["after"]
        told = ", ".join(f"{name} {_figure(was[name])} -> {_figure(now[name])}" for name in was)
        write(f"{row['reviewer']}: {told}")
    for note in done.notes:
        say(note)


def _figure(value: float | None) -> str:
    return "undefined" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"


@click.command(short_help="Note what is really at a golden's place.")
@click.argument("suite")
@click.argument("golden", required=False)
@click.option("--verdict", type=click.Choice(VERDICTS), help="What is at its place.")
@click.option("--by", metavar="NAME", help="Who looked.")
@click.option("--confirm", is_flag=True, help="This is the second look, by somebody else.")
@_json
def audit(suite: str, golden: str | None, verdict: str | None, by: str | None, confirm: bool, as_json: bool) -> None:
    """Note what is at a golden's place: the bug itself, code related to it, or neither; then have somebody confirm it.

    Without GOLDEN: show how far the audit is. A verdict changes no score, so the version stays.

    Example: assay goldens audit pilot/suite.yaml django-django-11099-site-0001 --verdict bug --by ada
    """
    from bot import goldens_desk as desk
    from goldens.keeping import audit as looked
    from goldens.model import AuditVerdict

    if golden is None:
        if verdict is not None or by is not None or confirm:
            raise click.UsageError("say which GOLDEN the verdict is about")
        _show_audit(suite, as_json)
        return
    if by is None:
        raise click.UsageError("--by NAME: who looked?")
    name, found = _who(by).name, AuditVerdict(verdict) if verdict else None
    with refusing_goldens():
        path = desk.owned(suite)
        desk.amend(path, lambda text: looked(text, golden, found, name, confirm=confirm))
    _show_audit(str(path), as_json)


def _show_audit(which: str, as_json: bool) -> None:
    from dataclasses import asdict

    from bot import goldens_desk as desk
    from goldens.stats import stats

    with refusing_goldens():
        suite = desk.find_suite(which)
        found: AuditStats | None = stats(suite).audit
    missing = [str(golden.id) for pull in suite.pulls for golden in pull.goldens if golden.id not in pull.audits]
    if as_json:
        write(json.dumps({"audit": asdict(found) if found else None, "missing": missing}, indent=1))
        return
    if found is None:
        write(f"nobody has audited {suite.ref.id}; {len(missing)} goldens to look at, {missing[0]} first")
        return
    told = ", ".join(f"{count} {verdict}" for verdict, count in found.by_verdict.items())
    write(f"{found.audited} audited, {found.confirmed} confirmed, {len(missing)} to look at: {told}")
    write(f"the bug itself: {found.pulls_with_bug} of {found.pulls} pull requests")
    if found.bug.low is not None and found.bug.high is not None:
        write(f"the bug itself: {found.bug.value:.1%} of goldens [{found.bug.low:.1%}, {found.bug.high:.1%}]")


@click.command("add-from-run", short_help="Take drafts from a run that several reviewers agree on.")
@click.argument("bundle", type=_THERE)
@click.option("--suite", required=True, help="Your suite, which the run was about.")
@_json
def add_from_run(bundle: Path, suite: str, as_json: bool) -> None:
    """Take drafts from a run: claims of two or more reviewers that every judge calls valid and no golden covers.

    They go into the suite as drafts and are not scored before somebody confirms them. What the suite already has, or
    somebody rejected, is not added again.

    Example: assay goldens add-from-run run1 --suite shop/suite.yaml
    """
    from bot import goldens_desk as desk

    with refusing_goldens(), working(f"reading {bundle}"):
        path, added = desk.add_from_run(suite, bundle)
    if as_json:
        write(json.dumps({"file": str(path), "added": added}, indent=1))
        return
    for one in added:
        where = f"{one.get('path', 'no place')}:{one['lines'][0] if 'lines' in one else ''}".rstrip(":")
        write(f"{one['pull']}/{one['id']} {where}: {one['finding'][:100]}")
    write(f"{len(added)} drafts added to {path}")
    if added:
        say(f"nothing is scored before somebody confirms it: assay goldens review {path} --by YOUR-NAME")


@click.command(short_help="Walk through drafts: confirm, reject, regrade.")
@click.argument("draft")
@_by
@click.option("--mirror", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Local clones.")
@_json
def review(draft: str, by: str, mirror: Path | None, as_json: bool) -> None:
    """Walk through drafts: confirm, reject, or give another severity. Who and when is kept in the file.

    Every answer is written at once, so that you can stop at any time and go on later. With --json the drafts that wait
    are printed and nothing is asked.

    Example: assay goldens review drafts.yaml --by ada --mirror ~/clones
    """
    from bot import goldens_walk

    with refusing_goldens():
        if as_json:
            write(json.dumps(goldens_walk.waiting(draft, mirror), indent=1))
            return
        who = _who(by)
        done = _walk(draft, who, mirror)
    write(f"{done['confirmed']} confirmed, {done['rejected']} rejected, {done['waiting']} still wait")


def _walk(draft: str, who: Who, mirror: Path | None) -> dict[str, int]:
    from bot import goldens_walk

    walk = goldens_walk.Walk(draft, who, mirror)
    for shown in walk:
        write(shown)
        while not _answered(walk):
            pass
        if walk.stopped:
            break
    return walk.counts()


def _answered(walk: Any) -> bool:
    """Ask once. Whether the draft is dealt with for now."""
    from goldens.edit import EditError
    from goldens.located import SuiteError

    answer = click.prompt("confirm, reject, severity, later, quit", type=str, prompt_suffix="? ", err=True)
    word = answer.strip().lower()
    try:
        if word in ("c", "confirm"):
            walk.confirm()
        elif word in ("r", "reject"):
            walk.reject(click.prompt("why", type=str, err=True))
        elif word in ("s", "severity"):
            walk.regrade(click.prompt("critical, high, medium or low", type=str, err=True).strip().lower())
            return False
        elif word in ("q", "quit"):
            walk.stop()
        elif word not in ("l", "later"):
            say(f"{answer[:40]!r} is none of confirm, reject, severity, later, quit (their first letters will do)")
            return False
    except (EditError, SuiteError) as error:
        say(str(error))
        return False
    return True


KEEPING = (audit, dispute, retire, review, add_from_run)
