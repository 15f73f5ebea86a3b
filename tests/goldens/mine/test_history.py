"""Reading a clone: the adapter, and the shortened lineage that makes blame fast."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from bot.adapters.git import GitError, GitKind
from bot.adapters.history import GitHistory
from goldens.mine.history import History, HistoryError, Lineage, read_history
from goldens.mine.reader import BlameAsk
from goldens.mine.trace import read_blame
from tests.goldens.mine.planted import Planted, git, rows


def history_of(reader: GitHistory, *tips: str) -> History:
    return read_history(reader.log([reader.resolve(tip) for tip in tips]))


def random_history(seed: int, path: Path, commits: int = 70) -> str:
    """Branches, merges, criss-crosses, octopuses and renames; the name of the last commit."""
    rng, planted = random.Random(seed), Planted()
    trees: dict[str, dict[str, list[str]]] = {}
    tips = ["c0"]
    trees["c0"] = {f"f{i}.py": [f"line {i} {k}" for k in range(12)] for i in range(4)}
    planted.commit("c0", {name: rows(*lines) for name, lines in trees["c0"].items()})
    for number in range(1, commits):
        name = f"c{number}"
        wanted = rng.choice([1, 1, 1, 1, 2, 2, 3])
        parents = rng.sample(tips[-6:], min(wanted, len(tips[-6:])))
        tree = {file: list(lines) for file, lines in trees[parents[0]].items()}
        if len(parents) > 1:
            for file in set(trees[parents[1]]) | set(tree):
                side = rng.choice([trees[parents[0]], trees[parents[1]]])
                tree.pop(file, None)
                if file in side:
                    tree[file] = list(side[file])
        renames = []
        if len(parents) == 1 and rng.random() < 0.2 and tree:
            old = rng.choice(sorted(tree))
            new = f"r{number}.py"
            tree[new] = tree.pop(old)
            renames.append((old, new))
        for file in rng.sample(sorted(tree), min(rng.choice([0, 1, 2]), len(tree))):
            lines = tree[file]
            at = rng.randrange(len(lines) + 1)
            lines.insert(at, f"written in {name} {rng.randrange(9)}")
            if rng.random() < 0.5:
                del lines[rng.randrange(len(lines))]
        files: dict[str, str | bytes | None] = {file: rows(*lines) for file, lines in tree.items()}
        files |= {file: None for file in trees[parents[0]] if file not in tree and file not in dict(renames)}
        planted.commit(name, files, *parents, renames=renames)
        trees[name] = tree
        tips = [tip for tip in tips if rng.random() < 0.7 or tip not in parents] + [name]
    last = planted.commit("last", {"end.py": "x\n"}, *dict.fromkeys([f"c{commits - 1}", *tips[-4:]]))
    planted.write(path, last)
    return last


@pytest.mark.parametrize("seed", range(6))
def test_the_shortened_lineage_blames_as_the_whole_history_does(seed: int, tmp_path: Path) -> None:
    random_history(seed, tmp_path / "r.git")
    compared = 0
    with GitHistory(tmp_path / "r.git") as reader:
        history = history_of(reader, "main")
        for commit in random.Random(seed).sample(history.ids, 12):
            listed = git(tmp_path / "r.git", "ls-tree", "-r", "-z", "--name-only", commit).decode().split("\0")[:-1]
            for path in listed[:3]:
                number = history.number(commit)
                asks = [
                    BlameAsk(commit, path, ((1, 9_999_999),), lineage)
                    for lineage in (Lineage(history, path).grafts(number), None)
                ]
                lengths = len(git(tmp_path / "r.git", "show", f"{commit}:{path}").splitlines())
                short, whole = (
                    read_blame(reader.blame(BlameAsk(a.commit, a.path, ((1, lengths),), a.lineage))) for a in asks
                )
                assert sorted(short, key=str) == sorted(whole, key=str), (commit, path)
                compared += 1
    assert compared > 20


@pytest.mark.parametrize("seed", range(4))
def test_merge_bases_are_gits(seed: int, tmp_path: Path) -> None:
    random_history(seed, tmp_path / "r.git")
    rng = random.Random(seed)
    with GitHistory(tmp_path / "r.git") as reader:
        history = history_of(reader, "main")
    for _ in range(40):
        one, two = rng.choice(history.ids), rng.choice(history.ids)
        out = subprocess.run(
            ["git", "--git-dir", str(tmp_path / "r.git"), "merge-base", "--all", one, two],
            capture_output=True,
            check=True,
        ).stdout
        ours = history.merge_bases(history.number(one), history.number(two))
        assert {history.ids[number] for number in ours} == set(out.decode().split())
        assert history.is_ancestor(history.number(one), history.number(two)) == (one in out.decode().split())


def test_the_main_line_is_the_first_tips_first_parents(tmp_path: Path) -> None:
    random_history(3, tmp_path / "r.git")
    with GitHistory(tmp_path / "r.git") as reader:
        history = history_of(reader, "main", "c30")
    main = git(tmp_path / "r.git", "rev-list", "--first-parent", "main").decode().split()
    assert {name for name in history.ids if history.on_main(history.number(name))} == set(main)


def test_subjects_and_paths_of_any_form_are_read(tmp_path: Path) -> None:
    planted = Planted()
    planted.commit("a", {"tab\there é.py": "x\n", "new\nline": "y\n"}, subject=":100644 \x01 \x02 (#1)")
    planted.commit("b", {"tab\there é.py": "y\n"}, "a", subject="0" * 40)
    planted.commit("empty", {}, "b", subject=" ")
    ids = planted.write(tmp_path / "r.git", "empty")
    with GitHistory(tmp_path / "r.git") as reader:
        history = history_of(reader, "main")
        assert reader.blobs([(ids["b"], "tab\there é.py"), (ids["b"], "nowhere"), (ids["b"], "new\nline")]) == (
            b"y\n",
            None,
            None,
        )
    assert history.ids == [ids["empty"], ids["b"], ids["a"]]
    assert list(history.touched["tab\there é.py"]) == [1, 2]
    assert history.subjects[2].startswith(":100644")


@pytest.mark.parametrize("cut", [b"\0", b"x\0y\0z\0s\0", b"0" * 40 + b"\0\0" + b"12\0subject\0:1 1 a b M\0"])
def test_a_history_that_is_cut_off_is_refused(cut: bytes) -> None:
    if cut == b"\0":
        assert read_history([cut]).ids == []
        return
    with pytest.raises(HistoryError):
        read_history([cut])
    with pytest.raises(HistoryError):
        read_history([b"0" * 40 + b"\0\0" + b"12\0half a subject"])


def test_differences_come_in_the_order_asked_even_for_equal_trees(tmp_path: Path) -> None:
    planted = Planted()
    planted.commit("a", {"a.py": "1\n"})
    planted.commit("b", {"a.py": f"{'0' * 40}\n"}, "a")
    planted.commit("c", {}, "b")
    ids = planted.write(tmp_path / "r.git", "c")
    pairs = [(ids["b"], ids["c"]), (ids["a"], ids["b"]), (ids["c"], ids["a"]), (ids["a"], ids["b"])]
    with GitHistory(tmp_path / "r.git") as reader:
        empty, forth, back, again = reader.diffs(pairs)
        assert reader.diffs([]) == ()
    assert empty == b"" and forth == again and b"\n+0000000" in forth and b"\n-0000000" in back


@pytest.mark.parametrize(
    "name", ["--upload-pack=x", "-x", "main..b", "a b", "main^{/x}", "@{-1}", "", "a\nb", "x:y", "é"]
)
def test_a_hostile_ref_is_refused_before_git_sees_it(name: str, tmp_path: Path) -> None:
    planted = Planted()
    planted.commit("a", {"a.py": "1\n"})
    planted.write(tmp_path / "r.git", "a")
    with GitHistory(tmp_path / "r.git") as reader, pytest.raises(GitError) as error:
        reader.resolve(name)
    assert error.value.kind is GitKind.BAD_INPUT


def test_a_ref_that_is_not_there_and_ids_that_are_none(tmp_path: Path) -> None:
    planted = Planted()
    planted.commit("a", {"a.py": "1\n"})
    ids = planted.write(tmp_path / "r.git", "a")
    with GitHistory(tmp_path / "r.git") as reader:
        for name in ("nowhere", "0" * 40):
            with pytest.raises(GitError, match="has no commit"):
                reader.resolve(name)
        for ask in (
            BlameAsk("HEAD", "a.py", ((1, 1),)),
            BlameAsk(ids["a"], "", ((1, 1),)),
            BlameAsk(ids["a"], "a.py", ()),
        ):
            with pytest.raises(GitError):
                reader.blame(ask)
        with pytest.raises(GitError):
            reader.diffs([("main", ids["a"])])
    with pytest.raises(GitError, match="no git repository"):
        GitHistory(tmp_path)


def test_the_clone_is_not_written_to_and_its_configuration_has_no_say(tmp_path: Path) -> None:
    planted = Planted()
    planted.commit("a", {"a.py": "1\n", ".gitattributes": "*.py diff=evil filter=evil\n"})
    planted.commit("b", {"a.py": "2\n"}, "a")
    ids = planted.write(tmp_path / "r.git", "b")
    ran = tmp_path / "ran"
    with (tmp_path / "r.git" / "config").open("a") as config:
        config.write(f'[diff "evil"]\n\ttextconv = touch {ran} #\n\tcommand = touch {ran} #\n')
        config.write(f"[core]\n\tfsmonitor = touch {ran} #\n[blame]\n\tignoreRevsFile = /nowhere\n")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "r.git").rglob("*")}
    with GitHistory(tmp_path / "r.git") as reader:
        assert len(history_of(reader, "main").ids) == 2
        assert b"+2" in reader.diffs([(ids["a"], ids["b"])])[0]
        assert read_blame(reader.blame(BlameAsk(ids["b"], "a.py", ((1, 1),))))[0].commit == ids["b"]
        home = reader._home
    assert not ran.exists() and not home.exists()
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "r.git").rglob("*")}


def test_a_work_tree_a_linked_one_and_a_shallow_clone_are_read(tmp_path: Path) -> None:
    planted = Planted()
    for number in range(4):
        planted.commit(f"c{number}", {"a.py": f"{number}\n"}, *([f"c{number - 1}"] if number else []))
    ids = planted.write(tmp_path / "r.git", "c3")
    quiet = {"check": True, "capture_output": True}
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
    url = (tmp_path / "r.git").as_uri()
    subprocess.run(["git", "clone", "-q", url, str(tmp_path / "w")], env=env, **quiet)  # type: ignore[call-overload]
    subprocess.run(
        ["git", "-C", str(tmp_path / "w"), "worktree", "add", "-q", "--detach", str(tmp_path / "l")], **quiet
    )  # type: ignore[call-overload]
    subprocess.run(["git", "clone", "-q", "--depth=2", url, str(tmp_path / "s")], env=env, **quiet)  # type: ignore[call-overload]
    for place, count in (("w", 4), ("l", 4), ("s", 2)):
        with GitHistory(tmp_path / place) as reader:
            history = history_of(reader, "HEAD")
            assert len(history.ids) == count, place
            (only,) = read_blame(
                reader.blame(BlameAsk(ids["c3"], "a.py", ((1, 1),), Lineage(history, "a.py").grafts(0)))
            )
            assert (only.commit, only.boundary) == (ids["c3"], False)
    with GitHistory(tmp_path / "s") as reader:
        (edge,) = read_blame(reader.blame(BlameAsk(ids["c2"], "a.py", ((1, 1),))))
        assert (edge.commit, edge.boundary) == (ids["c2"], True)
