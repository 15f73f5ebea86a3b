"""Where settings become adapters and adapters become services. Only the command line and the web import this."""

from __future__ import annotations

import fcntl
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from typing import IO

import sqlalchemy as sa
from pydantic import SecretStr

from bot.adapters import database
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
from bot.model import Event, WriteLimits
from bot.neutral import StripRules, parse_strip_rules
from bot.registry import Registry, load_registry
from bot.settings import Settings
from bot.web.hooks import Intake
from bot.workflows import collect, commands, engine, events, fork, judge, progress, publish, reconcile, start
from bot.workflows.services import Services, Timing, use
from goldens.load import load_suite, suite_names

WORKFLOWS = (collect, commands, events, fork, judge, progress, publish, reconcile, start)
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
    model, replies = LiteLlm(settings.llm_api_base), SqliteReplies(settings.data_dir / "bundles" / store.CACHE)

    def means(max_cost: float | None, run: str) -> Means:
        costs = [cost for cost in (max_cost, settings.llm_max_cost) if cost is not None]
        limits = Limits(min(costs) if costs else None)
        return store.means_of(model, replies, limits, concurrency=settings.llm_concurrency, account=run)

    return means


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
    database.upgrade(app)
    engine_url = _url(settings, "engine_url", "engine.db")
    return Databases(app, database.open_engine(engine_url), engine_url)


def database_url(settings: Settings) -> str:
    """Where our tables are."""
    return _url(settings, "database_url", "app.db")


def _url(settings: Settings, name: str, file: str) -> str:
    given: SecretStr | None = getattr(settings, name)
    return given.get_secret_value() if given is not None else f"sqlite:///{settings.data_dir.resolve() / file}"


def services_of(settings: Settings, databases: Databases) -> Services:
    """Everything a worker works with.

    Raises:
        SettingsError: a setting that a worker needs is missing.
    """
    settings.require("app_id", "webhook_secret")
    plain = any(url.startswith("http://") for url in (settings.github_api_url, settings.upstream_url))
    limits = WriteLimits(settings.writes_per_minute, settings.writes_per_hour, settings.write_spacing_seconds)
    return Services(
        store=SqlStore(databases.app),
        ledger=SqlLedger(databases.app, limits),
        app=_app(settings),
        builder=GitForkBuilder(
            settings.data_dir / "forks", upstream=settings.upstream_url, rules=strip_rules(), allow_http=plain
        ),
        registry=registry_of(settings),
        suite_names=suite_names,
        load_suite=load_suite,
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
    )


def _app(settings: Settings) -> AppGitHub:
    author = settings.author_token
    return AppGitHub(
        settings.github_api_url,
        app_id=settings.client_id or str(settings.app_id),
        private_key=settings.read_private_key(),
        author_token=author.get_secret_value() if author is not None else None,
        clock=utc_now,
    )


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
    )


@contextmanager
def executor_slot(settings: Settings, seconds: float = 60) -> Iterator[IO[str]]:
    """Hold the one executor slot of a data directory: two executors under one name would run each step twice.

    Raises:
        RuntimeError: another worker holds it and did not end in time.
    """
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    with (settings.data_dir / "executor.lock").open("w", encoding="ascii") as slot:
        give_up = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > give_up:
                    raise RuntimeError(
                        f"another worker uses {settings.data_dir}; stop it, or set another ASSAY_DATA_DIR"
                    ) from None
                time.sleep(0.1)
        yield slot


def start_worker(settings: Settings, databases: Databases) -> Services:
    """Set the services and start the engine in this process. The caller holds the executor slot."""
    services = services_of(settings, databases)
    use(services)
    engine.configure(databases.engine, databases.engine_url, "slot-0")
    engine.launch(settings.queue_poll_seconds)
    engine.wake(reconcile.sweep, "sweep", "sweep", 0.1)
    engine.wake(reconcile.tidy, "sweep", "tidy", 60)
    return services


def intake_of(settings: Settings, services: Services, databases: Databases) -> Intake:
    """The hook endpoint's way to the queues."""
    door = engine.client(databases.engine, databases.engine_url)

    def accept(guid: str, event: Event) -> None:
        engine.submit(door, "events", "on_event", f"gh-{guid}", events.dump_event(event))

    return Intake(
        secrets=settings.webhook_secrets,
        app_id=settings.app_id or 0,
        app_slug=lambda: services.app.slug,
        accept=accept,
    )


def metrics_of(services: Services) -> Mapping[str, Mapping[str, int]]:
    """Counts for an operator's monitor."""
    runs = services.store.active_runs()
    trials: Counter[str] = Counter()
    for run in runs:
        trials.update(services.store.progress(run.id).trials_by_status)
    return {"assay_active_runs": Counter(run.stage for run in runs), "assay_active_trials": trials}


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
