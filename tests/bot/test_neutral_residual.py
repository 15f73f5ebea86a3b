"""What trees still give away is counted, kind by kind, and nothing else is."""

from __future__ import annotations

import time

from bot.neutral_residual import KINDS, TELLING, Residual, residual_note


def counted(upstream: str | None, paths: list[str], *blobs: bytes) -> dict[str, int]:
    residual = Residual(upstream)
    residual.paths(paths)
    for content in blobs:
        residual.blob(content)
    return dict(residual.counted())


def test_each_kind_is_counted() -> None:
    paths = ["src/widgets/core.py", "package.json", "LICENSE", "docs/NOTICE.txt", "plain.py", "Acme.sln"]
    text = (
        b"# Copyright (c) 2021 Acme Inc.\n# Copyright 2019 somebody\n"
        b"see https://github.com/acme/widgets and http://example.org/x, git@github.com:acme/widgets.git\n"
        b"import widgets  # mail dev@acme.dev\n"
    )
    assert counted("Acme/Widgets", paths, text) == {
        "blobs": 6,
        "upstream_paths": 2,
        "upstream_texts": 2,
        "name_texts": 1,
        "package_files": 1,
        "copyrights": 2,
        "licences": 2,
        "forge_links": 2,
        "links": 2,
        "addresses": 2,
    }


def test_a_name_inside_a_longer_word_and_bytes_that_are_no_text_count_for_nothing() -> None:
    assert counted("acme/go", ["good/cargo.py"], b"good cargo\n", b"\0https://github.com/acme/go") == {"blobs": 1}
    assert counted("acme/go", ["x"], b"go, Go!\n")["name_texts"] == 2


def test_what_one_file_tells_is_added_to_what_another_told() -> None:
    text = b"(C)opyright 2021\nhttps://github.com/acme/go by go a@b.co\n"
    assert counted("acme/go", [], text, text, b"nothing") == {
        "upstream_texts": 2,
        "name_texts": 2,
        "copyrights": 2,
        "forge_links": 2,
        "links": 2,
        "addresses": 2,
    }


def test_a_copyright_that_is_shouted_and_a_clone_address_without_a_scheme_count_as_well() -> None:
    assert counted(None, [], b"COPYRIGHT 2020 ACME\n") == {"copyrights": 1}
    assert counted(None, [], b"git@github.com:acme/go.git") == {"forge_links": 1, "addresses": 1}


def test_a_name_of_two_words_is_known_in_a_path_by_any_separator() -> None:
    assert counted("acme/my-widgets", ["src/My_Widgets/a.py", "my/b.py"]) == {"blobs": 2, "upstream_paths": 1}


def test_each_file_that_nobody_looked_into_is_counted() -> None:
    residual = Residual("acme/go")
    residual.unread()
    residual.unread()
    assert residual.counted() == {"unread": 2}


def test_a_suite_that_ships_its_files_has_no_upstream_to_give_away() -> None:
    found = counted(None, ["package.json"], b"https://example.com\n")
    assert found == {"blobs": 1, "package_files": 1, "links": 1}
    assert set(found) <= set(KINDS)


def test_hostile_repetition_costs_no_more_than_a_moment() -> None:
    begun = time.process_time()
    for unit in (b"a" * 60 + b"@", b"opyright ", b"://", b"github.com", b"a@a.", b"acme/widgets"):
        counted("acme/widgets", [], unit * (200_000 // len(unit)))
    assert time.process_time() - begun < 10


def test_a_run_says_in_one_sentence_what_its_files_tell_and_nothing_where_they_tell_nothing() -> None:
    assert residual_note([{"blobs": 3, "links": 2}, {}]) == ()
    (told,) = residual_note([{"upstream_texts": 2, "blobs": 9}, {"upstream_texts": 3, "licences": 1}])
    assert "a file names owner/name: 5; " in told and "author files: 1." in told and "9" not in told
    assert set(TELLING) <= set(KINDS)
