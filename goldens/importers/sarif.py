"""SARIF 2.1.0: the log of any static analyser as a reviewer's comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from goldens.importers import words
from goldens.importers.form import DocumentFormat, Documents, json_files
from goldens.importers.sarif_write import generate
from goldens.importers.strict import Node, finish
from goldens.importers.words import Options
from scoring.bundle import Bundle, BundlePull, BundleReviewer, BundleTrial, Card
from scoring.model import Candidate, Comment, Place, PullId, ReviewerId, Severity, Shape, TrialStatus

VERSION = "2.1.0"
CARD = Card(
    corpus="logs of static analysers",
    labelled_by="nobody: a log says nothing about what is true",
    unit="one result of a log",
    not_proven=("There are no goldens here: a pull request without goldens is not known to be clean.",),
)
_LEVELS = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "note": Severity.LOW, "none": Severity.LOW}
_SCORES = ((9.0, Severity.CRITICAL), (7.0, Severity.HIGH), (4.0, Severity.MEDIUM), (0.0, Severity.LOW))
"""Lower bounds of `security-severity`, as code scanning reads it."""
_SCORE = re.compile(r"[0-9]{1,2}(?:\.[0-9]{1,6})?\Z")
_ARGUMENT = re.compile(r"\{\{|\}\}|\{([0-9]{1,3})\}")
_NOT_SCANNED = "the log holds no results, which in SARIF means that nothing was scanned"


def gather(path: Path) -> dict[str, Path]:
    """A log, or a folder's."""
    return json_files(path, ".sarif", ".sarif.json")


def looks(name: str, value: Any) -> bool:
    """Whether a file is a log."""
    return isinstance(value, dict) and isinstance(value.get("runs"), list) and "version" in value


@dataclass(slots=True)
class _Said:
    """What one analyser said of one pull request."""

    status: TrialStatus | None = None
    reason: str = ""
    comments: list[Comment] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    passed_over: int = 0


def build(documents: Documents, options: Options) -> Bundle:
    """Read the documents of an import: a log is about one pull request, a run about one reviewer."""
    nodes = {name: Node.of(data, name) for name, data in documents.items()}
    said: dict[tuple[PullId, ReviewerId], _Said] = {}
    names: dict[ReviewerId, BundleReviewer] = {}
    pulls: dict[PullId, BundlePull] = {}
    for name, node in nodes.items():
        node.need("version").one_of((VERSION,))
        listed = node.need("runs")
        stem = re.sub(r"\.sarif(\.json)?\Z|\.json\Z", "", name)
        for number, run in enumerate(listed.items() if listed.problems is node.problems else []):
            own = run.get("properties").get("assay") if run.has("properties") else Node(None, name)
            asked = options.pull if len(nodes) == 1 else ""
            url = asked or (own.get("pull").text("") if own.value is not None else "") or stem
            pull, reviewer = words.pull_id(url), _reviewer(run, own, options, names)
            pulls.setdefault(pull, BundlePull(pull, (), url=url if "://" in url else "", tags={"file": name}))
            _Run(run, number, said.setdefault((pull, reviewer), _Said())).read(pull, reviewer)
    finish(nodes.values())
    dropped = sum(one.passed_over for one in said.values())
    notes = (f"{dropped} results are suppressed, gone or no failures: no claims",) if dropped else ()
    return Bundle(
        words.content_suite(options.suite or "sarif", "imported", ()),
        replace(CARD, notes=notes),
        tuple(pulls.values()),
        tuple(_trials(said)),
        reviewers=tuple(names.values()),
    )


def _reviewer(run: Node, own: Node, options: Options, names: dict[ReviewerId, BundleReviewer]) -> ReviewerId:
    driver = run.need("tool").need("driver")
    name = driver.need("name").text("") if driver.problems is run.problems else ""
    ours = own.get("reviewer").text("") if own.value is not None else ""
    identity = ReviewerId(options.reviewer or ours or words.slug(name) or "analyser")
    vendor = driver.get("organization").text("") if driver.value is not None else ""
    names.setdefault(identity, BundleReviewer(identity, name, vendor))
    return identity


def _trials(said: Mapping[tuple[PullId, ReviewerId], _Said]) -> Iterator[BundleTrial]:
    for (pull, reviewer), one in said.items():
        found = TrialStatus.REVIEWED_FINDINGS if one.candidates else TrialStatus.REVIEWED_CLEAN
        status = one.status or found
        yield BundleTrial(
            pull,
            reviewer,
            status,
            complete=one.status is None,
            reason=one.reason,
            comments=tuple(one.comments),
            candidates=tuple(one.candidates),
        )


class _Run:
    """One run of a log."""

    def __init__(self, node: Node, number: int, said: _Said) -> None:
        self.node = node
        self.number = number
        self.said = said
        tool = node.get("tool")
        driver = tool.get("driver") if tool.has("driver") else Node(None, node.file)
        others = tool.get("extensions").items() if tool.has("extensions") else []
        self._driver, *self._extensions = [_Rules.of(one) for one in (driver, *others)]
        self._artifacts = node.get("artifacts").items() if node.has("artifacts") else []
        bases = node.get("originalUriBaseIds").fields() if node.has("originalUriBaseIds") else ()
        self._bases = {key: uri for key, one in bases if (uri := one.get("uri").text(""))}

    def read(self, pull: PullId, reviewer: ReviewerId) -> None:
        """Take the run's results and how it ended."""
        self._ending()
        if not self.node.has("results"):
            self._spoil(TrialStatus.UNABLE, _NOT_SCANNED)
            return
        for at, item in enumerate(self.node.get("results").items()):
            if self._is_claim(item):
                self._claim(item, f"annotation/{self.number}-{at}", pull, reviewer)
            else:
                self.said.passed_over += 1

    def _spoil(self, status: TrialStatus, reason: str) -> None:
        if self.said.status is None:
            self.said.status, self.said.reason = status, reason

    def _ending(self) -> None:
        for item in self.node.get("invocations").items() if self.node.has("invocations") else []:
            if item.get("executionSuccessful").value is False:
                notices = item.get("toolExecutionNotifications")
                texts = [_text(one.get("message")) for one in notices.items()] if notices.value is not None else []
                self._spoil(
                    TrialStatus.ERROR, "; ".join(filter(None, texts))[:500] or "the log says it did not succeed"
                )

    def _is_claim(self, item: Node) -> bool:
        if item.get("kind").text("fail") != "fail" or item.get("baselineState").text("new") == "absent":
            return False
        waived = item.get("suppressions").items() if item.has("suppressions") else []
        return not any(one.get("status").text("accepted") == "accepted" for one in waived)

    def _claim(self, item: Node, name: str, pull: PullId, reviewer: ReviewerId) -> None:
        rule, rule_id = self._rule(item)
        body = self._message(item.need("message", ("ruleId", "level", "locations")), rule)
        place = self._place(item)
        link = item.get("hostedViewerUri").text("")
        self.said.comments.append(
            Comment(name, Shape.ANNOTATION, reviewer, body, link, place, revision=words.revision(body))
        )
        claim = words.candidate(
            "c-" + words.digest(pull, reviewer, name, body, length=12),
            body,
            place=place,
            permalink=link,
            comment=name,
            level=_severity(item, rule),
            label=rule_id or None,
        )
        self.said.candidates.append(replace(claim, shape=Shape.ANNOTATION, revision=words.revision(body)))

    def _rule(self, item: Node) -> tuple[Node, str]:
        """The rule of a result, if the log describes it, and its id."""
        reference = item.get("rule")
        has = reference.value is not None
        index = item.get("ruleIndex").value if item.has("ruleIndex") else reference.get("index").value if has else None
        identity = item.get("ruleId").text("") or (reference.get("id").text("") if has else "")
        rules = self._driver
        if has and reference.has("toolComponent") and reference.get("toolComponent").has("index"):
            at = reference.get("toolComponent").get("index").whole() or 0
            rules = self._extensions[at] if at < len(self._extensions) else rules
        if isinstance(index, int) and 0 <= index < len(rules.listed):
            return rules.listed[index], identity or rules.listed[index].get("id").text("")
        # A sub-rule `A/B` is described by `A` where there is no entry of its own.
        found = rules.by_id.get(identity) or rules.by_id.get(identity.rpartition("/")[0])
        return found or Node(None, item.file), identity

    def _message(self, message: Node, rule: Node) -> str:
        if said := _text(message):
            text = said
        elif message.has("id") and rule.value is not None and rule.has("messageStrings"):
            text = _text(rule.get("messageStrings").get(message.get("id").text()))
        else:
            text = ""
        if not text and message.value is not None:
            message.wrong("a `text`, a `markdown`, or the `id` of a message that the rule has")
        arguments = [one.text() for one in message.get("arguments").items()] if message.has("arguments") else []
        return _filled(text, arguments) if message.has("id") or arguments else text

    def _place(self, item: Node) -> Place | None:
        spots = item.get("locations").items() if item.has("locations") else []
        if not spots or not spots[0].has("physicalLocation"):
            return None
        spot = spots[0].get("physicalLocation")
        path = self._path(spot.get("artifactLocation")) if spot.has("artifactLocation") else ""
        if not spot.has("region"):
            return words.place(path, None)
        first, last = (spot.get("region").get(key).whole(least=1) for key in ("startLine", "endLine"))
        return words.place(path, first, last)

    def _path(self, location: Node) -> str:
        index = location.get("index").value
        if not location.has("uri") and isinstance(index, int) and 0 <= index < len(self._artifacts):
            location = self._artifacts[index].get("location")
        uri = location.get("uri").text("") if location.value is not None else ""
        own = self._bases.get(location.get("uriBaseId").text("") if location.value is not None else "", "")
        root = next((base for base in self._bases.values() if "://" in base and uri.startswith(base)), "")
        rest = uri.removeprefix(root) if root else uri if "://" in own else own + uri
        try:
            parts = urlsplit(rest)
        except ValueError:
            location.get("uri").wrong("a URI")
            return ""
        path = unquote(parts.path if parts.scheme == "file" else rest)
        return re.sub(r"\A(?:\./|/)+", "", path)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules a tool describes."""

    listed: list[Node]
    by_id: dict[str, Node]

    @classmethod
    def of(cls, component: Node) -> _Rules:
        listed = component.get("rules").items() if component.value is not None and component.has("rules") else []
        return cls(listed, {rule.get("id").text(""): rule for rule in listed})


def _text(message: Node) -> str:
    """A message's own text."""
    if message.value is None:
        return ""
    return message.get("text").text("") or message.get("markdown").text("")


def _filled(text: str, arguments: list[str]) -> str:
    """A message with its arguments; `{{` is a brace, and a number without argument stays as it is."""

    def one(hit: re.Match[str]) -> str:
        if hit[1] is None:
            return hit[0][0]
        at = int(hit[1])
        return arguments[at] if at < len(arguments) else hit[0]

    return _ARGUMENT.sub(one, text)


def _severity(item: Node, rule: Node) -> Severity:
    """How bad: the rule's security score if it has one, else the level."""
    described = rule.value is not None
    score = rule.get("properties").get("security-severity").value if described and rule.has("properties") else None
    if isinstance(score, str | int | float) and _SCORE.match(str(score)):
        return next(level for least, level in _SCORES if float(score) >= least)
    default = rule.get("defaultConfiguration") if described and rule.has("defaultConfiguration") else None
    if item.has("level"):
        return _LEVELS[item.get("level").one_of(_LEVELS)]
    return _LEVELS[default.get("level").one_of(_LEVELS)] if default and default.has("level") else Severity.MEDIUM


SARIF = DocumentFormat("sarif", gather, build, generate, looks)
