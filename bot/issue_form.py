"""The issue form: its labels, the file that goes into the control repository, and how to read what it produced.

GitHub turns a filled form into `### <label>` headings with an answer below each, and keeps no other trace: ids are
dropped, anybody may edit the text or write it by hand. So the labels are the contract, and everything is checked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Any

import yaml

FORM_LABEL = "assay"
"""The label the form puts on its issues. It is a hint, not a proof: anybody with triage access can set it."""

FORM_PATH = ".github/ISSUE_TEMPLATE/benchmark.yml"
"""Where the form lives in the control repository."""

MULTIPLE_JOIN = ", "
"""How GitHub writes the answer of a dropdown with several choices; no option may hold a comma."""


class Label(StrEnum):
    """The labels of the form's fields, in the form's order."""

    SUITE = "Suite"
    REVIEWERS = "Reviewers"
    BUILT_IN = "Built-in reviewers"
    WAIT = "Wait limit (minutes)"
    JUDGE = "Judge"
    PULLS = "Pull requests"
    LIMIT = "Pull request limit"
    VISIBILITY = "Fork visibility"
    ISOLATION = "Isolation"
    PUBLISH = "Publish"
    PUBLISH_EACH = "Publish, by reviewer"
    COST = "Maximum LLM cost (US dollars)"


LABELS: tuple[str, ...] = tuple(Label)


@dataclass(frozen=True, slots=True)
class Fields:
    """The answers of a form by label; None where nothing was answered."""

    answers: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class NotAForm:
    """The issue was not written with the form."""

    reason: str


# --- writing ----------------------------------------------------------------------------------------------------


def render_form(suites: Sequence[str], reviewers: Sequence[tuple[str, str]], judges: Sequence[str]) -> str:
    """The form's YAML with these options; `reviewers` are (id, name).

    Raises:
        ValueError: a list is empty or holds an option that GitHub's forms cannot carry.
    """
    options = {
        "suite": _options("suite", suites),
        "reviewers": _options("reviewer", [reviewer_option(*reviewer) for reviewer in reviewers]),
        "judge": _options("judge", judges),
    }
    form = template()
    for element in form["body"]:
        if element.get("id") in options:
            element["attributes"]["options"] = options[element["id"]]
    text: str = yaml.safe_dump(form, sort_keys=False, allow_unicode=True, width=120)
    return f"# Written by `assay form`; write it anew when suites or reviewers change.\n{text}"


def template() -> dict[str, Any]:
    """The form as shipped, with placeholder options."""
    text = resources.files("bot").joinpath("templates", "benchmark.yml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def reviewer_option(reviewer: str, name: str) -> str:
    """How a reviewer is offered: `Name (id)`. The id is what counts; commas would split the answer."""
    readable = " ".join(name.replace(",", " ").split())
    return reviewer if readable in ("", reviewer) else f"{readable} ({reviewer})"


def _options(kind: str, options: Sequence[str]) -> list[str]:
    if not options:
        raise ValueError(f"the form needs at least one {kind}; GitHub refuses a dropdown without options")
    seen: set[str] = set()
    for option in options:
        _check_option(kind, option, seen)
        seen.add(option.casefold())
    return list(options)


def _check_option(kind: str, option: str, seen: set[str]) -> None:
    if not option.strip() or option != option.strip() or "\n" in option or "\r" in option:
        raise ValueError(f"{kind} {option!r} cannot be an option: one line of text without outer spaces is needed")
    if "," in option:
        raise ValueError(f"{kind} {option!r} cannot be an option: several choices are joined by commas")
    if option.casefold() in ("none", "_no response_"):
        raise ValueError(f"{kind} {option!r} cannot be an option: GitHub keeps that word for an empty answer")
    if option.casefold() in seen:
        raise ValueError(f"{kind} {option!r} is offered twice")


# --- reading ----------------------------------------------------------------------------------------------------

_HEADING = re.compile(r"###[ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_CHECKBOX = re.compile(r" {0,3}[-*+] \[([ xX])\][ \t]+(\S.*)")
_EMPTY = ("", "_No response_", "None")


def parse_form(body: str | None, labels: Sequence[str] = LABELS) -> Fields | NotAForm:
    """The answers in an issue's body, or that it holds none of the form's headings."""
    found = _scan(body or "", labels)
    if not found:
        return NotAForm("the issue is empty" if not (body or "").strip() else "none of the form's headings is in it")
    return Fields({label: found.get(label) for label in labels})


def read_sections(body: str | None, labels: Sequence[str]) -> dict[str, str | None]:
    """The answer under each label; None where it is missing or empty.

    A heading counts when its text is a label, it stands outside code fences, and the form's order allows it: so the
    first heading of a label wins, and any other heading is part of the answer it stands in.

    Raises:
        ValueError: two labels are the same.
    """
    found = _scan(body or "", labels)
    return {label: found.get(label) for label in labels}


def split_choices(answer: str | None) -> tuple[str, ...]:
    """The choices of a dropdown with several; hand-written lists with one choice a line are read as well."""
    parts = re.split(r"[,\n]", answer or "")
    return tuple(stripped for part in parts if (stripped := part.strip()))


def read_checkboxes(answer: str | None) -> dict[str, bool]:
    """The ticks of a checkbox list by option."""
    ticks = [_CHECKBOX.fullmatch(line) for line in (answer or "").split("\n")]
    return {tick[2].strip(): tick[1] in "xX" for tick in ticks if tick is not None}


def lines_outside_fences(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it stands outside fenced code as Markdown defines it (an unclosed fence runs on)."""
    fence = ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        match = _FENCE.fullmatch(line)
        if fence:
            closes = match is not None and match[1].startswith(fence) and not match[2].strip()
            fence = "" if closes else fence
            yield line, False
        elif match is not None and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            yield line, False
        else:
            yield line, True


def filled(text: str) -> str | None:
    """The text of an answer; None for what GitHub writes where there is none."""
    stripped = text.strip()
    return None if stripped in _EMPTY else stripped


def heading(line: str) -> str | None:
    """The text of a `###` heading; None for any other line."""
    match = _HEADING.fullmatch(line.rstrip())
    return match[1] if match else None


def _scan(body: str, labels: Sequence[str]) -> dict[str, str | None]:
    order = {label.strip(): index for index, label in enumerate(labels)}
    if len(order) != len(labels):
        raise ValueError("the labels of a form have to differ")
    answers: dict[str, list[str]] = {}
    last = -1
    for line, outside in lines_outside_fences(body):
        at = order.get(heading(line) or "", -1) if outside else -1
        if at > last:
            last = at
            answers[labels[at]] = []
        elif last >= 0:
            answers[labels[last]].append(line)
    return {label: _answer(lines) for label, lines in answers.items()}


def _answer(lines: Sequence[str]) -> str | None:
    answer = filled("\n".join(lines))
    return None if answer is None else filled(_unfenced(answer))


def _unfenced(text: str) -> str:
    """The inside of a text that is one fenced block, which is how a field with `render` arrives."""
    lines = list(lines_outside_fences(text))
    opened = _FENCE.fullmatch(lines[0][0])
    whole = len(lines) > 1 and not lines[0][1] and not any(outside for _, outside in lines)
    if not whole or opened is None or not _closes_only_at_end([line for line, _ in lines], opened[1]):
        return text
    return "\n".join(line for line, _ in lines[1:-1]).strip("\n")


def _closes_only_at_end(lines: Sequence[str], fence: str) -> bool:
    matches = [_FENCE.fullmatch(line) for line in lines[1:]]
    closing = [match is not None and match[1].startswith(fence) and not match[2].strip() for match in matches]
    return closing[-1] and not any(closing[:-1])
