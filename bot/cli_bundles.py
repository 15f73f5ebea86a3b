"""Commands about bundles as files: other formats in and out, checking, packing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli_common import BAD_INPUT, CHECK_FAILED, DONE, Failure, refusing, say, working, write

if TYPE_CHECKING:
    from bot.analysis.submission import Finding
    from scoring.bundle import Bundle

FORMATS = ("martian", "cloudaeye", "codevetter", "swe", "rest", "sarif")
"""As in `goldens.importers`, which is loaded when it is needed."""
SCHEMAS = ("bundle", "report")
_ANY = click.Path(path_type=Path)
_THERE = click.Path(exists=True, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_force = click.option("--force", is_flag=True, help="Overwrite what is there.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command("import")
@click.argument("form", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("path", type=_ANY)
@click.option("-o", "--output", "bundle", required=True, type=_ANY, help="The bundle's folder to write.")
@click.option("--judge", default="", help="What to call the judge, where the source does not say.")
@click.option("--reviewer", default="", help="Whose comments these are, where the source names nobody.")
@click.option("--pull", default="", help="Which golden pull request it is about, where the source does not say.")
@click.option("--suite", default="", help="What to call the suite.")
@_force
@_json
def import_(
    form: str, path: Path, bundle: Path, judge: str, reviewer: str, pull: str, suite: str, force: bool, as_json: bool
) -> None:
    """Make a bundle of somebody's goldens, comments and judgements. All of it is written or nothing.

    Formats: martian, cloudaeye, codevetter, swe (SWE-Review-Bench), rest (GitHub's comments as its API gives them),
    sarif (2.1.0). What our types do not hold is kept, so that exporting gives it back.

    Example: assay import martian results/some_judge -o bundle
    """
    from goldens.importers import FORMATS as KNOWN
    from goldens.importers import Options, detect
    from goldens.importers.folder import write_bundle
    from goldens.importers.problems import ImportProblem

    _free(bundle, force)
    with refusing(), working(f"reading {path}"):
        try:
            found = KNOWN[form].read(path, Options(judge, reviewer, pull, suite))
        except ImportProblem as error:
            others = [name for name in detect(path) if name != form] if path.exists() else []
            if not others or len(error.problems) > 1 or error.problems[0].path != "$":
                raise
            raise Failure(f"{error}; it looks like {' or '.join(others)}", BAD_INPUT) from None
        write_bundle(found, bundle, overwrite=force)
    write(
        json.dumps({"bundle": str(bundle), "format": form, **_contents(found)}, indent=1)
        if as_json
        else f"{bundle}: {_summary(found)}"
    )
    for note in found.card.notes:
        say(note)


def _free(path: Path, force: bool) -> None:
    """Whether something may be written there, before any work is done."""
    if os.path.lexists(path) and not force:
        raise Failure(f"{path} is there already; name a new one, or give --force to replace it", BAD_INPUT)


def _contents(found: Bundle) -> dict[str, object]:
    return {
        "suite": {"id": found.suite.id, "version": found.suite.version, "hash": found.suite.hash},
        "pulls": len(found.pulls),
        "goldens": sum(len(pull.goldens) for pull in found.pulls),
        "trials": len(found.trials),
        "reviewers": sorted({trial.reviewer for trial in found.trials}),
        "judges": [judged.judge for judged in found.judgements],
    }


def _summary(found: Bundle) -> str:
    held = _contents(found)
    judges = ", ".join(judged.judge for judged in found.judgements) or "none"
    reviewers = len({trial.reviewer for trial in found.trials})
    return (
        f"{held['pulls']} pull requests, {held['goldens']} goldens, {reviewers} reviewers, {held['trials']} trials, "
        f"judges: {judges}"
    )


@click.command()
@click.argument("form", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("bundle", type=_THERE)
@click.argument("path", type=_ANY)
@_force
@_json
def export(form: str, bundle: Path, path: Path, force: bool, as_json: bool) -> None:
    """Write a bundle as somebody else's files. What was imported and not changed comes out byte for byte.

    Example: assay export sarif bundle findings.sarif
    """
    from bot.analysis.opening import open_bundle
    from bot.org_suites import is_own, warning
    from goldens.importers import FORMATS as KNOWN

    _free(path, force)
    with refusing(), working(f"writing {path}"):
        found = open_bundle(bundle)
        KNOWN[form].write(found, path, overwrite=force)
    if is_own(found.suite.id):
        say(warning(str(path)))
    write(
        json.dumps({"path": str(path), "format": form, **_contents(found)}, indent=1)
        if as_json
        else f"{path}: {_summary(found)}"
    )


@click.group("bundle")
def bundle_group() -> None:
    """Check, pack and unpack bundles.

    Example: assay bundle verify assay-data/bundles/1234-1
    """


@bundle_group.command("verify")
@click.argument("bundle", type=_THERE)
@click.option("--submission", is_flag=True, help="Check also what a public leaderboard needs of it.")
@click.option("--submitter", help="With --submission: who sent it in.")
@_json
def bundle_verify(bundle: Path, submission: bool, submitter: str | None, as_json: bool) -> None:
    """Check every part against the index, and that the parts fit together. Names the first part that differs.

    With --submission also: the goldens are the suite's, the fork manifest has full commit SHAs, what is scored is what
    the raw snapshots give, a judge answered on every scored trial, coverage is complete; and it is flagged where a
    reviewer's vendor labelled, judged, ran or sent in the test. Flags are for the reader; errors end with 1.

    Example: assay bundle verify --submission bundle.zip
    """
    from bot.analysis import submission as rules
    from bot.analysis.opening import open_bundle
    from bot.analysis.problems import Unusable
    from scoring.bundle import INDEX, BundleError

    if bundle.is_dir() and not (bundle / INDEX).is_file():
        raise Failure(f"{bundle}: no bundle, for it has no {INDEX}", BAD_INPUT)
    findings: tuple[Finding, ...] = ()
    summary = f"{bundle}: "
    with working(f"checking {bundle}"):
        try:
            found = open_bundle(bundle)
            summary += _summary(found)
            findings = rules.check(found, submitter) if submission else ()
        except (BundleError, Unusable) as error:
            findings = (rules.Finding(rules.Weight.ERROR, "whole", str(error)),)
    sound = not any(one.weight is rules.Weight.ERROR for one in findings)
    if as_json:
        rows = [{"weight": one.weight.value, "rule": one.rule, "message": one.message} for one in findings]
        write(json.dumps({"bundle": str(bundle), "sound": sound, "findings": rows}, indent=1))
    else:
        write(
            "\n".join(
                [
                    *(f"{one.weight.value} {one.rule}: {one.message}" for one in findings),
                    f"{summary}{'; ' if not summary.endswith(': ') else ''}{'sound' if sound else 'not sound'}",
                ]
            )
        )
    raise SystemExit(DONE if sound else CHECK_FAILED)


@bundle_group.command("pack", short_help="Pack a bundle into one file.")
@click.argument("bundle", type=_FOLDER)
@click.argument("archive", type=_ANY)
@_force
@_json
def bundle_pack(bundle: Path, archive: Path, force: bool, as_json: bool) -> None:
    """Pack a bundle's folder into one file; the same parts give the same bytes.

    Example: assay bundle pack assay-data/bundles/1234-1 run.zip
    """
    import hashlib

    from goldens.importers.folder import pack

    _free(archive, force)
    with refusing(), working(f"packing {bundle}"):
        pack(bundle, archive, overwrite=force)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    write(json.dumps({"archive": str(archive), "sha256": digest}, indent=1) if as_json else f"{digest}  {archive}")


@bundle_group.command("unpack", short_help="Unpack an archive into a new folder.")
@click.argument("archive", type=_FILE)
@click.argument("bundle", type=_ANY)
@_force
@_json
def bundle_unpack(archive: Path, bundle: Path, force: bool, as_json: bool) -> None:
    """Unpack an archive into a new folder, once every part agrees with the index.

    Example: assay bundle unpack run.zip bundle
    """
    from goldens.importers.folder import unpack

    _free(bundle, force)
    with refusing(), working(f"unpacking {archive}"):
        unpack(archive, bundle, overwrite=force)
    write(json.dumps({"bundle": str(bundle)}, indent=1) if as_json else str(bundle))


@bundle_group.command("schema")
@click.argument("name", type=click.Choice(SCHEMAS), default="bundle")
@click.option("--json", "as_json", is_flag=True, help="It is JSON either way.")
def bundle_schema(name: str, as_json: bool) -> None:
    """Print the JSON Schema of a bundle's parts, or of a report.

    Example: assay bundle schema report > report.schema.json
    """
    from scoring import schemas

    write(schemas.text(name).rstrip("\n"))


COMMANDS = (import_, export, bundle_group)
