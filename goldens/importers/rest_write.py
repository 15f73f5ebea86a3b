"""A bundle's comments as GitHub's REST API lists them, one file per pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from goldens.importers import claims
from goldens.importers.form import Documents
from goldens.importers.martian_write import by, live, nearest, over, stated_severity
from goldens.importers.strict import dump, load
from scoring.bundle import Bundle, BundlePull, BundleTrial
from scoring.model import Comment, Shape

_GOLDENS = "_golden_comments.json"


def generate(bundle: Bundle, kept: Documents) -> Documents:
    """A dump per pull request, over the original dump: what no reviewer wrote stays in it."""
    originals = {name: load(data, name) for name, data in kept.items()}
    by_pull = claims.by_pull(bundle)
    made: dict[str, Any] = {}
    for pull in bundle.pulls:
        name = pull.tags.get("file", "")
        name = name if name in originals else f"{pull.id}_comments.json"
        made[name] = _comments(by_pull[pull.id], pull, originals.get(name, []))
        listed = pull.tags.get("goldens", "")
        if listed in originals:
            old = originals[listed]
            at = len(made.get(listed, []))
            made.setdefault(listed, []).append(_goldens(pull, old[at] if at < len(old) else {}))
    return {name: kept[name] if originals.get(name) == value else dump(value) for name, value in made.items()}


def _comments(trials: Sequence[BundleTrial], pull: BundlePull, old: Any) -> list[Any]:
    said = [one for trial in trials for one in trial.comments]
    fresh = {_number(one): _rest(one, pull) for one in said}
    before = by(old, "id")
    there = [_again(one, fresh[one["id"]]) if one.get("id") in fresh else one for one in old]
    return there + [one for number, one in fresh.items() if number not in before]


def _again(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """A comment over its original, whose account stays as it is while it has the same name."""
    account = old.get("user") or {}
    same = account.get("login") == new["user"]["login"]
    return over(old, {**new, "user": account if same else new["user"]})


def _number(one: Comment) -> int | str:
    last = one.id.rpartition("/")[2]
    return int(last) if last.isascii() and last.isdigit() else last


def _rest(one: Comment, pull: BundlePull) -> dict[str, Any]:
    new: dict[str, Any] = {"id": _number(one), "body": one.body, "html_url": one.permalink}
    new |= {"user": {"login": one.author, "type": "Bot"}, "updated_at": one.updated_at or None}
    new |= {"submitted_at" if one.shape is Shape.REVIEW_BODY else "created_at": one.created_at or None}
    new |= {"state": "COMMENTED"} if one.shape is Shape.REVIEW_BODY else {}
    return {key: value for key, value in (new | _spot(one)).items() if value is not None or key == "line"}


def _spot(one: Comment) -> dict[str, Any]:
    if one.place is None:
        return {}
    first, last = one.place.lines or (None, None)
    prefix = "original_" if one.outdated else ""
    spot: dict[str, Any] = {"path": one.place.path, "side": one.place.side.value, "line": None}
    spot |= {f"{prefix}line": last, f"{prefix}start_line": first if first != last else None}
    spot |= {"subject_type": "file"} if one.shape is Shape.FILE else {}
    return spot | {"original_commit_id" if one.outdated else "commit_id": one.commit}


def _goldens(pull: BundlePull, old: Any) -> dict[str, Any]:
    before = old if isinstance(old, dict) else {}
    goldens = [{"comment": one.finding, "severity": stated_severity(one)} for one in live(pull)]
    listed = [over(nearest(before.get("comments"), at, one, "comment"), one) for at, one in enumerate(goldens)]
    return over(before, {"pr_title": pull.title, "comments": listed})
