"""The reader against git itself: random trees, every option that changes how a diff is printed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.adapters.git_bytes import quoted_path
from goldens.diff import ChangeKind, FileChange, LineKind, read_diff

LOOKALIKES = ["--- a/x", "+++ b/x", "-- a", "++ b", "@@ -1 +1 @@", "diff --git a/x b/x", "\\ No newline at end of file"]
ODD = ["", "x", "y", "z = 1", " ", "-", "\x0c", "\r", "w\r", "\u2028", "\x85"]
LINES = st.sampled_from([*(text.encode() for text in (*LOOKALIKES, *ODD)), b"\xff\xe9"])
CONTENT = st.builds(
    lambda lines, end: b"\n".join(lines) + (b"\n" if end and lines else b""),
    st.lists(LINES, max_size=30),
    st.booleans(),
)
NAMES = st.sampled_from(
    ["a/m.py", "b/m.py", "x b/y", "a b", "é.txt", 'q"uote', "tab\there", "back\\slash", "deep/er/f.py", " lead", "日本"]
)
TREES = st.dictionaries(NAMES, CONTENT, max_size=6)
STYLES = st.sampled_from(
    [(), ("--no-prefix",), ("--src-prefix=i/", "--dst-prefix=w/"), ("--src-prefix=old/", "--dst-prefix=new/"), ("-R",)]
)
CONTEXTS = st.sampled_from([0, 1, 3, 25])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("diffs") / "r.git"
    subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
    return path


def git(repository: Path, *args: str, stdin: bytes = b"") -> bytes:
    command = ["git", "--git-dir", str(repository), "-c", "core.quotePath=true", *args]
    return subprocess.run(command, input=stdin, check=True, capture_output=True).stdout


def commit(repository: Path, *trees: Mapping[str, bytes]) -> None:
    out = [b"feature done\n"]
    for name, tree in zip((b"old", b"new"), trees, strict=True):
        out.append(b"commit refs/heads/%s\ncommitter A <a@b.example> 1 +0000\ndata 1\nx\ndeleteall\n" % name)
        for path, content in tree.items():
            out.append(b"M 100644 inline %s\ndata %d\n%s\n" % (quoted_path(path), len(content), content))
    git(repository, "fast-import", "--quiet", "--force", stdin=b"".join([*out, b"done\n"]))


def applied(change: FileChange, old: bytes) -> bytes:
    """The new file, from the old one and the hunks alone."""
    rows = old.split(b"\n")
    lines = [row + b"\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])
    out, at = list[bytes](), 0
    for hunk in change.hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        out += lines[at:start]
        at = start
        for line in hunk.lines:
            text = line.text.encode("utf-8", "surrogateescape") + (b"\n" if line.newline else b"")
            if line.kind is not LineKind.ADDED:
                assert (lines[at], at + 1) == (text, line.old)
                at += 1
            if line.kind is not LineKind.REMOVED:
                out.append(text)
                assert line.new == len(out)
    return b"".join([*out, *lines[at:]])


def numstat(raw: bytes) -> Iterator[tuple[str | None, str | None, str | None]]:
    """(added, removed, new path) of `--numstat -z`."""
    parts = iter(raw.split(b"\0")[:-1])
    for part in parts:
        added, removed, path = part.decode("utf-8", "surrogateescape").split("\t", 2)
        if not path:
            next(parts)
            path = next(parts).decode("utf-8", "surrogateescape")
        yield added, removed, path


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TREES, TREES, STYLES, CONTEXTS, st.booleans())
def test_hunks_applied_to_the_old_tree_give_the_new_one(
    repository: Path, old: dict[str, bytes], new: dict[str, bytes], style: tuple[str, ...], context: int, quote: bool
) -> None:
    commit(repository, old, new)
    before, after = (new, old) if "-R" in style else (old, new)
    flags = ["-c", f"core.quotePath={str(quote).lower()}", "diff-tree", "-r", "-M", "--text", *style]
    changes = read_diff(git(repository, *flags, "-p", f"-U{context}", "old", "new", "--"))
    result = dict(before)
    for change in changes:
        if change.old_path is not None and change.kind is not ChangeKind.COPIED:
            result.pop(change.old_path, None)
    for change in changes:
        if change.new_path is not None:
            result[change.new_path] = applied(change, before[change.old_path] if change.old_path is not None else b"")
    assert result == after
    told = list(numstat(git(repository, *flags, "--numstat", "-z", "old", "new", "--")))
    assert [(str(change.added), str(change.removed), change.path) for change in changes] == told


def test_every_kind_of_entry_that_git_prints_is_one_change(repository: Path) -> None:
    def entries(*rows: bytes) -> bytes:
        return b"deleteall\n" + b"".join(rows)

    def blob(mode: bytes, path: bytes, content: bytes) -> bytes:
        return b"M %s inline %s\ndata %d\n%s\n" % (mode, path, len(content), content)

    link = b"M 160000 %s vendor/lib\n"
    old = entries(
        blob(b"100644", b"run.sh", b"#!\n"), blob(b"100644", b"pic.bin", b"\0\1"), blob(b"120000", b"link", b"run.sh")
    )
    new = entries(
        blob(b"100755", b"run.sh", b"#!\n"), blob(b"100644", b"pic.bin", b"\0\2"), blob(b"100644", b"link", b"run.sh")
    )
    head = b"commit refs/heads/%s\ncommitter A <a@b.example> 1 +0000\ndata 1\nx\n"
    stream = b"feature done\n" + head % b"k1" + old + link % (b"1" * 40) + head % b"k2" + new + link % (b"2" * 40)
    git(repository, "fast-import", "--quiet", "--force", stdin=stream + b"done\n")
    for binary in ([], ["--binary"]):
        changes = read_diff(git(repository, "diff-tree", "-r", "-p", "--full-index", *binary, "k1", "k2", "--"))
        raw = git(repository, "diff-tree", "-r", "--raw", "-z", "k1", "k2", "--").split(b"\0")[1::2]
        assert {change.path for change in changes} == {path.decode() for path in raw}
        by_path = {change.path: change for change in changes}
        assert by_path["run.sh"].mode_only and by_path["pic.bin"].binary and by_path["vendor/lib"].submodule
        # Git prints a change of type as a deletion and a creation of one path.
        assert [c.kind for c in changes if c.path == "link"] == [ChangeKind.DELETED, ChangeKind.ADDED]


def test_a_real_merge_is_combined(repository: Path) -> None:
    def stream(ref: bytes, content: bytes, *parents: bytes) -> bytes:
        frm = b"".join(b"%s %s\n" % (word, parent) for word, parent in zip((b"from", b"merge"), parents, strict=False))
        body = b"M 100644 inline m.txt\ndata %d\n%s\n" % (len(content), content)
        return b"commit refs/heads/%s\ncommitter A <a@b.example> 1 +0000\ndata 1\nx\n%s%s" % (ref, frm, body)

    out = stream(b"root", b"a\nb\nc\n") + stream(b"one", b"a\nB1\nc\n", b"refs/heads/root")
    out += stream(b"two", b"a\nB2\nc\n", b"refs/heads/root")
    out += stream(b"both", b"a\nB12\nc\nd\n", b"refs/heads/one", b"refs/heads/two")
    git(repository, "fast-import", "--quiet", "--force", stdin=b"feature done\n" + out + b"done\n")
    for flag in ("-c", "--cc"):
        (change,) = read_diff(git(repository, "diff-tree", flag, "-p", "both"))
        assert (change.combined, change.path, change.added_lines) == (True, "m.txt", (2, 4))
