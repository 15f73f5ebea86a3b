"""A public fork that is private until its branches stand, and a reviewer that cannot run there."""

from __future__ import annotations

import json
from pathlib import Path

import manifests
from bot.demo import world as demo_world
from bot.demo.world import Asked
from tests.flows.world import bench

ACTION = """
  - id: actionbot
    name: Action Bot
    logins: [{login: "github-actions[bot]", body_marker: "by Action Bot"}]
    trigger: {kind: auto}
    needs_action: true
    source: made up
    confidence: ours
"""


def test_push_protection_sees_no_public_push_and_an_action_without_its_workflow_is_unable(tmp_path: Path) -> None:
    shipped = Path(manifests.__file__).with_name("sandbox-reviewers.yaml").read_text(encoding="utf-8")
    registry = tmp_path / "reviewers.yaml"
    registry.write_text(shipped.rstrip() + "\n" + ACTION, encoding="utf-8")
    extra = {"ASSAY_PRIVATE_UNTIL_PUSHED": "true", "ASSAY_REGISTRY": str(registry)}
    with bench(tmp_path, extra=extra) as one:
        body = demo_world.form_body(Asked(reviewers=("lintwarden",), pulls="ring-buffer"), one.world.registry)
        body = body.replace("(lintwarden)", "(lintwarden), Action Bot (actionbot)", 1)
        one.open_issue(body.replace("### Fork visibility\n\n_No response_", "### Fork visibility\n\npublic"))
        outcome = one.finish()
        assert outcome.report is not None
        made = [call for call in one.done() if call[0] in ("POST", "PATCH") and "/repos" in call[1]]
        created = next(at for at, (_, path, _) in enumerate(made) if path == f"/orgs/{demo_world.ORG}/repos")
        shown = next(at for at, (method, _, _) in enumerate(made) if method == "PATCH" and at > created)
        opened = next(at for at, (_, path, _) in enumerate(made) if path.endswith("/pulls"))
        assert created < shown < opened
        statuses = json.dumps(json.loads(outcome.report))
        assert '"unable"' in statuses and "lintwarden" in statuses
