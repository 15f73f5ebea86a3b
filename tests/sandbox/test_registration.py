"""An App registered from a manifest."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from .conftest import Town, jwt

MANIFEST: dict[str, Any] = {
    "name": "Blue Heron",
    "url": "http://127.0.0.1/",
    "redirect_url": "http://127.0.0.1:1/done",
    "hook_attributes": {"url": "http://127.0.0.1:1/hook"},
    "default_permissions": {"checks": "write", "contents": "read"},
    "default_events": ["issues"],
}


def _submit(town: Town, manifest: object, where: str = "/organizations/acme") -> requests.Response:
    url = f"{town.gh.url}{where}/settings/apps/new?state=s%201"
    return requests.post(url, data={"manifest": json.dumps(manifest)}, allow_redirects=False, timeout=10)


@pytest.mark.parametrize("where", ["/organizations/acme", ""])
def test_a_code_is_exchanged_once_for_keys_that_work(town: Town, where: str) -> None:
    target = urlsplit(_submit(town, MANIFEST, where).headers["Location"])
    query = parse_qs(target.query)
    assert (target.path, query["state"]) == ("/done", ["s 1"])
    path = f"/app-manifests/{query['code'][0]}/conversions"
    made = town.ok("POST", path)
    assert (made["slug"], made["permissions"]["checks"], made["events"]) == ("blue-heron", "write", ["issues"])
    seconds = int(town.clock.now.timestamp())
    signed = jwt(made["pem"], {"iat": seconds, "exp": seconds + 60, "iss": made["client_id"]})
    assert town.ok("GET", "/app", signed)["id"] == made["id"]
    assert town.ok("GET", "/app/hook/config", signed)["url"] == "http://127.0.0.1:1/hook"
    assert town.call("POST", path).status_code == 404


def test_a_code_lives_an_hour(town: Town) -> None:
    code = parse_qs(urlsplit(_submit(town, MANIFEST).headers["Location"]).query)["code"][0]
    town.clock.forward(hours=1)
    assert town.call("POST", f"/app-manifests/{code}/conversions").status_code == 404


@pytest.mark.parametrize(
    "change",
    [{"name": None}, {"url": 3}, {"default_events": {}}, {"hook_attributes": {"active": True}}, {"name": "assay"}],
)
def test_a_manifest_that_lacks_something_is_refused(town: Town, change: dict[str, Any]) -> None:
    assert _submit(town, {**MANIFEST, **change}).status_code == 422
    assert _submit(town, []).status_code == 422
    assert _submit(town, MANIFEST, "/organizations/nobody").status_code == 404
