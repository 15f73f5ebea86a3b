"""Goldens over HTTP: browsing what ships, noting doubts, and confirming or rejecting drafts of this installation."""

from __future__ import annotations

import fcntl
import functools
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flask import Blueprint, redirect, request
from werkzeug.exceptions import BadRequest, Conflict
from werkzeug.wrappers import Response

from bot import disputes
from bot.disputes import Doubt
from bot.goldens_desk import amend
from bot.pages import views_goldens as pages
from bot.pages.links import ServedLinks, slug
from bot.pages.paper import Visitor
from bot.pages.views import NotThere
from bot.pages.views_goldens import PROPERTIES, DraftFile, Wanted
from bot.ports import Clock
from bot.render.text import clean
from goldens.edit import EditError
from goldens.keeping import Who, confirm, drafts, reject
from goldens.load import load_suite, suite_names
from goldens.located import SuiteError
from goldens.model import Suite

DISPUTES = "disputes"
DRAFTS = "drafts"
LARGEST = 4 * 1024 * 1024
"""Bytes of doubts about one suite; then somebody has to look at them first."""
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}\.ya?ml")
_SAID = {"doubted": "Your doubt is noted.", "confirmed": "Confirmed.", "rejected": "Rejected."}


@dataclass(frozen=True, slots=True)
class Workshop:
    """`bot.pages.views_goldens.Goldens`: what ships, and what lies in the data directory."""

    data: Path
    clock: Clock

    def suites(self) -> tuple[Suite, ...]:
        """Those that ship."""
        return _shipped()

    def doubts(self, suite: str) -> tuple[Doubt, ...]:
        """What people doubt about a suite."""
        path = self._path(suite)
        return disputes.read(path.read_bytes(), path.name) if path.exists() else ()

    def drafts(self) -> tuple[DraftFile, ...]:
        """The files of drafts in `drafts`, as `assay goldens mine` writes them."""
        folder = self.data / DRAFTS
        return tuple(_drafts(path) for path in sorted(folder.glob("*")) if _FILE.fullmatch(path.name))

    def doubt(self, doubt: Doubt) -> None:
        """Note a doubt.

        Raises:
            OSError: it cannot be written.
            Conflict: there are too many already.
        """
        path = self._path(doubt.suite)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.tell() > LARGEST:
                raise Conflict("So many doubts are noted about this suite that somebody has to look at them first.")
            file.write(disputes.line_of(doubt))
            file.flush()
            os.fsync(file.fileno())

    def settle(self, name: str, golden: str, verdict: str, reason: str, who: str) -> None:
        """Confirm or reject a draft.

        Raises:
            NotThere: there is no such file.
            EditError, SuiteError: it cannot be done.
        """
        path = self.data / DRAFTS / name
        if not _FILE.fullmatch(name) or not path.is_file():
            raise NotThere("There is no such file of drafts.")
        by = Who(who, self.clock().date().isoformat())
        if verdict == "confirm":
            amend(path, lambda text: confirm(text, golden, by))
        else:
            amend(path, lambda text: reject(text, golden, reason, by))

    def _path(self, suite: str) -> Path:
        return self.data / DISPUTES / f"{slug(suite)}.jsonl"


@functools.cache
def _shipped() -> tuple[Suite, ...]:
    """What ships does not change while the process runs."""
    return tuple(load_suite(name) for name in suite_names())


def _drafts(path: Path) -> DraftFile:
    try:
        found = load_suite(path)
    except (SuiteError, OSError) as error:
        return DraftFile(path.name, "", (), str(error).split("\n")[0])
    return DraftFile(path.name, found.title, tuple(drafts(found)))


def showing_goldens(made: Blueprint, links: ServedLinks, visitor: Callable[[], Visitor], workshop: Workshop) -> None:
    """Add the pages about goldens to a blueprint that lets nobody change anything who may not.

    Args:
        made: The blueprint; it checks rights and forms.
        links: Where pages are.
        visitor: Who asks.
        workshop: The suites, doubts and drafts.
    """

    @made.get("/goldens")
    def goldens() -> str:
        return pages.suites(workshop, links, visitor())

    @made.get("/goldens/<suite>")
    def golden_suite(suite: str) -> str:
        wanted = Wanted(*(_arg(name) for name in PROPERTIES))
        return pages.suite(workshop, links, suite, wanted, _page(), visitor())

    @made.get("/goldens/<suite>/<pull>")
    def golden_pull(suite: str, pull: str) -> str:
        return pages.pull(workshop, links, suite, pull, _arg("view"), _arg("lines"), visitor(), _said())

    @made.post("/goldens/<suite>/<pull>/dispute")
    def dispute(suite: str, pull: str) -> Response:
        golden, reason = request.form.get("golden", ""), clean(request.form.get("reason", ""), disputes.LONGEST)
        found, _, one = pages.golden_of(workshop, suite, pull, golden)
        if not reason:
            raise BadRequest("A doubt needs a reason.")
        ref, when = found.ref, workshop.clock().isoformat(timespec="seconds")
        workshop.doubt(Doubt(ref.id, ref.version, ref.hash, pull, one.id, reason, visitor().login, when))
        return redirect(links.page("goldens", suite, pull, said="doubted"), 303)

    _drafted(made, links, visitor, workshop)


def _drafted(made: Blueprint, links: ServedLinks, visitor: Callable[[], Visitor], workshop: Workshop) -> None:
    @made.get("/goldens/drafts")
    def golden_drafts() -> str:
        return pages.drafts(workshop, links, visitor(), _said())

    @made.post("/goldens/drafts/<file>")
    def settle(file: str) -> Response:
        verdict, golden = request.form.get("verdict", ""), request.form.get("golden", "")
        if verdict not in ("confirm", "reject"):
            raise BadRequest("A draft is confirmed or rejected.")
        reason = clean(request.form.get("reason", ""), disputes.LONGEST)
        try:
            workshop.settle(file, golden, verdict, reason, visitor().login)
        except (EditError, SuiteError) as error:
            raise Conflict(clean(str(error), 300)) from None
        return redirect(links.page("goldens", "drafts", said=f"{verdict}ed"), 303)


def _said() -> str:
    return _SAID.get(_arg("said"), "")


def _arg(name: str) -> str:
    value = request.args.get(name, "")
    if len(value) > 200:
        raise NotThere(f"{name}: nothing here has a name of more than 200 characters.")
    return value


def _page() -> int:
    value = request.args.get("page", "1")
    if not value.isascii() or not value.isdigit() or len(value) > 6:
        raise NotThere(f"page: a number is wanted, not {value[:20]!r}.")
    return int(value)
