"""Built-in reviewers by name: `static`, `single-shot:provider/model?context=yes`, `command:tool --flag` ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from bot.reviewers.means import ReviewMeans
from bot.reviewers.options import COLD, Options, ReviewerProblem, shortened, split
from bot.reviewers.protocol import Reviewer
from bot.reviewers.sheet import prompt_hash

FORMS: Mapping[str, str] = {
    "static": "static",
    "static+": "static+",
    "single-shot": "single-shot:<provider/model>",
    "reflexion": "reflexion:<provider/model>",
    "raw": "raw:<provider/model>",
    "cold": "cold:<provider/model>",
    "chunked": "chunked:<reviewer>",
    "sarif": "sarif:<file or folder>",
    "command": "command:<program and arguments>",
}
"""Kind -> how it is written."""
_ASKING = ("single-shot", "reflexion", "raw", "cold")
_CHUNKED = ("by", "most")
_PROMPTS: Mapping[str, tuple[str, ...]] = {
    "single-shot": ("single-shot",),
    "reflexion": ("single-shot", "reflexion-round", "reflexion-final"),
    "raw": ("raw",),
}
"""Kind -> the prompts it asks with. Which one a cold reviewer has is its option."""

Make = Callable[[str, str, Options, ReviewMeans], Reviewer]


def choose(spec: str, means: ReviewMeans) -> Reviewer:
    """The reviewer of that name.

    Args:
        spec: As `bot.reviewers.options` says.
        means: What it is given to do its work.

    Raises:
        ValueError: there is none of that name, an option of it cannot be, or it lacks what it needs.
    """
    kind, rest, options = split(spec.strip())
    if kind not in FORMS or (":" in FORMS[kind]) != bool(rest.strip()):
        raise _unknown(spec.strip(), kind)
    return _MAKERS[kind](spec.strip(), rest.strip(), options, means)


def _unknown(spec: str, kind: str) -> ReviewerProblem:
    said = f"there is no reviewer {shortened(spec)}"
    if kind in FORMS:
        return ReviewerProblem(f"{said}; write {FORMS[kind]}")
    near = get_close_matches(kind, FORMS, n=1)
    hint = f"; did you mean {FORMS[near[0]]}?" if near else "."
    return ReviewerProblem(f"{said}{hint} Allowed: {', '.join(FORMS.values())}")


def models_of(spec: str) -> frozenset[str]:
    """The language models that a reviewer asks; none of a name that is no reviewer's."""
    kind, rest, _ = split(spec.strip())
    if kind == "chunked":
        return models_of(rest)
    return frozenset({rest.strip()}) if kind in _ASKING and rest.strip() else frozenset()


def prompts_of(spec: str) -> Mapping[str, str]:
    """The prompts that a reviewer asks with: name -> hash of its text. None of a name that is no reviewer's.

    Raises:
        ReviewerProblem: an option cannot be.
    """
    kind, rest, options = split(spec.strip())
    if kind == "chunked":
        return prompts_of(_inner(rest, options))
    names = _PROMPTS.get(kind, ()) if rest.strip() else ()
    if kind == "cold" and rest.strip():
        names = (f"cold-{options.word('prompt', COLD[0], COLD).lower()}",)
    return {name: prompt_hash(name) for name in names}


def _inner(rest: str, options: Options) -> str:
    """The reviewer within, with the options that are not for cutting."""
    inner = "&".join(f"{key}={value}" for key, value in options.without(*_CHUNKED).given.items())
    # A bare mark ends the name, so that one within it is not taken for the beginning of options.
    return f"{rest}?{inner}"


def _static(spec: str, rest: str, options: Options, means: ReviewMeans) -> Reviewer:
    from bot.reviewers.static import CAP, Static

    options.only("lines", "cap")
    lines = options.word("lines", "all", ("all", "changed"))
    return Static(spec, options.reviewer == "static+", options.whole("cap", CAP, 1, 1_000), lines == "changed")


def _asking(spec: str, rest: str, options: Options, means: ReviewMeans) -> Reviewer:
    from bot.reviewers import asking

    return asking.make(spec, options.reviewer, rest, options, means)


def _chunked(spec: str, rest: str, options: Options, means: ReviewMeans) -> Reviewer:
    from bot.reviewers.chunked import MOST, Chunked

    by = options.word("by", "function", ("function", "hunk"))
    return Chunked(
        spec,
        choose(_inner(rest, options), means),
        by == "function",
        options.whole("most", MOST, 1, 10_000),
    )


def _sarif(spec: str, rest: str, options: Options, means: ReviewMeans) -> Reviewer:
    from bot.reviewers.sarif import SarifLog

    options.only()
    return SarifLog.at(spec, rest, means.limits.output)


def _command(spec: str, rest: str, options: Options, means: ReviewMeans) -> Reviewer:
    from bot.reviewers.command import Command

    return Command.of(spec, rest, options, means)


_MAKERS: Mapping[str, Make] = {
    "static": _static,
    "static+": _static,
    "single-shot": _asking,
    "reflexion": _asking,
    "raw": _asking,
    "cold": _asking,
    "chunked": _chunked,
    "sarif": _sarif,
    "command": _command,
}
