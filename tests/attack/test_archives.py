"""Archives and folders made to write elsewhere, read elsewhere, fill a disk, or break the reader."""

from __future__ import annotations

import os
import stat
import warnings
import zipfile
from pathlib import Path

import pytest

from goldens.importers import FORMATS, ImportProblem
from goldens.importers.folder import read_bundle, unpack
from scoring.bundle import INDEX, BundleError, index_of
from tests.attack.seeds import archived, bundle_parts
from tests.goldens.importers.material import golden_file, put

OUTSIDE = (
    "../out", "a/../../out", "/tmp/out", "//host/share/out", "C:\\out", "C:/out", "..\\out", "a/..", ".", "a//b",
    "a/./b",
    "nul\x00.json", "con\x1f.json", "a:stream", "trailing. ", "x" * 300, "extra/" + "d/" * 600 + "x",
)  # fmt: skip


def _named(name: str) -> dict[str, bytes]:
    held = {part: data for part, data in bundle_parts().items() if part != INDEX} | {name: b"{}"}
    return {INDEX: index_of(held)} | held


def _refused(data: bytes, place: Path) -> None:
    place.mkdir(exist_ok=True)
    (place / "a.zip").write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((BundleError, ImportProblem)):
            unpack(place / "a.zip", place / "in" / "out")
    assert {one.name for one in place.iterdir()} <= {"a.zip", "in"}
    assert not (place / "in").exists() or not list((place / "in").iterdir())


@pytest.mark.parametrize("name", OUTSIDE, ids=lambda name: repr(name[:20]))
def test_no_name_in_an_archive_leads_out_of_its_folder(name: str, tmp_path: Path) -> None:
    _refused(archived(_named(name)), tmp_path / "place")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK, stat.S_IFDIR])
def test_an_archive_holds_files_and_nothing_else(kind: int, tmp_path: Path) -> None:
    _refused(archived(_named("extra/link"), mode=kind | 0o777), tmp_path / "place")


def test_names_that_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    _refused(archived(_named("extra/a.json") | {"extra/A.json": b"{}"}), tmp_path / "place")


@pytest.mark.parametrize("how", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_or_unknown_squeezing_is_an_error_of_ours(how: int, tmp_path: Path) -> None:
    sound = archived(bundle_parts(), how=how)
    for number, at in enumerate(range(40, len(sound) // 2, 97)):
        spoiled = bytearray(sound)
        spoiled[at : at + 8] = b"\xff" * 8
        (tmp_path / "a.zip").write_bytes(bytes(spoiled))
        try:
            unpack(tmp_path / "a.zip", tmp_path / f"out{number}")
        except (BundleError, ImportProblem):
            continue


def test_an_archive_that_shrank_too_well_is_not_unfolded(tmp_path: Path) -> None:
    _refused(archived(_named("extra/zeros") | {"extra/zeros": bytes(40 * 1024 * 1024)}), tmp_path / "place")


def test_an_index_that_is_nested_without_end_is_an_error_of_ours(tmp_path: Path) -> None:
    _refused(archived({INDEX: b'{"schema": ' + b"[" * 100_000}), tmp_path / "place")


def test_a_part_of_a_folder_that_never_ends_is_not_opened(tmp_path: Path) -> None:
    folder = put(tmp_path / "b", dict(bundle_parts()))
    (folder / "pulls.json").unlink()
    os.mkfifo(folder / "pulls.json")
    with pytest.raises(BundleError, match=r"pulls\.json: a folder or a special file"):
        read_bundle(folder)


def test_a_pattern_in_a_bundle_that_would_never_end_is_refused() -> None:
    from scoring.bundle import load

    found = {name: data for name, data in bundle_parts().items() if name != INDEX}
    for pattern in (r"(a+)+$", r"(?:a?)?" * 50, r"(.*a){9}"):
        held = found | {"reviewers.json": _reviewer(pattern)}
        with pytest.raises(BundleError, match=r"reviewers\.json: a pattern of bot"):
            load((held | {INDEX: index_of(held)}).__getitem__)


def _reviewer(*patterns: str) -> bytes:
    import json

    return json.dumps([{"id": "bot", "name": "", "vendor": "", "not_findings": patterns}]).encode()


@pytest.mark.parametrize("name", ["martian", "codevetter"])
def test_a_link_in_somebodys_folder_shows_nothing_of_ours(name: str, tmp_path: Path) -> None:
    ours = tmp_path / "ours.json"
    ours.write_text('[{"secret": 1}]')
    folder = put(tmp_path / "theirs", {"golden_comments/a.json": golden_file("one")})
    for place in ("golden_comments/b.json", "reviews/b.json", "b.json"):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).symlink_to(ours)
    with pytest.raises(ImportProblem) as caught:
        FORMATS[name].read(folder)
    assert "secret" not in str(caught.value)


def test_a_linked_folder_within_somebodys_folder_is_refused(tmp_path: Path) -> None:
    real = put(tmp_path / "real", {"a.json": golden_file("one")})
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "golden_comments").symlink_to(real)
    with pytest.raises(ImportProblem, match="a symbolic link"):
        FORMATS["martian"].read(folder)
