"""The registry: what a file may say, who is whom, and what is known of the real reviewers."""

from __future__ import annotations

import re
import string
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.registry import Login, Registry, RegistryError, Reviewer, load_registry, normalise_login
from scoring.judges.vendors import vendor_of_reviewer
from tests.bot.talk import registry, reviewer

ENTRY = '  - {id: acme, name: Acme, logins: [{login: "acme-reviewer[bot]"}]%s}\n'


def file(*entries: str) -> str:
    return "version: 1\nreviewers:\n" + "".join(entries)


def problems(*texts: str) -> str:
    with pytest.raises(RegistryError) as caught:
        load_registry(*((f"{number}.yaml", text) for number, text in enumerate(texts)))
    return str(caught.value)


def real() -> Registry:
    text = resources.files("manifests").joinpath("reviewers.yaml").read_text(encoding="utf-8")
    return load_registry(("reviewers.yaml", text))


def test_a_small_file_is_read() -> None:
    loaded = load_registry(("0.yaml", file(ENTRY % ", wait: {quiet: 0.5, deadline: 45}")))
    acme = loaded.get("acme")
    assert acme is not None
    assert (acme.wait.quiet, acme.wait.deadline) == (0.5, 45)
    assert loaded.ids == ("acme",)
    assert loaded.get("other") is None


def test_reviewers_of_model_houses_say_so_and_nobody_is_left_out() -> None:
    vendors = {one.id: vendor_of_reviewer(one.vendor) for one in real().reviewers}
    houses = {"claude": "Anthropic", "codex": "OpenAI", "gemini": "Google", "copilot": "Microsoft"}
    assert houses.items() <= vendors.items()
    assert all(one.vendor for one in real().reviewers)
    assert "vendor" in problems(file(ENTRY % ', vendor: "An<thropic"'))


def test_a_misspelt_field_is_told_with_line_allowed_fields_and_a_suggestion() -> None:
    said = problems(file("  - id: a\n    name: A\n    logins: [{login: x}]\n    wait:\n      deadlin: 4\n"))
    assert said.startswith("0.yaml:7: reviewers[0].wait.deadlin: unknown field; allowed: floor, quiet")
    assert said.endswith("did you mean 'deadline'?")


def test_everything_wrong_is_told_at_once() -> None:
    entry = (
        "  - id: Zed\n    name: Z\n    logins: [{login: x, type: Bott}]\n    trigger: {kind: coment, text: y}\n"
        "    signals:\n      done: ['(a+)+']\n      announced: 'no group'\n      window: '(?P<days>\\d+)'\n"
    )
    said = problems(file(entry)).splitlines()
    assert [line.split(": ")[0] for line in said] == [f"0.yaml:{line}" for line in (3, 5, 6, 8, 9, 10)]
    assert "did you mean 'Bot'?" in said[1]
    assert "did you mean 'comment'?" in said[2]
    assert "exactly one group" in said[4]
    assert "hours, minutes and seconds" in said[5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "0.yaml:1: the file is empty"),
        ("version: 2\nreviewers: []\n", "0.yaml:1: version"),
        ("version: 1\n", "reviewers"),
        ("version: 1\nreviewers: {}\n", "list"),
        ("version: 1\nreviewers: [", "not YAML"),
        (file(ENTRY % ", wait: {deadline: .inf}"), "deadline"),
        (file(ENTRY % ", wait: {deadline: -3}"), "greater than or equal to 0"),
        (file(ENTRY % ", wait: {max_asks: 0}"), "max_asks"),
        (file(ENTRY % ", trigger: {kind: comment}"), "needs a text"),
        (file(ENTRY % ", trigger: {kind: auto, text: /review}"), "takes no text"),
        (file('  - {id: a, name: A, logins: [{login: "*[bot]"}]}\n'), "login"),
        (file("  - {id: a, name: A, logins: []}\n"), "logins"),
        (file(ENTRY % ", signals: {done: ['']}"), "done[0]"),
        (file(ENTRY % ", confidence: sure"), "allowed: documented, observed, unconfirmed, ours"),
    ],
)
def test_a_bad_file_is_refused_in_words(text: str, expected: str) -> None:
    assert expected in problems(text)


def test_an_id_given_twice_in_one_file_is_refused_but_a_later_file_replaces_it() -> None:
    assert "already taken by 'acme' (0.yaml:3)" in problems(file(ENTRY % "", ENTRY % ""))
    later = file(ENTRY % ", wait: {quiet: 7}")
    loaded = load_registry(("a.yaml", file(ENTRY % "")), ("b.yaml", later))
    acme = loaded.get("acme")
    assert acme is not None
    assert acme.wait.quiet == 7


def test_one_account_for_two_reviewers_needs_markers_that_tell_them_apart() -> None:
    def shared(first: str, second: str) -> str:
        return file(
            f'  - {{id: a, name: A, logins: [{{login: "github-actions[bot]"{first}}}]}}\n',
            f'  - {{id: b, name: B, logins: [{{login: "GitHub-Actions"{second}}}]}}\n',
        )

    assert "claimed by 'b' and by 'a' (0.yaml:3)" in problems(shared("", ""))
    assert "claimed by" in problems(shared(', body_marker: "<!-- a -->"', ""))
    assert "claimed by" in problems(shared(', body_marker: "<!-- a -->"', ', body_marker: "x <!-- a --> y"'))
    both = load_registry(("0.yaml", shared(', body_marker: "<!-- a -->"', ', body_marker: "<!-- b -->"')))
    assert both.ids == ("a", "b")


def test_one_app_for_two_reviewers_is_refused() -> None:
    other = '  - {id: b, name: B, logins: [{login: "b[bot]"}], app_slugs: [acme]}\n'
    assert "app 'acme' is claimed by" in problems(file(ENTRY % ", app_slugs: [acme]", other))


def test_logins_are_compared_without_case_suffix_or_prefix_and_never_by_part() -> None:
    acme = registry(reviewer("acme", "Acme-Reviewer[bot]"))
    for login in ("acme-reviewer[bot]", "ACME-REVIEWER[bot]", "acme-reviewer", "app/acme-reviewer"):
        assert acme.by_login(login, "", "Bot") is not None, login
    for login in ("acme", "acme-reviewer2[bot]", "my-acme-reviewer[bot]", "*[bot]", "[bot]", ""):
        assert acme.by_login(login, "", "Bot") is None, login


def test_a_ghost_never_matches() -> None:
    assert registry(reviewer()).by_login(None, "<!-- marker -->", None) is None


def test_a_person_with_a_bots_name_is_not_the_bot_and_the_other_way_round() -> None:
    both = registry(reviewer("cursor", "cursor[bot]"), reviewer("hl", "hl-reviews"))
    assert both.by_login("cursor", "", "User") is None
    assert both.by_login("hl-reviews[bot]", "", "Bot") is None
    assert both.by_login("hl-reviews", "", "Organization") is None
    assert both.by_login("hl-reviews", "", "User") is not None
    assert both.by_login("cursor[bot]", "", None) is not None
    assert both.by_login("cursor", "", None) is None


def test_a_shared_account_is_told_apart_by_the_marker() -> None:
    def marked(id_: str) -> Reviewer:
        return reviewer(id_).model_copy(
            update={"logins": (Login(login="github-actions[bot]", body_marker=f"<!-- {id_} -->"),)}
        )

    both = registry(marked("one"), marked("two"))
    found = [both.by_login("github-actions[bot]", body, "Bot") for body in ("<!-- two -->\nB", "coverage 81%")]
    assert [entry.id if entry else None for entry in found] == ["two", None]


@given(st.text(alphabet=string.ascii_letters + string.digits + "-", min_size=1, max_size=30))
def test_normalising_a_login_twice_changes_nothing_more(name: str) -> None:
    assert normalise_login(f"{name}[bot]") == normalise_login(name) == normalise_login(normalise_login(name).upper())


def test_the_real_reviewers_load_and_say_where_they_are_known_from() -> None:
    known = real()
    assert len(known.ids) >= 20
    for entry in known.reviewers:
        assert entry.basis("logins")[0], entry.id
        assert entry.wait.grace <= entry.wait.quiet <= entry.wait.deadline, entry.id
    assert {"coderabbit", "copilot", "bugbot", "greptile", "qodo", "gemini", "claude", "codex"} <= set(known.ids)
    gemini, coderabbit = known.get("gemini"), known.get("coderabbit")
    assert gemini is not None
    assert gemini.retired
    assert coderabbit is not None
    assert coderabbit.reviews_bot_authors is False
    assert coderabbit.publish_terms


def test_the_two_logins_of_copilot_are_one_reviewer() -> None:
    known = real()
    for login in ("Copilot", "copilot-pull-request-reviewer[bot]"):
        found = known.by_login(login, "", "Bot")
        assert found is not None
        assert found.id == "copilot"


def test_no_real_reviewer_owns_the_shared_actions_account() -> None:
    assert real().by_login("github-actions[bot]", "coverage 81%", "Bot") is None


def test_no_pattern_of_the_real_reviewers_matches_a_plain_finding() -> None:
    finding = "**Lock is not released on error.** `save()` returns early, so later calls wait for ever."
    for entry in real().reviewers:
        for kind, patterns in entry.signals:
            if isinstance(patterns, tuple):
                for pattern in patterns:
                    assert not re.search(pattern, finding, re.IGNORECASE | re.MULTILINE), (entry.id, kind, pattern)
