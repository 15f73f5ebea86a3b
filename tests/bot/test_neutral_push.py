"""Why a remote refused, and what to do: git's words become one of a closed set of kinds."""

from __future__ import annotations

import pytest

from bot.neutral import PushKind, push_problem
from tests.shared import case


def test_the_shared_case_of_refused_pushes() -> None:
    kinds = [push_problem(text).kind for text in case("64")["input"]["stderr"]]
    assert kinds == [
        PushKind.WORKFLOW_PERMISSION,
        PushKind.PUSH_PROTECTION,
        PushKind.FILE_TOO_LARGE,
        PushKind.HIDDEN_REF,
        PushKind.SHALLOW,
    ]
    told = [push_problem(text).message for text in case("64")["input"]["stderr"]]
    assert "workflows: write" in told[0] and "both" in told[0] and ".github/workflows/ci.yml" in told[0]
    assert "private" in told[1] and "leave the file out" in told[1]
    assert "data/model.bin" in told[2] and "skip this golden" in told[2]
    assert "two branches" in told[3] and "fresh root commits" in told[4]
    assert not any(push_problem(text).retryable for text in case("64")["input"]["stderr"])


@pytest.mark.parametrize(
    ("stderr", "kind", "retryable"),
    [
        ("remote: error: GH013: Repository rule violations found for refs/heads/main.", PushKind.RULE, False),
        ("remote: error: GH008: Your push referenced at least 3 unknown Git LFS objects", PushKind.LFS, False),
        ("remote: fatal: pack exceeds maximum allowed size (2.00 GiB)", PushKind.FILE_TOO_LARGE, False),
        ("refusing to allow an OAuth App to create or update workflow `x` without `workflow` scope",
         PushKind.WORKFLOW_PERMISSION, False),
        ("fatal: Authentication failed for 'https://host/o/r.git/'", PushKind.AUTH, False),
        ("fatal: could not read Username for 'https://host': terminal prompts disabled", PushKind.AUTH, False),
        ("fatal: unable to access 'https://host/': The requested URL returned error: 403", PushKind.AUTH, False),
        ("remote: Permission to o/r.git denied to x[bot].", PushKind.AUTH, False),
        ("remote: Repository not found.\nfatal: repository 'https://h/o/r.git/' not found", PushKind.NOT_FOUND, True),
        ("remote: This repository was archived so it is read-only.", PushKind.READ_ONLY, False),
        ("! [rejected] main -> main (stale info)", PushKind.CONFLICT, False),
        ("! [rejected] main -> main (non-fast-forward)", PushKind.CONFLICT, False),
        ("fatal: unable to access 'https://host/': Could not resolve host: host", PushKind.NETWORK, True),
        ("error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502", PushKind.NETWORK, True),
        ("fatal: unable to access: The requested URL returned error: 429", PushKind.NETWORK, True),
        ("send-pack: unexpected disconnect while reading sideband packet", PushKind.NETWORK, True),
        ("fatal: unable to access 'https://h/': server certificate verification failed: SSL", PushKind.NETWORK, True),
        ("fatal: something new", PushKind.UNKNOWN, False),
        ("", PushKind.UNKNOWN, False),
    ],
)  # fmt: skip
def test_each_refusal_has_its_kind(stderr: str, kind: PushKind, retryable: bool) -> None:
    problem = push_problem(stderr)
    assert (problem.kind, problem.retryable) == (kind, retryable)
    assert problem.message


def test_push_protection_tells_which_commit_and_path() -> None:
    stderr = (
        "remote: error: GH013: Repository rule violations found for refs/heads/main.\n"
        "remote: - GITHUB PUSH PROTECTION\n"
        "remote:     - Push cannot contain secrets\nremote:        locations:\nremote:          - commit: 1a2b3c4d\n"
        "remote:            path: fixtures/key.pem:1\n"
    )
    assert "1a2b3c4d, fixtures/key.pem:1" in push_problem(stderr).message
    many = "\n".join(f"path: file{number}" for number in range(12))
    assert push_problem(f"Push cannot contain secrets\n{many}").message.endswith("file8, file9)")


def test_what_the_remote_said_is_cut_and_holds_no_control_character() -> None:
    message = push_problem("fatal: \x1b[31mred\x07\r\n" + "x" * 100_000).message
    assert len(message) < 400 and message.isprintable()
    assert message.startswith("git failed: fatal: [31mred xxx")


def test_what_is_quoted_is_at_most_300_characters_and_tells_that_it_was_cut() -> None:
    assert push_problem("y" * 300).message == "git failed: " + "y" * 300
    assert push_problem("y" * 301).message == "git failed: " + "y" * 299 + "…"


def test_a_refusal_without_a_place_or_a_word_has_no_empty_brackets() -> None:
    assert push_problem("shallow update not allowed").message.endswith("or fetch the full history")
    assert push_problem("").message == push_problem(" \n\0").message == "git failed and said nothing"


def test_a_long_hostile_answer_is_classified_at_once() -> None:
    for unit in ("without `", "permission to ", "File ", "repository '", "commit: ", "a"):
        assert push_problem(unit * 50_000).message
