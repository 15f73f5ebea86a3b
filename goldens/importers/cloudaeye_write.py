"""A bundle as the files of the C/C++ benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldens.importers import martian_write
from goldens.importers.form import Documents
from goldens.importers.martian_write import by, live, nearest, over, stated_severity
from goldens.importers.strict import dump, load
from scoring.bundle import Bundle, BundlePull
from scoring.model import Golden

RICH = "benchmark.json"
_LANGUAGES = {"c": "C", "cpp": "C++"}


def generate(bundle: Bundle, kept: Documents) -> Documents:
    """Goldens in the layout they came in, rich if from elsewhere; forks; and what the format shares with Martian."""
    originals = {name: load(data, name) for name, data in kept.items() if not name.endswith(".csv")}
    made: dict[str, Any] = {}
    for pull in bundle.pulls:
        name = pull.tags.get("file", RICH)
        name = name if name in originals else RICH
        made.setdefault(name, []).append(_pull(pull, originals.get(name)))
    made |= {"manifests/forks.json": forks} if (forks := _forks(bundle)) and not _manifests(originals) else {}
    shared = martian_write.generate(bundle, {name: data for name, data in kept.items() if not name.endswith(".csv")})
    mine = {name for name in shared if name.startswith("golden_comments/") or name in made}
    # Judges that left totals only are in the totals file, which stays.
    bare = {one.judge for one in bundle.judgements if "published_totals" in one.details}
    mine |= {name for name in shared if name not in kept and name.rpartition("/")[0] in bare}
    shared = {name: data for name, data in shared.items() if name not in mine}
    again = {name: kept[name] if originals.get(name) == value else dump(value) for name, value in made.items()}
    # What has no generator of its own (tables, totals, further goldens and manifests) stays as it came.
    rest = {name: data for name, data in kept.items() if name not in made and name not in shared}
    return {**shared, **rest, **again}


def _pull(pull: BundlePull, before: Any) -> dict[str, Any]:
    entries = before if isinstance(before, list) else []
    facts = any("pr" in one for one in entries)
    slim = any("comments" in one for one in entries)
    key = "url" if slim else "pr_url"
    url = pull.url or pull.id
    old = {_facts_url(one): one for one in entries}.get(url, {}) if facts else by(entries, key).get(url, {})
    repo = pull.tags.get("repo", "/".join(url.split("/")[-4:-2]))
    new: dict[str, Any] = {"repo": repo, "lang": _LANGUAGES.get(pull.language, pull.language)}
    new |= {} if facts else {"pr_title": pull.title, key: url}
    new |= {name: pull.tags[name] for name in ("source_signal", "base_sha", "head_sha") if name in pull.tags}
    text, listed = ("finding" if facts else "comment"), ("comments" if slim else "goldens")
    goldens = [_golden(one, text) for one in live(pull)]
    new[listed] = [over(nearest(old.get(listed), at, one, text), one) for at, one in enumerate(goldens)]
    return over(old, {name: value for name, value in new.items() if name != "lang" or not _same(old, value)})


def _same(old: Mapping[str, Any], language: str) -> bool:
    return "lang" in old and str(old["lang"]).lower() == language.lower()


def _facts_url(entry: Mapping[str, Any]) -> str:
    return f"https://github.com/{entry.get('repo')}/pull/{entry.get('pr')}"


def _golden(golden: Golden, text: str) -> dict[str, Any]:
    new: dict[str, Any] = {text: golden.finding, "severity": stated_severity(golden)}
    new |= {"category": golden.label or golden.category.value} if "category" not in golden.unverified else {}
    if golden.place:
        new |= {"path": golden.place.path}
        new |= {"line": golden.place.lines[0]} if golden.place.lines else {}
    new |= {"discoverability": golden.discoverability.value} if golden.discoverability else {}
    new |= {"root_cause_group": golden.group} if golden.group else {}
    new |= {"evidence" if text == "finding" else "expected_evidence": golden.evidence} if golden.evidence else {}
    return new | ({"fix_evidence": golden.fix} if golden.fix else {})


def _forks(bundle: Bundle) -> list[dict[str, Any]]:
    found = []
    for pull in bundle.pulls:
        for key, link in pull.tags.items():
            if key.startswith("fork:"):
                found.append(
                    {
                        "tool": key.removeprefix("fork:"),
                        "original_pr_url": pull.url,
                        "new_repo": "/".join(link.split("/")[-4:-2]) if "://" in link else link,
                        "new_pr_url": link,
                        "base_sha": pull.tags.get("base_sha"),
                        "head_sha": pull.tags.get("head_sha"),
                    }
                )
    return found


def _manifests(originals: Mapping[str, Any]) -> bool:
    lists = [value for value in originals.values() if isinstance(value, list) and value]
    return any(isinstance(value[0], dict) and "original_pr_url" in value[0] for value in lists)
