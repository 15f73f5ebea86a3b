"""What a host would refuse in a tree is known before the push, and no finding repeats a secret."""

from __future__ import annotations

import time

import pytest

from bot.neutral_preflight import (
    MEBIBYTE,
    FindingKind,
    TreeFinding,
    Verdict,
    clash_findings,
    secret_finding,
    secrets,
    size_findings,
)

A = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
"""Put together here, so that no file of ours looks as if it held a secret."""
KINDS = {
    "ghp_" + (A * 2)[:36]: "GitHub token",
    "ghs_" + (A * 2)[:36]: "GitHub token",
    "github_pat_" + (A * 4)[:82]: "GitHub token",
    "glpat-" + A[:20]: "GitLab token",
    "AKIA" + "Q7" * 8 + '"\nsecret = "' + (A * 2)[:40] + '"': "AWS key with its secret",
    "AIza" + (A * 2)[:35]: "Google API key",
    "GOCSPX-" + (A * 2)[:28]: "Google OAuth secret",
    "xoxb-" + "123456789012-" + A[:24]: "Slack token",
    "https://hooks.slack.com/services/" + "T01234567/B01234567/" + A[:24]: "Slack webhook",
    "sk_live_" + A[:24]: "Stripe key",
    "npm_" + (A * 2)[:36]: "npm token",
    "pypi-AgE" + (A * 3)[:60]: "PyPI token",
    "SG." + A[:22] + "." + (A * 2)[:43]: "SendGrid key",
    "sk-proj-" + A[:20] + "T3BlbkFJ" + A[:20]: "OpenAI key",
    "sk-ant-" + "api03-" + (A * 4)[:95]: "Anthropic key",
    "AccountKey=" + (A * 4)[:86] + "==": "Azure storage key",
    "dop_v1_" + "0a" * 32: "DigitalOcean token",
    "hf_" + ("aBcDeF" * 6)[:34]: "Hugging Face token",
    "dapi" + "0a" * 16: "Databricks token",
    "shpat_" + "0a" * 16: "Shopify token",
}


@pytest.mark.parametrize("text", KINDS)
def test_each_well_known_format_is_found_wherever_it_stands(text: str) -> None:
    for before, after in (("", ""), ("key = '", "'\n"), ("x\n# ", " # end"), ('{"k": "', '"}')):
        assert secrets(f"{before}{text}{after}".encode()) == (KINDS[text],)


@pytest.mark.parametrize(
    "text",
    [
        "ghp_" + "short",
        "the prefix ghp_ is a token's",
        "xghp_" + (A * 2)[:36],
        "Xghp_" + (A * 2)[:36],
        "npm_" + (A * 2)[:36] + "z",
        "npm_" + (A * 2)[:36] + "Z",
        "AKIA" + "Q7" * 8 + " alone",
        "AKIA" + "Q7" * 8 + "\n" * 300 + (A * 2)[:40],
        "sk_test_" + A[:24],
        "npm_config_registry",
        "hf_hub_download(repo_id)",
        "AIza" + "x" * 10,
        "task-ant-" + "colony" * 20,
    ],
)
def test_what_only_begins_alike_is_none(text: str) -> None:
    assert secrets(text.encode()) == ()


def test_hostile_repetition_costs_no_more_than_a_moment() -> None:
    begun = time.process_time()
    for unit in (b"AKIA" + b"Q7" * 8 + b" ", b"sk-" + b"a" * 90, b"ghp_" + b"a" * 300, b"xoxb-1", b"SG." * 8, b"npm_"):
        secrets(unit * (MEBIBYTE // len(unit)))
    assert time.process_time() - begun < 20


def test_a_finding_names_the_path_and_the_kind_and_never_the_secret() -> None:
    for text, kind in KINDS.items():
        one = secret_finding("tests/fixtures/key.txt", secrets(text.encode()))
        assert one.path == "tests/fixtures/key.txt" and kind in one.detail and one.verdict is Verdict.WARN
        assert text not in one.detail
    told = (
        "it holds what looks like a npm token and a Slack token: push protection refuses it on public repositories; "
        "push while the fork is private, or leave the pull request out"
    )
    two = secret_finding("k", ("npm token", "Slack token"))
    assert two == TreeFinding(FindingKind.SECRET, Verdict.WARN, "k", told)


def test_a_file_over_the_limit_is_refused_and_a_large_one_is_told() -> None:
    sizes = [("a", 52_428_800), ("b", 52_428_801), ("c", 104_857_600), ("d", 104_857_601)]
    complains = "it has {} bytes; the host complains"
    refused = (
        "it has 104857601 bytes and the host takes 104857600 at most: skip this golden pull request "
        "(large-file storage is not copied)"
    )
    assert list(size_findings(sizes, 104_857_600)) == [
        TreeFinding(FindingKind.LARGE_FILE, Verdict.WARN, "b", complains.format(52_428_801)),
        TreeFinding(FindingKind.LARGE_FILE, Verdict.WARN, "c", complains.format(104_857_600)),
        TreeFinding(FindingKind.LARGE_FILE, Verdict.REFUSE, "d", refused),
    ]


def test_paths_that_meet_where_case_or_accents_do_not_count_are_told_once_each() -> None:
    found = list(clash_findings(["Doc/a", "Doc/b", "README", "doc/c", "readme", "caf\u00e9", "cafe\u0301", "other"]))
    assert [one.path for one in found] == ["doc", "readme", "cafe\u0301"]
    told = "it is 'Doc' where case does not count: such a checkout holds only one of them"
    assert found[0] == TreeFinding(FindingKind.CASE_CLASH, Verdict.WARN, "doc", told)


def test_a_folder_at_any_depth_that_meets_another_is_told() -> None:
    assert [one.path for one in clash_findings(["A/b/c/d", "a/b/c/e"])] == ["a", "a/b", "a/b/c"]


def test_a_long_path_is_cut_where_a_finding_quotes_it() -> None:
    (found,) = clash_findings(["X" * 300, "x" * 300])
    assert found.detail.count("X") == 200
