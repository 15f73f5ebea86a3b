"""One repository, ready to be mined: its history, what GitHub said of it, and the steps that the miners share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from goldens.fields import safe_path
from goldens.mine.answers import Answers, PullFacts
from goldens.mine.config import MineConfig
from goldens.mine.draft import Discard, Reason, Rejected
from goldens.mine.history import History, Lineage, read_history
from goldens.mine.labels import is_bug
from goldens.mine.lines import text_at
from goldens.mine.pulls import PullIndex
from goldens.mine.reader import GitReader, Span

_NUMBER = re.compile(r"\s*\(#\d{1,9}\)\s*\Z")
_KIND = re.compile(r"\A(?:fix|bugfix|hotfix|feat|perf|refactor|chore)(?:\([^)\n]{0,60}\))?!?:\s*", re.IGNORECASE)
_LONGEST_BODY = 4000


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that mended something: from `base` to `head`."""

    subject: str
    """What it is called in results, for example `#12` or a commit id."""
    base: int
    head: int
    title: str
    body: str = ""
    labels: tuple[str, ...] = ()
    number: int | None = None


class Quarry:
    """What the miners work on."""

    def __init__(self, upstream: str, git: GitReader, tips: Sequence[str], answers: Answers) -> None:
        """Read the history below the tips, the main branch first.

        Raises:
            HistoryError: git's answer cannot be read.
        """
        self.upstream = upstream
        self.git = git
        self.answers = answers
        self.progress: Callable[[int, int], None] = lambda done, total: None
        """Is told by miners how many of how many they have looked at."""
        self.history: History = read_history(git.log([git.resolve(tip) for tip in tips]))
        self.pulls = PullIndex(self.history, answers)
        self._lineages: dict[str, Lineage] = {}

    def id(self, commit: int) -> str:
        """The full id of a commit."""
        return self.history.ids[commit]

    def day(self, commit: int) -> str:
        """The day of a commit, in UTC."""
        return datetime.fromtimestamp(self.history.times[commit], UTC).date().isoformat()

    def lineage(self, path: str) -> Lineage:
        """The commits that matter to a file."""
        found = self._lineages.get(path)
        if found is None:
            found = self._lineages[path] = Lineage(self.history, path)
        return found

    def diffs(self, pairs: Sequence[tuple[int, int]], *, context: int = 3, ignore_blanks: bool = False) -> list[bytes]:
        """Differences between commits."""
        named = [(self.id(old), self.id(new)) for old, new in pairs]
        return list(self.git.diffs(named, context=context, ignore_blanks=ignore_blanks))

    def evidence(self, commit: int, places: Sequence[tuple[str, Span]]) -> list[str]:
        """The text on these lines at a commit.

        Raises:
            Rejected: a path that no suite can name, or a file that is not there.
        """
        for path, _ in places:
            usable(path)
        contents = self.git.blobs([(self.id(commit), path) for path, _ in places])
        found = []
        for (path, span), content in zip(places, contents, strict=True):
            if content is None:
                raise Rejected(Reason.NOT_AT_HEAD, f"{path} is not in {self.id(commit)}")
            found.append(text_at(content, span))
        return found


def usable(path: str) -> str:
    """The path, if a suite can name it."""
    try:
        path.encode("utf-8")
        return safe_path(path)
    except ValueError as error:
        raise Rejected(Reason.UNUSABLE_PATH, str(error)) from None


def labelled_fixes(quarry: Quarry, config: MineConfig) -> tuple[list[Fix], list[Discard]]:
    """The merged pull requests that a label calls the mending of a bug, oldest number first."""
    fixes, discards = list[Fix](), list[Discard]()
    for number in sorted(quarry.answers.listed):
        try:
            fixes.append(_fix(quarry, quarry.answers.pulls[number], config))
        except Rejected as rejected:
            discards.append(Discard(f"#{number}", rejected.reason, rejected.detail))
    return fixes, discards


def _fix(quarry: Quarry, facts: PullFacts, config: MineConfig) -> Fix:
    if facts.merged_at is None:
        raise Rejected(Reason.NOT_MERGED, "it is open or was closed")
    if not is_bug(facts.labels, config.labels):
        raise Rejected(Reason.NO_BUG_LABEL, f"its labels are {', '.join(facts.labels) or 'none'}"[:200])
    found = quarry.pulls.range_of(facts.number)
    return Fix(f"#{facts.number}", found.base, found.head, facts.title, facts.body, facts.labels, facts.number)


def commit_fixes(quarry: Quarry, commits: Iterable[int]) -> list[Fix]:
    """Single commits as fixes, each against its first parent. A first commit has none and is left out."""
    history = quarry.history
    known = [commit for commit in commits if history.parents[commit]]
    return [Fix(history.ids[c], history.parents[c][0], c, history.subjects[c]) for c in known]


def draft_title(title: str) -> str:
    """A title without its number and its kind; what else it tells, whoever confirms the draft must see to."""
    return _KIND.sub("", _NUMBER.sub("", title)).strip()[:200] or "Change"


def draft_body(body: str, title: str) -> str:
    """A body, or where there is none the title."""
    return body.strip()[:_LONGEST_BODY] or title


def told_finding(title: str, body: str) -> str:
    """What a fix or a remark says, as the first draft of a finding."""
    paragraph = next((part.strip() for part in re.split(r"\n\s*\n", body[:_LONGEST_BODY]) if part.strip()), "")
    words = " ".join(f"{draft_title(title)}. {paragraph}".split()) if title else " ".join(paragraph.split())
    return words[:600].strip() or "Nothing was said of it."
