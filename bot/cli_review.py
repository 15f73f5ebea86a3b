"""The command that reviews: built-in reviewers on a suite, on one pull request or on any two folders."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
    refusing,
    say,
    settings_now,
    working,
    write,
)
from bot.cli_completion import suites

if TYPE_CHECKING:
    from bot.reviewers.means import ReviewMeans
    from bot.reviewers.protocol import Change, Reviewer
    from bot.reviewers.record import Reviewed
    from goldens.model import Suite
    from scoring.bundle import Bundle
    from scoring.model import PullId

Json = Any
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)
_REVIEWERS = """\b
Reviewers:
  static                  Ruff and Pylint on Python       lines=all|changed cap=20
  static+                 with Bandit and our rules       lines=all|changed cap=20
  single-shot:MODEL       one prompt                      context=no|yes
  reflexion:MODEL         draft, rounds, final            rounds=2 stop=unchanged|never
                                                          context=no|yes
  raw:MODEL               "review this code", no diff
  cold:MODEL              one file a call, no diff        prompt=A|B|C
  chunked:REVIEWER        a function or hunk at a time    by=function|hunk most=200
  sarif:FILE              a log, or a folder of PULL.sarif
  command:PROGRAM ARGS    any program, without a shell    seconds=600 memory=4096 (MB)
                                                          output=FILE pass=NAME,... keep=yes|no

MODEL is provider/model. Every reviewer that asks one also takes temperature=0, tokens= (of an answer) and window=
(tokens of prompt and answer).

Options follow the name in one word: 'reflexion:openai/gpt-4o-mini?rounds=3&stop=never'. The last question mark begins
them; end with a bare ? where the name itself holds one.

A command is started in a folder that holds base/ and head/, and writes SARIF or a JSON list of findings to its output
or to the file that output= names. It sees no variable of the environment but PATH, the language and those that pass=
names. It is ended, with all it started, when its time is up. This is no wall against a hostile program, which runs
with your rights.
"""


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be reviewed."""

    changes: Mapping[PullId, Change]
    suite: Suite | None = None
    """None where it is no suite's."""


@click.command(epilog=_REVIEWERS)
@click.argument("target", metavar="[SUITE[/PULL]]", required=False, shell_complete=suites)
@click.option("--diff", "diff_file", type=_FILE, help="Review this diff; made of the trees where left out.")
@click.option("--base", type=_FOLDER, help="The tree before the change.")
@click.option("--head", type=_FOLDER, help="The tree after the change.")
@click.option("--title", default="", help="What the change between --base and --head is called.")
@click.option("--with", "specs", multiple=True, required=True, metavar="REVIEWER", help="Who reviews; repeat it.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write a bundle into this new folder.")
@click.option("--context", is_flag=True, help="Show models conventions and surrounding files.")
@click.option("--temperature", type=click.FloatRange(0, 2), default=0.0, show_default=True, help="Of models.")
@click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), help="Most US dollars to spend.")
@click.option("--max-calls", type=click.IntRange(min=0), help="Most calls to make.")
@click.option("--model-base", metavar="URL", help="Where models are asked; as ASSAY_LLM_API_BASE.")
@click.option("--concurrency", type=click.IntRange(1, 64), help="Reviews at a time; as ASSAY_LLM_CONCURRENCY.")
@click.option("--cache", type=_FILE, help="Where answers are kept.  [default: beside BUNDLE, else the data directory]")
@click.option("--mirror", type=_FOLDER, help="Local clones, owner/name.git, of pinned suites.")
@click.option("--dry-run", is_flag=True, help="Say what it would take, and ask nobody.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def review(
    target: str | None, specs: tuple[str, ...], output: Path | None, dry_run: bool, as_json: bool, **options: Json
) -> None:
    """Review a suite, one of its pull requests, or the change between two folders; offline, without GitHub.

    With -o the reviews become a bundle that rescore, judge and leaderboard take. Answers of models and commands are
    kept: what was stopped goes on where it was, and nothing is paid for twice. Exits with 1 if a review failed.

    Example: assay review smoke --with static --with 'single-shot:openai/gpt-4o-mini?context=yes' -o reviewed
    """
    from bot.reviewers import running
    from goldens.leakage import Leak

    with _refusing():
        if output is not None and output.exists():
            raise Failure(f"{output} is there already; name a new folder", BAD_INPUT)
        found = _target(target, options)
        means = _means(found, output, options, dry=dry_run)
        reviewers = _chosen(specs, means)
        try:
            _announce(reviewers, found, dry_run)
            if dry_run:
                return
            with working("reviewing") as stage:
                progress = counting(stage, "reviewing", unit="reviews")
                reviews = running.review_all(reviewers, found.changes, means, progress)
        except Leak as error:
            raise Failure(f"nothing was reviewed, for {error}", NOT_CARRIED_OUT) from None
        except KeyboardInterrupt:
            say("stopped; what was answered is kept, and the same command goes on from there")
            raise
        assert means.asking is not None
        means.asking.replies.close()
        if output is not None:
            _land(_bundle(found, reviews), output)
    _tell(reviews, as_json, output)
    sys.exit(CHECK_FAILED if any(one.review.failed for one in reviews) else DONE)


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn what is wrong with the input into a failure of one line."""
    from bot.adapters.git_bytes import GitError
    from goldens.diff_names import DiffError
    from goldens.located import SuiteError

    with refusing():
        try:
            yield
        except (SuiteError, GitError, DiffError, ValueError) as error:
            raise Failure(str(error), BAD_INPUT) from None
        except OSError as error:
            raise Failure(f"{error.filename or 'a file'}: {error.strerror or error}", NOT_CARRIED_OUT) from None


# --- what is reviewed


def _target(target: str | None, options: Mapping[str, Json]) -> Target:
    base, head, diff = options["base"], options["head"], options["diff_file"]
    if target is not None:
        if base or head or diff:
            raise Failure("name a suite, or --base and --head; not both", BAD_INPUT)
        return _of_suite(target, options["mirror"])
    if base is None or head is None:
        raise Failure("name a suite to review, or two folders with --base and --head", BAD_INPUT)
    return _of_folders(base, head, diff, options["title"])


def _of_folders(base: Path, head: Path, diff: Path | None, title: str) -> Target:
    from bot.reviewers.changes import change_between
    from scoring.model import PullId

    data = None if diff is None else diff.read_bytes()
    return Target({PullId("change"): change_between(base, head, data, title=title)})


def _of_suite(target: str, mirror: Path | None) -> Target:
    from bot.adapters.mirrors import read_pins
    from bot.reviewers.changes import change_of

    suite, only = _suite(target)
    trees = {} if mirror is None else read_pins(suite, mirror)[0]
    pulls = [pull for pull in suite.pulls if only in ("", pull.id)]
    return Target({pull.id: change_of(pull, trees) for pull in pulls}, suite)


def _suite(target: str) -> tuple[Suite, str]:
    """The suite, and the pull request if one is named."""
    from bot.goldens_desk import find_suite
    from bot.reviewers.options import meant
    from goldens.load import suite_names

    name, slash, pull = target.rpartition("/")
    if not slash or (Path(target).exists() and target not in suite_names()):
        return find_suite(target), ""
    suite = find_suite(name)
    known = [str(one.id) for one in suite.pulls]
    if pull not in known:
        raise Failure(f"suite {name} has no pull request {pull[:80]!r}{meant(pull, known)}", BAD_INPUT)
    return suite, pull


# --- who reviews


def _means(found: Target, output: Path | None, options: Mapping[str, Json], *, dry: bool) -> ReviewMeans:
    from bot.adapters.llm import LiteLlm, Unasked
    from bot.adapters.replies import SqliteReplies
    from bot.judging import store
    from bot.judging.budget import Limits
    from bot.reviewers.barrier import barrier_of
    from bot.reviewers.means import ReviewMeans, nobody_guards

    settings = settings_now()
    cache = options["cache"] or (store.cache_of(output) if output else settings.data_dir / store.CACHE)
    kind = Unasked if dry else LiteLlm
    asking = store.means_of(
        kind(options["model_base"] or (settings.llm_api_base and str(settings.llm_api_base))),
        SqliteReplies(cache),
        Limits(options["max_cost"], options["max_calls"]),
        concurrency=options["concurrency"] or settings.llm_concurrency,
    )
    admit = nobody_guards if found.suite is None else barrier_of(found.suite, found.changes)
    return ReviewMeans(asking, options["temperature"], options["context"], admit=admit)


def _chosen(specs: Sequence[str], means: ReviewMeans) -> list[Reviewer]:
    from bot.reviewers.choose import choose

    if twice := {spec for spec in specs if specs.count(spec) > 1}:
        raise Failure(f"named twice: {', '.join(sorted(twice))}", BAD_INPUT)
    return [choose(spec, means) for spec in specs]


def _announce(reviewers: Sequence[Reviewer], found: Target, dry_run: bool) -> None:
    """What reviewing will take, said before anything is spent."""
    from bot.reviewers import running

    with working("estimating"):
        told = running.forecast(reviewers, found.changes)
    if not (told.calls or dry_run):
        return
    known = told.likely_cost is not None and told.most_cost is not None
    price = f"about ${told.likely_cost:.4f}, at most ${told.most_cost:.4f}" if known else "at an unknown price"
    many = len(reviewers) * len(found.changes)
    say(f"{many} reviews; {told.calls} calls to make, {told.prompt_tokens} prompt tokens, {price}")


# --- what came of it


def _bundle(found: Target, reviews: Sequence[Reviewed]) -> Bundle:
    from bot.reviewers.record import bundle_of, bundle_of_change

    if found.suite is not None:
        return bundle_of(found.suite, reviews)
    pull, change = next(iter(found.changes.items()))
    return bundle_of_change(change, pull, reviews)


def _land(bundle: Bundle, output: Path) -> None:
    from goldens.importers.landing import land
    from scoring.bundle import parts

    land(output, parts(bundle))


def _tell(reviews: Sequence[Reviewed], as_json: bool, output: Path | None) -> None:
    from bot.reviewers.record import as_json as record

    if as_json:
        write(json.dumps([record(one) for one in reviews], indent=1))
        return
    if output is None:
        for one in reviews:
            write(_listing(one))
    for line in _summary(reviews):
        write(line)
    if output is not None:
        write(f"wrote {output}; next: assay leaderboard {output} --judge lexical")


def _listing(one: Reviewed) -> str:
    """A review on a terminal. What it says is cleaned of everything a terminal would obey."""
    from bot.render.text import clean

    lines = [f"{clean(one.pull, 80)} | {clean(one.reviewer, 120)}"]
    for remark in one.review.remarks:
        place = "" if remark.path is None else clean(remark.path, 160)
        place += f":{remark.start_line}" if remark.start_line else ""
        level = f"[{remark.severity.value}] " if remark.severity else ""
        lines.append(f"  {place} {level}{clean(remark.kind, 40)} {clean(remark.text, 300)}")
    lines += [f"  not reviewed: {clean(text, 200)}" for text in one.review.unread]
    lines += [f"  could not be used: {clean(text, 200)}" for text in one.review.invalid]
    return "\n".join([*lines, *([f"  failed: {clean(one.review.failed, 300)}"] if one.review.failed else [])])


def _summary(reviews: Sequence[Reviewed]) -> Iterator[str]:
    from bot.render.text import clean
    from bot.reviewers.protocol import Usage
    from bot.reviewers.talking import together

    by_name: dict[str, list[Reviewed]] = {}
    for one in reviews:
        by_name.setdefault(one.reviewer, []).append(one)
    for name, own in by_name.items():
        used = Usage()
        for one in own:
            used = together(used, one.review.usage)
        counts = {
            "remarks": sum(len(one.review.remarks) for one in own),
            "incomplete": sum(bool(one.review.unread) for one in own),
            "failed": sum(bool(one.review.failed) for one in own),
            "items that could not be used": sum(len(one.review.invalid) for one in own),
        }
        said = ", ".join(f"{count} {what}" for what, count in counts.items() if count or what == "remarks")
        price = "unknown price" if used.cost is None else f"${used.cost:.4f}"
        yield f"{clean(name, 120)}: {len(own)} reviews, {said}; {used.calls} calls, {price}, {used.seconds:.1f} s"


COMMANDS = (review,)
