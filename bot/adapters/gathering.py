"""What GitHub says of one repository, asked once and kept as files, so that mining can go on and be done again offline.

Every answer is on disk before it is used. A run that is killed, or waits for a limit, goes on where it stopped; the
files are the saved answers that `goldens.mine.answers` reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from bot.adapters.github_client import PAGE, Client
from bot.answers import Answer, GiveUp, decide
from bot.ports import GitHubError
from goldens.located import SuiteError
from goldens.mine.answers import Answers, PullFacts, read_answers

MOST_TRIES: Final = 8
"""So often one question is asked; waits for a rate limit do not count."""
MOST_WAITS: Final = 48
"""Waits for a limit, an hour each at most, before one question is given up."""
MOST_PAGES: Final = 200
"""Pages of threads of one pull request, or of pull requests of one commit; more is a server that goes in circles."""
_LIMITED: Final = (403, 429)
_UNKNOWN_COMMIT: Final = (404, 422)
_STATE: Final = "gathered.state"
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_THREADS: Final = """\
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      number
      reviewThreads(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id isResolved path originalLine originalStartLine diffSide
          comments(first: 50) { nodes { author { __typename login } body originalCommit { oid } } }
        }
      }
    }
  }
}"""

Json = Any


class GatherError(Exception):
    """GitHub cannot be asked; the message says why and what would do."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What gathering takes from the process."""

    clock: Callable[[], datetime]
    sleep: Callable[[float], None]
    say: Callable[[str], None]
    """Takes what is being done, or waited for."""


class Gatherer:
    """Asks about one repository and keeps the answers in one folder."""

    def __init__(self, client: Client, api_url: str, repository: str, folder: Path, outside: Outside) -> None:
        """Open or begin a folder of answers.

        Raises:
            GatherError: it is no name of a repository, or the folder holds answers about another one.
        """
        if not _REPOSITORY.fullmatch(repository):
            raise GatherError(f"{repository[:150]!r} is no repository; write owner/name")
        self._client = client
        self._graphql = graphql_path(api_url)
        self._repository = repository
        self._folder = folder
        self._outside = outside
        self._told: Answers | None = None
        self._state = self._opened(api_url.rstrip("/"))

    def _opened(self, api_url: str) -> dict[str, Json]:
        self._folder.mkdir(parents=True, exist_ok=True)
        path, fresh = self._folder / _STATE, {"api": api_url, "repository": self._repository, "page": 1}
        if not path.exists():
            return fresh
        try:
            found = json.loads(path.read_bytes())
        except ValueError:
            found = None
        if not isinstance(found, dict) or set(found) != set(fresh):
            raise GatherError(f"{path} is damaged; ask for everything again with --refresh")
        if (found["api"], found["repository"]) != (api_url, self._repository):
            told = f"{str(found['repository'])[:150]} at {str(found['api'])[:150]}"
            raise GatherError(f"{self._folder} holds answers about {told}; name another folder")
        return found

    # --- what is asked ------------------------------------------------------------------------------------------

    def pulls(self, most: int | None = None) -> None:
        """Have the pull requests of the repository here, the newest first.

        Args:
            most: about how many, rounded up to whole pages; None: all of them.

        Raises:
            GatherError: GitHub does not tell.
        """
        query = {"state": "all", "sort": "created", "direction": "desc", "per_page": PAGE}
        while (page := self._state["page"]) is not None and (most is None or (page - 1) * PAGE < most):
            self._outside.say(f"pull requests of {self._repository}, page {page}")
            headers, data = self._asked("GET", f"/repos/{self._repository}/pulls", {**query, "page": page})
            if not isinstance(data, list):
                raise GatherError(f"GitHub answered no list of pull requests but {str(data)[:80]!r}")
            self._keep(f"pulls-{page:05}.json", data)
            self._state["page"] = page + 1 if _more(headers) else None
            self._save()
        self._told = None

    def threads(self) -> None:
        """Have the review threads of every merged pull request here.

        Raises:
            GatherError: GitHub does not tell.
        """
        wanted = sorted(number for number, facts in self.answers().pulls.items() if facts.merged_at is not None)
        for at, number in enumerate(wanted, 1):
            if not (self._folder / f"threads-{number}.json").exists():
                self._outside.say(f"review threads: {at} of {len(wanted)} merged pull requests")
                self._keep(f"threads-{number}.json", list(self._pages_of_threads(number)))
        self._told = None

    def _pages_of_threads(self, number: int) -> Iterator[Json]:
        owner, _, name = self._repository.partition("/")
        after: Json = None
        for _ in range(MOST_PAGES):
            variables = {"owner": owner, "name": name, "number": number, "after": after}
            data = self._queried({"query": _THREADS, "variables": variables})
            yield {"data": data}
            info = _at(data, "repository", "pullRequest", "reviewThreads", "pageInfo")
            after = _at(info, "endCursor")
            if _at(info, "hasNextPage") is not True or not isinstance(after, str):
                return
        raise GatherError(f"the review threads of #{number} do not end after {MOST_PAGES} pages")

    def answers(self) -> Answers:
        """Everything that is here. Which pull requests hold a commit is asked when somebody wants to know.

        Raises:
            SuiteError: a file is no saved answer.
        """
        if self._told is None:
            files = {path.name: path.read_bytes() for path in sorted(self._folder.glob("*.json"))}
            known = read_answers(files)
            pulls = dict(known.pulls)
            by_commit = _ByCommit(dict(known.by_commit), pulls, self._held_by)
            self._told = Answers(pulls, known.threads, by_commit, known.listed)
        return self._told

    def _held_by(self, commit: str) -> Answers:
        """The pull requests that hold a commit; none where GitHub does not know the commit."""
        if not _COMMIT.fullmatch(commit):
            raise GatherError(f"{commit[:80]!r} is no commit id")
        held: list[Json] = []
        for page in range(1, MOST_PAGES + 1):
            self._outside.say(f"which pull request brought {commit[:12]}")
            path, query = f"/repos/{self._repository}/commits/{commit}/pulls", {"per_page": PAGE, "page": page}
            headers, data = self._asked("GET", path, query, unknown=_UNKNOWN_COMMIT)
            held += data if isinstance(data, list) else []
            if not _more(headers):
                break
        self._keep(f"commit-{commit}.json", {commit: held})
        return read_answers({f"commit-{commit}.json": json.dumps({commit: held}).encode()})

    # --- asking -------------------------------------------------------------------------------------------------

    def _queried(self, body: Mapping[str, Json]) -> Json:
        """The data of a GraphQL answer. An error stands in it with status 200, a rate limit among them."""
        for attempt in range(1, MOST_WAITS + 1):
            headers, answer = self._asked("POST", self._graphql, body=body)
            errors, data = _at(answer, "errors"), _at(answer, "data")
            if not errors:
                if not _at(data, "repository", "pullRequest"):
                    raise GatherError("GitHub answered nothing about the pull request")
                return data
            first = errors[0] if isinstance(errors, list) else errors
            if _at(first, "type") != "RATE_LIMITED":
                raise GatherError(f"GitHub refused: {str(_at(first, 'message') or errors)[:200]}")
            self._wait(GitHubError(429, "rate limit", headers, "POST"), attempt)
        raise GatherError("GitHub's rate limit never ended")

    def _asked(
        self,
        method: str,
        path: str,
        query: Mapping[str, Json] | None = None,
        *,
        body: Mapping[str, Json] | None = None,
        unknown: tuple[int, ...] = (),
    ) -> tuple[Mapping[str, str], Json]:
        """One question, asked again as GitHub's documentation wants it; nothing for a status that is unknown."""
        tries, waits = 0, 0
        while True:
            try:
                return self._client.call(method, path, query=query, body=body)
            except GitHubError as error:
                if error.status in unknown:
                    return {}, None
                limited = error.status in _LIMITED
                tries, waits = tries + (not limited), waits + limited
                if tries >= MOST_TRIES or waits >= MOST_WAITS:
                    raise GatherError(f"GitHub does not answer: {error}; what is here is kept") from None
                self._wait(error, waits if limited else tries)

    def _wait(self, error: GitHubError, attempt: int) -> None:
        headers = {name.lower(): value for name, value in error.headers.items()}
        verdict = decide(Answer(error.status, error.message, headers, error.method), self._outside.clock(), attempt)
        if isinstance(verdict, GiveUp):
            raise GatherError(f"{self._repository}: {verdict.reason}")
        if verdict.seconds >= 1:
            self._outside.say(f"{verdict.reason}: waiting {verdict.seconds:.0f} s, then going on")
        self._outside.sleep(verdict.seconds)

    # --- keeping ------------------------------------------------------------------------------------------------

    def _keep(self, name: str, value: Json) -> None:
        """Keep an answer, if it is one: what cannot be read now could not be read later either."""
        try:
            read_answers({name: json.dumps(value).encode("ascii")})
        except (SuiteError, RecursionError) as error:
            raise GatherError(f"{self._repository}: what came is not kept: {error}") from None
        _put(self._folder / name, value)

    def _save(self) -> None:
        _put(self._folder / _STATE, self._state)


class _ByCommit(Mapping[str, frozenset[int]]):
    """Which pull requests hold a commit; what nobody has asked yet is asked."""

    def __init__(
        self, known: dict[str, frozenset[int]], pulls: dict[int, PullFacts], ask: Callable[[str], Answers]
    ) -> None:
        self._known = known
        self._pulls = pulls
        self._ask = ask

    def __getitem__(self, commit: str) -> frozenset[int]:
        if commit not in self._known:
            told = self._ask(commit)
            self._known[commit] = told.by_commit.get(commit, frozenset())
            for number, facts in told.pulls.items():
                self._pulls.setdefault(number, facts)
        return self._known[commit]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def graphql_path(api_url: str) -> str:
    """Where GraphQL is asked, relative to the REST address: GitHub Enterprise has it beside `/api/v3`."""
    parts = urlsplit(api_url.rstrip("/"))
    if parts.path.endswith("/api/v3"):
        return parts._replace(path=parts.path.removesuffix("/v3") + "/graphql").geturl()
    return "/graphql"


def forget(folder: Path) -> None:
    """Throw the saved answers of a folder away, and nothing else that lies there."""
    for path in (*folder.glob("pulls-*.json"), *folder.glob("threads-*.json"), *folder.glob("commit-*.json")):
        path.unlink()
    (folder / _STATE).unlink(missing_ok=True)


def _at(value: Json, *keys: str) -> Json:
    """What stands at the end of keys; None where the answer is not of that shape."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _more(headers: Mapping[str, str]) -> bool:
    return 'rel="next"' in headers.get("link", "")


def _put(path: Path, value: Json) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f"{path.name}.part")
    draft.write_text(json.dumps(value, ensure_ascii=True, indent=1), encoding="ascii")
    draft.replace(path)
