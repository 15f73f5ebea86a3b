"""The world of the demo: an organisation with the App and five reviewers installed, and somebody who asks for a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import requests
import yaml

from bot import issue_form, render
from bot.adapters.database import open_engine
from bot.adapters.store import SqlStore
from bot.model import RunId
from bot.ports import ForkRow
from bot.registry import Registry, load_registry
from bot.render.surface import Surface
from bot.sandbox.actors.start import start_actors
from bot.sandbox.ports import free_port
from bot.sandbox.server import AppKeys, Sandbox
from bot.sandbox.state import Role
from goldens.load import suite_names
from scoring.model import ReviewerId

ORG = "northwind"
CONTROL = f"{ORG}/assay"
MAINTAINER = "mira-lund"
"""Asks for the run."""
AUTHOR = "devon-ray"
"""The user whose token opens the pull requests."""
SLUG = "northwind-checks"
SECRET = "the demo's webhook secret"  # nosec B105 # of a stand-in on loopback
GAP = 0.5
"""Seconds between two posts of one reviewer."""


@dataclass(frozen=True, slots=True)
class AskedIssue:
    """The benchmark issue."""

    number: int
    url: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What the person fills into the form."""

    suite: str = "smoke"
    reviewers: Sequence[str] = ()
    """Ids; empty: every reviewer of the demo."""
    pulls: str = ""
    built_in: Sequence[str] = ()
    """Built-in reviewers beside them."""


class DemoWorld:
    """The stand-in with everybody in it, and what can be asked of it from outside."""

    def __init__(
        self, sandbox: Sandbox, keys: AppKeys, hook: str, tokens: Mapping[str, str], registry: Registry
    ) -> None:
        self.sandbox = sandbox
        self.registry = registry
        self._keys = keys
        self._hook = hook
        self._tokens = dict(tokens)
        self._issue: AskedIssue | None = None

    @property
    def url(self) -> str:
        """The stand-in's address, for the API and for people."""
        return self.sandbox.url

    def app_settings(self, data: Path) -> dict[str, str]:
        """The settings with which the App finds this world: nothing else tells it that it is not GitHub."""
        key = data / "app-key.pem"
        data.mkdir(parents=True, exist_ok=True)
        key.touch(mode=0o600)
        key.write_text(self._keys.private_key_pem, encoding="ascii")
        return {
            "ASSAY_GITHUB_API_URL": self.url,
            "ASSAY_APP_ID": str(self._keys.app_id),
            "ASSAY_CLIENT_ID": self._keys.client_id,
            "ASSAY_PRIVATE_KEY_FILE": str(key),
            "ASSAY_WEBHOOK_SECRET": SECRET,
            "ASSAY_AUTHOR_TOKEN": self._tokens[AUTHOR],
            "ASSAY_DATA_DIR": str(data),
            "ASSAY_BIND": self._hook,
            "ASSAY_LOCAL_USER": MAINTAINER,
            "ASSAY_REGISTRY": str(resources.files("manifests") / "sandbox-reviewers.yaml"),
            "ASSAY_WRITE_SPACING_SECONDS": "0",
            "ASSAY_WRITES_PER_MINUTE": "100000",
            "ASSAY_WRITES_PER_HOUR": "1000000",
            "ASSAY_POLL_SECONDS": "2",
            "ASSAY_ISSUE_POLL_SECONDS": "2",
            "ASSAY_QUEUE_POLL_SECONDS": "0.1",
            "ASSAY_PROGRESS_SECONDS": "1",
            "ASSAY_NUDGE_SECONDS": "1",
            "ASSAY_RECHECK_SECONDS": "0.2,0.5",
        }

    @property
    def pages(self) -> str:
        """Where the App's pages are."""
        return f"http://{self._hook}/"

    def sign_in_settings(self) -> dict[str, str]:
        """The settings with which people sign in to the pages, in place of one local user."""
        return {
            "ASSAY_LOCAL_USER": "",
            "ASSAY_CLIENT_SECRET": self._keys.client_secret,
            "ASSAY_PUBLIC_URL": self.pages,
        }

    def ask_for_run(self, asked: Asked | None = None) -> AskedIssue:
        """Open the benchmark issue as the maintainer would, through the form."""
        body = form_body(asked or Asked(), self.registry)
        raw = self.get("POST", f"/repos/{CONTROL}/issues", MAINTAINER, {"title": "Benchmark", "body": body})
        self._issue = AskedIssue(int(raw["number"]), str(raw["html_url"]))
        return self._issue

    def add_person(self, login: str, token: str, role: Role) -> None:
        """Let somebody else act, with a role in the control repository."""
        self._tokens[login] = token
        owner, _, name = CONTROL.partition("/")
        with self.sandbox.world.lock:
            self.sandbox.world.add_collaborator(self.sandbox.world.repo(owner, name), login, role)

    def get(self, method: str, path: str, login: str = MAINTAINER, body: Mapping[str, Any] | None = None) -> Any:
        """One call of the REST API as one of the people."""
        headers = {"Authorization": f"Bearer {self._tokens[login]}"}
        answer = requests.request(method, self.url + path, json=body, headers=headers, timeout=30)
        answer.raise_for_status()
        return answer.json()

    def complaints(self, data: Path | str, run: RunId) -> Iterator[str]:
        """What GitHub does not show and should: check runs of a fork, the leaderboard of the issue."""
        engine = open_engine(database_of(data))
        try:
            store = SqlStore(engine)
            reviewers = store.run(run).plan.request.reviewers
            for fork in store.forks(run):
                yield from self._fork_complaints(fork, reviewers)
        finally:
            engine.dispose()
        if self._issue is None or not self._comments_with(self._issue.number, render.marker("leaderboard", run)):
            yield "the leaderboard on the issue"

    def _fork_complaints(self, fork: ForkRow, reviewers: Sequence[str]) -> Iterator[str]:
        if fork.repo is None or fork.commits is None:
            yield f"fork {fork.id}: {fork.problem or 'it was not made'}"
            return
        found = self.get("GET", f"/repos/{fork.repo}/commits/{fork.commits.head_sha}/check-runs?per_page=100")
        names = {check["name"] for check in found["check_runs"] if check["app"]["slug"] == SLUG}
        surface = Surface.of(self.registry.reviewers, {}, public=False)
        wanted = {f"assay / {surface.name(ReviewerId(reviewer))}" for reviewer in reviewers} | {"assay / summary"}
        yield from (f"check run {name} on {fork.repo}" for name in sorted(wanted - names))

    def _comments_with(self, issue: int, marker: str) -> list[Any]:
        comments = self.get("GET", f"/repos/{CONTROL}/issues/{issue}/comments?per_page=100")
        return [comment for comment in comments if comment["body"].startswith(marker)]

    def addresses(self, data: Path | str, run: RunId) -> dict[str, str]:
        """Where a person can look: the issue with the leaderboard, and a pull request."""
        found = {"the issue with the leaderboard": self._issue.url if self._issue else ""}
        engine = open_engine(database_of(data))
        try:
            for fork in SqlStore(engine).forks(run):
                if fork.repo is not None:
                    found[f"pull request {fork.id}"] = f"{self.url}/{fork.repo}/pull/{fork.pull}"
        finally:
            engine.dispose()
        return found


def database_of(data: Path | str) -> str:
    """The address of an App's tables: those of its data directory, or the address as it is."""
    return data if isinstance(data, str) else f"sqlite:///{data / 'app.db'}"


def form_body(asked: Asked, registry: Registry) -> str:
    """The body GitHub makes of the filled-in form."""
    label = issue_form.Label
    wanted = asked.reviewers or registry.ids
    chosen = [entry for entry in registry.reviewers if entry.id in wanted]
    answers = {
        label.SUITE.value: asked.suite,
        label.REVIEWERS.value: ", ".join(issue_form.reviewer_option(entry.id, entry.name) for entry in chosen),
        label.BUILT_IN.value: "\n".join(asked.built_in),
        label.PULLS.value: asked.pulls,
    }
    return "\n\n".join(f"### {name}\n\n{answers.get(name) or '_No response_'}" for name in issue_form.LABELS)


def app_manifest() -> dict[str, Any]:
    """`app.yml`, from the package or, in a source tree, from its top."""
    packaged = resources.files("bot") / "templates" / "app.yml"
    path = packaged if packaged.is_file() else Path(__file__).resolve().parents[2] / "app.yml"
    manifest: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return manifest


def demo_registry() -> Registry:
    """The reviewers that live in the stand-in."""
    text = (resources.files("manifests") / "sandbox-reviewers.yaml").read_text(encoding="utf-8")
    return load_registry(("sandbox-reviewers.yaml", text))


@contextmanager
def running(data: Path, port: int = 0, *, webhooks: bool = True, gap: float = GAP) -> Iterator[DemoWorld]:
    """The world, up and peopled, and taken down on the way out."""
    registry = demo_registry()
    hook = f"127.0.0.1:{free_port()}"
    with ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox(data, port=free_port(port)))
        tokens = {login: sandbox.create_user(login) for login in (MAINTAINER, AUTHOR)}
        sandbox.create_org(ORG, owner=AUTHOR, members=[MAINTAINER])
        manifest = app_manifest()
        keys = sandbox.create_app(
            SLUG,
            permissions=manifest["default_permissions"],
            events=manifest["default_events"],
            webhook_url=f"http://{hook}/webhooks/github" if webhooks else None,
            webhook_secret=SECRET,
            callback_urls=[f"http://{hook}/sign-in/callback"],
        )
        sandbox.install(SLUG, ORG)
        form = issue_form.render_form(
            suite_names(), [(entry.id, entry.name) for entry in registry.reviewers], ["lexical"]
        )
        files = {issue_form.FORM_PATH: form.encode()}
        sandbox.create_repo(ORG, "assay", private=True, files=files, collaborators={MAINTAINER: "admin"})
        stack.enter_context(start_actors(sandbox, ORG, gap=gap))
        yield DemoWorld(sandbox, keys, hook, tokens, registry)
