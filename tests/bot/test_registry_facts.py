"""The shipped registry against what is written down of the bots: accounts, words, sources."""

from __future__ import annotations

import re
import time
from functools import cache
from importlib import resources
from typing import Any

import pytest
import yaml

from bot.conversation import Tone, tone
from bot.neutral_strip import parse_strip_rules
from bot.patterns import bounded, window
from bot.registry import Registry, Reviewer, load_registry, normalise_login
from tests.shared import SHARED

FACTS = SHARED / "facts" / "review_bots.yaml"
SHARED_ACCOUNTS = ("github-actions[bot]", "*")
OTHER_NAMES = {"sonarqube_cloud": "sonarqube-cloud", "ghas": "code-scanning", "amazon_q": "amazon-q"}
OTHER_PRODUCTS = ("github-code-quality[bot]",)


@cache
def shipped() -> Registry:
    text = resources.files("manifests").joinpath("reviewers.yaml").read_text(encoding="utf-8")
    return load_registry(("reviewers.yaml", text))


def known(name: str) -> Reviewer:
    entry = shipped().get(OTHER_NAMES.get(name, name))
    assert entry is not None, name
    return entry


@cache
def facts() -> list[dict[str, Any]]:
    if not FACTS.exists():
        pytest.skip(f"{FACTS} is missing: the shared reference material is not here")
    loaded: list[dict[str, Any]] = yaml.safe_load(FACTS.read_text(encoding="utf-8"))["bots"]
    return loaded


def test_every_reviewer_of_the_facts_is_there_with_every_account_number_and_surface() -> None:
    assert len(facts()) == len(shipped().reviewers) == 29
    for fact in facts():
        entry = known(fact["id"])
        ours = {login.login: login for login in entry.logins}
        for told in fact["logins"]:
            if told["login"] in (*SHARED_ACCOUNTS, *OTHER_PRODUCTS) or "<" in told["login"]:
                continue
            own = ours[told["login"]]
            assert own.user_id == told.get("user_id"), told
            named = {re.split(r"[^a-z_]", surface)[0] for surface in told.get("surfaces", ())}
            firm = named & {"review", "review_comment", "issue_comment", "check_run", "reaction"}
            assert firm <= set(own.surfaces) or "?" in str(told["surfaces"]), told
            assert own.type == told["type"]


def test_every_app_of_the_facts_is_there_by_its_confirmed_slug_and_number() -> None:
    for fact in facts():
        entry, slug = known(fact["id"]), fact["app_slug"].split()[0]
        if slug != "unconfirmed":
            assert slug in entry.app_slugs, fact["id"]
        if "app_id" in fact and "app_id_note" not in fact:
            assert entry.app_id == fact["app_id"], fact["id"]


def test_every_refusal_that_the_facts_confirm_is_a_pattern_here() -> None:
    """Their patterns and ours are written differently; the plain words in theirs must be found by ours."""
    kinds = {"clean", "rate_limited", "skipped", "paused", "failed", "setup", "sunset", "in_progress"}
    for fact in facts():
        entry = known(fact["id"])
        for kind in kinds & set(fact.get("regex") or {}):
            for pattern in fact["regex"][kind]:
                words = _words(pattern)
                if words is not None:
                    assert tone(words, entry) is not Tone.PROSE, (fact["id"], kind, words)


def _words(pattern: str) -> str | None:
    """One text that a simple pattern matches; None where its wording is said to be unconfirmed, or it is but a part."""
    if "unconfirmed" in pattern or pattern == "quota" or r"\(0\)" in pattern:
        return None
    text = re.sub(r"\(\?:([^()|]*)\|[^()]*\)(?!\?)", r"\1", pattern)
    text = re.sub(r"\(\?:[^()]*\)\?", "", text)
    text = re.sub(r"\(\\d\+\)|\(\[\\d,\]\+\)|\\d\+", "5", text)
    text = text.replace("['\u2019]", "'").replace("[—-]", "-").replace(r"\s*", " ").replace("^", "").replace(r"\b", "")
    text = re.sub(r"\\W\*\(?5?\)?.*$", " 5 minutes", text).replace(r"\|", "|").replace("\\", "")
    return text if not re.search(r"[\[\]]", text) else None


def test_every_statement_has_a_source_and_no_source_is_about_nothing() -> None:
    for entry in shipped().reviewers:
        assert not entry.unfounded, entry.id
        stated = {name for fact in entry.facts for name in fact.about}
        assert stated <= entry.model_fields_set, (entry.id, stated - entry.model_fields_set)
        assert {"logins", "trigger", "wait"} <= stated, entry.id
        assert entry.basis("logins")[0]


def test_what_steers_a_reviewer_leaves_the_trees() -> None:
    rules = parse_strip_rules(resources.files("manifests").joinpath("strip_paths.yaml").read_text(encoding="utf-8"))
    for entry in shipped().reviewers:
        for path in entry.configs:
            inside = path.removeprefix("/") + ("config" if path.endswith("/") else "")
            assert rules.find(inside) is not None, (entry.id, path)


@pytest.mark.parametrize("entry", shipped().reviewers, ids=lambda entry: entry.id)
def test_a_graphql_login_is_the_same_account(entry: Reviewer) -> None:
    for login in entry.logins:
        assert normalise_login(login.graphql) == normalise_login(login.login)
        body = login.body_marker or ""
        assert entry.speaks(login.graphql, body, login.type), login.login
        assert not entry.speaks(login.graphql, body, "User" if login.type == "Bot" else "Bot")


@pytest.mark.parametrize(
    ("login", "reviewer"),
    [
        ("qodo-for-redhat-appstudio[bot]", "qodo"),
        ("rhdh-qodo-merge[bot]", "qodo"),
        ("semgrep-code-acme[bot]", "semgrep"),
        ("semgrep-code1-acme[bot]", "semgrep"),
    ],
)
def test_an_unknown_account_of_a_known_vendor_is_recognised_but_never_attributed(login: str, reviewer: str) -> None:
    assert shipped().hinted(login) == reviewer
    assert shipped().by_login(login, "a finding", "Bot") is None
    assert shipped().hinted("dev-one") is None


QODO = "<h3>Code Review by Qodo</h3>\n"
STATE = "<!-- internal state start -->" + "x" * 12_000 + "<!-- internal state end -->"


@pytest.mark.parametrize(
    ("reviewer", "body", "kind"),
    [
        ("coderabbit", "**Actionable comments posted: 3**\n\n<details>\n<summary>more</summary></details>", Tone.DONE),
        ("coderabbit", "**Actionable comments posted: 0**", Tone.CLEAN),
        (
            "coderabbit",
            f"<!-- This is an auto-generated comment: summarize by coderabbit.ai -->\n{STATE}\n## Walkthrough\nText.",
            Tone.CHATTER,
        ),
        (
            "coderabbit",
            f"<!-- This is an auto-generated comment: summarize by coderabbit.ai -->\n{STATE}\n"
            "No actionable comments were generated in the recent review.",
            Tone.CLEAN,
        ),
        (
            "coderabbit",
            "<!-- This is an auto-generated comment: rate limited by coderabbit.ai -->\n> ## Review limit reached\n"
            "> Your next review will be available in **4 minutes and 12 seconds**.",
            Tone.RATE_LIMITED,
        ),
        ("coderabbit", "> [!IMPORTANT]\n> ## Review skipped\n> Draft detected.", Tone.SKIPPED),
        ("coderabbit", "> ## Review failed\n> The pull request is closed.", Tone.ERROR),
        ("coderabbit", "> ## Review skipped\n> Too many files!", Tone.UNABLE),
        (
            "copilot",
            "## Pull request overview\n\nCopilot reviewed 4 out of 5 changed files in this pull request and generated "
            "1 comment.",
            Tone.DONE,
        ),
        (
            "copilot",
            "## Pull request overview\n\nCopilot reviewed 4 out of 5 changed files in this pull request and generated "
            "no comments.",
            Tone.CLEAN,
        ),
        (
            "copilot",
            "Copilot encountered an error and was unable to review this pull request. You can try again.",
            Tone.ERROR,
        ),
        ("copilot", "This pull request exceeds the maximum number of lines (20,000).", Tone.UNABLE),
        ("copilot", "This pull request exceeds the maximum number of files (300).", Tone.UNABLE),
        ("copilot", "Copilot wasn't able to review any files in this pull request.", Tone.UNABLE),
        (
            "greptile",
            "<h3>Greptile Summary</h3>\nText\n<sub>Reviews (1): Last reviewed commit: [x](u)</sub>",
            Tone.DONE,
        ),
        ("greptile", "Greptile encountered an error while reviewing this PR. Please reach out.", Tone.ERROR),
        ("greptile", "You have reached the 50-review limit of the trial.", Tone.RATE_LIMITED),
        (
            "bugbot",
            "<!-- BUGBOT_REVIEW -->\nCursor Bugbot has reviewed your changes and found 4 potential issues.",
            Tone.DONE,
        ),
        ("bugbot", "<!-- BUGBOT_REVIEW -->\n\u2705 Bugbot reviewed your changes and found no new issues!", Tone.CLEAN),
        (
            "gemini",
            "## Code Review\n\nThis adds a cache. One race was found.\n\n> [!IMPORTANT]\n> Ends soon.",
            Tone.DONE,
        ),
        ("gemini", "## Code Review\n\nGood. I have no feedback to provide.", Tone.CLEAN),
        ("gemini", "The consumer version of Gemini Code Assist on GitHub has been sunset.", Tone.UNABLE),
        ("gemini", "You have reached your daily quota limit. Please wait up to 24 hours.", Tone.RATE_LIMITED),
        (
            "qodo",
            QODO + "<code>\U0001f41e Bugs (2)</code> <code>\U0001f4d8 Rule violations (0)</code>",
            Tone.DONE,
        ),
        (
            "qodo",
            QODO + "<code>\U0001f41e Bugs (0)</code> <code>\U0001f4d8 Rule violations (0)</code>",
            Tone.CLEAN,
        ),
        (
            "qodo",
            QODO + "<code>\U0001f41e Bugs (0)</code> <code>\U0001f4d8 Rule violations (0)</code> "
            "<code>\U0001f4dc Skill insights (2)</code>",
            Tone.DONE,
        ),
        ("qodo", "Qodo reviews are paused for this user.", Tone.UNABLE),
        ("claude", "**Claude finished @dev's task in 2m** \u2014 [View job](u)", Tone.DONE),
        ("claude", "### Code review\n\nFound 2 issues:\n\n1. A race", Tone.DONE),
        ("codex", "### \U0001f4a1 Codex Review\n\nHere are some suggestions.", Tone.DONE),
        ("codex", "Codex Review: Didn't find any major issues. Nice work!", Tone.CLEAN),
        ("codex", "You have reached your Codex usage limits for code reviews.", Tone.RATE_LIMITED),
        ("codex", "To use Codex here, create a Codex account and connect to github.", Tone.UNABLE),
        ("sourcery", "Hey - I've found 2 issues, and left some high level feedback:", Tone.DONE),
        ("sourcery", "Hey - I've reviewed your changes and they look great!", Tone.CLEAN),
        (
            "sourcery",
            "Sorry @dev, your pull request is larger than the review limit of 150000 diff characters",
            Tone.UNABLE,
        ),
        ("sourcery", "You've reached your weekly rate limit of 500000 diff characters.", Tone.RATE_LIMITED),
        ("cubic", "2 issues found across 3 files", Tone.DONE),
        ("cubic", "**10 issues found** across 3 files", Tone.PROSE),
        ("cubic", "No issues found across 3 files", Tone.CLEAN),
        ("augment", "Review completed. 3 suggestions posted.", Tone.DONE),
        ("augment", "Review completed. No suggestions at this time.", Tone.CLEAN),
        ("macroscope", "3 issues identified (12 code objects reviewed).", Tone.DONE),
        ("macroscope", "No issues identified (3 code objects reviewed).", Tone.CLEAN),
        ("macroscope", "Macroscope encountered an error while reviewing", Tone.ERROR),
        ("macroscope", "Skipped: billing issue", Tone.UNABLE),
        ("devin", "## Devin Review: Found 2 potential issues", Tone.DONE),
        ("devin", "\u2705 Devin Review: No Issues Found", Tone.CLEAN),
        ("devin", "Starting Devin Review.", Tone.PLACEHOLDER),
        ("codeant", "CodeAnt AI is reviewing your PR.", Tone.PLACEHOLDER),
        ("codeant", "CodeAnt AI finished reviewing your PR.", Tone.DONE),
        ("kodus", "## Code Review Started! \U0001f680", Tone.PLACEHOLDER),
        ("kodus", "## Code Review Completed! \U0001f525", Tone.DONE),
        ("korbit", "By default, I don't review PRs from bots.", Tone.SKIPPED),
        ("ellipsis", "This PR is too big for Ellipsis", Tone.UNABLE),
        ("bito", "### Code Review Agent Run #12ab", Tone.DONE),
        ("cloudaeye", "Review #2\n**[Bug/High] Concurrency: race**\n`f` in `a.c`", Tone.PROSE),
    ],
)
def test_the_words_of_a_reviewer_tell_its_state(reviewer: str, body: str, kind: Tone) -> None:
    assert tone(body, known(reviewer)) is kind


def test_every_pattern_takes_time_that_grows_with_the_text_and_no_faster() -> None:
    patterns = [bounded(pattern) for entry in shipped().reviewers for pattern in _patterns(entry)]
    assert len(patterns) > 120

    def seconds(size: int) -> float:
        texts = [
            window(text * size) for text in ("a ", "Found 1 ", "> ## Review ", "available in 1 hours ", "Bugs (0)")
        ]
        best = 9.9
        for _ in range(2):
            begun = time.process_time()
            for pattern in patterns:
                for text in texts:
                    pattern.search(text)
            best = min(best, time.process_time() - begun)
        return best

    assert seconds(1600) < 30 * max(seconds(200), 0.002)


def _patterns(entry: Reviewer) -> list[str]:
    found = [entry.login_hint] if entry.login_hint else []
    for name, value in entry.signals:
        if name == "clean_reaction":
            continue
        found += [value] if isinstance(value, str) else list(value or ())
    return found
