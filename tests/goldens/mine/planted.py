"""Repositories with a history that the test knows, made by one `git fast-import`."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.adapters.git_bytes import quoted_path


def git(repository: Path, *args: str, stdin: bytes = b"") -> bytes:
    command = ["git", "--git-dir", str(repository), *args]
    return subprocess.run(command, input=stdin, check=True, capture_output=True).stdout


class Planted:
    """Commits by name. A commit's files are changes to its first parent's; None deletes one."""

    def __init__(self) -> None:
        self._stream = [b"feature done\n"]
        self._marks: dict[str, int] = {}

    def commit(
        self,
        name: str,
        files: Mapping[str, str | bytes | None],
        *parents: str,
        subject: str | None = None,
        renames: Sequence[tuple[str, str]] = (),
    ) -> str:
        mark = self._marks[name] = len(self._marks) + 1
        message = (subject or name).encode()
        out = [b"commit refs/tags/%s\nmark :%d\n" % (name.encode(), mark)]
        out.append(
            b"committer A <a@b.example> %d +0000\ndata %d\n%s\n" % (1_600_000_000 + mark * 60, len(message), message)
        )
        for word, parent in zip(("from", *["merge"] * 8), parents, strict=False):
            out.append(b"%s :%d\n" % (word.encode(), self._marks[parent]))
        if not parents:
            out.append(b"deleteall\n")
        for old, new in renames:
            out.append(b"R %s %s\n" % (quoted_path(old), quoted_path(new)))
        for path, content in files.items():
            if content is None:
                out.append(b"D %s\n" % quoted_path(path))
                continue
            data = content.encode() if isinstance(content, str) else content
            out.append(b"M 100644 inline %s\ndata %d\n%s\n" % (quoted_path(path), len(data), data))
        self._stream.append(b"".join(out))
        return name

    def write(self, path: Path, main: str) -> dict[str, str]:
        """Make the repository, `main` being the tip of its main branch; the id of each commit."""
        subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(path)], check=True)
        git(path, "fast-import", "--quiet", stdin=b"".join([*self._stream, b"done\n"]))
        ids = {name: git(path, "rev-parse", f"refs/tags/{name}^{{commit}}").decode().strip() for name in self._marks}
        git(path, "update-ref", "refs/heads/main", ids[main])
        return ids


def rows(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)
