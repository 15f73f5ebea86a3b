"""What is fuzzed: every place where bytes of strangers become values, each with the errors it may raise.

A target takes any bytes. It returns quietly if they were read or refused as the contract says; any other exception is
a defect, and so is an answer that is none of those promised.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import get_args

from bot import commands, commands_arguments, issue_form, webhooks
from bot.fork_manifest import ManifestError
from bot.fork_manifest import read as read_manifest
from bot.judging.choosing import _compose
from bot.model import Command, Event, Ignored, Problems, Rejected, RunRequest
from bot.registry import Registry, RegistryError, load_registry
from bot.reviewers import answers, sarif
from bot.reviewers.patch import PatchError, read_patch
from bot.studies.schema import StudyError, parse_study
from goldens.diff import as_change, read_diff
from goldens.diff_names import DiffError
from goldens.importers import ImportProblem, Options
from goldens.importers.folder import unpack
from goldens.importers.strict import dump
from goldens.importers.swebench import read_rows
from goldens.load import suite_from_text
from goldens.located import SuiteError
from goldens.mine.config import read_config
from scoring import candidates
from scoring.bundle import INDEX, BundleError, index_of, load
from scoring.judges import human, reply
from scoring.model import CandidateId, Comment, GoldenId, PullId, ReviewerId, Shape
from scoring.patterns import UnboundedPattern, bounded, window
from tests.attack import seeds
from tests.goldens.importers.material import form, log, result
from tests.reviewers.make import change

SECRET, APP, SLUG = b"a-made-up-secret", 4242, "quiet-helper"
_CHANGE = change()
_OUTCOMES = (*get_args(Event), Ignored, Rejected)
_PARTS = seeds.bundle_parts()
_FORMATS = ("martian", "cloudaeye", "codevetter", "swe", "rest", "sarif")
_KNOWN = {(PullId("p"), ReviewerId("r")): ([CandidateId("c1"), CandidateId("c2")], [GoldenId("g1")])}


@dataclass(frozen=True, slots=True)
class Target:
    """One reader of hostile input."""

    run: Callable[[bytes], None]
    begin: Callable[[], tuple[bytes, ...]]
    """Inputs to begin with."""
    words: tuple[bytes, ...] = ()
    """What to put in, besides anything."""


def text(data: bytes) -> str:
    """Any text, halves of surrogate pairs among it: JSON can hold them."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


@cache
def registry() -> Registry:
    """The shipped reviewers."""
    shipped = (resources.files("manifests") / "reviewers.yaml").read_text(encoding="utf-8")
    return load_registry(("reviewers.yaml", shipped))


def _delivery(data: bytes) -> None:
    name, _, body = data.partition(b"\n")
    headers = {
        "X-GitHub-Event": name.decode("latin-1"),
        "X-GitHub-Delivery": body[:40].decode("latin-1"),
        "X-Hub-Signature-256": "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest(),
    }
    outcome = webhooks.parse(headers, body, secrets=[SECRET], app_id=APP, app_slug=SLUG)
    assert isinstance(outcome, _OUTCOMES)
    webhooks.delivery_id(headers)
    unsigned = {**headers, "X-Hub-Signature-256": name.decode("latin-1")}
    assert isinstance(webhooks.parse(unsigned, body, secrets=[SECRET], app_id=APP, app_slug=SLUG), Rejected)


def _form(data: bytes) -> None:
    found = commands.read_request(
        text(data),
        suites={"smoke": [PullId("one"), PullId("two")]},
        reviewers=registry().reviewers,
        judges=lambda name: None if name == "lexical" else "no",
        default_judge="lexical",
    )
    assert isinstance(found, RunRequest | Problems | issue_form.NotAForm)
    issue_form.read_checkboxes(text(data))


def _command(data: bytes) -> None:
    said = text(data)
    found = commands.read_command(said)
    assert found is None or isinstance(found, Command | Problems)
    argument = found.argument if isinstance(found, Command) else said[:200]
    reviewers = registry().reviewers
    commands_arguments.one_reviewer(argument, (ReviewerId("acme"),), reviewers)
    commands_arguments.more_minutes(argument, 0)
    commands_arguments.cleaning(argument)
    commands_arguments.judge_named(argument, lambda name: None, ("lexical",))


def _diff(data: bytes) -> None:
    with suppress(DiffError):
        for one in read_diff(data):
            as_change(one)


def _patch(data: bytes) -> None:
    with suppress(PatchError):
        read_patch(text(data)).shows(3, 4)


def _archive(data: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="unpack-") as place, warnings.catch_warnings():
        # The library warns of names that are there twice; we refuse them.
        warnings.simplefilter("ignore")
        root = Path(place)
        (root / "a.zip").write_bytes(data)
        with suppress(BundleError, ImportProblem):
            unpack(root / "a.zip", root / "inner" / "out")
        assert {one.name for one in root.iterdir()} <= {"a.zip", "inner"}
        assert not (root / "inner").exists() or {one.name for one in (root / "inner").iterdir()} <= {"out"}


def _bundle(data: bytes) -> None:
    name, _, content = data.partition(b"\n")
    found = {part: held for part, held in _PARTS.items() if part != INDEX}
    found[name.decode("latin-1")] = content
    found = {INDEX: index_of(found)} | found if name != INDEX.encode() else found
    with suppress(BundleError):
        load(found.__getitem__)


def _import(data: bytes) -> None:
    name, _, rest = data.partition(b"\n")
    file, _, content = rest.partition(b"\n")
    wanted = name.decode("latin-1")
    if wanted in _FORMATS:
        with suppress(ImportProblem):
            form(wanted).build({file.decode("latin-1"): content}, Options(judge="j", reviewer="r", pull="p"))


def _rows(data: bytes) -> None:
    ending, _, content = data.partition(b"\n")
    with tempfile.TemporaryDirectory(prefix="rows-") as place:
        path = Path(place) / ("rows.parquet" if ending == b"parquet" else "rows.jsonl")
        path.write_bytes(content)
        with suppress(ImportProblem):
            read_rows(path)


def _reply(data: bytes) -> None:
    offered = ("g1", "g2")
    with suppress(reply.ReplyError):
        for row in reply.rows(text(data), ("candidate", "golden")):
            reply.golden_ids(row, offered)
            reply.confidence(row)
            reply.boolean(row.get("valid"), "valid")
            reply.number(row, "score", 1, 5)
    reply.contradicts(text(data), True)


def _answer(data: bytes) -> None:
    with suppress(reply.ReplyError):
        answers.read(text(data), _CHANGE)
    sarif.read_log(data, _CHANGE, ("head", "base"))


def _suite(data: bytes) -> None:
    with suppress(SuiteError):
        suite_from_text(data, "suite.yaml")
    with suppress(SuiteError):
        read_config(data, "mine.yaml")


def _registry(data: bytes) -> None:
    own = data.decode("utf-8", "replace")
    with suppress(RegistryError), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        registry().with_own(own, reserved=("quiet-helper[bot]",))


def _pattern(data: bytes) -> None:
    with suppress(UnboundedPattern), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bounded(text(data)[:500]).search(window("a1 (,)" * 200))


def _study(data: bytes) -> None:
    with suppress(StudyError):
        parse_study(data, "study.yaml")


def _verdicts(data: bytes) -> None:
    kind, _, content = data.partition(b"\n")
    with suppress(human.HumanError):
        if kind == b"yaml":
            human.read(text(content), "yaml", _KNOWN, compose=_compose)
        else:
            human.read(text(content), "json" if kind == b"json" else "csv", _KNOWN)


def _manifest(data: bytes) -> None:
    with suppress(ManifestError):
        read_manifest(data, "forks.json")


def _claims(data: bytes) -> None:
    said = text(data)
    shapes = (Shape.REVIEW_BODY, Shape.INLINE)
    comments = [Comment(f"c/{number}", shape, "acme[bot]", said, "") for number, shape in enumerate(shapes)]
    candidates.examine(comments, not_findings=("^tip:",))


_OUTSIDE = re.compile(
    r"<\s*(?:script|img|iframe|style|svg|form|input|object)\b|\son\w+\s*=\s*[\"']|href=\"(?!https?://)", re.I
)


def _markdown(data: bytes) -> None:
    from bot.pages.markdown import inert

    shown = str(inert(text(data)))
    bad = _OUTSIDE.search(re.sub(r"(?s)<(?:pre|code)>.*?</(?:pre|code)>|>[^<]*<", "><", shown))
    assert bad is None, bad


_YAML = (
    b"&a ",
    b"*a",
    b"<<: *a",
    b"!!python/object/apply:os.system ",
    b"[" * 40,
    b"{a: " * 40,
    b"? ",
    b"---\n",
    b"\xff",
)
_JSON = (b"[" * 2_000, b'{"a":' * 2_000, b"9" * 5_000, b"1e999", b"NaN", b'"\\ud800"', b"null", b"-1", b"true", b'"a":')
_TEXT = (
    b"\r",
    b"\x00",
    b"```",
    b"~~~",
    b"### ",
    b"<!--",
    b"-->",
    b"\xe2\x80\xae",
    b"\xed\xa0\x80",
    b"&#x202e;",
    b"<a href='",
)

TARGETS: Mapping[str, Target] = {
    "webhook": Target(_delivery, seeds.deliveries, _JSON),
    "form": Target(
        _form, lambda: seeds.texts(seeds.FORM), (*_TEXT, b"### Suite\n", b"### Judge\n", b"named: ", b"command:")
    ),
    "command": Target(
        _command, lambda: seeds.texts(*seeds.COMMANDS), (*_TEXT, b"/assay ", b"> ", b"panel:", b"litellm:")
    ),
    "diff": Target(
        _diff, seeds.diffs, (b"@@ ", b"--- ", b"+++ ", b"diff --git ", b'"a\\303', b"@@@ ", b"\r\n", b"\\ ")
    ),
    "patch": Target(_patch, lambda: (seeds.PATCH,), (b"@@ -1 +1 @@", b"\\", b"999999999")),
    "archive": Target(_archive, seeds.archives, (b"PK\x01\x02", b"PK\x05\x06", b"../", b"\x00\x00\xff\xff", b"C:\\")),
    "bundle": Target(_bundle, seeds.changed_parts, _JSON),
    "import": Target(_import, seeds.documents, _JSON),
    "rows": Target(_rows, lambda: (b'jsonl\n{"instance_id": "a"}\n', b"parquet\nPAR1\x00\x00PAR1"), _JSON),
    "reply": Target(_reply, lambda: seeds.texts(seeds.ANSWER), (*_JSON, b'{"candidate": ', b"<think>", b"```json\n")),
    "answer": Target(_answer, lambda: (seeds.FINDINGS, seeds.ANSWER, dump(log(result()))), _JSON),
    "suite": Target(_suite, lambda: (seeds.SUITE,), _YAML),
    "registry": Target(_registry, lambda: (seeds.REGISTRY,), (*_YAML, b"(?:a?)?", b"(a+)+$", b"facts: 5", b"(?i")),
    "pattern": Target(
        _pattern,
        lambda: (b"^review (?:is )?done", b"(?P<hours>\\d+) h"),
        (b"(?:a?)?", b"{0,80}", b"(?!", b"\\1", b"[^"),
    ),
    "study": Target(_study, lambda: (seeds.study(),), _YAML),
    "verdicts": Target(
        _verdicts,
        lambda: (
            b"yaml\n" + seeds.VERDICTS,
            b"csv\npull,reviewer,candidate,golden,verdict\np,r,c1,g1,match\n",
            b'json\n{"verdicts": []}',
        ),
        (*_YAML, *_JSON),
    ),
    "manifest": Target(
        _manifest, lambda: ((resources.files("manifests") / "forks-cpp16.json").read_bytes()[:3_000], b"[]"), _JSON
    ),
    "claims": Target(_claims, lambda: seeds.texts(seeds.COMMENT), _TEXT),
    "markdown": Target(
        _markdown,
        lambda: seeds.texts(seeds.COMMENT),
        (*_TEXT, b"[a](", b"![", b"<script>", b"> " * 50, b"javascript:", b"*_" * 50),
    ),
}
