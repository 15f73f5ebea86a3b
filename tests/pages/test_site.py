"""The pages as files: every address leads somewhere, nothing runs, nothing is lost, nobody is named against a plan."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner

from bot.cli_site import MARK, site
from bot.model import Publish
from bot.pages import public
from bot.pages.shelf import Shelf
from bot.pages.site import files
from scoring.bundle import Bundle, BundleReviewer
from scoring.model import ReviewerId
from tests.pages.world import HOSTILE, made_bundle, read, write

NAMES = ("revbot-aa", "revbot-ab", "revbot-ac", "revbot-ad")
INLINE = re.compile(r"^on|^style$")


def of(bundle: Bundle, folder: Path, publish: Publish | None = None) -> dict[str, bytes]:
    return dict(files(Shelf([write(bundle, folder / "evidence")], publish)))


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    bundle = made_bundle(9, NAMES, judges=("model-x", "model y/2"), disputed=True)
    return of(bundle, tmp_path_factory.mktemp("named"), Publish.NAMED)


@pytest.fixture(scope="module")
def anonymous(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    return of(telling(), tmp_path_factory.mktemp("anonymous"), Publish.ANONYMOUS)


def telling() -> Bundle:
    """Evidence that names its reviewers wherever evidence can."""
    made = made_bundle(6, NAMES, title="As revbot-ab saw it:")
    registry = [
        {"id": name, "name": f"The {name}", "app_slugs": [f"app-{name}"], "check_names": [f"check {name}"],
         "logins": [{"login": f"login-{name}[bot]"}], "publish_terms": None}
        for name in NAMES
    ]  # fmt: skip
    extra = {
        "evidence/registry.json": json.dumps(registry).encode(),
        "evidence/snapshots/fork/1.json": json.dumps({"said": [f"login-{name}[bot]" for name in NAMES]}).encode(),
        "evidence/diffs/change-0.diff": b"--- a/x\n+++ b/x\n",
    }
    card = replace(made.card, notes=("The revbot-ac was slow.",), corpus="Six changes")
    return replace(made, extra=extra, card=card)


def pages(found: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    return ((name, data.decode()) for name, data in found.items() if name.endswith(".html"))


def lands(name: str, address: str) -> str:
    """The file an address of a page leads to."""
    steps: list[str] = []
    for step in (PurePosixPath(name).parent / unquote(urlsplit(address).path)).parts:
        if step == "..":
            steps.pop()
        else:
            steps.append(step)
    return "/".join(steps)


@pytest.mark.parametrize("which", ["named", "anonymous"])
def test_every_address_leads_to_a_file_of_the_site(which: str, request: pytest.FixtureRequest) -> None:
    found: Mapping[str, bytes] = request.getfixturevalue(which)
    for name, text in pages(found):
        for address in read(text).addresses:
            parts = urlsplit(address)
            if parts.scheme == "https" and "/pulls/" in name and which == "named":
                continue
            assert not parts.scheme, f"{name} leads out: {address}"
            assert not parts.query, f"{name} asks a server: {address}"
            if parts.path:
                assert lands(name, address) in found, f"{name}: {address}"


def test_every_anchor_is_there(named: Mapping[str, bytes]) -> None:
    ids = {name: {held["id"] for _, held in read(text).tags if "id" in held} for name, text in pages(named)}
    for name, text in pages(named):
        for address in read(text).addresses:
            if (fragment := urlsplit(address).fragment) and not urlsplit(address).scheme:
                target = lands(name, address) if urlsplit(address).path else name
                assert fragment in ids[target], f"{name}: {address}"


@pytest.mark.parametrize("which", ["named", "anonymous"])
def test_no_page_carries_a_script_or_a_style_of_its_own(which: str, request: pytest.FixtureRequest) -> None:
    for name, text in pages(request.getfixturevalue(which)):
        page = read(text)
        assert not page.all("script"), name
        assert not page.all("style"), name
        assert not [one for _, held in page.tags for one in held if INLINE.match(one)], name


def test_every_picture_says_what_it_shows(named: Mapping[str, bytes]) -> None:
    for name, text in pages(named):
        for image in read(text).all("img"):
            assert len(image["alt"]) > 30, f"{name}: {image}"


def test_an_anonymous_site_holds_no_name_no_account_no_link_and_no_word_of_a_reviewer(
    anonymous: Mapping[str, bytes],
) -> None:
    assert anonymous
    for name, data in anonymous.items():
        text = (name + "\n" + data.decode()).lower()
        assert "revbot" not in text, name
        assert "forge.example" not in text, name
        assert "vendor of" not in text, name
        assert "claim 0" not in text, name
        assert "plain enough" not in text, name


def test_an_anonymous_site_has_the_same_figures_under_labels(
    named: Mapping[str, bytes], anonymous: Mapping[str, bytes]
) -> None:
    text = read(anonymous["runs/evidence/leaderboard.html"].decode()).text
    assert all(f"Tool {letter}" in text for letter in "ABCD")
    svg = anonymous["runs/evidence/forest.svg"].decode()
    assert "Tool A" in svg
    matrix = read(anonymous["runs/evidence.html"].decode())
    assert "Tool A" not in matrix.text
    assert "would tell who they are" in matrix.text


def test_labels_do_not_follow_the_alphabet_or_the_order_of_asking() -> None:
    orders = set()
    for seed in range(6):
        bundle = made_bundle(3, NAMES, seed=seed)
        called = public.labels([(bundle, dict.fromkeys(map(ReviewerId, NAMES), Publish.ANONYMOUS))])
        orders.add(tuple(sorted(called, key=lambda name: called[name])))
        assert called == public.labels([(bundle, dict.fromkeys(map(ReviewerId, NAMES), Publish.ANONYMOUS))])
    assert len(orders) > 1


def test_a_reviewer_keeps_its_label_from_run_to_run(tmp_path: Path) -> None:
    one, other = made_bundle(3, NAMES), made_bundle(3, tuple(reversed(NAMES)), seed=2)
    shelf = Shelf([write(one, tmp_path / "one"), write(other, tmp_path / "two")], Publish.ANONYMOUS)
    first, second = shelf.runs()
    assert first.reviewers == tuple(reversed(second.reviewers))


def test_a_bundle_is_not_called_by_a_reviewers_name(tmp_path: Path) -> None:
    shelf = Shelf([write(made_bundle(2, NAMES), tmp_path / "revbot-ab-run")], Publish.ANONYMOUS)
    assert [card.id for card in shelf.runs()] == ["bundle-1"]


def test_who_is_named_beside_an_anonymous_one_keeps_its_words_but_no_link(tmp_path: Path) -> None:
    plan = {
        "judge": "model-x",
        "publish": "anonymous",
        "publish_each": [["revbot-aa", "named"], ["revbot-ad", "private"]],
    }
    shelf = Shelf([write(made_bundle(6, NAMES, plan=plan), tmp_path / "mixed")])
    (card,) = shelf.runs()
    assert ReviewerId("revbot-aa") in card.reviewers
    assert len(card.reviewers) == 3
    assert card.hidden == 1
    board = shelf.board("mixed")
    assert board is not None
    assert {one.trial.reviewer for one in board.scored.report.trials} == {"revbot-aa"}
    claims = [claim for one in board.scored.report.trials for claim in one.candidates]
    assert claims
    assert not [claim for claim in claims if claim.permalink]
    assert not [trial for trial in board.scored.bundle.trials if trial.comments or trial.candidates]


def test_a_private_run_shows_counts_and_says_so(tmp_path: Path) -> None:
    plan = {"judge": "model-x", "publish": "private"}
    found = of(made_bundle(6, NAMES, plan=plan), tmp_path)
    whole = "\n".join(name + data.decode() for name, data in found.items())
    assert "revbot" not in whole
    assert "change-" not in whole
    assert "This run is private" in whole
    assert not [name for name in found if "leaderboard" in name or (name.endswith(".svg") and "static" not in name)]


def test_imported_evidence_is_named_and_a_run_follows_its_plan() -> None:
    assert set(public.planned_modes(made_bundle(2, NAMES)).values()) == {Publish.NAMED}
    plan = {"judge": "model-x", "publish": "anonymous"}
    assert set(public.planned_modes(made_bundle(2, NAMES, plan=plan)).values()) == {Publish.ANONYMOUS}


def test_hostile_names_make_no_markup_in_pages_pictures_or_file_names(tmp_path: Path) -> None:
    names = (f"bot-{HOSTILE}", "../../etc/passwd", "javascript:alert(1)")
    made = made_bundle(3, names, title=HOSTILE)
    made = replace(made, reviewers=tuple(BundleReviewer(ReviewerId(name), HOSTILE) for name in names))
    found = of(made, tmp_path)
    for name, data in found.items():
        assert re.fullmatch(r"[a-z0-9_./-]+", name), name
        assert ".." not in name
        assert b"<script" not in data.lower(), name
    for name, text in pages(found):
        assert not [one for one in read(text).addresses if ":" in one and not one.startswith("https://forge.")], name


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(site, arguments)
    said = done.output if done.exception is None or isinstance(done.exception, SystemExit) else repr(done.exception)
    return done.exit_code, said


def test_a_site_is_written_in_one_step_and_replaces_the_one_before(tmp_path: Path) -> None:
    bundle = write(made_bundle(2, NAMES[:2]), tmp_path / "evidence")
    out = tmp_path / "out"
    code, said = run(str(bundle), "-o", str(out), "--json")
    assert code == 0, said
    told = json.loads(said.splitlines()[-1])
    assert told["runs"] == [{"run": "evidence", "publish": "named"}]
    assert (out / "index.html").is_file()
    (out / "stale.html").write_text("old")
    assert run(str(bundle), "-o", str(out))[0] == 0
    assert not (out / "stale.html").exists()
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]


def test_a_folder_that_is_none_of_ours_is_left_alone_unless_forced(tmp_path: Path) -> None:
    bundle = write(made_bundle(2, NAMES[:2]), tmp_path / "evidence")
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    code, said = run(str(bundle), "-o", str(out))
    assert code == 2, said
    assert (out / "thesis.txt").read_text() == "mine"
    assert not (out / MARK).exists()
    assert run(str(bundle), "-o", str(out), "--force")[0] == 0
    assert not (out / "thesis.txt").exists()


def test_two_bundles_of_one_name_are_refused(tmp_path: Path) -> None:
    paths = [str(write(made_bundle(1, NAMES[:2]), tmp_path / place / "same")) for place in ("a", "b")]
    code, said = run(*paths, "-o", str(tmp_path / "out"))
    assert code == 2
    assert "two bundles are called same" in said


def test_goldens_are_counted_although_nobody_has_a_column(anonymous: Mapping[str, bytes]) -> None:
    text = anonymous["runs/evidence.html"].decode()
    assert re.findall(r'<td class="right">(\d+)</td>', text) == ["3", "3", "3", "3", "0", "3"]


def test_the_site_of_a_run_as_large_as_the_demos_stays_small(named: Mapping[str, bytes]) -> None:
    assert sum(map(len, named.values())) < 2_000_000
