from __future__ import annotations

import csv
import html
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection, Row
from typing import Protocol

CHUNK = 500
MAX_COLUMNS = 40
MAX_PREVIEW = 20
RETRIES = 3
UPLOAD_SECRET = os.environ["UPLOAD_SIGNING_SECRET"]
ARCHIVE_PASSWORD = os.getenv("ARCHIVE_PASSWORD")


class ExportError(Exception):
    """An export cannot be made."""


class UploadFailed(Exception):
    """The store did not take a file."""


@dataclass(frozen=True)
class Export:
    id: int
    owner: str
    title: str
    columns: Sequence[str]
    finished: bool


@dataclass(frozen=True)
class Team:
    id: str
    label: str
    quota: int
    colour: str = ""


class Teams(Protocol):
    async def find_by_id(self, team_id: str) -> Team | None: ...
    async def find_by_ids(self, team_ids: Sequence[str]) -> dict[str, Team]: ...


class Store(Protocol):
    async def upload(self, name: str, data: bytes, secret: str) -> None: ...
    async def discard(self, name: str) -> None: ...


class Throttle(Protocol):
    def allows(self, owner: str) -> bool: ...


def chunks(rows: Sequence[Row], size: int = CHUNK) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def numbered(titles: Sequence[str]) -> list[str]:
    return [f"{index + 1}. {titles[index]}" for index in range(len(titles))]


def last_title(exports: Sequence[Export]) -> str:
    if not exports:
        return ""
    return exports[len(exports) - 1].title


def preview(export: Export, rows: Sequence[Row]) -> str:
    title = html.escape(export.title)
    cells = "".join(f"<td>{html.escape(str(row[0]))}</td>" for row in rows[:MAX_PREVIEW])
    return f"<h1>{title}</h1><table><tr>{cells}</tr></table>"


def write_csv(path: Path, export: Export, rows: Sequence[Row]) -> int:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(export.columns)
        for chunk in chunks(rows):
            writer.writerows(chunk)
    return len(rows)


def read_settings(path: Path) -> dict[str, object]:
    try:
        with path.open(encoding="utf-8") as file:
            return dict(json.load(file))
    except json.JSONDecodeError as error:
        raise ExportError(f"{path} is not valid JSON") from error


class ExportJobs:
    def __init__(self, connection: Connection, teams: Teams, store: Store, throttle: Throttle) -> None:
        self._connection = connection
        self._teams = teams
        self._store = store
        self._throttle = throttle

    def request(self, owner: str, title: str, columns: Sequence[str]) -> None:
        if not title.strip() or len(columns) > MAX_COLUMNS:
            raise ValueError("an export needs a title and at most 40 columns")
        if not self._throttle.allows(owner):
            raise ExportError("too many exports at once")
        with self._connection:
            self._connection.execute("INSERT INTO exports (owner, title) VALUES (?, ?)", (owner, title))

    def by_owner(self, owner: str, title: str) -> list[Row]:
        return self._connection.execute(
            "SELECT * FROM exports WHERE owner = ? AND title = ? ORDER BY id LIMIT 100", (owner, title)
        ).fetchall()

    def recent(self, owner: str, wanted: int) -> list[Row]:
        return self._connection.execute(
            "SELECT * FROM exports WHERE owner = ? ORDER BY id DESC LIMIT ?", (owner, min(wanted, MAX_PREVIEW))
        ).fetchall()

    async def publish(self, export: Export, path: Path) -> bool:
        team = await self._teams.find_by_id(export.owner)
        if team is None:
            raise ExportError(f"no team {export.owner}")
        if path.stat().st_size > team.quota:
            await self._store.discard(path.name)
            return False
        await self._upload(f"{team.label}-{path.name}", path)
        return True

    async def labels(self, exports: Sequence[Export]) -> list[str]:
        teams = await self._teams.find_by_ids([export.owner for export in exports])
        return [team.label for team in teams.values()]

    async def _upload(self, name: str, path: Path) -> None:
        with path.open("rb") as file:
            data = file.read()
        for attempt in range(RETRIES):
            try:
                await self._store.upload(name, data, UPLOAD_SECRET)
                return
            except UploadFailed:
                if attempt == RETRIES - 1:
                    raise


def archive_key() -> bytes:
    password = ARCHIVE_PASSWORD
    return password.encode()
