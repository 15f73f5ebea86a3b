"""Who the reviewers are: logins, how to ask them, how to read that they are done. Data is in `manifests/`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.model import TriggerKind
from bot.patterns import UnboundedPattern, bounded
from goldens.located import Document, Problem, SuiteError, read_document
from scoring.model import ReviewerId

Seconds = Annotated[float, Field(ge=0, le=7 * 86_400, allow_inf_nan=False)]


def _bounded(pattern: str) -> str:
    try:
        bounded(pattern)
    except UnboundedPattern as error:
        raise ValueError(f"the pattern {error}") from error
    return pattern


def _one_group(pattern: str) -> str:
    if bounded(_bounded(pattern)).groups != 1:
        raise ValueError("the pattern must have exactly one group; make the others (?:...)")
    return pattern


def _window_groups(pattern: str) -> str:
    names = set(bounded(_bounded(pattern)).groupindex)
    if not names or names - {"hours", "minutes", "seconds"}:
        raise ValueError("the pattern must name one or more of the groups hours, minutes and seconds, and no other")
    return pattern


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_bounded)]
Patterns = tuple[Pattern, ...]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def normalise_login(login: str) -> str:
    """A login as compared: lower case, without the `app/` and `[bot]` that some of GitHub's surfaces add."""
    return login.lower().removeprefix("app/").removesuffix("[bot]")


class Login(_Strict):
    """One account a reviewer posts under."""

    login: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,60}(\[bot\])?$")
    """As REST shows it, `[bot]` suffix included. Compared lower-case without the suffix, never by substring."""
    type: Literal["Bot", "User"] = "Bot"
    body_marker: str | None = Field(default=None, min_length=3)
    """Only comments whose body holds this text are the reviewer's; for shared accounts such as github-actions."""

    def speaks(self, login: str, body: str, type_: str | None) -> bool:
        """Whether a text by this account is the reviewer's. A person never passes for a bot of the same name."""
        kind = type_ or ("Bot" if login.endswith("[bot]") else "User")
        if kind != self.type or normalise_login(login) != normalise_login(self.login):
            return False
        return self.body_marker is None or self.body_marker in body


class TriggerSpec(_Strict):
    """How to ask."""

    kind: TriggerKind = TriggerKind.AUTO
    text: str = ""
    """The comment to post, or the login to request a review from. Empty for `auto`."""

    @model_validator(mode="after")
    def _text_where_needed(self) -> TriggerSpec:
        if (self.kind is TriggerKind.AUTO) == bool(self.text.strip()):
            needed = "takes no text" if self.text.strip() else "needs a text"
            raise ValueError(f"a trigger of kind {self.kind.value} {needed}")
        return self


class Wait(_Strict):
    """How long to wait. All in seconds."""

    floor: Seconds = 60
    """Never settle on activity alone sooner than this after the ask."""
    quiet: Seconds = 120
    """Without a done signal: settled when nothing changed for so long."""
    grace: Seconds = 30
    """With a done signal: settled when nothing changed for so long after it."""
    deadline: Seconds = 3600
    """Given up on after so long from the first ask."""
    ask_gap: Seconds = 300
    """Least time between two asks of a rate-limited reviewer, when it names no window."""
    max_asks: int = Field(default=2, ge=1, le=20)
    """How often it may be asked in all; opening the pull request is the first."""


class Signals(_Strict):
    """Patterns (Python regexes, bounded, searched in bodies, check titles and summaries) that tell a state."""

    placeholder: Patterns = ()
    """The reviewer has begun; the comment is no finding and no end."""
    done: Patterns = ()
    clean: Patterns = ()
    """Done, and nothing found."""
    skipped: Patterns = ()
    rate_limited: Patterns = ()
    unable: Patterns = ()
    error: Patterns = ()
    announced: Annotated[str, AfterValidator(_one_group)] | None = None
    """One group: how many inline findings the reviewer says it posted."""
    window: Annotated[str, AfterValidator(_window_groups)] | None = None
    """Named groups `hours`, `minutes`, `seconds` (each optional): when a rate-limited reviewer may be asked again."""
    not_findings: Patterns = ()
    """Chatter of the reviewer that is never a finding (acknowledgements, tips, status)."""
    reviewed_commit: Annotated[str, AfterValidator(_one_group)] | None = None
    """One group: the commit, maybe shortened, that a text says it is about. Another commit's text proves nothing."""
    clean_reaction: Literal["+1", "hooray", "heart", "rocket"] | None = None
    """The reaction to the pull request that says done and nothing found, unless its `eyes` still stand beside it."""


class Reviewer(_Strict):
    """One bot under test."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,38}$")
    name: str
    vendor: str = Field(default="", pattern=r"^([a-z0-9][a-z0-9 .-]{0,60})?$")
    """Who makes it, in lower case; empty where nobody is named. A judge of the same house may favour it."""
    logins: tuple[Login, ...] = Field(min_length=1)
    app_slugs: tuple[str, ...] = ()
    """Apps whose check runs are this reviewer's."""
    check_names: tuple[str, ...] = ()
    """Check runs or status contexts whose completion is a done signal, provided no skip pattern matches."""
    findings_in_checks: bool = False
    """Whether annotations of its check runs are findings."""
    trigger: TriggerSpec = TriggerSpec()
    rerun: TriggerSpec | None = None
    """How to ask again; None: as the first time, and not at all where that was `auto`."""
    reviews_bot_authors: bool | None = None
    """Whether it reviews pull requests that a bot opened; None: unconfirmed."""
    wait: Wait = Wait()
    signals: Signals = Signals()
    publish_terms: str | None = None
    """What its terms are reported to say about publishing comparisons; None: nothing known."""
    retired: bool = False
    source: str = ""
    confidence: Literal["documented", "observed", "unconfirmed", "ours"] = "unconfirmed"

    def speaks(self, login: str | None, body: str, type_: str | None) -> bool:
        """Whether a text by this account is the reviewer's. Nobody (a deleted account) is never a reviewer."""
        return login is not None and any(own.speaks(login, body, type_) for own in self.logins)

    @property
    def askable_again(self) -> bool:
        """Whether there is a way to ask once more."""
        return (self.rerun or self.trigger).kind is not TriggerKind.AUTO


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

    def by_app_slug(self, slug: str | None) -> Reviewer | None:
        """The reviewer whose App has this slug."""
        return None if slug is None else self._by_slug.get(slug)


class _File(_Strict):
    version: Literal[1]
    reviewers: tuple[Reviewer, ...]


class _Entry(NamedTuple):
    reviewer: Reviewer
    document: Document
    position: int

    def problem(self, what: str) -> Problem:
        return self.document.problem(("reviewers", self.position, "id"), what)

    def __str__(self) -> str:
        return f"{self.reviewer.id!r} ({self.document.name}:{self.problem('').line})"


_FIELDS: dict[str | int, type[BaseModel]] = {
    "reviewers": Reviewer,
    "logins": Login,
    "trigger": TriggerSpec,
    "rerun": TriggerSpec,
    "wait": Wait,
    "signals": Signals,
}


def load_registry(*texts: tuple[str, str]) -> Registry:
    """Read registry files, each given as (name, YAML text). A later file's entry replaces an earlier one's of that id.

    Raises:
        RegistryError: everything that is wrong, with file, line, field and what is allowed there.
    """
    problems: list[Problem] = []
    entries: dict[str, _Entry] = {}
    for name, text in texts:
        try:
            entries |= _read_file(name, text)
        except RegistryError as error:
            problems += error.problems
    problems += _clashes(list(entries.values()))
    if problems:
        raise RegistryError(problems)
    return Registry(tuple(entry.reviewer for entry in entries.values()))


def _read_file(name: str, text: str) -> dict[str, _Entry]:
    try:
        document = read_document(text.encode(), name)
    except SuiteError as error:
        raise RegistryError(error.problems) from error
    try:
        reviewers = _File.model_validate(document.value).reviewers
    except ValidationError as error:
        raise RegistryError(_explained(error, document)) from error
    entries: dict[str, _Entry] = {}
    for index, reviewer in enumerate(reviewers):
        entry = _Entry(reviewer, document, index)
        if reviewer.id in entries:
            raise RegistryError([entry.problem(f"this id is already taken by {entries[reviewer.id]}")])
        entries[reviewer.id] = entry
    return entries


def _explained(error: ValidationError, document: Document) -> list[Problem]:
    problems, items = [], error.errors(include_url=False)
    deeper = {item["loc"][:size] for item in items for size in range(len(item["loc"]))}
    for item in items:
        if item["type"] == "too_short" and item["loc"] in deeper:
            continue  # the entries are there, but wrong, and that is said already
        what, allowed, word = _plain(item["msg"]), [], str(item["input"])
        if item["type"] == "extra_forbidden":
            around = [_FIELDS[part] for part in item["loc"][:-1] if part in _FIELDS]
            what, word = "unknown field", str(item["loc"][-1])
            allowed = list((around[-1] if around else _File).model_fields)
        elif item["type"] in ("enum", "literal_error"):
            what, allowed = f"{word[:60]!r} is not known here", re.findall(r"\w[\w+-]*", _expected(item["ctx"]))
        problems.append(document.problem(item["loc"], what, allowed, word if allowed else ""))
    return problems


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ").replace("Tuple", "The list").replace("valid tuple", "list")


def _expected(context: Mapping[str, object]) -> str:
    return str(context["expected"]).replace(" or ", " ")


def _clashes(entries: list[_Entry]) -> list[Problem]:
    """Accounts and Apps that two reviewers claim without a way to tell them apart."""
    problems = []
    for index, later in enumerate(entries):
        for earlier in entries[:index]:
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
