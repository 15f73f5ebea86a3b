"""Bundles on disk: a folder of parts with their index, or one archive of it that is the same for the same evidence.

What is read here may come from anybody. Names must stay inside the folder, links are refused, sizes are bounded before
anything is unfolded, and nothing lands before every part agrees with the index.
"""

from __future__ import annotations

import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from goldens.importers.landing import land, safe_name
from goldens.importers.problems import ImportProblem
from scoring.bundle import INDEX, Bundle, BundleError, load, load_parts, parts

MAX_PARTS = 100_000
MAX_PART = 256 * 1024 * 1024
MAX_TOTAL = 1024 * 1024 * 1024
MAX_RATIO = 200
"""No evidence shrinks to less than a two-hundredth; what claims to is made to fill a disk."""
SMALL = 8 * 1024 * 1024
"""Below this many bytes no ratio is asked for."""
_UNREADABLE = (
    OSError, EOFError, ValueError, RuntimeError, OverflowError, struct.error, zipfile.BadZipFile, zlib.error,
    lzma.LZMAError,
)  # fmt: skip
"""What an archive that is damaged or made to confuse can raise in the library that reads it."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MODE = (stat.S_IFREG | 0o644) << 16


def write_bundle(bundle: Bundle, folder: Path, *, overwrite: bool = False) -> None:
    """Write a bundle as a folder; all of it or nothing.

    Raises:
        ImportProblem: `folder` is there already and `overwrite` was not asked for, or it cannot be written.
    """
    land(folder, parts(bundle), overwrite=overwrite)


def read_bundle(path: Path) -> Bundle:
    """Read a bundle from its folder or archive, every part checked against the index.

    Raises:
        BundleError: it is no bundle, was changed, or has parts that may not be; the first such part is named.
    """
    return load(_archive(path) if path.is_file() else _folder(path))


def verify(path: Path) -> Mapping[str, bytes]:
    """Every part of a bundle by name, once all agree with the index.

    Raises:
        BundleError: a part is missing, was changed, or may not be there.
    """
    return load_parts(_archive(path) if path.is_file() else _folder(path))


def pack(folder: Path, archive: Path, *, overwrite: bool = False) -> None:
    """Pack a bundle's folder into one file. The same parts give the same bytes, whoever packs them and when.

    Raises:
        BundleError: the folder holds no whole bundle.
        ImportProblem: `archive` is there already and `overwrite` was not asked for, or it cannot be written.
    """
    found = dict(verify(folder))
    index = _folder(folder)(INDEX)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for name, data in [(INDEX, index), *sorted(found.items())]:
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr, entry.create_system = _MODE, 3
            target.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    with zipfile.ZipFile(packed) as made:
        # What nobody could unpack must not be taken for a backup.
        _unfold(made, len(packed.getbuffer()))
    land(archive, packed.getvalue(), overwrite=overwrite)


def unpack(archive: Path, folder: Path, *, overwrite: bool = False) -> None:
    """Unpack an archive into a new folder, after every part was checked.

    Raises:
        BundleError: the archive is none of ours, holds what no bundle holds, or differs from its index.
        ImportProblem: `folder` is there already and `overwrite` was not asked for, or it cannot be written.
    """
    read = _archive(archive)
    found = dict(load_parts(read))
    land(folder, {INDEX: read(INDEX), **found}, overwrite=overwrite)


def _folder(root: Path) -> Callable[[str], bytes]:
    def read(name: str) -> bytes:
        path = root.joinpath(*_name(name).split("/"))
        inside = [path, *path.parents[: len(path.parts) - len(root.parts) - 1]]
        if any(one.is_symlink() for one in inside):
            raise BundleError(f"{name}: a link; parts are files")
        if not path.is_file() and path.exists():
            raise BundleError(f"{name}: a folder or a special file; parts are files")
        if path.stat().st_size > MAX_PART:
            raise BundleError(f"{name}: larger than {MAX_PART} bytes")
        return path.read_bytes()

    return read


def _name(name: str) -> str:
    try:
        safe_name(name)
    except ImportProblem:
        raise BundleError(f"{name[:200]!r}: no name a part may have; names stay inside the bundle") from None
    return name


def _archive(path: Path) -> Callable[[str], bytes]:
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as source:
            found = _unfold(source, path.stat().st_size)
    except _UNREADABLE as error:
        raise BundleError(f"{path.name}: no archive that can be read: {error}") from error
    return found.__getitem__


def _unfold(source: zipfile.ZipFile, packed: int) -> dict[str, bytes]:
    entries = source.infolist()
    _sizes(entries, packed)
    folded: set[str] = set()
    for entry in entries:
        _entry(entry, folded)
    found = {entry.filename: _content(source, entry) for entry in entries}
    extra = set(found) - {INDEX} - set(load_parts(found.__getitem__))
    if extra:
        raise BundleError(f"{min(extra)}: not in {INDEX}")
    return found


def _sizes(entries: list[zipfile.ZipInfo], packed: int) -> None:
    if len(entries) > MAX_PARTS:
        raise BundleError(f"more than {MAX_PARTS} parts")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_TOTAL or any(entry.file_size > MAX_PART for entry in entries):
        raise BundleError(f"it would unfold to {total} bytes; at most {MAX_TOTAL}, and {MAX_PART} a part")
    if total > SMALL and total > packed * MAX_RATIO:
        raise BundleError(f"{packed} bytes would unfold to {total}: no evidence shrinks like this")


def _entry(entry: zipfile.ZipInfo, folded: set[str]) -> None:
    name = _name(entry.filename)
    if entry.orig_filename != entry.filename:
        raise BundleError(f"{name}: written with another name inside")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if entry.is_dir() or kind not in (0, stat.S_IFREG):
        raise BundleError(f"{name}: a link or a special file; parts are files")
    if entry.flag_bits & 0x1:
        raise BundleError(f"{name}: encrypted")
    if name.casefold() in folded:
        raise BundleError(f"{name}: there twice")
    folded.add(name.casefold())


def _content(source: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with source.open(entry) as part:
        data = part.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        raise BundleError(f"{entry.filename}: {len(data)} bytes where {entry.file_size} were announced")
    return data
