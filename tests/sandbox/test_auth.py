"""Who may do what."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from .conftest import PERMISSIONS, Town, jwt, new_key


@pytest.mark.parametrize("issuer", ["client_id", "app_id"])
def test_an_app_is_known_by_its_client_id_and_by_its_number(town: Town, issuer: str) -> None:
    app = town.ok("GET", "/app", town.jwt(iss=str(getattr(town.keys, issuer))))
    assert (app["slug"], app["id"], app["installations_count"]) == ("assay", town.keys.app_id, 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"exp": 0}, "'exp'"),
        ({"exp": 4102444800}, "too far in the future"),
        ({"iat": 4102444700}, "'iat'"),
        ({"iss": "Iv23linobody"}, "Integration not found"),
        ({"exp": "soon"}, "'exp'"),
    ],
)
def test_a_jwt_with_wrong_claims_is_refused(town: Town, changes: dict[str, object], said: str) -> None:
    answer = town.call("GET", "/app", town.jwt(**changes))
    assert answer.status_code == 401
    assert said in answer.json()["message"]


def test_a_jwt_signed_by_another_key_or_not_at_all_is_refused(town: Town) -> None:
    seconds = int(town.clock.now.timestamp())
    claims = {"iat": seconds, "exp": seconds + 60, "iss": town.keys.client_id}
    forged = jwt(new_key(), claims)
    unsigned = jwt(town.keys.private_key_pem, claims, alg="none").rpartition(".")[0] + "."
    for text in (forged, unsigned, jwt(town.keys.private_key_pem, claims, alg="HS256"), "a.b.c", "e30.W10.e30"):
        assert town.call("GET", "/app", text).status_code == 401, text


def test_only_a_jwt_opens_the_routes_of_an_app_and_it_opens_no_others(town: Town) -> None:
    assert town.call("GET", "/app", town.token()).status_code == 401
    assert town.call("GET", "/app", town.alice).status_code == 401
    town.gh.create_repo("acme", "code", private=True)
    assert town.call("GET", "/repos/acme/code", town.jwt()).status_code == 403


def test_installations_are_found_by_org_and_by_repository_but_not_those_of_others(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    town.gh.create_org("other")
    town.gh.create_app("rival", permissions={}, events=[], private_key_pem=new_key())
    theirs = town.gh.install("rival", "acme")
    for path in ("/orgs/acme/installation", "/repos/acme/code/installation"):
        assert town.ok("GET", path, town.jwt())["id"] == town.installation
    assert town.call("GET", "/orgs/other/installation", town.jwt()).status_code == 404
    assert town.call("GET", f"/app/installations/{theirs}", town.jwt()).status_code == 404


def test_a_token_dies_after_an_hour(town: Town) -> None:
    token = town.token()
    town.clock.forward(minutes=59)
    assert town.call("GET", "/installation/repositories", token).status_code == 200
    town.clock.forward(minutes=1)
    answer = town.call("GET", "/installation/repositories", token)
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")


def test_a_token_is_long_and_can_be_given_up(town: Town) -> None:
    token = town.token()
    assert token.startswith(f"ghs_{town.keys.app_id}_")
    assert 400 < len(token) < 700
    assert town.call("DELETE", "/installation/token", token).status_code == 204
    assert town.call("GET", "/installation/repositories", token).status_code == 401


@pytest.mark.parametrize(
    "narrowing",
    [
        {"permissions": {"members": "read"}},
        {"permissions": {"contents": "admin"}},
        {"repositories": ["nowhere"]},
        {"repositories": []},
        {"repository_ids": [1]},
    ],
)
def test_a_token_cannot_be_given_more_than_the_installation_has(town: Town, narrowing: dict[str, Any]) -> None:
    path = f"/app/installations/{town.installation}/access_tokens"
    assert town.call("POST", path, town.jwt(), **narrowing).status_code == 422


def test_a_narrowed_token_does_only_what_it_was_narrowed_to(town: Town) -> None:
    for name in ("code", "hidden"):
        town.gh.create_repo("acme", name, private=True, files={"a": b"1"})
    token = town.token(repositories=["code"], permissions={"issues": "write"})
    listed = town.ok("GET", "/installation/repositories", token)
    assert [repo["name"] for repo in listed["repositories"]] == ["code"]
    assert town.call("POST", "/repos/acme/code/issues", token, title="x").status_code == 201
    assert town.call("GET", "/repos/acme/hidden", token).status_code == 404
    refused = town.call("GET", "/repos/acme/code/contents/a", token)
    assert (refused.status_code, refused.json()["message"]) == (403, "Resource not accessible by integration")
    assert refused.headers["X-Accepted-GitHub-Permissions"] == "contents=read"


def test_a_repository_scoped_token_cannot_create_repositories(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    assert town.call("POST", "/orgs/acme/repos", town.token(repositories=["code"]), name="x").status_code == 403
    assert town.call("POST", "/orgs/acme/repos", town.token(), name="x").status_code == 201


def test_a_selected_installation_gets_the_repositories_its_app_creates_and_no_others(town: Town) -> None:
    heard: list[tuple[str, object]] = []
    town.gh.create_app("picky", permissions=PERMISSIONS, events=[], private_key_pem=new_key())
    town.gh.subscribe("picky", lambda event, payload: heard.append((event, payload)))
    town.gh.create_repo("acme", "other", private=True)
    town.gh.install("picky", "acme", [])
    token = town.gh.installation_token("picky", "acme")
    town.ok("POST", "/orgs/acme/repos", token, name="mine", private=True)
    seen = town.ok("GET", "/installation/repositories", token)
    assert [repo["name"] for repo in seen["repositories"]] == ["mine"]
    assert town.call("GET", "/repos/acme/other", token).status_code == 404
    taken = town.call("POST", "/orgs/acme/repos", token, name="other")
    assert taken.status_code == 422
    assert taken.json()["errors"][0]["message"] == "name already exists on this account"
    assert town.gh.deliveries.wait_idle()
    added = [payload for event, payload in heard if event == "installation_repositories"]
    assert [one["full_name"] for one in added[0]["repositories_added"]] == ["acme/mine"]  # type: ignore[index]


def test_a_private_repository_does_not_exist_for_strangers(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True, collaborators={"carol": "read"})
    carol = town.gh.create_user("carol")
    for token, status in ((None, 404), (town.bob, 404), (carol, 200), (town.alice, 200)):
        assert town.call("GET", "/repos/acme/code", token).status_code == status


def test_anybody_may_open_an_issue_in_public_but_only_the_roles_may_push_or_administer(town: Town) -> None:
    town.gh.create_repo("acme", "open", private=False, files={"a": b"1"})
    head = town.ok("GET", "/repos/acme/open/git/ref/heads/main")["object"]["sha"]
    assert town.call("POST", "/repos/acme/open/issues", town.bob, title="x").status_code == 201
    assert town.call("POST", "/repos/acme/open/issues", title="x").status_code == 401
    assert town.call("POST", "/repos/acme/open/git/refs", town.bob, ref="refs/heads/x", sha=head).status_code == 403
    assert town.call("PATCH", "/repos/acme/open", town.bob, description="x").status_code == 403
    assert town.call("DELETE", "/repos/acme/open", town.alice).status_code == 204
    assert town.call("GET", "/repos/acme/open", town.alice).status_code == 404


def test_strangers_cannot_edit_the_words_of_others(town: Town) -> None:
    town.gh.create_repo("acme", "open", private=False)
    number = town.gh.open_issue("acme/open", "t", "b", by="alice")
    comment = town.gh.comment("acme/open", number, "c", by="alice")
    path = f"/repos/acme/open/issues/comments/{comment}"
    assert town.call("PATCH", path, town.bob, body="x").status_code == 403
    assert town.call("DELETE", path, town.bob).status_code == 403
    assert town.call("PATCH", path, town.alice, body="x").status_code == 200


def test_an_archived_repository_is_read_only_until_it_is_taken_out(town: Town) -> None:
    town.gh.create_repo("acme", "old", private=True)
    token = town.token()
    town.ok("PATCH", "/repos/acme/old", token, archived=True)
    refused = town.call("POST", "/repos/acme/old/issues", token, title="x")
    assert (refused.status_code, refused.json()["message"]) == (403, "Repository was archived so is read-only.")
    assert town.call("PATCH", "/repos/acme/old", token, description="x").status_code == 403
    assert town.call("GET", "/repos/acme/old", token).json()["archived"] is True
    assert town.call("PATCH", "/repos/acme/old", token, archived=False).status_code == 200


def test_basic_authentication_takes_the_token_as_password_or_as_name(town: Town) -> None:
    for pair in (f"x-access-token:{town.alice}", f"{town.alice}:x-oauth-basic", f"alice:{town.alice}"):
        header = {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}
        assert town.call("GET", "/user", headers=header).json()["login"] == "alice"
    for bad in ("Basic !!!", "Basic " + base64.b64encode(b"alice:wrong").decode(), "Digest x"):
        assert town.call("GET", "/user", headers={"Authorization": bad}).status_code == 401


def test_permission_of_a_user_in_a_repository(town: Town) -> None:
    town.gh.create_user("dora")
    town.gh.create_repo("acme", "code", private=True, collaborators={"dora": "maintain"})
    town.gh.create_repo("acme", "open", private=False)

    def ask(repo: str, login: str) -> tuple[str, str]:
        told = town.ok("GET", f"/repos/acme/{repo}/collaborators/{login}/permission", town.token())
        return told["permission"], told["role_name"]

    assert ask("code", "alice") == ("admin", "admin")
    assert ask("code", "dora") == ("write", "maintain")
    assert ask("code", "bob") == ("none", "none")
    assert ask("open", "bob") == ("read", "read")
    unknown = town.call("GET", "/repos/acme/code/collaborators/nobody/permission", town.token())
    assert unknown.status_code == 404


def test_the_installations_of_an_org_are_for_its_owners(town: Town) -> None:
    assert town.ok("GET", "/orgs/acme/installations", town.alice)["total_count"] == 1
    assert town.call("GET", "/orgs/acme/installations", town.bob).status_code == 404
    assert town.call("GET", "/orgs/acme/installations", town.token()).status_code == 403


def test_tokens_end_at_once_when_their_hour_is_over_or_the_app_is_taken_off(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    before = town.token()
    assert town.gh.expire_tokens("assay", "acme") == 1
    assert town.call("GET", "/repos/acme/code", before).status_code == 401
    after = town.token()
    assert town.call("GET", "/repos/acme/code", after).status_code == 200
    town.gh.uninstall("assay", "acme")
    assert town.call("GET", "/repos/acme/code", after).status_code == 401
    mint = f"/app/installations/{town.installation}/access_tokens"
    assert town.call("POST", mint, town.jwt()).status_code == 404
    assert town.ok("GET", "/app/installations", town.jwt()) == []
    with pytest.raises(ValueError, match="is not installed on acme"):
        town.gh.uninstall("assay", "acme")
