"""What people ask for: an issue's form becomes a `RunRequest`, a comment a `Command`, or both `Problems` to answer.

Every problem of a text is found at once and says what is allowed, so that one correction is enough. The texts are
strangers': they are compared with what is known and never formatted, run or followed. A problem's message repeats
at most a few words of them, quoted; whoever shows a message still has to escape it.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from bot import builtin_runs
from bot.issue_form import (
    LABELS,
    Fields,
    Label,
    NotAForm,
    filled,
    heading,
    lines_outside_fences,
    parse_form,
    reviewer_option,
    split_choices,
)
from bot.model import (
    Actor,
    Command,
    CommandKind,
    Isolation,
    Problem,
    Problems,
    Publish,
    RunRequest,
    Visibility,
)
from bot.registry import Reviewer
from scoring.model import PullId, ReviewerId

JudgeCheck = Callable[[str], str | None]
"""Takes a judge's name; None if it can judge, else what is wrong and which setting mends it."""

COMMAND = "/assay"
"""The word a command begins with."""

JUDGE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}(?::[A-Za-z0-9][A-Za-z0-9._/:@+,-]{0,199})?", re.ASCII)
"""How judges are named: `lexical`, `litellm:` and a model, or `panel:` and judges with commas between them."""

Choice = TypeVar("Choice", bound=StrEnum)

_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,6})?", re.ASCII)
_COMMAND = re.compile(r"/assay(?:[ \t]+(\S{1,100})(?:[ \t]+(\S.*))?)?", re.IGNORECASE)
_SHOWN = 60
_MOST_PROBLEMS = 10
_MOST_NAMES = 100
_MAY_START = ("admin", "write")


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What an operator lets one request ask for."""

    min_wait_minutes: float = 0.1
    max_wait_minutes: float = 24 * 60
    max_cost: float = 10_000
    """US dollars."""
    max_trials: int = 2_000
    """Pull requests x reviewers."""


# --- the form ---------------------------------------------------------------------------------------------------


def read_request(
    body: str | None,
    *,
    suites: Mapping[str, Sequence[PullId]],
    reviewers: Sequence[Reviewer],
    judges: JudgeCheck,
    default_judge: str,
    default_publish: Publish = Publish.PRIVATE,
    limits: RequestLimits = RequestLimits(),
    built_in: builtin_runs.Check = lambda spec: builtin_runs.refusal(spec, ()),
) -> RunRequest | Problems | NotAForm:
    """Read an issue's body as a request for a run; all its problems at once."""
    form = parse_form(body)
    if isinstance(form, NotAForm):
        return form
    reading = _Reading(_without_strays(form), _strays(form))
    suite = reading.one_of(Label.SUITE, tuple(suites)) or reading.required(Label.SUITE, tuple(suites))
    beside = _built_in(reading, reviewers, built_in)
    request = RunRequest(
        suite=suite,
        reviewers=(*_reviewers(reading, reviewers, alone=not beside), *beside),
        judge=_judge(reading, judges, default_judge),
        wait_minutes=reading.number(Label.WAIT, limits.min_wait_minutes, limits.max_wait_minutes, "minutes"),
        pulls=_pulls(reading, suites.get(suite)),
        visibility=reading.member(Label.VISIBILITY, Visibility.PRIVATE),
        isolation=reading.member(Label.ISOLATION, Isolation.SHARED),
        publish=reading.member(Label.PUBLISH, default_publish),
        max_cost=reading.number(Label.COST, 0, limits.max_cost, "US dollars"),
        publish_each=_publish_each(reading, reviewers, beside),
        built_in=beside,
    )
    _check_modes(reading, request)
    _check_size(reading, request, suites, limits)
    return Problems(tuple(reading.problems)) if reading.problems else request


@dataclass(slots=True)
class _Reading:
    """The answers, and the problems met so far."""

    answers: Mapping[str, str | None]
    problems: list[Problem] = field(default_factory=list)

    def report(self, label: str, message: str, allowed: Iterable[str] = (), text: str | None = None) -> None:
        options = tuple(allowed)
        guess = None if text is None else did_you_mean(text, options)
        self.problems.append(Problem(label, message, options, guess))

    def reported(self, label: str) -> bool:
        return any(problem.field == label for problem in self.problems)

    def required(self, label: str, allowed: Iterable[str]) -> str:
        if not self.reported(label):
            self.report(label, "an answer is needed here, below its own heading, in the form's order", allowed)
        return ""

    def one_of(self, label: str, allowed: Sequence[str]) -> str | None:
        text = self.answers[label]
        found = None if text is None else _finder(allowed)(text)
        if text is not None and found is None:
            self.report(label, f"{quoted(text)} is not one of the choices", allowed, text)
        return found

    def member(self, label: str, default: Choice) -> Choice:
        kind = type(default)
        found = self.one_of(label, [choice.value for choice in kind])
        return default if found is None else kind(found)

    def number(self, label: str, low: float, high: float, unit: str) -> float | None:
        text = self.answers[label]
        if text is None:
            return None
        value = float(text) if _NUMBER.fullmatch(text) else None
        if value is None:
            self.report(label, f"{quoted(text)} is not a number of {unit}; write digits only, for example 30 or 2.5")
        elif not low <= value <= high:
            self.report(label, f"{text} {unit} is out of range; it has to be from {low:g} to {high:g} {unit}")
        return value


def _built_in(reading: _Reading, known: Sequence[Reviewer], check: builtin_runs.Check) -> tuple[ReviewerId, ...]:
    """Those in their own field, and those that stand among the bots."""
    ids, found = reviewer_index(known), list[ReviewerId]()
    listed = [text for text in split_choices(reading.answers[Label.REVIEWERS]) if builtin_runs.is_meant(text, ids)]
    asked = dict.fromkeys(listed, Label.REVIEWERS)
    asked |= dict.fromkeys(split_choices(reading.answers[Label.BUILT_IN]), Label.BUILT_IN)
    for spec, label in list(asked.items())[:_MOST_NAMES]:
        problem = check(spec)
        if problem is None:
            found.append(ReviewerId(spec))
        elif len(reading.problems) < _MOST_PROBLEMS:
            reading.report(label, problem)
    return tuple(found)


def _reviewers(reading: _Reading, known: Sequence[Reviewer], *, alone: bool) -> tuple[ReviewerId, ...]:
    """The bots; there has to be one where they are `alone`."""
    active = tuple(reviewer.id for reviewer in known if not reviewer.retired)
    ids = reviewer_index(known)
    retired = {reviewer.id for reviewer in known if reviewer.retired}
    choices = split_choices(reading.answers[Label.REVIEWERS])
    asked = dict.fromkeys(text for text in choices if not builtin_runs.is_meant(text, ids))
    found = dict.fromkeys(ReviewerId(ids[text.casefold()]) for text in asked if text.casefold() in ids)
    for reviewer in found:
        if reviewer in retired:
            reading.report(Label.REVIEWERS, f"{reviewer} is no longer offered by its vendor", active)
    _report_unknown(
        reading, Label.REVIEWERS, "reviewer", [text for text in asked if text.casefold() not in ids], active
    )
    if not asked and alone:
        reading.required(Label.REVIEWERS, active)
    return tuple(found)


def reviewer_index(known: Sequence[Reviewer]) -> dict[str, str]:
    """Every way to write a reviewer: its id, the form's option, and its name where that is one reviewer's only."""
    index: dict[str, str] = {}
    names = [reviewer.name.casefold() for reviewer in known]
    for reviewer in known:
        if names.count(reviewer.name.casefold()) == 1:
            index[reviewer.name.casefold()] = reviewer.id
    for reviewer in known:
        index[reviewer_option(reviewer.id, reviewer.name).casefold()] = reviewer.id
    index.update({reviewer.id: reviewer.id for reviewer in known})
    return index


def _judge(reading: _Reading, judges: JudgeCheck, default_judge: str) -> str:
    judge = reading.answers[Label.JUDGE] or default_judge
    if not JUDGE_NAME.fullmatch(judge):
        message = f"{quoted(judge)} is not a judge's name; write for example lexical or litellm:provider/model"
        reading.report(Label.JUDGE, message)
    elif (problem := judges(judge)) is not None:
        reading.report(Label.JUDGE, problem)
    return judge


def _pulls(reading: _Reading, known: Sequence[PullId] | None) -> tuple[PullId, ...] | None:
    limit = _limit(reading)
    asked = dict.fromkeys(split_choices(reading.answers[Label.PULLS]))
    if known is None:
        return None
    chosen: Sequence[PullId] = known
    if asked:
        same = _finder(known)
        matched = {text: same(text) for text in asked}
        _report_unknown(reading, Label.PULLS, "pull request", [text for text in asked if matched[text] is None], known)
        wanted = set(matched.values())
        chosen = [pull for pull in known if pull in wanted]
    return tuple(chosen[:limit]) if asked or limit is not None else None


def _limit(reading: _Reading) -> int | None:
    value = reading.number(Label.LIMIT, 1, 10**9, "pull requests")
    if value is not None and value != int(value):
        reading.report(Label.LIMIT, "a limit has to be a whole number of pull requests")
    return None if value is None else int(value)


def _report_unknown(reading: _Reading, label: str, kind: str, unknown: Sequence[str], allowed: Sequence[str]) -> None:
    """Report unknown names, but only the first few: each is compared with every known one."""
    for text in unknown[:_MOST_PROBLEMS]:
        reading.report(label, f"{quoted(text)} is not a {kind} we know", allowed, text)
    if len(unknown) > _MOST_PROBLEMS:
        reading.report(label, f"{len(unknown) - _MOST_PROBLEMS} more are unknown", allowed)


def _publish_each(
    reading: _Reading, known: Sequence[Reviewer], beside: Sequence[ReviewerId]
) -> tuple[tuple[ReviewerId, Publish], ...]:
    """`named: a, b; private: c`, a mode and its reviewers to a part."""
    ids, found = reviewer_index(known), dict[ReviewerId, Publish]()
    ids.update({spec.casefold(): spec for spec in beside if spec.casefold() not in ids})
    modes = [mode.value for mode in Publish]
    for part in re.split(r"[;\n]", reading.answers[Label.PUBLISH_EACH] or ""):
        word, _, names = part.partition(":")
        mode = _finder(modes)(word.strip())
        if not part.strip() or len(reading.problems) > _MOST_PROBLEMS:
            continue
        if mode is None or not split_choices(names):
            message = f"{quoted(part.strip())} is no mode with reviewers; write for example named: acme"
            reading.report(Label.PUBLISH_EACH, message, modes, word.strip())
            continue
        for text in list(dict.fromkeys(split_choices(names)))[:_MOST_NAMES]:
            _set_mode(reading, found, ids.get(text.casefold()), text, Publish(mode), ids)
    return tuple(found.items())


def _set_mode(
    reading: _Reading,
    found: dict[ReviewerId, Publish],
    reviewer: str | None,
    text: str,
    mode: Publish,
    ids: Mapping[str, str],
) -> None:
    if reviewer is None:
        allowed = sorted(set(ids.values()))
        reading.report(Label.PUBLISH_EACH, f"{quoted(text)} is not a reviewer we know", allowed, text)
    elif found.setdefault(ReviewerId(reviewer), mode) is not mode:
        reading.report(Label.PUBLISH_EACH, f"{reviewer} is there twice, in two modes; keep one of the two")


def _check_modes(reading: _Reading, request: RunRequest) -> None:
    """A mode for a reviewer that is not in the run is a slip: it may have been meant for another one."""
    if not reading.reported(Label.REVIEWERS):
        for reviewer, _ in request.publish_each:
            if reviewer not in request.reviewers:
                message = f"{reviewer} is not among this run's reviewers"
                reading.report(Label.PUBLISH_EACH, message, request.reviewers, reviewer)


def _check_size(
    reading: _Reading, request: RunRequest, suites: Mapping[str, Sequence[PullId]], limits: RequestLimits
) -> None:
    pulls = suites.get(request.suite, ()) if request.pulls is None else request.pulls
    trials, most = len(pulls) * len(request.reviewers), limits.max_trials
    if trials > most:
        message = (
            f"{len(pulls)} pull requests x {len(request.reviewers)} reviewers are {trials} trials; this installation "
            f"allows {most}, so the limit can be at most {most // len(request.reviewers)} pull requests"
        )
        reading.report(Label.LIMIT, message)


def _without_strays(form: Fields) -> dict[str, str | None]:
    return {label: _split_at_heading(answer)[0] for label, answer in form.answers.items()}


def _strays(form: Fields) -> list[Problem]:
    """Headings inside answers: no field of ours takes free text, so each is a slip of somebody's pen."""
    problems = []
    for label, answer in form.answers.items():
        for text in _split_at_heading(answer)[1][:_MOST_PROBLEMS]:
            known = text in LABELS
            why = "is there twice or out of the form's order" if known else "is none of the form's"
            guess = None if known else did_you_mean(text, LABELS)
            problems.append(Problem(label, f"the heading {quoted(text)} below this one {why}", LABELS, guess))
    return problems[: 2 * _MOST_PROBLEMS]


def _split_at_heading(answer: str | None) -> tuple[str | None, list[str]]:
    """The answer before the first heading in it, and those headings."""
    kept: list[str] = []
    strays: list[str] = []
    for line, outside in lines_outside_fences(answer or ""):
        text = heading(line) if outside else None
        if text is not None:
            strays.append(text)
        elif not strays:
            kept.append(line)
    return filled("\n".join(kept)), strays


def _finder(options: Sequence[str]) -> Callable[[str], str | None]:
    """Finds the option written like a text, case aside; exact spelling first, None where case alone tells two apart."""
    exact = set(options)
    counts = Counter(option.casefold() for option in exact)
    folded = {option.casefold(): option for option in exact if counts[option.casefold()] == 1}
    return lambda text: text if text in exact else folded.get(text.casefold())


def did_you_mean(text: str, options: Sequence[str]) -> str | None:
    """The option that was probably meant."""
    by_folded = {option.casefold(): option for option in options}
    close = difflib.get_close_matches(text[:_SHOWN].casefold(), by_folded, n=1)
    return by_folded[close[0]] if close else None


def quoted(text: str) -> str:
    """A few words of somebody's text on one line, as data."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}\N{HORIZONTAL ELLIPSIS}")


# --- comments ---------------------------------------------------------------------------------------------------


def read_command(body: str | None) -> Command | Problems | None:
    """The command a comment begins with; None if it is just a comment.

    Quoted lines and code do not count, so quoting a command or showing one does not repeat it.
    """
    line = _first_line(body or "")
    match = _COMMAND.fullmatch(line)
    if match is None:
        return None
    word = (match[1] or CommandKind.HELP.value).lower()
    if word in list(CommandKind):
        return Command(CommandKind(word), (match[2] or "").strip()[:200])
    allowed = tuple(kind.value for kind in CommandKind)
    problem = Problem(COMMAND, f"{quoted(word)} is not a command", allowed, did_you_mean(word, allowed))
    return Problems((problem,))


def _first_line(body: str) -> str:
    for line, outside in lines_outside_fences(body):
        indented = line.startswith(("    ", "\t"))
        if outside and line.strip() and not indented and not line.lstrip().startswith(">"):
            return line.strip()
    return ""


# --- who may ----------------------------------------------------------------------------------------------------


def may_start(permission: str, sender: Actor, app_slug: str) -> str | None:
    """None if this person may start, command or pay for a run, else the reason to show.

    `permission` is GitHub's answer for the control repository (admin, write, read or none). How a webhook describes
    an author's association is not asked: it is wrong for private members, and says nothing of who pays.
    """
    login = sender.login.lower()
    if login == f"{app_slug}[bot]".lower():
        return "the App does not ask itself for runs"
    if sender.type != "User" or login.endswith("[bot]"):
        return f"{sender.login} is not a person; only people with write access to this repository can ask for a run"
    if login == "ghost":
        return "the account that asked no longer exists"
    if permission not in _MAY_START:
        return f"{sender.login} has no write access to this repository, which is what it takes to ask for a run"
    return None
