"""Who may be named where. A text is rendered for a surface, and the surface answers for what it gives away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from bot.model import Publish
from bot.registry import Reviewer
from bot.render.text import SENTENCE, code, forbidden, inert, plain
from scoring.model import Report, ReviewerId, ReviewerScore, TrialScore


@dataclass(frozen=True, slots=True)
class Surface:
    """Where a text will stand: who may be named there, and which words must not be said there."""

    names: Mapping[ReviewerId, str] = field(default_factory=dict)
    """What a reviewer is called; its id where there is no entry."""
    modes: Mapping[ReviewerId, Publish] = field(default_factory=dict)
    """How each reviewer may be published. Who has no entry is private."""
    public: bool = True
    """Whether others than those who asked for the run can see it. On a private surface everybody is named."""
    triggers: tuple[str, ...] = ()
    """What would wake a reviewer, as `forbidden` lists it."""

    @classmethod
    def of(cls, registry: Iterable[Reviewer], modes: Mapping[ReviewerId, Publish], *, public: bool) -> Surface:
        """The surface of a run, with the registry's names and everything its reviewers listen to."""
        entries = tuple(registry)
        names = {ReviewerId(entry.id): entry.name for entry in entries}
        return cls(names, modes, public, forbidden(entries))

    def mode(self, reviewer: ReviewerId) -> Publish:
        """How the reviewer appears here."""
        return self.modes.get(reviewer, Publish.PRIVATE) if self.public else Publish.NAMED

    def shown(self, reviewer: ReviewerId) -> bool:
        """Whether the reviewer has a row here at all."""
        return self.mode(reviewer) is not Publish.PRIVATE

    def identified(self, reviewer: ReviewerId) -> bool:
        """Whether what the reviewer said, and where, may be shown: any of it names an anonymous one."""
        return self.mode(reviewer) is Publish.NAMED

    def name(self, reviewer: ReviewerId) -> str:
        """What the reviewer is called here, not yet escaped.

        Raises:
            ValueError: it is private, and has no name here.
        """
        if self.identified(reviewer):
            return self.names.get(reviewer, reviewer)
        if not self.shown(reviewer):
            raise ValueError(f"reviewer {reviewer!r} is private and may not appear on a public surface")
        return f"Tool {_letters(list(self.modes).index(reviewer))}"

    def all_identified(self, reviewers: Iterable[ReviewerId]) -> bool:
        """Whether links into forks are harmless: a fork shows what every one of its reviewers said."""
        return all(self.identified(reviewer) for reviewer in reviewers)

    def words_for(self, reviewers: Iterable[ReviewerId]) -> frozenset[str]:
        """What gives these reviewers away in a text: their ids and names."""
        return frozenset(name for reviewer in reviewers for name in (reviewer, self.names.get(reviewer, reviewer)))

    def say(self, text: str, limit: int = SENTENCE) -> str:
        """Hostile text as inert Markdown that wakes nobody."""
        return inert(text, limit, self.triggers)

    def code(self, text: str) -> str:
        """An id or path as a code span that wakes nobody."""
        return code(text, self.triggers)

    def plain(self, text: str, limit: int = 0) -> str:
        """Hostile text for a place that is not Markdown."""
        return plain(text, limit, self.triggers)

    def called(self, reviewer: ReviewerId) -> str:
        """The reviewer's name here, as inert Markdown."""
        return self.say(self.name(reviewer), 80)

    def redacted(self, report: Report) -> Report:
        """The report as this surface may hold it: for pages and files that show the tree itself.

        Private reviewers are gone. Of an anonymous one only its row is left, under its label: per pull request,
        figures could be matched with what stands on the forks. Permalinks go if anybody is unnamed.
        """
        everyone = [row.reviewer for row in report.reviewers]
        if self.all_identified(everyone):
            return report
        secret = _naming(self.words_for(r for r in everyone if not self.identified(r)))
        return replace(
            report,
            reviewers=tuple(self._relabelled(row) for row in report.reviewers if self.shown(row.reviewer)),
            trials=tuple(_unlinked(s, secret) for s in report.trials if self.identified(s.trial.reviewer)),
            notes=tuple(note for note in report.notes if not secret.search(note)),
        )

    def _relabelled(self, row: ReviewerScore) -> ReviewerScore:
        return row if self.identified(row.reviewer) else replace(row, reviewer=ReviewerId(self.name(row.reviewer)))


def _letters(index: int) -> str:
    """A, B … Z, AA, AB …"""
    head, last = divmod(index, 26)
    return (_letters(head - 1) if head else "") + chr(ord("A") + last)


def _naming(names: Iterable[str]) -> re.Pattern[str]:
    """Finds a word that begins with one of the names: `acme` is in `acme-reviewer[bot]` too."""
    return re.compile("|".join(rf"(?<!\w){re.escape(name)}" for name in sorted(set(names))), re.IGNORECASE)


_LEFT_OUT = "(left out: it names a tool that is not named here)"


def _unlinked(score: TrialScore, secret: re.Pattern[str]) -> TrialScore:
    def free(text: str) -> str:
        return _LEFT_OUT if secret.search(text) else text

    trial = score.trial
    comments = tuple(replace(c, permalink="", body=free(c.body)) for c in trial.comments)
    candidates = tuple(
        replace(c, permalink="", title=free(c.title), text=free(c.text), suggestions=tuple(map(free, c.suggestions)))
        for c in score.candidates
    )
    return replace(
        score,
        trial=replace(trial, reason=free(trial.reason), comments=comments),
        candidates=candidates,
        judgements=tuple(replace(j, reason=free(j.reason)) for j in score.judgements),
        outcomes=tuple(replace(o, reason=free(o.reason)) for o in score.outcomes),
        goldens=tuple(replace(g, reason=free(g.reason)) for g in score.goldens),
    )
