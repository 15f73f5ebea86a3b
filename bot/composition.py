"""Where settings become adapters and adapters become services. Only the command line and the web import this."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from urllib.parse import urlsplit

import sqlalchemy as sa
from pydantic import SecretStr

from bot.adapters import database, slots
from bot.adapters.fork_reader import ForkReader, Outside
from bot.adapters.forks import GitForkBuilder
from bot.adapters.github import AppGitHub
from bot.adapters.ledger import SqlLedger
from bot.adapters.llm import LiteLlm
from bot.adapters.replies import SqliteReplies
from bot.adapters.store import SqlStore
from bot.judging import choosing, store
from bot.judging.asking import Means
from bot.judging.budget import Limits
from bot.judging.choosing import Chosen
from bot.model import WriteLimits
from bot.neutral import StripRules, parse_strip_rules
from bot.registry import Registry, load_registry
from bot.settings import Settings
from bot.workflows import (
    builtin,
    cleanup,
    collect,
    commands,
    engine,
    events,
    fork,
    judge,
    progress,
    publish,
    reconcile,
    rejudge,
    retry,
    start,
    suites,
)
from bot.workflows.services import Services, Timing
from goldens.load import shipped_suite, suite_names

WORKFLOWS = (
    builtin,
    cleanup,
    collect,
    commands,
    events,
    fork,
    judge,
    progress,
    publish,
    reconcile,
    rejudge,
    retry,
    start,
    suites,
)
"""Every module with workflows: the engine knows only what has been imported."""

JUDGES = ("lexical",)
"""What the issue form offers; the operator's own judge comes first where it is another."""


def utc_now() -> datetime:
    """The clock of a real process."""
    return datetime.now(UTC)


def registry_of(settings: Settings) -> Registry:
    """The shipped registry, with the operator's entries over it.

    Raises:
        RegistryError: a file cannot be used.
        OSError: the operator's file cannot be read.
    """
    texts = [("reviewers.yaml", (resources.files("manifests") / "reviewers.yaml").read_text(encoding="utf-8"))]
    if settings.registry is not None:
        texts.append((str(settings.registry), settings.registry.read_text(encoding="utf-8")))
    return load_registry(*texts)


def strip_rules() -> StripRules:
    """What leaves both trees of every fork."""
    return parse_strip_rules((resources.files("manifests") / "strip_paths.yaml").read_text(encoding="utf-8"))


def judges_of(settings: Settings) -> Callable[[str], Chosen]:
    """The judges that a run may have, by name."""
    model = LiteLlm(settings.llm_api_base)
    return lambda name: store.for_a_run(choosing.choose(name, model), name)


def judge_problem(settings: Settings) -> str | None:
    """Why the judge that the settings name cannot judge; None if it can."""
    try:
        judges_of(settings)(settings.judge)
    except ValueError as error:
        return str(error)
    return None


def judging_of(settings: Settings) -> Callable[[float | None, str], Means]:
    """What asking a language model takes, within a limit of US dollars and the operator's, on a run's account."""
    model, replies = LiteLlm(settings.llm_api_base), replies_of(settings)

    def means(max_cost: float | None, run: str) -> Means:
        costs = [cost for cost in (max_cost, settings.llm_max_cost) if cost is not None]
        limits = Limits(min(costs) if costs else None)
        return store.means_of(model, replies, limits, concurrency=settings.llm_concurrency, account=run)

    return means


def replies_of(settings: Settings) -> SqliteReplies:
    """What models have answered, and what that cost."""
    # With PostgreSQL there may be workers on other hosts, and the data directory is then a network's.
    several = not engine_url(settings).startswith("sqlite")
    return SqliteReplies(settings.data_dir / "bundles" / store.CACHE, several_hosts=several)


@dataclass(frozen=True, slots=True)
class Databases:
    """The two databases of a process: ours, and the engine's, which must never share a SQLite file."""

    app: sa.Engine
    engine: sa.Engine
    engine_url: str


def open_databases(settings: Settings) -> Databases:
    """Open both databases and bring our tables up to date."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    app = database.open_engine(database_url(settings))
    with slots.starting(app):
        database.upgrade(app)
    url = engine_url(settings)
    return Databases(app, database.open_engine(url), url)


@dataclass(frozen=True, slots=True)
class Schema:
    """What tables there are, and what this version needs."""

    ours: str | None
    our_head: str
    engine: int
    engine_head: int

    @property
    def current(self) -> bool:
        """Whether both databases have this version's tables."""
        return (self.ours, self.engine) == (self.our_head, self.engine_head)


def schema_of(settings: Settings) -> Schema:
    """The tables of both databases. Changes nothing.

    Raises:
        FileNotFoundError: there is no such SQLite file.
        RuntimeError: a database does not answer.
    """
    ours, engines = (database.open_existing(url) for url in (database_url(settings), engine_url(settings)))
    try:
        return Schema(database.revision(ours), database.head(), *engine.schema(engines))
    except database.DatabaseError as error:
        raise RuntimeError(f"a database does not answer: {type(error).__name__}") from error
    finally:
        ours.dispose()
        engines.dispose()


def migrate_engine(databases: Databases) -> None:
    """Make the engine's tables, where no worker may have done so yet."""
    with slots.starting(databases.engine):
        engine.migrate(databases.engine_url)


def database_url(settings: Settings) -> str:
    """Where our tables are."""
    return _url(settings, "database_url", "app.db")


def engine_url(settings: Settings) -> str:
    """Where the engine's tables are. PostgreSQL takes both in one database; of SQLite files each has its own."""
    shared = settings.database_url
    if settings.engine_url is None and shared is not None and shared.get_secret_value().startswith("postgresql"):
        return shared.get_secret_value()
    return _url(settings, "engine_url", "engine.db")


def _url(settings: Settings, name: str, file: str) -> str:
    given: SecretStr | None = getattr(settings, name)
    return given.get_secret_value() if given is not None else f"sqlite:///{settings.data_dir.resolve() / file}"


def services_of(settings: Settings, databases: Databases) -> Services:
    """Everything a worker works with.

    Raises:
        SettingsError: a setting that a worker needs is missing.
    """
    settings.require("app_id", "webhook_secret")
    plain = any(url.startswith("http://") for url in _addresses(settings))
    limits = WriteLimits(
        settings.writes_per_minute,
        settings.writes_per_hour,
        settings.write_spacing_seconds,
        settings.repositories_per_hour,
    )
    return Services(
        store=SqlStore(databases.app),
        ledger=SqlLedger(databases.app, limits),
        app=app_of(settings),
        builder=GitForkBuilder(
            settings.data_dir / "forks",
            upstream=settings.upstream_url,
            rules=strip_rules(),
            allow_http=plain,
            allow_file=_stand_in(settings),
            token_host=web_url(settings.github_api_url),
            mirror=settings.mirror_url,
        ),
        registry=registry_of(settings),
        suite_names=suite_names,
        load_suite=shipped_suite,
        judge=judges_of(settings),
        judging=judging_of(settings),
        clock=utc_now,
        sleep=time.sleep,
        bundles=settings.data_dir / "bundles",
        run_key=_run_key(settings),
        default_judge=settings.judge,
        publish=settings.publish,
        control_repo=settings.control_repo,
        web_url=web_url(settings.github_api_url),
        timing=_timing(settings),
        limits=limits,
        workflows_granted=settings.workflows_granted,
        private_until_pushed=settings.private_until_pushed,
        review_models=settings.review_models,
        keeps_quotas=settings.reviewer_quotas == "keep"
        or (settings.reviewer_quotas == "auto" and not _stand_in(settings)),
    )


def _addresses(settings: Settings) -> tuple[str, ...]:
    return (settings.github_api_url, settings.upstream_url, settings.mirror_url or "")


def _stand_in(settings: Settings) -> bool:
    """Whether GitHub is on this machine: its repositories may then be folders, and its bots are no vendor's."""
    return urlsplit(settings.github_api_url).hostname in ("127.0.0.1", "localhost", "::1")


def app_of(settings: Settings) -> AppGitHub:
    """GitHub, as the App that the settings name.

    Raises:
        SettingsError: they name none, or its key cannot be read.
    """
    settings.require("app_id")
    author = settings.author_token
    return AppGitHub(
        settings.github_api_url,
        app_id=settings.client_id or str(settings.app_id),
        private_key=settings.read_private_key(),
        author_token=author.get_secret_value() if author is not None else None,
        clock=utc_now,
        workflows=settings.workflows_granted,
    )


def fork_reader_of(settings: Settings, tell: Callable[[str], None]) -> ForkReader:
    """A reader of forks that stand somewhere: as the App where that is configured, as the author, or as nobody."""
    token = settings.author_token.get_secret_value() if settings.author_token is not None else None
    keyed = settings.private_key is not None or settings.private_key_file is not None
    app = app_of(settings) if settings.app_id is not None and keyed else None
    return ForkReader(settings.github_api_url, Outside(utc_now, time.sleep, tell), token=token, app=app)


def _run_key(settings: Settings) -> bytes:
    """A key of its own, so that nothing which shows what derives from it can help to forge a delivery."""
    return hashlib.sha256(b"assay run key\0" + settings.webhook_secrets[0]).digest()


def web_url(api_url: str) -> str:
    """GitHub's web address for an API address: github.com, an Enterprise host, or a stand-in that serves both."""
    if api_url.rstrip("/") == "https://api.github.com":
        return "https://github.com"
    return api_url.rstrip("/").removesuffix("/api/v3")


def _timing(settings: Settings) -> Timing:
    return Timing(
        issue_poll=settings.issue_poll_seconds,
        poll=settings.poll_seconds,
        nudge=settings.nudge_seconds,
        progress=settings.progress_seconds,
        rechecks=settings.recheck_seconds,
        cleanup_days=settings.cleanup_days if settings.cleanup == "archive" else None,
    )


def database_problem(url: str) -> str | None:
    """Why a database does not answer; None if it does. Never the error's own text, which may hold a password."""
    opened: sa.Engine | None = None
    try:
        opened = database.open_engine(url)
        with opened.connect() as connection:
            connection.execute(sa.text("SELECT 1"))
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        return type(error).__name__
    finally:
        if opened is not None:
            opened.dispose()
    return None


def readiness_of(databases: Databases) -> Callable[[], None]:
    """A check that both databases answer; it raises where one does not."""

    def ready() -> None:
        for database_engine in (databases.app, databases.engine):
            try:
                with database_engine.connect() as connection:
                    connection.execute(sa.text("SELECT 1"))
            except sa.exc.SQLAlchemyError as error:
                raise RuntimeError(f"a database does not answer: {type(error).__name__}") from error

    return ready
