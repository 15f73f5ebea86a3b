"""What a format is: documents by name -> a bundle, and a bundle -> documents; files are gathered and landed here."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from goldens.importers.landing import land
from goldens.importers.problems import ImportProblem, fail
from goldens.importers.strict import MAX_BYTES
from goldens.importers.words import Options
from scoring.bundle import Bundle

Documents = Mapping[str, bytes]
"""Files by name, as the format lays them out."""
NO_OPTIONS = Options()


class Format(Protocol):
    """A way others keep goldens, comments and judgements."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""

    def detect(self, path: Path) -> bool:
        """Whether a file or folder looks like this format."""

    def read(self, path: Path, options: Options = NO_OPTIONS) -> Bundle:
        """Import a file or folder.

        Raises:
            ImportProblem: it is malformed; every problem is named.
        """

    def write(self, bundle: Bundle, path: Path, *, overwrite: bool = False) -> None:
        """Export a bundle into a new file or folder; all of it or nothing.

        Raises:
            ImportProblem: the bundle has nothing to say in this format, or `path` is taken.
        """


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """A format given by three functions over documents. What was imported and not changed is exported byte for byte."""

    name: str
    gather: Callable[[Path], Mapping[str, Path]]
    """The format's files at or around a path, by their name in the format; empty: this is not it."""
    build: Callable[[Documents, Options], Bundle]
    generate: Callable[[Bundle, Documents], Documents]
    """The documents of a bundle. The second argument are the imported originals, whose unknown keys are kept."""
    looks: Callable[[str, Any], bool] | None = None
    """Whether a file of that name and content (parsed JSON, or a table's column names) marks this format; None: names
    alone do."""

    def detect(self, path: Path) -> bool:
        """Whether a file or folder looks like this format."""
        found = self.gather(path) if path.exists() else {}
        if self.looks is None:
            return bool(found)
        return any(self.looks(name, peek(file)) for name, file in found.items())

    def read(self, path: Path, options: Options = NO_OPTIONS) -> Bundle:
        """Import a file or folder."""
        if not path.exists():
            raise fail(str(path), "$", f"a file or folder in the format {self.name}", "nothing")
        found = self.gather(path)
        if not found:
            raise fail(str(path), "$", f"files of the format {self.name}", "none")
        documents = {name: _bytes(file, path) for name, file in found.items()}
        bundle = self.build(documents, options)
        extra = {f"extra/{self.name}/{name}": data for name, data in documents.items()}
        if options != NO_OPTIONS:
            extra[self._options_part] = json.dumps(dataclasses.asdict(options), sort_keys=True).encode()
        return dataclasses.replace(bundle, extra={**bundle.extra, **extra})

    def write(self, bundle: Bundle, path: Path, *, overwrite: bool = False) -> None:
        """Export a bundle into a folder; a single document into a file, if `path` ends as its name does."""
        documents = self.documents(bundle)
        if not documents:
            raise fail(str(path), "$", f"something that {self.name} can hold", "nothing in the bundle")
        alone = len(documents) == 1 and path.suffix and next(iter(documents)).endswith(path.suffix)
        land(path, next(iter(documents.values())) if alone else documents, overwrite=overwrite)

    def documents(self, bundle: Bundle) -> Documents:
        """What an export consists of."""
        kept = self.originals(bundle)
        if kept and self._unchanged(bundle, kept):
            return kept
        return self.generate(bundle, kept)

    def originals(self, bundle: Bundle) -> dict[str, bytes]:
        """The documents that a bundle was imported from."""
        prefix = f"extra/{self.name}/"
        return {name.removeprefix(prefix): data for name, data in bundle.extra.items() if name.startswith(prefix)}

    @property
    def _options_part(self) -> str:
        return f"extra/{self.name}.options.json"

    def _unchanged(self, bundle: Bundle, kept: Documents) -> bool:
        stored = bundle.extra.get(self._options_part)
        try:
            options = Options(**json.loads(stored)) if stored else NO_OPTIONS
            return _contents(self.build(kept, options)) == _contents(bundle)
        except (ImportProblem, TypeError):
            return False


def _contents(bundle: Bundle) -> tuple[object, ...]:
    """What an export is about: everything but provenance, judges in a fixed order."""
    return bundle.pulls, bundle.trials, sorted(bundle.judgements, key=lambda one: one.judge)


def peek(path: Path) -> Any:
    """What a file holds, to tell formats apart: parsed JSON, the column names of a table, or None."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        if path.suffix == ".csv":
            with path.open(encoding="utf-8-sig") as file:
                return file.readline(10_000).strip().split(",")
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def json_files(path: Path, *endings: str) -> dict[str, Path]:
    """A file itself, or the files of a folder, by name. A file that somebody points at is taken whatever its name."""
    if path.is_file():
        return {path.name: path}
    wanted = endings or (".json",)
    return {one.name: one for one in sorted(path.iterdir()) if one.is_file() and one.name.endswith(wanted)}


def _bytes(path: Path, root: Path) -> bytes:
    """A file's content. What a folder of somebody's links to is not his: only the path that was given may be a link."""
    inside = [one for one in (path, *path.parents) if root in one.parents] if path != root else []
    if any(one.is_symlink() for one in inside):
        raise fail(str(path), "$", "a file of the folder itself", "a symbolic link")
    if path.exists() and not path.is_file():
        raise fail(str(path), "$", "a file", "a folder or a special file")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise fail(str(path), "$", f"at most {MAX_BYTES} bytes", f"{path.stat().st_size} bytes")
        return path.read_bytes()
    except OSError as error:
        raise fail(str(path), "$", "a readable file", str(error.strerror)) from None
