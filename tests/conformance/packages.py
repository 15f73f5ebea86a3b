"""GitHub's own descriptions: npm packages of exact versions, fetched once and proven on every use."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REQUIRED = "REQUIRE_ORACLES"
"""Set to 1 where a missing description is a failure and not a reason to skip."""
_SECONDS = 90


@dataclass(frozen=True, slots=True)
class Package:
    """One file of one version of a package."""

    name: str
    version: str
    integrity: str
    """As the registry states it; pinned, so that other bytes are refused."""
    member: str

    @property
    def spec(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def tarball(self) -> str:
        return f"{self.name.lstrip('@').replace('/', '-')}-{self.version}.tgz"


REST = Package(
    "@octokit/openapi",
    "23.0.2",
    "sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==",
    "package/generated/api.github.com.json",
)
HOOKS = Package(
    "@octokit/openapi-webhooks",
    "12.1.0",
    "sha512-Z5eDsLCUNbx1zHpZb1LNQirADqdMTvWJQ/deahi0ws+tWWnwHXB+Pr4jfmM9OrETS9Y5iW8ZRu1fdbudObhLrg==",
    "package/generated/api.github.com.json",
)
EXAMPLES = Package(
    "@octokit/webhooks-examples",
    "7.6.1",
    "sha512-De6U3XB6O3DtCa7bKgCMzTHdeopqqZ6SNivMYJnK65ierKL1AnNIA0tkRYCRS7lwGT792d+Ps1WbfHlso6MynQ==",
    "package/api.github.com/index.json",
)


class Unreachable(Exception):
    """npm is missing, or could not fetch the package."""


class Forged(Exception):
    """The bytes are not those of the pinned version."""


def integrity(data: bytes) -> str:
    """A digest as npm writes it."""
    return f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"


def prove(package: Package, path: Path) -> None:
    """Raises `Forged` unless the file is the pinned version's."""
    found = integrity(path.read_bytes())
    if found != package.integrity:
        raise Forged(f"{package.spec}: the integrity of {path} is {found}, pinned is {package.integrity}")


def fetch(package: Package, cache: Path, npm: str | None) -> Path:
    """The package's tarball, from the cache or from the registry."""
    kept = cache / package.tarball
    if kept.is_file():
        prove(package, kept)
        return kept
    if npm is None:
        raise Unreachable("npm is not installed")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        _pack(package, npm, Path(folder))
        made = Path(folder) / package.tarball
        prove(package, made)
        made.replace(kept)
    return kept


def _pack(package: Package, npm: str, folder: Path) -> None:
    quiet = ["--loglevel=error", "--no-update-notifier", "--no-audit", "--no-fund", "--fetch-retries=1"]
    command = [npm, "pack", package.spec, *quiet]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False, text=True)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Unreachable(f"{package.spec}: {problem}") from problem
    if done.returncode:
        raise Unreachable(f"{package.spec}: npm ended with {done.returncode}: {done.stderr.strip()[-300:]}")


def load(package: Package, cache: Path) -> Any:
    """The JSON in the package. Without it the test is skipped aloud, or fails where the descriptions are required."""
    try:
        path = fetch(package, cache, shutil.which("npm"))
    except Unreachable as problem:
        told = f"GitHub's own description is missing: {problem}"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(told, pytrace=False)
        pytest.skip(told)
    with tarfile.open(path) as archive:
        member = archive.extractfile(package.member)
        assert member is not None, f"{package.spec} holds no {package.member}"
        return json.load(member)
