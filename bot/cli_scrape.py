"""`assay scrape`: forks that stand already, read into a bundle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli_common import BAD_INPUT, DONE, NOT_CARRIED_OUT, Failure, each, refusing, say, settings_now, working, write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.bundle import Evidence
    from bot.fork_manifest import Manifest
    from bot.registry import Registry
    from bot.scraping import Read
    from goldens.model import Suite
    from scoring.bundle import Bundle

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_SHIPPED = "forks-"


@click.command()
@click.argument("manifest", metavar="MANIFEST")
@click.option(
    "--bot-map",
    "pairs",
    multiple=True,
    metavar="LOGIN=NAME",
    help="Whose account is whose; may be given more than once, or with commas. Default: as the registry says.",
)
@click.option("-o", "--output", "bundle", required=True, type=click.Path(path_type=Path), help="The bundle to write.")
@click.option("--suite", help="Whose goldens: a suite that ships, or a suite file. Default: the one that fits.")
@click.option("--force", is_flag=True, help="Overwrite what is there.")
@click.option("--fresh", is_flag=True, help="Read again what an interrupted reading has kept.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def scrape(
    manifest: str, pairs: tuple[str, ...], bundle: Path, suite: str | None, force: bool, fresh: bool, as_json: bool
) -> None:
    """Read forks that stand already into a bundle: every comment, review, reaction and check run, all pages.

    MANIFEST is a file, or the name of a list of forks that ships (`cpp16`). A file is ours (`assay.forks/1`), the list
    that other pipelines keep (`original_pr_url`, `new_repo`), or a bundle's evidence/forks.json. It is read with the
    App where that is installed, else with ASSAY_AUTHOR_TOKEN, else as anybody. What has been read is kept beside the
    bundle until all of it is there, so an interrupted reading goes on where it was.

    Example: assay scrape cpp16 --bot-map "coderabbitai[bot]=coderabbit,Copilot=copilot" -o bundle
    """
    from bot import scraping
    from bot.bundle import freeze
    from goldens.importers.folder import write_bundle

    wanted = _manifest(manifest)
    mapped = _mapped(pairs)
    chosen, pulls = _suite_of(wanted, suite)
    if bundle.exists() and not force:
        raise Failure(f"{bundle} is there already; write --force to overwrite it", BAD_INPUT)
    known = _known()
    reads = _read_all(wanted, pulls, bundle, fresh)
    registry = scraping.registry_of(mapped, known, (read.snapshot for read in reads))
    if not registry.reviewers:
        _tell_strangers(reads, registry, known)
        raise Failure("no reviewer that anybody knows said anything there; name some with --bot-map", NOT_CARRIED_OUT)
    try:
        evidence = scraping.evidence_of(reads, chosen, registry, ())
    except scraping.Ambiguous as error:
        raise Failure(f"{manifest}: {error}", BAD_INPUT) from None
    found = _marked(freeze(evidence), scraping.UNKNOWN)
    with refusing():
        write_bundle(found, bundle, overwrite=force)
    _forget(bundle)
    told = _told(bundle, evidence, found, reads, mapped, known)
    write(json.dumps(told, indent=1) if as_json else _as_text(told))
    _tell_strangers(reads, registry, known)
    for login in scraping.silent(mapped, reads):
        say(f"{login} of --bot-map said nothing on any fork: is it spelt as GitHub spells it?")
    raise SystemExit(DONE)


# --- what is asked ----------------------------------------------------------------------------------------------


def _manifest(text: str) -> Manifest:
    from importlib import resources

    from bot import fork_manifest

    path = Path(text)
    shipped = {
        one.name.removeprefix(_SHIPPED).removesuffix(".json"): one
        for one in resources.files("manifests").iterdir()
        if one.name.startswith(_SHIPPED)
    }
    try:
        data = shipped[text].read_bytes() if text in shipped else path.read_bytes()
    except OSError as error:
        names = ", ".join(sorted(shipped))
        raise Failure(f"{text}: {error.strerror}; the lists of forks that ship are: {names}", BAD_INPUT) from None
    try:
        return fork_manifest.read(data, text)
    except fork_manifest.ManifestError as error:
        raise Failure(str(error), BAD_INPUT) from None


def _mapped(pairs: tuple[str, ...]) -> dict[str, str]:
    from bot import scraping

    try:
        return scraping.parse_map(pairs)
    except scraping.MapError as error:
        raise Failure(f"--bot-map: {error}", BAD_INPUT) from None


def _known() -> Registry:
    from bot.composition import registry_of
    from bot.registry import RegistryError

    try:
        return registry_of(settings_now())
    except (RegistryError, OSError) as error:
        raise Failure(str(error), BAD_INPUT) from None


def _suite_of(wanted: Manifest, name: str | None) -> tuple[Suite, dict[Any, Any]]:
    """The suite whose goldens the forks are of, and which of its pull requests each fork is."""
    from bot.fork_manifest import pulls_of
    from goldens.load import load_suite, suite_names
    from goldens.located import SuiteError

    asked = name or wanted.suite
    try:
        if asked:
            path = Path(asked)
            suite = load_suite(asked if asked in suite_names() or not path.exists() else path)
            return suite, pulls_of(wanted, suite)
    except (SuiteError, LookupError) as error:
        raise Failure(str(error), BAD_INPUT) from None
    for one in suite_names():
        suite = load_suite(one)
        try:
            return suite, pulls_of(wanted, suite)
        except LookupError:
            continue
    raise Failure("no suite that ships has all of these pull requests; name one with --suite", BAD_INPUT)


# --- reading ----------------------------------------------------------------------------------------------------


def _read_all(wanted: Manifest, pulls: dict[Any, Any], bundle: Path, fresh: bool) -> list[Read]:
    from bot.adapters.fork_reader import Unreadable
    from bot.composition import fork_reader_of
    from bot.scraping import Read

    kept = _Kept(bundle)
    if fresh:
        _forget(bundle)
    reads: list[Read] = []
    with working("reading forks") as stage:
        reader = fork_reader_of(settings_now(), lambda text: _stage(stage, text))
        for number, fork in enumerate(each(wanted.forks, stage, "reading", "forks"), start=1):
            snapshot = kept.get(fork)
            if snapshot is None:
                try:
                    snapshot = reader.read(fork.repo, fork.number)
                except Unreadable as error:
                    told = f"{error}; {number - 1} of {len(wanted.forks)} forks are kept: run it again to go on"
                    raise Failure(told, NOT_CARRIED_OUT) from None
                kept.put(fork, snapshot)
            reads.append(Read(fork, pulls[fork], snapshot))
    return reads


def _stage(stage: Callable[[str], None], text: str) -> None:
    stage(text)
    say(text)


class _Kept:
    """What was read, one file a fork, until all of it is there."""

    def __init__(self, bundle: Path) -> None:
        self._folder = _partial(bundle)

    def get(self, fork: Any) -> Any:
        from pydantic import TypeAdapter, ValidationError

        from bot.model import Snapshot

        path = self._path(fork)
        if not path.exists():
            return None
        try:
            return TypeAdapter(Snapshot).validate_json(path.read_bytes())
        except ValidationError:
            # Cut off when it was written: it is read again.
            return None

    def put(self, fork: Any, snapshot: Any) -> None:
        from pydantic import TypeAdapter

        from bot.model import Snapshot

        path = self._path(fork)
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(".new")
        scratch.write_bytes(TypeAdapter(Snapshot).dump_json(snapshot))
        scratch.replace(path)

    def _path(self, fork: Any) -> Path:
        return self._folder / f"{fork.repo.owner.lower()}+{fork.repo.name.lower()}+{fork.number}.json"


def _partial(bundle: Path) -> Path:
    return bundle.with_name(f".{bundle.name}.reading")


def _forget(bundle: Path) -> None:
    import shutil

    shutil.rmtree(_partial(bundle), ignore_errors=True)


# --- telling ----------------------------------------------------------------------------------------------------


def _marked(found: Bundle, notes: Sequence[str]) -> Bundle:
    from dataclasses import replace

    return replace(found, card=replace(found.card, notes=(*found.card.notes, *notes)))


def _told(
    bundle: Path,
    evidence: Evidence,
    found: Bundle,
    reads: Sequence[Read],
    mapped: dict[str, str],
    known: Registry,
) -> dict[str, Any]:
    from collections import Counter

    from bot import contamination, scraping

    forks = scraping.seen(evidence)
    rows = {
        entry.id: {
            "statuses": dict(Counter(t.status.value for t in found.trials if t.reviewer == entry.id)),
            "comments": sum(len(t.comments) for t in found.trials if t.reviewer == entry.id),
        }
        for entry in evidence.registry.reviewers
    }
    return {
        "bundle": str(bundle),
        "suite": found.suite.id,
        "forks": len(reads),
        "pulls": len(found.pulls),
        "trials": len(found.trials),
        "reviewers": rows,
        "contamination": [
            {
                "reviewer": one.reviewer,
                "forks": one.forks,
                "exposed": one.exposed,
                "findings": one.findings,
                "most": one.most,
            }
            for one in contamination.exposures(forks)
        ],
        "isolated": contamination.isolated(forks),
        "isolation_broken": list(contamination.broken(forks)),
        "unknown_bots": [
            {"login": one.login, "items": one.items, "perhaps": one.perhaps}
            for one in scraping.strangers(reads, evidence.registry, known)
        ],
        "silent_logins": list(scraping.silent(mapped, reads)),
    }


def _as_text(told: dict[str, Any]) -> str:
    lines = [f"{told['bundle']}: {told['forks']} forks, {told['trials']} trials, suite {told['suite']}"]
    for name, row in told["reviewers"].items():
        statuses = ", ".join(f"{count} {status}" for status, count in sorted(row["statuses"].items()))
        lines.append(f"  {name}: {row['comments']} comments; {statuses}")
    for one in told["contamination"]:
        lines.append(
            f"  {one['reviewer']} could read {one['findings']} findings of others before its first, on "
            f"{one['exposed']} of {one['forks']} forks (at most {one['most']} on one)"
        )
    return "\n".join([*lines, *told["isolation_broken"]])


def _tell_strangers(reads: Sequence[Read], registry: Registry, known: Registry) -> None:
    from bot import scraping

    for one in scraping.strangers(reads, registry, known):
        perhaps = f"; it may be {one.perhaps}" if one.perhaps else ""
        say(f"UNKNOWN BOT {one.login}: {one.items} items are nobody's{perhaps}; add --bot-map '{one.login}=name'")


COMMANDS = (scrape,)
