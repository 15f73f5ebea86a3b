"""Where fuzzing begins: small inputs of every kind, and the shared cases where they are."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Any

from bot.webhooks import EVENTS
from goldens.importers.strict import dump
from scoring.bundle import INDEX, index_of, parts
from tests.bot.deliveries import payload
from tests.goldens.importers.material import candidates, evaluation, form, golden_file, log, result
from tests.shared import SHARED

LONGEST = 60_000
"""Bytes of a seed; what is larger makes every step slow and finds nothing more."""

FORM = b"### Suite\n\nsmoke\n\n### Reviewers\n\nAcme (acme), zeta\n\n### Wait limit (minutes)\n\n30\n\n### Judge\n\nlexical"  # noqa: E501
COMMANDS = (b"/assay status", b"> /assay cancel\n\n/assay retry acme", b"```\n/assay help\n```\n/ASSAY extend 30 min")
DIFF = b"""\
diff --git a/src/a.py b/src/b.py
similarity index 90%
rename from src/a.py
rename to src/b.py
index 0123456..89abcde 100644
--- a/src/a.py
+++ b/src/b.py
@@ -1,3 +1,3 @@ def f():
 one
-two
+three
 four
\\ No newline at end of file
diff --cc c.py
index 0123456,1234567..89abcde
--- a/c.py
+++ b/c.py
@@@ -1,1 -1,1 +1,2 @@@
+ x
 +y
"""
PATCH = b"@@ -1,3 +1,4 @@ def f():\n one\n-two\n+three\n+four\n five\n\\ No newline at end of file"
ANSWER = (
    b'Sure:\n```json\n{"verdicts": [{"candidate": "c1", "golden": "g1", "confidence": 0.9, "reason": "same"}]}\n```\n'
)
FINDINGS = b'```json\n[{"path": "pay/split.py", "line": 2, "description": "divides by zero", "severity": "high"}]\n```'
COMMENT = (
    b"**Potential issue** `src/a.py:12` <details><summary>more</summary>\n\n1. one\n2. two\n\n> quote\n\n"
    b"| a | b |\n|---|---|\n| [x](javascript:alert(1)) | ![p](http://h/p) |\n\n```suggestion\nx = 1\n```\n\n"
    b"<!-- severity: high -->\n</details>\n~~old~~ &#x202e; https://example.com/a_(b)\n"
)
SUITE = (resources.files("goldens") / "suites" / "cpp16" / "suite.yaml").read_bytes()[:6_000]
REGISTRY = b"""\
version: 1
reviewers:
  - id: acme
    name: Acme
    logins: [{login: "acme[bot]"}]
    trigger: {kind: comment, text: "@acme review"}
    signals:
      done: ["^review (?:is )?done"]
      announced: "posted: (\\\\d{1,4})"
  - id: coderabbit
    wait: {deadline: 60}
    facts: [{about: [wait], source: "ours, measured", confidence: ours}]
"""
VERDICTS = b"verdicts:\n  - {pull: p, reviewer: r, candidate: c1, golden: g1, verdict: match, reason: same}\n"


def study() -> bytes:
    """The smallest study that ships."""
    return min((one.read_bytes() for one in (resources.files("bot") / "studies" / "files").iterdir()), key=len)


def texts(*own: bytes) -> tuple[bytes, ...]:
    """Texts to begin with: our own, and every text in the shared cases."""
    return (*own, *_bounded(_case_texts()))


def diffs() -> tuple[bytes, ...]:
    """Differences, the shared ones among them."""
    return (DIFF, *_bounded(path.read_bytes() for path in _cases(".diff")))


def _cases(ending: str) -> list[Any]:
    return sorted(path for path in (SHARED / "cases").glob("*") if path.name.endswith(ending))


def _case_texts() -> Iterator[bytes]:
    for path in _cases(".md"):
        yield path.read_bytes()
    for path in _cases(".json"):
        yield from _strings(json.loads(path.read_bytes()))


def _strings(value: object) -> Iterator[bytes]:
    if isinstance(value, str) and len(value) > 60:
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _bounded(found: Iterable[bytes]) -> tuple[bytes, ...]:
    return tuple(dict.fromkeys(one for one in found if 0 < len(one) <= LONGEST))[:200]


def deliveries() -> tuple[bytes, ...]:
    """An event's name, a line feed, its body."""
    own = [name.encode() + b"\n" + json.dumps(payload(name)).encode() for name in (*EVENTS, "installation")]
    return (*own, b"issues\n" + b"[" * 3_000, b'push\n{"ref": ' + b"9" * 5_000 + b"}")


def documents() -> tuple[bytes, ...]:
    """For every format: its name, the name of a file, and the file."""
    rest = [{"id": 1, "body": "wrong", "path": "a.c", "line": 3, "user": {"login": "acme[bot]"}, "html_url": "x"}]
    swe = {"instance_id": "a", "comments": [{"text": "x", "path": "a.c", "line": 1}]}
    made: list[tuple[str, str, Any]] = [
        ("martian", "golden_comments/a.json", golden_file("one", "two")),
        ("martian", "judge/candidates.json", candidates("a", "b")),
        ("martian", "judge/evaluations.json", {"u": {"bot": evaluation([("g", "a", 0.9)], ["b"], [])}}),
        ("cloudaeye", "goldens.json", golden_file("one")),
        ("codevetter", "reviews.json", {"reviews": [{"pr": "x", "findings": [{"title": "t", "line": 2}]}]}),
        ("swe", "swe.json", [swe]),
        ("swe", "swe.jsonl", swe),
        ("swe", "swe.csv", "instance_id,comment\na,b\n"),
        ("rest", "comments.json", rest),
        ("sarif", "log.sarif", log(result(), result("other", "b.c", 9))),
    ]
    return tuple(f"{name}\n{file}\n".encode() + _written(content) for name, file, content in made)


def _written(content: Any) -> bytes:
    return content.encode() if isinstance(content, str) else dump(content)


def bundle_parts() -> dict[str, bytes]:
    """The parts of a small bundle, index and all."""
    files = {"golden_comments/a.json": golden_file("g"), "judge/candidates.json": candidates("a", "b")}
    made = form("martian").build({name: json.dumps(value).encode() for name, value in files.items()}, _options())
    reviewers = b'[{"id": "bot", "name": "Bot", "vendor": "", "not_findings": ["^tip:"]}]'
    found = {name: data for name, data in parts(made).items() if name != INDEX} | {"reviewers.json": reviewers}
    return found | {INDEX: index_of(found)}


def _options() -> Any:
    from goldens.importers import Options

    return Options()


def changed_parts() -> tuple[bytes, ...]:
    """A part's name, a line feed, what it holds."""
    return tuple(name.encode() + b"\n" + data for name, data in bundle_parts().items())


def archived(files: Mapping[str, bytes], *, mode: int = stat.S_IFREG | 0o644, how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as target:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            target.writestr(entry, data, how)
    return made.getvalue()


def archives() -> tuple[bytes, ...]:
    """Whole bundles, one for each way to squeeze them, and one with a deep index."""
    found = bundle_parts()
    deep = b'{"schema": ' + b"[" * 50_000
    squeezed = tuple(archived(found, how=how) for how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    return (*squeezed, archived({**found, "../../out": b"x"}), archived({INDEX: deep}))


def digest(data: bytes) -> str:
    """The name of a seed in a corpus."""
    return hashlib.sha256(data).hexdigest()[:16]
