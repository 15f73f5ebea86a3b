"""One whole run, and then every place is searched for every secret: processes, databases, logs, bundles, the site."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest

from bot.demo.world import AUTHOR, SECRET
from tests.flows.test_hazards import assert_no_secret
from tests.flows.world import TINY, Bench, bench

pytestmark = pytest.mark.timeout(300)
OPERATORS = "an-operators-provider-key-0123456789"


class Watch:
    """Notes the command line of every process, and the environment of every git, that the App starts."""

    def __init__(self, root: int) -> None:
        self.argv: set[str] = set()
        self.environments: set[str] = set()
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.005):
            for process in self._below():
                try:
                    argv = process.cmdline()
                    self.argv.add("\0".join(argv))
                    if Path(argv[0] if argv else "").name == "git":
                        self.environments |= {f"{name}={value}" for name, value in process.environ().items()}
                except (psutil.Error, OSError):
                    continue

    def _below(self) -> list[psutil.Process]:
        try:
            root = psutil.Process(self._root)
            return [root, *root.children(recursive=True)]
        except psutil.Error:
            return []


def secrets_of(here: Bench) -> set[str]:
    """Every token that there was, the webhook secret and the key, also as headers and addresses write them."""
    with here.world.sandbox.world.lock:
        plain = set(here.world.sandbox.world.tokens)
    key = (here.data / "app-key.pem").read_text().splitlines()
    plain |= {SECRET, key[len(key) // 2], here.world.app_settings(here.data)["ASSAY_AUTHOR_TOKEN"], OPERATORS}
    basic = {base64.b64encode(f"x-access-token:{one}".encode()).decode() for one in plain}
    return plain | basic | {quote(one, safe="") for one in plain}


def assay(here: Bench, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "bot", *args],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, **here.world.app_settings(here.data)},
    )
    return done.stdout + done.stderr


def test_no_secret_is_on_a_command_line_in_a_file_on_a_page_or_in_a_log(tmp_path: Path) -> None:
    with bench(tmp_path, extra={"OPENAI_API_KEY": OPERATORS}) as here:
        assert here.app._process is not None
        watch = Watch(here.app._process.pid)
        here.ask(TINY)
        outcome = here.finish()
        watch.stop()
        assert outcome.stage == "done"
        secrets = secrets_of(here)
        assert len(secrets) > 8
        shown = "\n".join(watch.argv)
        assert "gunicorn" in shown or "bot" in shown
        assert not [one for one in secrets if one in shown]
        for held in watch.environments:
            # Git is given its token here, in a setting that is bound to one host, and nothing else of ours.
            name = held.partition("=")[0]
            assert not name.startswith("ASSAY_"), name
            assert OPERATORS not in held and SECRET not in held
        assert_no_secret(here)
        (folder,) = [path for path in (here.data / "bundles").iterdir() if path.is_dir()]
        told = assay(here, "bundle", "pack", str(folder), str(tmp_path / "run.zip"))
        told += assay(here, "bundle", "unpack", str(tmp_path / "run.zip"), str(tmp_path / "again"))
        told += assay(here, "site", str(folder), "-o", str(tmp_path / "site"))
        assert not [one for one in secrets if one in told]
        made = [path for name in ("again", "site") for path in (tmp_path / name).rglob("*") if path.is_file()]
        assert len(made) > 10
        for path in made:
            held_bytes = path.read_bytes()
            assert not [one for one in secrets if one.encode() in held_bytes], path
        assert AUTHOR not in SECRET
