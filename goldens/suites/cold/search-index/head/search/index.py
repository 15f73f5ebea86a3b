"""A small index over articles: words to the articles that have them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import log

WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Article:
    """What can be found."""

    id: int
    title: str
    text: str
    public: bool = True


@dataclass(frozen=True)
class Hit:
    """An article with how well it fits."""

    id: int
    score: float


def words(text: str) -> list[str]:
    """The words of a text, without regard to case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return WORD.findall("".join(letter for letter in plain if not unicodedata.combining(letter)))


class Index:
    """Knows which article has which word, and how often."""

    def __init__(self, articles: Iterable[Article] = ()) -> None:
        self._articles: dict[int, Article] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        for article in articles:
            self.add(article)

    def add(self, article: Article) -> None:
        """Put an article in; one of the same id makes way."""
        self._articles[article.id] = article
        for word, count in Counter(words(f"{article.title} {article.text}")).items():
            self._counts[word][article.id] = count

    def remove(self, identity: int) -> None:
        """Take an article out, if it is in."""
        article = self._articles.pop(identity, None)
        if article is None:
            return
        for word in set(words(f"{article.title} {article.text}")):
            self._counts[word].pop(identity, None)
            if not self._counts[word]:
                del self._counts[word]

    def find(self, query: str, limit: int = 10, *, staff: bool = False) -> list[Hit]:
        """The best articles that have every word of the query; only staff find those that are not public."""
        wanted = words(query)
        if not wanted:
            return []
        ids = set.intersection(*(set(self._counts.get(word, {})) for word in wanted))
        seen = [one for one in ids if self._articles[one].public or not staff]
        hits = [Hit(one, sum(self._weight(word, one) for word in wanted)) for one in seen]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _weight(self, word: str, identity: int) -> float:
        rows = self._counts[word]
        return rows[identity] * log(1 + len(self._articles) / len(rows))
