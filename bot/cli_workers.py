"""Processes beside the web: workers, and the databases they share."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import click

from bot.cli_common import BAD_INPUT, CHECK_FAILED, DONE, NOT_CARRIED_OUT, Failure, ready_settings, settings_now, write
from bot.cli_manner import MANNER

if TYPE_CHECKING:
    from bot.settings import Settings


class Address(NamedTuple):
    """Where to listen."""

    host: str
    port: int


class _HostPort(click.ParamType[Address]):
    name = "HOST:PORT"

    def convert(self, value: str | Address, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        if isinstance(value, Address):
            return value
        host, colon, port = value.rpartition(":")
        if not (colon and host and port.isascii() and port.isdecimal() and int(port) <= 65535):
            self.fail(f"{value!r} is not host:port; for example 127.0.0.1:9100", param, ctx)
        return Address(host.strip("[]"), int(port))


_METRICS = click.option(
    "--metrics", type=_HostPort(), help="Serve this process's Prometheus metrics there, to whoever can reach it."
)


def _check_bind(name: str, host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            message = f"{name}: cannot listen on {host}:{port}: {error.strerror}; set another host:port"
            raise Failure(message, NOT_CARRIED_OUT) from None


def _ready(verbose: bool, metrics: Address | None) -> Settings:
    """The settings, with the log set up and no secret of theirs ever in it."""
    from bot import logs
    from bot.secret_values import secrets_of

    settings = ready_settings()
    logs.configure("DEBUG" if verbose else MANNER.level, settings.log, secrets_of(settings, os.environ))
    if metrics is not None:
        _check_bind("--metrics", *metrics)
    return settings


@contextmanager
def _databases_answer() -> Iterator[None]:
    """A database that is away at the start is one line; a service manager tries again."""
    from bot.adapters.database import DatabaseError
    from bot.adapters.slots import NoSlot

    try:
        yield
    except NoSlot as error:
        raise Failure(str(error), NOT_CARRIED_OUT) from None
    except DatabaseError as error:
        # Never the error's own text: it may hold the address, with the password in it.
        message = f"a database does not answer: {type(error).__name__}; see: assay db check"
        raise Failure(message, NOT_CARRIED_OUT) from None


@contextmanager
def _loading() -> Iterator[None]:
    """Import much at once: a sixth of the time would go into looking for garbage where there is none.

    What was loaded is not looked through later either, which would copy it into each process that is forked.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


@click.command()
@click.option("--verbose", is_flag=True, help="Log what is done in detail.")
@click.option("--web-only", is_flag=True, help="Take deliveries and show pages; leave the work to `assay worker`.")
@_METRICS
def serve(verbose: bool, web_only: bool, metrics: Address | None) -> None:
    """Run the App: take deliveries and work on runs, in one process. Settings come from the environment or .env.

    Example: ASSAY_BIND=0.0.0.0:8000 assay serve
    """
    with _loading():
        from bot.web.server import Server

    settings = _ready(verbose, metrics)
    _check_bind("ASSAY_BIND", settings.bind_host, settings.bind_port)
    Server(settings, level="debug" if verbose else MANNER.level.lower(), work=not web_only, metrics=metrics).run()


@click.command()
@click.option("--verbose", is_flag=True, help="Log what is done in detail.")
@_METRICS
def worker(verbose: bool, metrics: Address | None) -> None:
    """Work on runs, without a web server: as many as you like on PostgreSQL, one on SQLite.

    The web server is then `assay serve --web-only`. Give every worker the same settings, and a data directory that
    all of them and the web server share.

    Example: ASSAY_DATABASE_URL=postgresql://assay@db.example.com/assay assay worker --metrics 127.0.0.1:9100
    """
    with _loading():
        from bot import composition, composition_workers
        from bot.web.metrics import Metrics

    settings = _ready(verbose, metrics)
    with _databases_answer(), composition_workers.executor_slot(settings) as slot:
        services = composition_workers.start_worker(settings, composition.open_databases(settings), slot)
        if metrics is not None:
            Metrics(services.app.rates).serve(*metrics)
        composition_workers.LOG.info("working as %s", slot.executor)
        _until_told()


def _until_told() -> None:
    told = threading.Event()

    def tell(_signal: int, _frame: FrameType | None) -> None:
        told.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, tell)
    told.wait()
    # Crash-only: waiting workflows would keep the process from ending, and whatever is under way resumes elsewhere.
    os._exit(DONE)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def db() -> None:
    """Look after the databases.

    Example: assay db check
    """


@db.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def upgrade(as_json: bool) -> None:
    """Bring both databases to this version's tables. The App does the same when it starts.

    Example: assay db upgrade
    """
    from bot import composition

    with _databases_answer():
        databases = composition.open_databases(settings_now())
        composition.migrate_engine(databases)
        found = composition.schema_of(settings_now()).ours
    write(json.dumps({"revision": found}) if as_json else f"The tables are those of revision {found}.")


@db.command(short_help="Say whether both databases answer, and are of this version.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(as_json: bool) -> None:
    """Say whether both databases answer and have this version's tables; changes nothing. Exit code 1 if not.

    Example: assay db check --json
    """
    from bot import composition

    try:
        found = composition.schema_of(settings_now())
    except FileNotFoundError as error:
        raise Failure(f"{error}; make it with: assay db upgrade", BAD_INPUT) from None
    except RuntimeError as error:
        raise Failure(str(error), NOT_CARRIED_OUT) from None
    if as_json:
        ours = {"revision": found.ours, "head": found.our_head}
        write(json.dumps(ours | {"engine": [found.engine, found.engine_head], "current": found.current}))
    else:
        write(
            f"Revision {found.ours}, this version has {found.our_head}; the engine's {found.engine} of "
            f"{found.engine_head}: " + ("current." if found.current else "run assay db upgrade.")
        )
    if not found.current:
        raise SystemExit(CHECK_FAILED)


COMMANDS = (serve, worker, db)
