"""What is installed is what was tested: the wheel holds every file the packages need, and works outside the sources."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest

from tests.test_repository import tracked

ROOT = Path(__file__).parents[2]
PACKAGES = ("bot", "scoring", "goldens", "manifests")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    line = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        str(ROOT),
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--quiet",
    ]
    subprocess.run([*line, "--wheel-dir", str(folder)], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    (made,) = folder.glob("assay-*.whl")
    return made


@pytest.fixture(scope="module")
def place(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the wheel, and next to it only what it depends on; an empty folder to work in."""
    folder = tmp_path_factory.mktemp("place")
    venv.create(folder / "env", symlinks=True, with_pip=False)
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # What `pip install` would have fetched; our own sources are in there as a line of a .pth, which .pth does not read.
    (site / "zz-dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    (folder / "empty").mkdir()
    return folder


def assay(
    place: Path, *arguments: str, env: Mapping[str, str] | None = None, seconds: float = 100
) -> subprocess.CompletedProcess[str]:
    """What the console script of the wheel does, in an empty folder and with an environment of its own."""
    line = [str(place / "env" / "bin" / "python"), "-c", "from bot.cli import main; main()", *arguments]
    clean = {"PATH": os.environ["PATH"], "HOME": str(place), "TMPDIR": str(place), **(env or {})}
    pipe = subprocess.PIPE
    with subprocess.Popen(line, cwd=place / "empty", env=clean, stdout=pipe, stderr=pipe, text=True) as child:
        try:
            out, err = child.communicate(timeout=seconds)
        except BaseException:
            # Asked, and not killed: the demo ends the App that it started.
            child.terminate()
            raise
    return subprocess.CompletedProcess(line, child.returncode, out, err)


def test_every_file_of_the_packages_is_in_the_wheel_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not PurePosixPath(name).parts[0].endswith(".dist-info")}
    wanted = {path.relative_to(ROOT).as_posix() for path in tracked()}
    wanted = {name for name in wanted if name.split("/")[0] in PACKAGES} | {"bot/templates/app.yml"}
    assert {name for name in wanted if not name.endswith(".py")}, "there are files beside the code"
    assert wanted - held == set()
    assert held - wanted == set()


def test_the_wheel_says_how_it_is_started(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (entries,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "assay = bot.cli:main" in archive.read(entries).decode()
        assert any(name.endswith("licenses/THIRD_PARTY_NOTICES.md") for name in archive.namelist())


def test_what_is_installed_is_not_the_source_tree(place: Path) -> None:
    code = "import bot, goldens, scoring, manifests; print(bot.__file__); print(*manifests.__path__)"
    line = [str(place / "env" / "bin" / "python"), "-c", code]
    said = subprocess.run(line, cwd=place / "empty", capture_output=True, text=True, check=True).stdout.split()
    assert len(said) == 2 and all(Path(one).is_relative_to(place / "env") for one in said)


def test_the_installed_command_answers(place: Path) -> None:
    version = assay(place, "--version")
    assert (version.returncode, version.stderr) == (0, "") and version.stdout.startswith("assay, version ")
    form = assay(place, "form")
    assert form.returncode == 0 and "smoke" in form.stdout, form.stderr
    upgraded = assay(place, "db", "upgrade", env={"ASSAY_DATA_DIR": str(place / "data")})
    assert upgraded.returncode == 0, upgraded.stderr


@pytest.mark.slow
@pytest.mark.timeout(330)
def test_the_demo_works_from_what_is_installed(place: Path) -> None:
    done = assay(place, "demo", "--port", "0", "--json", "report.json", seconds=310)
    assert done.returncode == 0, done.stderr
    assert "missing:" not in done.stderr
    assert (place / "empty" / "report.json").stat().st_size > 1000
    assert [path.name for path in (place / "empty").iterdir()] == ["report.json"]
