"""Built-in reviewers as reviewers of a run: which a request may name, and how they stand beside installed bots.

They are named by the words of `assay review`, have trials on the same forks, and are judged and reported like the rest.
They run here and say nothing on GitHub, so no bot can read them. With the option `post=yes` one says what it found as
the author of a fork of its own.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from pydantic import Field

from bot.issue_form import Label
from bot.model import Isolation, Problem, Publish, RunRequest, Visibility
from bot.registry import Registry, Reviewer
from bot.registry_entry import Login, Wait
from bot.reviewers.options import LONGEST, shortened, split
from scoring.judges.vendors import vendor_of_model
from scoring.model import ReviewerId

FORMS: Mapping[str, str] = {
    "static": "static",
    "static+": "static+",
    "single-shot": "single-shot:<provider/model>",
    "reflexion": "reflexion:<provider/model>",
    "raw": "raw:<provider/model>",
    "chunked": "chunked:<one of these>",
}
"""Kind -> how it is written."""
POST = "post"
"""The option that has a reviewer's remarks posted."""
SETTING = "ASSAY_REVIEW_MODELS"
"""The operator's list of the models that a request may have reviewing done by."""

Check = Callable[[str], str | None]
"""Takes a built-in reviewer's name; None if it can review, else what is wrong."""

_NOT_HERE: Mapping[str, str] = {
    "command": "it runs a program on the machine of the App, which an issue may not; use `assay review` where you are",
    "sarif": "it reads files of the machine of the App, which an issue may not; use `assay review` where you are",
    "cold": "it is shown one file without its change, which only a cold suite is made for; use `assay review`",
}
_ASKING = ("single-shot", "reflexion", "raw")
_LONGEST_NAME = 200
_STRANGE = frozenset("`|<>\\")


class BuiltIn(Reviewer):
    """A built-in reviewer in the words of the registry: nobody's account, nothing to wait for, nothing to ask."""

    id: str = Field(min_length=1, max_length=LONGEST)
    name: str = Field(min_length=1, max_length=LONGEST)
    logins: tuple[Login, ...] = ()


def is_meant(text: str, taken: Collection[str] = ()) -> bool:
    """Whether a text names a built-in reviewer, be it one that may not be asked for; what is `taken` names a bot."""
    if text.casefold() in taken:
        return False
    kind = text.partition("?")[0].partition(":")[0].strip().lower()
    return kind in FORMS or (kind in _NOT_HERE and ":" in text)


def refusal(spec: str, models: Collection[str]) -> str | None:
    """Why a request may not have this reviewer; None if it may.

    Args:
        spec: As somebody wrote it.
        models: Those that the operator lets reviews be made by.
    """
    if len(spec) > _LONGEST_NAME or not spec.isprintable() or not spec.isascii() or _STRANGE & set(spec):
        return f"the name of a built-in reviewer has at most {_LONGEST_NAME} plain characters, without ` | < > and \\"
    try:
        kind, rest, options = split(spec.strip())
        options.word(POST, "no", ("yes", "no"))
    except ValueError as error:
        return str(error)
    if kind in _NOT_HERE:
        return f"{kind}: {_NOT_HERE[kind]}"
    if kind not in FORMS or (":" in FORMS[kind]) != bool(rest.strip()):
        return _unknown(spec.strip(), kind)
    if kind == "chunked":
        return refusal(rest, models)
    return None if kind not in _ASKING else _not_allowed(rest.strip(), models)


def _unknown(spec: str, kind: str) -> str:
    near = difflib.get_close_matches(kind, FORMS, n=1)
    hint = f"write {FORMS[kind]}" if kind in FORMS else f"did you mean {FORMS[near[0]]}?" if near else ""
    said = f"there is no built-in reviewer {shortened(spec)}"
    return f"{said}; {hint}" if hint else f"{said}. Allowed: {', '.join(FORMS.values())}"


def _not_allowed(model: str, models: Collection[str]) -> str | None:
    if model in models:
        return None
    if not models:
        return f"no model may review here; the App's operator can allow some with {SETTING}"
    return f"{shortened(model)} may not review here; allowed are {', '.join(sorted(models))}"


def model_of(spec: str) -> str | None:
    """The language model that a built-in reviewer asks."""
    kind, rest, _ = split(spec.strip())
    if kind == "chunked":
        return model_of(rest)
    return rest.strip() if kind in _ASKING else None


def posts(spec: str) -> bool:
    """Whether the remarks of a built-in reviewer are posted on its fork."""
    return split(spec.strip())[2].given.get(POST) == "yes"


def reviewing(spec: str) -> str:
    """The name by which the reviewer itself is made: without what is the run's business."""
    kind, rest, options = split(spec.strip())
    if POST not in options.given:
        return spec.strip()
    name = f"{kind}:{rest}" if rest else kind
    left = "&".join(f"{key}={value}" for key, value in options.without(POST).given.items())
    return f"{name}?{left}" if left or "?" in name else name


def cannot_post(request: RunRequest) -> Problem | None:
    """Why remarks that are to be posted may not be: others would read them."""
    posting = [spec for spec in request.built_in if posts(spec)]
    if not posting:
        return None
    if request.isolation is Isolation.SHARED and len(request.reviewers) > 1:
        what = f"{posting[0]} would post where the other reviewers read; take a fork for each, or leave out {POST}=yes"
        return Problem(Label.ISOLATION.value, what, (Isolation.PER_REVIEWER.value,))
    hidden = [spec for spec in posting if request.modes[spec] is not Publish.NAMED]
    if request.visibility is Visibility.PUBLIC and hidden:
        what = f"{hidden[0]} would post on a public fork, and may not be named in public; take private forks"
        return Problem(Label.VISIBILITY.value, what, (Visibility.PRIVATE.value,))
    return None


@lru_cache(maxsize=256)
def entry(spec: str) -> BuiltIn:
    """A built-in reviewer as an entry of the registry."""
    model = model_of(spec)
    return BuiltIn(
        id=spec,
        name=spec,
        vendor=((vendor_of_model(model) if model else None) or "").lower(),
        category="ai" if model else "static",
        reviews_bot_authors=True,
        wait=Wait(floor=0, quiet=0, grace=0, deadline=0),
        source="it runs here",
        confidence="ours",
    )


def with_built_in(registry: Registry, specs: Sequence[str]) -> Registry:
    """The registry with these built-in reviewers beside the others."""
    return Registry((*registry.reviewers, *map(entry, specs))) if specs else registry


def installed_only(reviewers: Iterable[Reviewer]) -> tuple[Reviewer, ...]:
    """The reviewers that have accounts of their own."""
    return tuple(one for one in reviewers if not isinstance(one, BuiltIn))


def on_github(reviewers: Iterable[Reviewer]) -> tuple[Reviewer, ...]:
    """The reviewers that others could read on a fork they share."""
    return tuple(one for one in reviewers if not isinstance(one, BuiltIn) or posts(one.id))


def fork_part(reviewer: str) -> str:
    """What stands for a reviewer in the id of its own fork, which names files and goes into addresses."""
    if re.fullmatch(r"[a-z0-9-]{1,60}", reviewer):
        return reviewer
    return f"built-in-{hashlib.sha256(reviewer.encode()).hexdigest()[:10]}"


def only(specs: Sequence[ReviewerId], kept: Collection[str]) -> tuple[ReviewerId, ...]:
    """Those of them that are kept."""
    return tuple(spec for spec in specs if spec in kept)
