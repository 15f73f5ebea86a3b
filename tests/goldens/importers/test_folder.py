"""Bundles on disk: nothing half-written, nothing outside the folder, nothing that differs from its index."""

from __future__ import annotations

import dataclasses
import io
import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from goldens.importers import ImportProblem, Options, folder
from goldens.importers.folder import pack, read_bundle, unpack, verify, write_bundle
from goldens.importers.landing import land, safe_name
from scoring.bundle import INDEX, Bundle, BundleError, index_of, parts
from tests.goldens.importers.material import candidates, contents, form, golden_file, typed


@pytest.fixture
def bundle() -> Bundle:
    files = {"golden_comments/a.json": golden_file("g"), "judge/candidates.json": candidates("a", "b")}
    made = form("martian").build({name: json.dumps(value).encode() for name, value in files.items()}, Options())
    return dataclasses.replace(made, extra={"extra/martian/judge/odd name.json": b"{}", "evidence/1.json": b"[]"})


def archive(
    path: Path, files: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] = lambda entry: None
) -> Path:
    """A zip of files; `change` may spoil each entry."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            change(entry)
            target.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return path


def whole(files: dict[str, bytes]) -> dict[str, bytes]:
    return files | {INDEX: index_of(files)}


def test_a_folder_gives_the_bundle_back(bundle: Bundle, tmp_path: Path) -> None:
    write_bundle(bundle, tmp_path / "b")
    again = read_bundle(tmp_path / "b")
    assert typed(again) == typed(bundle)
    assert again.extra == bundle.extra
    assert contents(tmp_path / "b") == parts(bundle)


def test_nothing_is_written_over_what_is_there_unless_told(bundle: Bundle, tmp_path: Path) -> None:
    write_bundle(bundle, tmp_path / "b")
    before = contents(tmp_path / "b")
    smaller = dataclasses.replace(bundle, extra={})
    with pytest.raises(ImportProblem, match="expected a new path"):
        write_bundle(smaller, tmp_path / "b")
    assert contents(tmp_path / "b") == before
    write_bundle(smaller, tmp_path / "b", overwrite=True)
    assert contents(tmp_path / "b") == parts(smaller)
    assert [one.name for one in tmp_path.iterdir()] == ["b"]


def test_a_write_that_fails_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem):
        land(tmp_path / "out", {"good.json": b"1", "good.json/inner.json": b"2"})
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "kept.json").write_bytes(b"1")
    with pytest.raises(ImportProblem):
        land(tmp_path / "old", {"a.json": b"1", "../b.json": b"2"}, overwrite=True)
    assert contents(tmp_path) == {"old/kept.json": b"1"}


def test_a_dangling_link_counts_as_something_there(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ImportProblem, match="something there already"):
        land(tmp_path / "out", b"1")
    land(tmp_path / "out", b"1", overwrite=True)
    assert (tmp_path / "out").read_bytes() == b"1"
    assert not (tmp_path / "elsewhere").exists()


OUTSIDE = [
    "../up.json",
    "a/../../up.json",
    "/etc/up.json",
    "a//b.json",
    "./a.json",
    "a/",
    "..",
    "",
    "C:\\up.json",
    "a\\..\\b.json",
    "a:stream",
    "nul\0.json",
    "line\nbreak",
    "dot.",
    "x" * 300,
    "/".join("a" * 600),
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_leave_the_folder_or_no_system_takes_are_refused(name: str) -> None:
    with pytest.raises(ImportProblem):
        safe_name(name)


@pytest.mark.parametrize("name", [name for name in OUTSIDE if "\0" not in name])
def test_an_archive_cannot_write_outside_its_folder(name: str, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    archive(tmp_path / "evil.zip", whole({name: b"evil"}))
    with pytest.raises(BundleError):
        unpack(tmp_path / "evil.zip", inner / "out")
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["evil.zip", "inner"]


def test_an_index_cannot_reach_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_bytes(b"secret")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / INDEX).write_bytes(index_of({"../secret.json": b"secret"}))
    with pytest.raises(BundleError, match="no name a part may have"):
        verify(tmp_path / "b")


def test_a_part_that_is_a_link_is_refused(bundle: Bundle, tmp_path: Path) -> None:
    write_bundle(bundle, tmp_path / "b")
    (tmp_path / "b" / "pulls.json").rename(tmp_path / "away.json")
    (tmp_path / "b" / "pulls.json").symlink_to(tmp_path / "away.json")
    with pytest.raises(BundleError, match=r"pulls.json: a link"):
        read_bundle(tmp_path / "b")


def test_a_part_behind_a_linked_folder_is_refused(bundle: Bundle, tmp_path: Path) -> None:
    write_bundle(bundle, tmp_path / "b")
    (tmp_path / "b" / "evidence").rename(tmp_path / "away")
    (tmp_path / "b" / "evidence").symlink_to(tmp_path / "away")
    with pytest.raises(BundleError, match=r"evidence/1.json: a link"):
        verify(tmp_path / "b")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_special_files_in_an_archive_are_refused(kind: int, tmp_path: Path) -> None:
    def spoil(entry: zipfile.ZipInfo) -> None:
        entry.external_attr = (kind | 0o777) << 16

    archive(tmp_path / "evil.zip", whole({"suite.json": b"/etc/passwd"}), spoil)
    with pytest.raises(BundleError, match="a link or a special file"):
        unpack(tmp_path / "evil.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_archive_that_would_fill_the_disk_is_refused_before_it_is_unfolded(tmp_path: Path) -> None:
    archive(tmp_path / "bomb.zip", whole({"extra/zeros": bytes(64 * 1024 * 1024)}))
    assert (tmp_path / "bomb.zip").stat().st_size < 100_000
    with pytest.raises(BundleError, match="no evidence shrinks like this"):
        unpack(tmp_path / "bomb.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_sizes_and_numbers_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive(tmp_path / "a.zip", whole({"extra/a": b"12345", "extra/b": b"67890"}))
    for name, limit, says in (
        ("MAX_PARTS", 2, "more than 2 parts"),
        ("MAX_TOTAL", 9, "at most 9"),
        ("MAX_PART", 4, "4 a part"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(folder, name, limit)
            with pytest.raises(BundleError, match=says):
                unpack(tmp_path / "a.zip", tmp_path / "out")


def test_an_archive_that_lies_about_a_size_is_refused(bundle: Bundle, tmp_path: Path) -> None:
    write_bundle(bundle, tmp_path / "b")
    pack(tmp_path / "b", tmp_path / "b.zip")
    raw = bytearray((tmp_path / "b.zip").read_bytes())
    at = raw.rindex(b"PK\x01\x02")
    raw[at + 24 : at + 28] = (3).to_bytes(4, "little")
    (tmp_path / "b.zip").write_bytes(raw)
    with pytest.raises(BundleError):
        unpack(tmp_path / "b.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_two_entries_of_one_name_are_refused(tmp_path: Path) -> None:
    files = whole({"suite.json": b"1"})
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as target:
        target.writestr(INDEX, files[INDEX])
        target.writestr("suite.json", b"1")
        target.writestr("SUITE.json", b"2")
    with pytest.raises(BundleError, match=r"SUITE.json: there twice"):
        unpack(tmp_path / "two.zip", tmp_path / "out")


def test_a_part_that_no_index_names_is_refused(tmp_path: Path) -> None:
    archive(tmp_path / "more.zip", whole({"suite.json": b"1"}) | {"stowaway.json": b"2"})
    with pytest.raises(BundleError, match=r"stowaway.json: not in index.json"):
        unpack(tmp_path / "more.zip", tmp_path / "out")


def test_changed_evidence_is_named_and_does_not_land(bundle: Bundle, tmp_path: Path) -> None:
    changed = {**parts(bundle), "trials.json": b"[]"}
    archive(tmp_path / "changed.zip", changed)
    with pytest.raises(BundleError, match=r"trials.json: differs from its hash"):
        unpack(tmp_path / "changed.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    land(tmp_path / "b", changed)
    with pytest.raises(BundleError, match=r"trials.json: differs from its hash"):
        pack(tmp_path / "b", tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_a_missing_part_is_named(bundle: Bundle, tmp_path: Path) -> None:
    write_bundle(bundle, tmp_path / "b")
    (tmp_path / "b" / "card.json").unlink()
    with pytest.raises(BundleError, match=r"card.json: missing"):
        read_bundle(tmp_path / "b")


@pytest.mark.parametrize("raw", [b"", b"PK\x03\x04 not really", b"\x1f\x8b\x08", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_archive_is_refused(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(raw)
    with pytest.raises(BundleError):
        read_bundle(tmp_path / "a.zip")


def test_the_same_evidence_packs_to_the_same_bytes(bundle: Bundle, tmp_path: Path) -> None:
    write_bundle(bundle, tmp_path / "one")
    shuffled = dict(reversed(parts(bundle).items()))
    land(tmp_path / "two", shuffled)
    (tmp_path / "two" / INDEX).touch()
    for name in ("one", "two"):
        pack(tmp_path / name, tmp_path / f"{name}.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    names = zipfile.ZipFile(io.BytesIO((tmp_path / "one.zip").read_bytes())).namelist()
    assert names[0] == INDEX and names[1:] == sorted(names[1:])
