"""Which pull request brought a commit, and between which two commits it lies."""

from __future__ import annotations

import re
from dataclasses import dataclass

from goldens.mine.answers import Answers
from goldens.mine.draft import Reason, Rejected
from goldens.mine.history import History

_MERGE = re.compile(r"Merge pull request #(\d{1,9}) from ")
_SQUASH = re.compile(r"\(#(\d{1,9})\)\s{0,9}\Z")


@dataclass(frozen=True, slots=True)
class PullRange:
    """A pull request as it was merged."""

    number: int
    base: int
    """The merge base."""
    head: int
    """The last commit of the branch, or of what it was squashed or rebased into."""


class PullIndex:
    """Finds pull requests by what GitHub answered, else by merge commits and by the `(#n)` of squashed ones."""

    def __init__(self, history: History, answers: Answers) -> None:
        self._history = history
        self._answers = answers
        merges = {
            facts.merge_sha: facts.number
            for facts in answers.pulls.values()
            if facts.merged_at is not None and facts.merge_sha is not None
        }
        self._merges = {history.numbers[sha]: number for sha, number in merges.items() if sha in history.numbers}
        self._landed: dict[int, int] = {}
        told: dict[int, int] = {}
        for commit in range(len(history.ids)):
            number = self.landed_by(commit)
            if number is not None and (history.on_main(commit) or not history.on_main(told.get(number, commit))):
                # The oldest on the main line; a later one with the same number is a backport.
                told[number] = commit
        self._landed = told | {number: commit for commit, number in self._merges.items()}

    def landed_by(self, commit: int) -> int | None:
        """The pull request that this very commit put into a branch."""
        known = self._merges.get(commit)
        if known is not None:
            return known
        subject = self._history.subjects[commit]
        merge = len(self._history.parents[commit]) > 1
        found = _MERGE.match(subject) if merge else _SQUASH.search(subject)
        return int(found[1]) if found else None

    def of(self, commit: int) -> int:
        """The one pull request that brought a commit.

        Raises:
            Rejected: it came without one, or in several.
        """
        name = self._history.ids[commit]
        answered = self._answers.by_commit.get(name)
        numbers = set(answered) if answered is not None else self._found(commit)
        if not numbers:
            raise Rejected(Reason.NO_PULL_REQUEST, f"commit {name} came without one")
        if len(numbers) > 1:
            told = ", ".join(f"#{number}" for number in sorted(numbers))
            raise Rejected(Reason.SEVERAL_PULL_REQUESTS, f"commit {name} is in {told}")
        return numbers.pop()

    def _found(self, commit: int) -> set[int]:
        """By the merges on the way from a commit to the main line."""
        own = self.landed_by(commit)
        numbers = set() if own is None else {own}
        if not self._history.on_main(commit):
            merges = [at for at in self._way(commit) if len(self._history.parents[at]) > 1]
            numbers |= {number for at in merges if (number := self.landed_by(at)) is not None}
        return numbers

    def _way(self, commit: int) -> set[int]:
        """The commits through which one came to the main line, by the merge that brought it there first."""
        history, above, todo, landings = self._history, {commit}, [commit], set[int]()
        while todo:
            for child in history.children[todo.pop()]:
                if history.on_main(child):
                    landings.add(child)
                elif child not in above:
                    above.add(child)
                    todo.append(child)
        if not landings:
            return above
        landing = max(landings)
        way, todo = {landing}, [parent for parent in history.parents[landing][1:] if parent in above]
        while todo:
            at = todo.pop()
            if at not in way:
                way.add(at)
                todo += [parent for parent in history.parents[at] if parent in above]
        return way

    def range_of(self, number: int) -> PullRange:
        """Where a merged pull request begins and ends.

        Raises:
            Rejected: its commits are not in the clone, or its branches crossed.
        """
        history, landed = self._history, self._landing_of(number)
        if landed is None:
            return self._by_facts(number)
        if len(history.parents[landed]) > 1:
            return self._between(number, history.parents[landed][0], history.parents[landed][1])
        return self._run(number, landed)

    def _landing_of(self, number: int) -> int | None:
        """Where it was merged; of one that GitHub told of only later, its answer says so."""
        facts = self._answers.pulls.get(number)
        told = facts.merge_sha if facts is not None and facts.merged_at is not None else None
        return self._landed.get(number, self._history.numbers.get(told or ""))

    def _by_facts(self, number: int) -> PullRange:
        facts, numbers = self._answers.pulls.get(number), self._history.numbers
        base, head = (numbers.get(sha or "") for sha in (facts.base_sha, facts.head_sha)) if facts else (None, None)
        if base is None or head is None:
            raise Rejected(Reason.NOT_IN_CLONE, f"the commits of #{number} are not in the clone")
        return self._between(number, base, head)

    def _run(self, number: int, last: int) -> PullRange:
        """One squashed commit, or the run of rebased ones that GitHub counts to the same pull request."""
        history, at = self._history, last
        while history.parents[at]:
            at = history.parents[at][0]
            if self._answers.by_commit.get(history.ids[at]) != frozenset({number}):
                return PullRange(number, at, last)
        raise Rejected(Reason.BOUNDARY, f"#{number} begins where the clone's history does")

    def _between(self, number: int, base: int, head: int) -> PullRange:
        bases = self._history.merge_bases(base, head)
        if len(bases) != 1 or bases[0] == head:
            what = "brought nothing that its base did not have" if bases == (head,) else f"has {len(bases)} merge bases"
            raise Rejected(Reason.CROSSED, f"#{number} {what}")
        return PullRange(number, bases[0], head)
