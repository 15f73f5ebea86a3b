"""One reviewer as a registry file states it: every field, what it may hold, and where each fact comes from."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bot.model import TriggerKind
from bot.patterns import UnboundedPattern, bounded

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


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("the text must be one printable line: it is posted where bots and people read it")
    if len(text) > MOST_TRIGGER:
        raise ValueError(f"the text is {len(text)} characters long; at most {MOST_TRIGGER} are allowed")
    if text.lstrip().lower().startswith("/assay"):
        raise ValueError("the text is a command to this App, not to a reviewer")
    return text


def _tree_path(path: str) -> str:
    parts = path.removeprefix("/").removesuffix("/").split("/")
    if not path.isprintable() or any(part in ("", ".", "..", ".git") for part in parts):
        raise ValueError("must be a path or pattern inside a repository, such as .acme/, ACME.md or /acme.yaml")
    return path


MOST_TRIGGER = 200
"""Characters of a trigger. A registry file may come from a repository, so it may not post essays in our name."""

Pattern = Annotated[str, Field(min_length=1), AfterValidator(_bounded)]
Patterns = Annotated[tuple[Pattern, ...], Field(max_length=60)]
Confidence = Literal["documented", "observed", "unconfirmed", "ours"]
SurfaceName = Literal["review", "review_comment", "issue_comment", "check_run", "status", "reaction"]
FactName = Literal[
    "app_slugs",
    "category",
    "check_names",
    "configs",
    "cost",
    "drafts",
    "findings_in_checks",
    "heeds_bots",
    "limits",
    "logins",
    "needs_action",
    "publish_terms",
    "quotas",
    "rerun",
    "retired",
    "reviews_bot_authors",
    "signals",
    "trigger",
    "wait",
    "workflow",
]
"""What is stated about a reviewer and may be wrong: each has a source."""


class Strict(BaseModel):
    """A part of a registry file: what is not known to it is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def normalise_login(login: str) -> str:
    """A login as compared: lower case, without the `app/` and `[bot]` that some of GitHub's surfaces add."""
    return login.lower().removeprefix("app/").removesuffix("[bot]")


class Login(Strict):
    """One account a reviewer posts under."""

    login: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,60}(\[bot\])?$")
    """As REST shows it, `[bot]` suffix included. Compared lower-case without the suffix, never by substring."""
    type: Literal["Bot", "User"] = "Bot"
    user_id: int | None = Field(default=None, gt=0, lt=2**63)
    """GitHub's number of the account, which stays when the login is changed."""
    surfaces: tuple[SurfaceName, ...] = ()
    """Where it is known to post under this account; empty where that is not known. Everywhere is read all the same."""
    body_marker: str | None = Field(default=None, min_length=3)
    """Only comments whose body holds this text are the reviewer's; for shared accounts such as github-actions."""

    @property
    def graphql(self) -> str:
        """The login as GraphQL shows it: without the suffix."""
        return self.login.removesuffix("[bot]")

    def speaks(self, login: str, body: str, type_: str | None) -> bool:
        """Whether a text by this account is the reviewer's. A person never passes for a bot of the same name."""
        kind = type_ or ("Bot" if login.endswith("[bot]") else "User")
        if kind != self.type or normalise_login(login) != normalise_login(self.login):
            return False
        return self.body_marker is None or self.body_marker in body


class TriggerSpec(Strict):
    """How to ask."""

    kind: TriggerKind = TriggerKind.AUTO
    text: Annotated[str, AfterValidator(_one_line)] = ""
    """The comment to post, or the login to request a review from. Empty for `auto`."""

    @model_validator(mode="after")
    def _text_where_needed(self) -> TriggerSpec:
        if (self.kind is TriggerKind.AUTO) == bool(self.text.strip()):
            needed = "takes no text" if self.text.strip() else "needs a text"
            raise ValueError(f"a trigger of kind {self.kind.value} {needed}")
        return self


class Limits(Strict):
    """The largest change it reviews; None: no such limit is known."""

    files: int | None = Field(default=None, gt=0)
    lines: int | None = Field(default=None, gt=0)
    """Changed lines."""
    diff_characters: int | None = Field(default=None, gt=0)


class Quota(Strict):
    """How many reviews it gives in how long."""

    reviews: int = Field(gt=0, le=100_000)
    hours: float = Field(gt=0, le=24 * 366, allow_inf_nan=False)
    plan: str = Field(default="", max_length=120)
    """On which plan, and per what: developer, organisation."""


class Cost(Strict):
    """What one review costs in US dollars, on top of seats."""

    least: float = Field(ge=0, le=1000, allow_inf_nan=False)
    most: float = Field(ge=0, le=1000, allow_inf_nan=False)
    note: str = Field(default="", max_length=200)

    @model_validator(mode="after")
    def _in_order(self) -> Cost:
        if self.most < self.least:
            raise ValueError("most is less than least")
        return self


class Workflow(Strict):
    """A workflow that is put into both trees of a fork, because the reviewer is one."""

    path: str = Field(pattern=r"^\.github/workflows/[A-Za-z0-9][A-Za-z0-9._-]{0,60}\.ya?ml$")
    content: str = Field(min_length=1, max_length=20_000)


class Fact(Strict):
    """Where some of the statements about a reviewer come from."""

    about: tuple[FactName, ...] = Field(min_length=1)
    source: str = Field(min_length=3, max_length=400)
    confidence: Confidence


class Wait(Strict):
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


class Signals(Strict):
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


class Reviewer(Strict):
    """One bot under test."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,38}$")
    name: str = Field(min_length=1, max_length=100)
    vendor: str = Field(default="", pattern=r"^([a-z0-9][a-z0-9 .-]{0,60})?$")
    """Who makes it, in lower case; empty where nobody is named. A judge of the same house may favour it."""
    category: Literal["ai", "static"] = "ai"
    logins: tuple[Login, ...] = Field(min_length=1, max_length=40)
    login_hint: Pattern | None = None
    """What further accounts of the vendor look like. Never used to attribute a text; only to say who an unknown bot may
    be."""
    app_slugs: tuple[str, ...] = ()
    """Apps whose check runs are this reviewer's."""
    app_id: int | None = Field(default=None, gt=0, lt=2**63)
    check_names: tuple[str, ...] = ()
    """Check runs or status contexts whose completion is a done signal, provided no skip pattern matches."""
    findings_in_checks: bool = False
    """Whether annotations of its check runs are findings."""
    trigger: TriggerSpec = TriggerSpec()
    rerun: TriggerSpec | None = None
    """How to ask again; None: as the first time, and not at all where that was `auto`."""
    reviews_bot_authors: bool | None = None
    """Whether it reviews pull requests that a bot opened; None: unconfirmed."""
    heeds_bots: bool | None = None
    """Whether it obeys a command that a bot or App posted; None: unconfirmed."""
    drafts: bool | None = None
    """Whether it reviews drafts unasked; None: unconfirmed."""
    needs_action: bool = False
    """Whether it runs as a workflow of the repository, which neutral forks do not have."""
    workflow: Workflow | None = None
    """What to put into both trees so that it runs. Pushing it takes a permission that only the operator can grant."""
    limits: Limits = Limits()
    quotas: tuple[Quota, ...] = Field(default=(), max_length=10)
    """The first is the one to plan with: the least generous that a paying organisation meets."""
    cost: Cost | None = None
    """None: not known, or nothing beyond a seat."""
    configs: tuple[Annotated[str, AfterValidator(_tree_path)], ...] = Field(default=(), max_length=60)
    """Files that steer it, in the words of `strip_paths.yaml`: `name` at any depth, `folder/`, `/name` at the root."""
    wait: Wait = Wait()
    signals: Signals = Signals()
    publish_terms: str | None = None
    """What its terms are reported to say about publishing comparisons; None: nothing known."""
    retired: bool = False
    source: str = ""
    """Where what `facts` does not cover comes from."""
    confidence: Confidence = "unconfirmed"
    facts: tuple[Fact, ...] = ()

    @model_validator(mode="after")
    def _workflow_where_needed(self) -> Reviewer:
        if self.workflow is not None and not self.needs_action:
            raise ValueError("a workflow is of use only where needs_action is true")
        return self

    @model_validator(mode="after")
    def _each_fact_once(self) -> Reviewer:
        named = [name for fact in self.facts for name in fact.about]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise ValueError(f"facts gives more than one source for {', '.join(twice)}")
        return self

    def speaks(self, login: str | None, body: str, type_: str | None) -> bool:
        """Whether a text by this account is the reviewer's. Nobody (a deleted account) is never a reviewer."""
        return login is not None and any(own.speaks(login, body, type_) for own in self.logins)

    @property
    def patterns(self) -> tuple[str, ...]:
        """All that texts are searched with."""
        signals = self.signals
        lists = (signals.placeholder, signals.done, signals.clean, signals.skipped, signals.rate_limited)
        more = (signals.unable, signals.error, signals.not_findings)
        single = (signals.announced, signals.window, signals.reviewed_commit, self.login_hint)
        return (*(one for each in (*lists, *more) for one in each), *filter(None, single))

    @property
    def askable_again(self) -> bool:
        """Whether there is a way to ask once more."""
        return (self.rerun or self.trigger).kind is not TriggerKind.AUTO

    def basis(self, fact: FactName) -> tuple[str, Confidence]:
        """Where a statement comes from, and how far it is to be trusted."""
        own = next((one for one in self.facts if fact in one.about), None)
        return (own.source, own.confidence) if own else (self.source, self.confidence)

    def is_unconfirmed(self, fact: FactName) -> bool:
        """Whether whoever wrote the entry marked a statement so; an operator's entry that marks nothing is his word."""
        marked = "confidence" in self.model_fields_set or any(fact in one.about for one in self.facts)
        return marked and self.basis(fact)[1] == "unconfirmed"

    @property
    def unfounded(self) -> tuple[FactName, ...]:
        """What is stated without a source of its own."""
        given = {name for fact in self.facts for name in fact.about}
        return tuple(name for name in get_args(FactName) if name in self.model_fields_set - given)
