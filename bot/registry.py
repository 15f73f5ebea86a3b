"""Who the reviewers are: logins, how to ask them, how to read that they are done. Data is in `manifests/`.

Files are read one over the other: those shipped, the operator's, the organisation's own in its control repository. An
entry of a later file replaces the earlier one of that id; one that leaves out the logins changes only the fields it
gives.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from bot.patterns import bounded, ways
from bot.registry_entry import (
    Cost,
    Fact,
    Limits,
    Login,
    Quota,
    Reviewer,
    Signals,
    Strict,
    TriggerSpec,
    Wait,
    Workflow,
    normalise_login,
)
from goldens.located import Document, Problem, SuiteError, read_document
from scoring.model import ReviewerId

__all__ = [
    "OWN_FILE",
    "Cost",
    "Fact",
    "Limits",
    "Login",
    "Quota",
    "Registry",
    "RegistryError",
    "Reviewer",
    "Signals",
    "TriggerSpec",
    "Wait",
    "Workflow",
    "load_registry",
    "normalise_login",
]

OWN_FILE = ".assay/reviewers.yaml"
"""The organisation's own entries, in its control repository."""
MOST_OWN = 100
"""Entries of the organisation's own file."""
MOST_OWN_WAYS = 12_000
"""What all of its patterns together may cost, in `patterns.ways`: each text of a run may be searched with all."""


class RegistryError(ValueError):
    """Registry files that cannot be used. The message lists every problem, one a line; `problems` are values."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


@dataclass(frozen=True, slots=True)
class Registry:
    """The reviewers by id, login and App."""

    reviewers: tuple[Reviewer, ...]
    _by_id: dict[str, Reviewer] = field(init=False, repr=False, compare=False)
    _by_login: dict[str, tuple[Reviewer, ...]] = field(init=False, repr=False, compare=False)
    _by_slug: dict[str, Reviewer] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_login: dict[str, tuple[Reviewer, ...]] = {}
        for reviewer in self.reviewers:
            for name in sorted({normalise_login(own.login) for own in reviewer.logins}):
                by_login[name] = (*by_login.get(name, ()), reviewer)
        slugs = {slug: reviewer for reviewer in self.reviewers for slug in reviewer.app_slugs}
        object.__setattr__(self, "_by_id", {reviewer.id: reviewer for reviewer in self.reviewers})
        object.__setattr__(self, "_by_login", by_login)
        object.__setattr__(self, "_by_slug", slugs)

    @property
    def ids(self) -> tuple[ReviewerId, ...]:
        """Every reviewer's id, in the order of the files."""
        return tuple(ReviewerId(reviewer.id) for reviewer in self.reviewers)

    def get(self, reviewer: str) -> Reviewer | None:
        """The reviewer with this id."""
        return self._by_id.get(reviewer)

    def by_login(self, login: str | None, body: str, type_: str | None) -> Reviewer | None:
        """Whose text this is: exact login, account type and body marker decide; None for everybody else."""
        if login is None:
            return None
        named = self._by_login.get(normalise_login(login), ())
        return next((reviewer for reviewer in named if reviewer.speaks(login, body, type_)), None)

    def knows_login(self, login: str) -> bool:
        """Whether some reviewer posts under this account, whatever the marker."""
        return normalise_login(login) in self._by_login

    def hinted(self, login: str) -> str | None:
        """The reviewer whose vendor an account nobody knows looks like it is of. Never whose text it is."""
        hints = ((reviewer.id, reviewer.login_hint) for reviewer in self.reviewers if reviewer.login_hint)
        return next((name for name, hint in hints if bounded(hint).search(login[:100])), None)

    def by_app_slug(self, slug: str | None) -> Reviewer | None:
        """The reviewer whose App has this slug."""
        return None if slug is None else self._by_slug.get(slug)

    def with_own(self, text: str, *, reserved: Collection[str] = ()) -> Registry:
        """This registry with the organisation's own file over it.

        The file is written by whoever may push to the control repository, so it cannot claim what is not a reviewer's
        to claim: `reserved` are the logins that the App and its author token act as.

        Raises:
            RegistryError: everything that is wrong with the file.
        """
        earlier = {reviewer.id: _Entry(reviewer) for reviewer in self.reviewers}
        entries = _read_file(OWN_FILE, text, earlier)
        kept = [entry for name, entry in earlier.items() if name not in entries]
        problems = [
            *_too_many(entries),
            *_too_slow(entries.values()),
            *_reserved(entries.values(), {normalise_login(login) for login in reserved}),
            *_needing_more(entries.values(), self),
            *_clashes([*kept, *entries.values()]),
        ]
        if problems:
            raise RegistryError(problems)
        return Registry(tuple(entry.reviewer for entry in (earlier | entries).values()))


class _File(Strict):
    version: Any
    reviewers: tuple[Any, ...]


class _Entry(NamedTuple):
    reviewer: Reviewer
    document: Document | None = None
    position: int = 0

    def problem(self, what: str, *where: str | int) -> Problem:
        if self.document is None:
            return Problem(OWN_FILE, 1, "reviewers", what)
        return self.document.problem(("reviewers", self.position, *(where or ("id",))), what)

    def __str__(self) -> str:
        place = f" ({self.document.name}:{self.problem('').line})" if self.document else ""
        return f"{self.reviewer.id!r}{place}"


_FIELDS: dict[str | int, type[BaseModel]] = {
    "reviewers": Reviewer,
    "logins": Login,
    "trigger": TriggerSpec,
    "rerun": TriggerSpec,
    "wait": Wait,
    "signals": Signals,
    "limits": Limits,
    "quotas": Quota,
    "cost": Cost,
    "workflow": Workflow,
    "facts": Fact,
}
_MERGED = ("wait", "signals", "limits")
"""Fields whose own fields are changed one by one."""


def load_registry(*texts: tuple[str, str]) -> Registry:
    """Read registry files, each given as (name, YAML text), one over the other.

    Raises:
        RegistryError: everything that is wrong, with file, line, field and what is allowed there.
    """
    problems: list[Problem] = []
    entries: dict[str, _Entry] = {}
    for name, text in texts:
        try:
            entries |= _read_file(name, text, entries)
        except RegistryError as error:
            problems += error.problems
    problems += _clashes(list(entries.values()))
    if problems:
        raise RegistryError(problems)
    return Registry(tuple(entry.reviewer for entry in entries.values()))


def _read_file(name: str, text: str, earlier: Mapping[str, _Entry]) -> dict[str, _Entry]:
    try:
        document = read_document(text.encode(), name)
    except SuiteError as error:
        raise RegistryError(error.problems) from error
    problems = _outside(document)
    if problems:
        raise RegistryError(problems)
    assert isinstance(document.value, dict)
    entries: dict[str, _Entry] = {}
    for index, raw in enumerate(document.value["reviewers"]):
        try:
            entry = _Entry(Reviewer.model_validate(_changed(raw, earlier)), document, index)
        except ValidationError as error:
            problems += _explained(error, document, index)
            continue
        if entry.reviewer.id in entries:
            problems.append(entry.problem(f"this id is already taken by {entries[entry.reviewer.id]}"))
        entries.setdefault(entry.reviewer.id, entry)
    if problems:
        raise RegistryError(problems)
    return entries


def _outside(document: Document) -> list[Problem]:
    """What is wrong with a file around its entries."""
    try:
        file = _File.model_validate(document.value)
    except ValidationError as error:
        return _explained(error, document)
    return [] if file.version == 1 else [document.problem(("version",), "must be 1")]


def _changed(raw: Any, earlier: Mapping[str, _Entry]) -> Any:
    """An entry as it is to be read: without logins it is what changes in the earlier entry of that id."""
    if not isinstance(raw, dict) or "logins" in raw or not isinstance(raw.get("id"), str) or raw["id"] not in earlier:
        return raw
    before = earlier[raw["id"]].reviewer.model_dump(mode="json", exclude_unset=True)
    merged = {name: {**before.get(name, {}), **raw[name]} for name in _MERGED if isinstance(raw.get(name), dict)}
    facts = raw.get("facts", [])
    # What is no list is left for the checks of the entry to name.
    told = [*_untouched(before, raw), *facts] if isinstance(facts, list) else facts
    return {**before, **raw, **merged, "facts": told}


def _untouched(before: Mapping[str, Any], raw: Mapping[str, Any]) -> list[Any]:
    """The earlier sources of what is not changed."""
    kept = [{**fact, "about": [name for name in fact["about"] if name not in raw]} for fact in before.get("facts", [])]
    return [fact for fact in kept if fact["about"]]


def _explained(error: ValidationError, document: Document, index: int | None = None) -> list[Problem]:
    problems, items = [], error.errors(include_url=False)
    deeper = {item["loc"][:size] for item in items for size in range(len(item["loc"]))}
    for item in items:
        if item["type"] == "too_short" and item["loc"] in deeper:
            continue  # the entries are there, but wrong, and that is said already
        loc = item["loc"] if index is None else ("reviewers", index, *item["loc"])
        what, allowed, word = _plain(item["msg"]), [], str(item["input"])
        if item["type"] == "extra_forbidden":
            around = [_FIELDS[part] for part in loc[:-1] if part in _FIELDS]
            what, word = "unknown field", str(loc[-1])
            allowed = list((around[-1] if around else _File).model_fields)
        elif item["type"] in ("enum", "literal_error"):
            what, allowed = f"{word[:60]!r} is not known here", re.findall(r"\w[\w+-]*", _expected(item["ctx"]))
        problems.append(document.problem(loc, what, allowed, word if allowed else ""))
    return problems


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ").replace("Tuple", "The list").replace("valid tuple", "list")


def _expected(context: Mapping[str, object]) -> str:
    return str(context["expected"]).replace(" or ", " ")


def _too_many(entries: Mapping[str, _Entry]) -> list[Problem]:
    if len(entries) <= MOST_OWN:
        return []
    return [Problem(OWN_FILE, 1, "reviewers", f"has {len(entries)} entries; at most {MOST_OWN} are allowed")]


def _too_slow(entries: Iterable[_Entry]) -> list[Problem]:
    total = sum(ways(pattern) for entry in entries for pattern in entry.reviewer.patterns)
    what = f"the patterns can be tried in {total} ways in all; at most {MOST_OWN_WAYS}: use fewer or narrower repeats"
    return [Problem(OWN_FILE, 1, "reviewers", what)] if total > MOST_OWN_WAYS else []


def _reserved(entries: Iterable[_Entry], reserved: Collection[str]) -> list[Problem]:
    what = "is an account that this App acts as, and nothing it says is a review"
    return [
        entry.problem(f"login {own.login!r} {what}", "logins", number, "login")
        for entry in entries
        for number, own in enumerate(entry.reviewer.logins)
        if normalise_login(own.login) in reserved
    ]


def _needing_more(entries: Iterable[_Entry], base: Registry) -> list[Problem]:
    """Entries that would have the App do what it needs another permission for."""
    what = "only the operator's registry can have a workflow pushed, for that takes a permission of its own"

    def before(entry: _Entry) -> Reviewer | None:
        return base.get(entry.reviewer.id)

    return [
        entry.problem(what, "workflow")
        for entry in entries
        if entry.reviewer.workflow is not None and entry.reviewer.workflow != getattr(before(entry), "workflow", None)
    ]


def _clashes(entries: list[_Entry]) -> list[Problem]:
    """Accounts and Apps that two reviewers claim without a way to tell them apart."""
    problems = []
    for index, later in enumerate(entries):
        for earlier in entries[:index]:
            if later.document is None:
                continue
            both = f"claimed by {later.reviewer.id!r} and by {earlier}"
            logins = [(mine, other) for mine in later.reviewer.logins for other in earlier.reviewer.logins]
            problems += [
                later.problem(f"login {mine.login!r} is {both}; give each a body_marker of its own")
                for mine, other in logins
                if _clash(mine, other)
            ]
            shared = sorted(set(later.reviewer.app_slugs) & set(earlier.reviewer.app_slugs))
            problems += [later.problem(f"app {slug!r} is {both}") for slug in shared]
    return problems


def _clash(one: Login, other: Login) -> bool:
    if one.type != other.type or normalise_login(one.login) != normalise_login(other.login):
        return False
    if one.body_marker is None or other.body_marker is None:
        return True
    return one.body_marker in other.body_marker or other.body_marker in one.body_marker
