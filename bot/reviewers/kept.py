"""Reviews of commands, kept: what a program was run for once, it is not run for again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

from bot.ports import Replies
from bot.reviewers.protocol import Change, Review
from bot.reviewers.sheet import digest

_REVIEW = TypeAdapter(Review)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The kept reviews of one command."""

    replies: Replies | None = None
    """None: nothing is kept."""
    key: str = ""

    def get(self, change: Change) -> Review | None:
        """The review of a change."""
        if self.replies is None:
            return None
        found = self.replies.verdicts(self._of(change))
        return None if found is None else _REVIEW.validate_python(found)

    def keep(self, change: Change, review: Review) -> None:
        """Keep a review. One that failed is not kept: the next attempt may go better."""
        if self.replies is not None and not review.failed:
            self.replies.keep_verdicts(self._of(change), _REVIEW.dump_python(review, mode="json"))

    def _of(self, change: Change) -> str:
        return digest("kept review", self.key, _hash(change.base), _hash(change.head))


def _hash(tree: Mapping[str, bytes]) -> str:
    return digest(*(part for path in sorted(tree) for part in (path, hashlib.sha256(tree[path]).hexdigest())))
