"""Nothing Assay writes wakes a reviewer or calls anybody, whatever it was given to quote."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.model import Actor, ForkId, Installed, Problem, Problems, RunId
from bot.registry import Reviewer
from bot.render import (
    Surface,
    edited_comment,
    fork_check,
    leaderboard_comment,
    leaderboard_svg,
    next_step,
    not_a_form_comment,
    problems_comment,
    progress_comment,
    refusal_comment,
    replies,
    terms_notice,
    trial_check,
    trigger_leaks,
    welcome_issue,
)
from bot.render.terminal import leaderboard_plain, progress_lines
from scoring.model import Place, Report, ReviewerId, TrialScore
from tests.bot.render_world import (
    EVIL,
    HEAD,
    REF,
    RUN,
    alive,
    not_scored,
    plan,
    progress,
    read,
    registry,
    report,
    scored,
)

FORM = "https://github.com/acme-bench/control/issues/new?template=benchmark.yml"
MANIFESTS = sorted((Path(__file__).parents[2] / "manifests").glob("*reviewers.yaml"))


def shipped() -> tuple[Reviewer, ...]:
    """Every reviewer of the manifests that ship."""
    loaded = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in MANIFESTS]
    return tuple(Reviewer.model_validate(entry) for manifest in loaded for entry in manifest["reviewers"])


def commands(entries: tuple[Reviewer, ...]) -> str:
    """Every word that wakes one of them, and the worst text we know."""
    asks = [ask.text for entry in entries for ask in (entry.trigger, entry.rerun) if ask and ask.text]
    logins = [f"@{login.login}" for entry in entries for login in entry.logins]
    return "\n".join([*asks, *logins, *(ask.upper() for ask in asks), "\u200b".join("".join(asks))]) + "\n"


def poisoned(score: TrialScore, text: str) -> TrialScore:
    """The trial with the text in every field somebody else fills."""
    goldens = tuple(dataclasses.replace(g, finding=text, evidence=text) for g in score.trial.goldens)
    return dataclasses.replace(
        score,
        trial=dataclasses.replace(score.trial, goldens=goldens, reason=text),
        candidates=tuple(
            dataclasses.replace(c, title=text, text=text, permalink=text, flags=(text,), place=Place(text, (1, 1)))
            for c in score.candidates
        ),
        outcomes=tuple(dataclasses.replace(o, reason=text) for o in score.outcomes),
        goldens=tuple(dataclasses.replace(g, reason=text) for g in score.goldens),
    )


def poisoned_report(text: str) -> Report:
    """The report with the text in every field somebody else fills."""
    whole = report()
    rows = tuple(
        dataclasses.replace(r, f1=dataclasses.replace(r.f1, value=None, reason=f"{n} {text}"))
        for n, r in enumerate(whole.reviewers)
    )
    suite = dataclasses.replace(whole.suite, id=text, version=text, hash=text)
    trials = tuple(poisoned(score, text) for score in whole.trials)
    return dataclasses.replace(
        whole, reviewers=rows, suite=suite, trials=trials, judge=text, profile=text, notes=(text, text[::-1])
    )


def answers(text: str, here: Surface) -> dict[str, str]:
    """Every answer to a command."""
    acme, run = ReviewerId("acme"), RunId("7-1")
    told: dict[str, Any] = {"key": 1, "surface": here}
    return {
        "status": replies.status_reply(progress(note=text), **told),
        "help": replies.help_reply(1),
        "wrong": replies.problems_reply(Problems((Problem(text, text, (text,), text),)), **told),
        "refused": replies.refusal_reply(text, **told),
        "not now": replies.not_now_reply(text, **told),
        "over": replies.over_reply(text, **told),
        "cancelled": replies.cancelled_reply(key=1),
        "too late": replies.too_late_reply(1, 2, key=1),
        "retried": replies.retried_reply(acme, replies.Retried(1, 2, 3, 4), **told),
        "follow-up": replies.follow_up_reply(run, run, acme, 3, 5.0, **told),
        "extended": replies.extended_reply(5, 10, 2, key=1),
        "rejudging": replies.rejudging_reply(run, text, **told),
        "rejudged": replies.rejudged_reply(run, replies.Rejudged(text, 3, 1, 2), **told),
        "not rejudged": replies.not_rejudged_reply(run, text, **told),
        "cleaning": replies.cleaning_reply("delete", key=1),
        "cleaned": replies.cleaned_reply([replies.Cleaned(text, text, text)], 1, **told),
        "edited": edited_comment(text, issue=1, surface=here),
    }


def markdown(text: str, here: Surface) -> dict[str, str]:
    """Everything that goes to GitHub as Markdown, by what it is."""
    whole = poisoned_report(text)
    ref = dataclasses.replace(REF, judge=text, profile=text)
    trials = (poisoned(scored(), text), poisoned(not_scored(), text))
    checks = [trial_check(score, ref, head_sha=HEAD, surface=here) for score in trials]
    checks.append(fork_check(trials, ref, fork=ForkId("injection"), head_sha=HEAD, surface=here))
    running = progress(note=text, warnings=(text, f"{text} again"))
    problem = Problem(text, text, (text, text), text)
    said = {f"check {number}": check.summary for number, check in enumerate(checks) if check}
    said |= answers(text, here)
    installed = Installed(1, text, Actor(text, "User"))
    return said | {
        "leaderboard": leaderboard_comment(whole, run=RUN, links={}, surface=here, report_url=None, earlier=(whole,)),
        "linked": leaderboard_comment(whole, run=RUN, links={}, surface=here, report_url=f"https://assay.test/{text}"),
        "progress": progress_comment(running, plan(text), here),
        "problems": problems_comment(Problems((problem, problem)), FORM, issue=1, surface=here),
        "refusal": refusal_comment(text, issue=1, surface=here),
        "not a form": not_a_form_comment(text, FORM, issue=1, surface=here),
        "welcome": welcome_issue(installed, form_url=FORM)[1],
        "terms": terms_notice([(text, text)], here),
    }


def plain_texts(text: str, here: Surface) -> dict[str, str]:
    """Everything that goes out and is not Markdown."""
    whole = poisoned_report(text)
    check = trial_check(poisoned(scored(), text), REF, head_sha=HEAD, surface=here)
    assert check is not None
    marks = "\n".join(f"{mark.path}\n{mark.title}\n{mark.message}" for mark in check.annotations)
    return {
        "name": f"{check.name}\n{check.title}",
        "annotations": marks,
        "picture": leaderboard_svg(whole, here),
        "columns": leaderboard_plain(whole, here),
        "progress": "\n".join(progress_lines(progress(note=text, warnings=(text,)), here)),
        "next": next_step(Installed(1, text, Actor(text, "User")), here),
    }


@pytest.mark.parametrize("entries", [registry(), shipped()], ids=["every form of command", "shipped"])
@pytest.mark.parametrize("tail", ["", EVIL], ids=["commands", "commands and markup"])
def test_no_rendered_text_wakes_a_reviewer(entries: tuple[Reviewer, ...], tail: str) -> None:
    text = commands(entries) + tail
    assert trigger_leaks(text, entries)
    names = {ReviewerId(name): text for name in ("acme", "zeta", "omega")}
    here = dataclasses.replace(Surface.of(entries, {}, public=False), names=names)
    for what, said in (markdown(text, here) | plain_texts(text, here)).items():
        assert trigger_leaks(said, entries) == (), what


@pytest.mark.parametrize("entries", [registry(), shipped()], ids=["every form of command", "shipped"])
def test_our_own_sentences_hold_no_command(entries: tuple[Reviewer, ...]) -> None:
    here = Surface(triggers=(), public=False)
    for what, said in (markdown("x", here) | plain_texts("x", here)).items():
        assert trigger_leaks(said, entries) == (), what


def test_no_rendered_markdown_calls_links_or_hides_anything() -> None:
    ours = {"", FORM, REF.url}
    names = {ReviewerId(name): EVIL for name in ("acme", "zeta", "omega")}
    here = Surface(names, {}, public=False)
    for what, said in markdown(EVIL, here).items():
        page = read(said)
        assert alive(page) == [], what
        assert set(page.links) <= ours or what == "linked", what
        assert "img" not in {tag for tag, _ in page.tags}, what
        assert [comment for comment in page.comments if not comment.startswith(" assay:")] == [], what
        assert len(page.comments) == said.startswith("<!-- assay:"), what


def test_a_hostile_trial_changes_no_structure() -> None:
    def shape(text: str) -> list[str]:
        check = trial_check(poisoned(scored(), text), REF, head_sha=HEAD, surface=Surface(public=False))
        assert check is not None
        return [tag for tag, _ in read(check.summary).tags if tag != "code"]

    assert shape(EVIL) == shape("harmless")
