"""The files of the Martian pipeline: where they lie, and what stands in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goldens.importers import words
from goldens.importers.problems import Problem
from goldens.importers.strict import Node
from scoring.model import Comment, Golden, Place, PullId, Severity, Shape

JUDGED = ("candidates.json", "dedup_groups.json", "evaluations.json")
GOLDENS = "golden_comments"
BENCHMARK = "benchmark_data.json"
LABELS = "pr_labels.json"
_LANGUAGES = {
    "cal_dot_com": "typescript",
    "discourse": "ruby",
    "grafana": "go",
    "keycloak": "java",
    "sentry": "python",
}
"""The source tells the language by the name of the golden file."""


def gather(path: Path) -> dict[str, Path]:
    """The pipeline's files at a path: a judge's folder, a folder of such, the golden comments, or one of its files."""
    if path.is_file():
        return _single(path)
    folder = path.resolve()
    if folder.name == GOLDENS:
        return _goldens(folder)
    judges = [folder] if _judged(folder) else [one for root in (folder, folder / "results") for one in _judges(root)]
    roots = [folder.parent, folder.parent.parent] if judges == [folder] else [folder, folder.parent]
    found = next((goldens for root in roots if (goldens := _goldens(root / GOLDENS))), {})
    for name in (BENCHMARK, LABELS):
        places = [root / at / name for root in (folder, *roots) for at in (".", "results")]
        nearest = next((place for place in places if place.is_file()), None)
        found |= {} if nearest is None else {name: nearest}
    own = judges or (folder / GOLDENS).is_dir() or (folder / BENCHMARK).is_file()
    judged = {f"{one.name}/{name}": one / name for one in judges for name in JUDGED if (one / name).is_file()}
    return found | judged if own else {}


def _single(path: Path) -> dict[str, Path]:
    if path.name in JUDGED:
        return gather(path.parent)
    if path.name == BENCHMARK:
        return {BENCHMARK: path}
    return {f"{GOLDENS}/{path.name}": path} if path.suffix == ".json" and path.resolve().parent.name == GOLDENS else {}


def _goldens(folder: Path) -> dict[str, Path]:
    return {f"{GOLDENS}/{path.name}": path for path in sorted(folder.glob("*.json"))}


def _judged(folder: Path) -> bool:
    return any((folder / name).is_file() for name in JUDGED)


def _judges(root: Path) -> list[Path]:
    return sorted(child for child in root.iterdir() if child.is_dir() and _judged(child)) if root.is_dir() else []


@dataclass(slots=True)
class Draft:
    """A golden pull request while it is put together."""

    url: str
    title: str = ""
    language: str = ""
    goldens: list[Golden] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> PullId:
        """The id the pull request gets."""
        return words.pull_id(self.url)

    def add(self, text: str, label: str, level: Severity | None, place: Place | None = None) -> Golden:
        """Append a golden."""
        identity = words.golden_id(self.url, len(self.goldens) + 1, text)
        self.goldens.append(words.golden(identity, text, system="martian", label=label, level=level, place=place))
        return self.goldens[-1]


@dataclass(frozen=True, slots=True)
class Review:
    """What `benchmark_data` holds of one reviewer on one pull request."""

    comments: tuple[Comment, ...]
    url: str = ""


def golden_file(node: Node, name: str) -> Iterator[Draft]:
    """The pull requests of one golden file."""
    stem = name.rpartition("/")[2].removesuffix(".json")
    for item in node.items():
        draft = Draft(item.need("url", _PULL_KEYS).text(), item.get("pr_title").text(""), _LANGUAGES.get(stem, ""))
        draft.tags["file"] = name
        if item.has("original_url"):
            draft.tags["original_url"] = item.get("original_url").text()
        golden_list(draft, item.need("comments", _PULL_KEYS))
        yield draft


_PULL_KEYS = frozenset({"pr_title", "url", "original_url", "az_comment", "comments"})
_GOLDEN_KEYS = frozenset({"comment", "severity", "category"})


def golden_list(draft: Draft, node: Node) -> None:
    """The goldens of one pull request."""
    for item in node.items() if node.value is not None else []:
        text = item.need("comment", _GOLDEN_KEYS).text()
        level = words.severity(item, _GOLDEN_KEYS)
        place = words.place(item.get("path").text(""), item.get("line").whole())
        draft.add(text, item.get("category").text(""), level, place)


def benchmark(node: Node, drafts: dict[str, Draft]) -> dict[tuple[str, str], Review]:
    """Reviews by URL and tool; pull requests that no golden file holds are added to `drafts`."""
    found: dict[tuple[str, str], Review] = {}
    for url, item in node.fields():
        if url not in drafts:
            drafts[url] = _benchmark_pull(url, item)
        for review in item.need("reviews").items() if isinstance(item.value, dict) else []:
            tool = review.need("tool").text()
            link = review.get("pr_url").text("")
            comments = review.need("review_comments")
            said = _comments(comments, tool, link) if comments.problems is review.problems else ()
            found[url, tool] = Review(said, link)
    return found


def _benchmark_pull(url: str, item: Node) -> Draft:
    stem = item.get("golden_source_file").text("").removesuffix(".json")
    draft = Draft(url, item.get("pr_title").text(""), _LANGUAGES.get(stem, ""), tags={"file": BENCHMARK})
    if item.has("original_url"):
        draft.tags["original_url"] = item.get("original_url").text()
    golden_list(draft, item.need("golden_comments"))
    return draft


def _comments(node: Node, tool: str, link: str) -> tuple[Comment, ...]:
    found = []
    for number, item in enumerate(node.items(), start=1):
        body = item.get("body").text("")
        place = words.place(item.get("path").text(""), item.get("line").whole())
        shape = Shape.INLINE if place else Shape.ISSUE_COMMENT
        surface = "review_comment" if place else "issue_comment"
        found.append(
            Comment(
                id=f"{surface}/n{number}",
                shape=shape,
                author=item.get("author").text("") or tool,
                body=body,
                permalink=link,
                place=place,
                revision=words.revision(body),
                created_at=item.get("created_at").text(""),
            )
        )
    return tuple(found)


def by_review(node: Node) -> Iterator[tuple[str, str, Node]]:
    """URL, tool and value of an object of objects."""
    for url, tools in node.fields():
        for tool, value in tools.fields():
            yield url, tool, value


def labels(node: Node, drafts: Mapping[str, Draft]) -> None:
    """Take language, size and domain from `pr_labels`; what it says of other pull requests is left."""
    for url, item in node.fields():
        if url not in drafts:
            continue
        language = item.get("derived").get("language").text("") if item.has("derived") else ""
        if language and language.lower() != "unknown":
            drafts[url].language = language.lower()
        for key in ("pr_size_category", "domain") if item.has("llm_pr_labels") else ():
            if said := item.get("llm_pr_labels").get(key).text(""):
                drafts[url].tags[key] = said


def once(drafts: Iterable[tuple[Draft, Node]], found: dict[str, Draft]) -> None:
    """Collect pull requests by URL; a URL that comes twice is a problem."""
    for draft, node in drafts:
        if draft.url in found:
            where = found[draft.url].tags.get("file", "")
            node.problems.append(Problem(node.file, "$", "each pull request once", f"{draft.url} again (see {where})"))
        found.setdefault(draft.url, draft)


def texts(value: Any) -> list[str]:
    """The texts of a candidate list as the pipeline uses them: the empty ones are passed over."""
    return [item["text"] for item in value if item["text"]]
