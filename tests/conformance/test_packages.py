"""The descriptions are the pinned ones or none, and none is said aloud."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance import packages
from tests.conformance.packages import Forged, Package, Unreachable, fetch, integrity, load


def tarball(content: object) -> bytes:
    made, data = io.BytesIO(), json.dumps(content).encode()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        info = tarfile.TarInfo("package/data.json")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


def registry(folder: Path, data: bytes, code: int = 0) -> str:
    """An npm that packs these bytes, whatever is asked for, and notes each call."""
    folder.mkdir()
    (folder / "data").write_bytes(data)
    script = folder / "npm"
    script.write_text(
        f'#!/bin/sh\necho "$2" >> {folder}/calls\n[ {code} = 0 ] || {{ echo "no route to host" >&2; exit {code}; }}\n'
        f"cp {folder}/data some-thing-1.2.3.tgz\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def wanted() -> Package:
    return Package("@some/thing", "1.2.3", integrity(tarball({"a": 1})), "package/data.json")


def test_a_package_is_fetched_once_and_then_kept(tmp_path: Path, wanted: Package) -> None:
    npm = registry(tmp_path / "npm", tarball({"a": 1}))
    first = fetch(wanted, tmp_path / "cache", npm)
    assert fetch(wanted, tmp_path / "cache", npm) == first
    assert (tmp_path / "npm" / "calls").read_text() == "@some/thing@1.2.3\n"
    assert load(wanted, tmp_path / "cache") == {"a": 1}


def test_other_bytes_under_the_same_version_are_refused_and_not_kept(tmp_path: Path, wanted: Package) -> None:
    npm = registry(tmp_path / "npm", tarball({"a": 2}))
    with pytest.raises(Forged, match=r"@some/thing@1\.2\.3"):
        fetch(wanted, tmp_path / "cache", npm)
    assert list((tmp_path / "cache").iterdir()) == []


def test_bytes_that_changed_in_the_cache_are_refused(tmp_path: Path, wanted: Package) -> None:
    kept = tmp_path / wanted.tarball
    kept.write_bytes(tarball({"a": 1})[:-1])
    with pytest.raises(Forged):
        load(wanted, tmp_path)


def test_a_registry_out_of_reach_is_told_with_its_words(tmp_path: Path, wanted: Package) -> None:
    with pytest.raises(Unreachable, match="no route to host"):
        fetch(wanted, tmp_path / "cache", registry(tmp_path / "npm", b"", code=1))


@pytest.mark.parametrize(("required", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)])
def test_without_npm_the_tests_are_skipped_aloud_or_fail_where_required(
    tmp_path: Path, wanted: Package, monkeypatch: pytest.MonkeyPatch, required: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(packages.REQUIRED, required)
    with pytest.raises(outcome, match="npm is not installed"):
        load(replace(wanted, version="9.9.9"), tmp_path / "cache")
