"""Who is installed: what the list of Apps proves, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from bot.installed import Presence, author_notes, installed, notes
from bot.registry import Login, Reviewer


def reviewer(name: str = "quill", **more: Any) -> Reviewer:
    given = {"id": name, "name": name.title(), "logins": (Login(login=f"{name}-reviews[bot]"),), **more}
    return Reviewer(**given)


def app(slug: str, selection: str = "all", **more: Any) -> dict[str, Any]:
    return {"app_slug": slug, "app_id": 1, "repository_selection": selection, "suspended_at": None, **more}


@pytest.mark.parametrize(
    ("there", "presence", "evidence"),
    [
        ([], Presence.ABSENT, False),
        ([app("quill-reviews-2")], Presence.ABSENT, False),
        ([app("Quill-Reviews")], Presence.EVERYWHERE, True),
        ([app("quill-reviews", "selected")], Presence.SELECTED, None),
        ([app("quill-reviews", "selected"), app("quill-reviews")], Presence.EVERYWHERE, True),
        ([app("quill-reviews", suspended_at="2026-01-01T00:00:00Z")], Presence.SUSPENDED, False),
        (None, Presence.UNKNOWN, None),
    ],
)
def test_what_the_list_tells(there: list[dict[str, Any]] | None, presence: Presence, evidence: bool | None) -> None:
    found = installed([reviewer()], there)
    assert (found.of("quill"), found.evidence("quill")) == (presence, evidence)


def test_an_app_that_was_renamed_is_known_by_its_number() -> None:
    assert installed([reviewer(app_id=77)], [app("another", app_id=77)]).of("quill") is Presence.EVERYWHERE


@pytest.mark.parametrize(
    "entry",
    [
        reviewer(vendor="github"),
        reviewer(logins=(Login(login="quill-person", type="User"),)),
        reviewer(logins=(Login(login="github-actions[bot]", body_marker="Quill says"),)),
        reviewer(login_hint=r"^quill-for-[a-z]{1,20}$"),
    ],
)
def test_a_reviewer_that_may_be_there_under_another_name_is_never_called_absent(entry: Reviewer) -> None:
    found = installed([entry], [app("quill-for-acme"), app("github-actions")])
    assert (found.of("quill"), found.evidence("quill")) == (Presence.UNKNOWN, None)


def test_a_reviewer_nobody_asked_about_is_not_known() -> None:
    assert installed([], []).evidence("quill") is None


def test_the_other_apps_are_named_and_we_are_none_of_them() -> None:
    found = installed(
        [reviewer()], [app("zebra"), app("quill-reviews"), app("grey-heron"), app("zebra")], ours="Grey-Heron"
    )
    assert found.others == ("zebra",)


def test_the_plan_warns_of_who_will_be_silent() -> None:
    entries = [reviewer("quill"), reviewer("heron"), reviewer("otter"), reviewer("lark")]
    there = [app("heron-reviews", "selected"), app("otter-reviews"), app("lark-reviews", suspended_at="2026")]
    said = list(notes(entries, installed(entries, there)))
    assert [line.split()[0] for line in said] == ["Quill", "Heron", "Lark"]
    assert not [line for line in said if "[bot]" in line or "@" in line]
    assert len(list(notes(entries, installed(entries, None)))) == 1


@pytest.mark.parametrize(
    ("owner_is_user", "author_is_user", "said"),
    [(False, True, []), (False, False, ["No author token is set"]), (True, True, ["alice is a personal account"])],
)
def test_the_plan_says_who_acts(owner_is_user: bool, author_is_user: bool, said: list[str]) -> None:
    told = author_notes("alice", owner_is_user=owner_is_user, author="grey-heron[bot]", author_is_user=author_is_user)
    for line, begin in zip(told, said, strict=True):
        assert line.startswith(begin)
