"""The deployment files start what there is, as somebody who may not do much, and say what the manual says."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.settings import load_settings
from tests.deploy import commands
from tests.deploy.commands import ROOT, UNITS

STARTED = {("serve",), ("serve", "--web-only"), ("worker",)}
"""What the tests of whole runs start, from these very files: `tests/flows/cluster.py` and `tests/flows/world.py`."""
ENDS = {("db", "upgrade")}
"""What ends by itself: `tests/bot/test_db_command.py`."""


@pytest.mark.parametrize(("where", "command"), list(commands.everything()), ids=lambda one: str(one))
def test_every_command_exists_and_is_started_by_a_test(where: str, command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli, [*command, "--help"])
    assert result.exit_code == 0, f"{where}: {result.output}"
    assert command in STARTED | ENDS, f"{where} starts {command}, which no test does"


def test_every_shape_of_the_manual_has_its_files() -> None:
    assert set(commands.units().values()) == STARTED
    assert set(commands.procfile().values()) == {("serve", "--web-only"), ("worker",), ("db", "upgrade")}
    assert commands.image() == ("serve",)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_comes_back_and_may_not_do_much(path: Path) -> None:
    parsed = commands.unit(path)
    assert set(parsed.sections()) == {"Unit", "Service", "Install"}
    service = parsed["Service"]
    assert service["ExecStart"].startswith("/opt/assay/bin/assay ")
    # A worker that lost its slot ends with 75, and one that is told to end with 0: both come back.
    assert (service["Restart"], service["User"], service["UMask"]) == ("always", "assay", "0077")
    assert service["Environment"] == f"ASSAY_DATA_DIR=/var/lib/{service['StateDirectory']}"
    for name in ("NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices"):
        assert service[name] == "yes"
    assert int(service["TimeoutStopSec"]) > 10, "in-flight requests have ten seconds"


def test_the_image_copies_what_there_is_and_ends_up_as_nobody_of_note() -> None:
    told = commands.dockerfile()
    sources = [part for word, rest in told if word == "COPY" and "--from" not in rest for part in rest.split()[:-1]]
    assert sources and [source for source in sources if not (ROOT / source).exists()] == []
    assert {"bot", "scoring", "goldens", "manifests", "app.yml", "pyproject.toml"} <= set(sources)
    assert ("USER", "assay") in told
    assert [word for word, _ in told].index("USER") < [word for word, _ in told].index("ENTRYPOINT")
    environment = dict(part.split("=", 1) for word, rest in told if word == "ENV" for part in rest.split())
    ours = {name: value for name, value in environment.items() if name.startswith("ASSAY_")}
    settings = load_settings(ours)
    assert (settings.log, settings.bind_host, str(settings.data_dir)) == ("json", "0.0.0.0", "/data")
    assert ("EXPOSE", str(settings.bind_port)) in told
    (check,) = (rest for word, rest in told if word == "HEALTHCHECK")
    assert f"http://127.0.0.1:{settings.bind_port}/readyz" in check


def test_the_manual_says_that_the_image_was_not_built() -> None:
    manual = " ".join((ROOT / "docs" / "operations.md").read_text(encoding="utf-8").split())
    assert "the image itself has not been built by us" in manual
