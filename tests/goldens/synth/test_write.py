"""Suites on disk: whole or not at all, and the one that ships is what the generator makes."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from goldens.load import load_suite, suite_names
from goldens.located import SuiteError
from goldens.synth import SynthError, golden_pull, main, read_template, write_suite
from goldens.synth.model import GeneratedPull
from goldens.verify import verify
from tests.goldens.synth.made import pulls

SHIPPED = Path(__file__).resolve().parents[3] / "goldens" / "suites" / "synthetic"


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_the_shipped_suite_is_what_the_generator_makes_byte_for_byte(tmp_path: Path) -> None:
    main(42, 100, "none", tmp_path / "again")
    assert files(tmp_path / "again") == files(SHIPPED)


def test_verify_has_nothing_to_say_about_the_shipped_suite() -> None:
    assert "synthetic" in suite_names()
    assert verify(load_suite("synthetic")) == ()


def test_the_shipped_suite_loads_within_a_second() -> None:
    suite, taken = load_suite("synthetic"), []
    for _ in range(2):
        start = time.process_time()
        load_suite("synthetic")
        taken.append(time.process_time() - start)
    assert min(taken) < 1
    assert len(suite.pulls) == 120
    assert sum(pull.clean for pull in suite.pulls) == 20


def test_what_is_loaded_is_what_was_generated() -> None:
    suite = load_suite("synthetic")
    assert [golden_pull(pull) for pull in pulls()] == list(suite.pulls)


def test_the_shipped_suite_says_of_what_kind_each_defect_is() -> None:
    suite = load_suite("synthetic")
    kinds = Counter(pull.tags["kind"] for pull in suite.pulls if not pull.clean)
    assert kinds == {"logic": 54, "security": 23, "performance": 11, "architecture": 9, "best_practice": 3}
    assert {pull.authored_by for pull in suite.pulls} == {"synthetic"}
    assert Counter(pull.tags["variant"] for pull in suite.pulls if pull.clean) == {"clean": 10, "equivalent": 10}


def test_nothing_in_the_suite_looks_like_a_key_of_a_known_service() -> None:
    known = re.compile(rb"gh[pousr]_|AKIA|sk_live|xox[bap]-|-----BEGIN")
    assert [name for name, data in files(SHIPPED).items() if known.search(data)] == []


def test_a_directory_that_exists_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept.txt").write_text("kept", encoding="utf-8")
    with pytest.raises(SynthError, match="exists; name a directory that does not"):
        write_suite(pulls()[:3], tmp_path / "mine", "mine", "1.0.0")
    assert files(tmp_path) == {"mine/kept.txt": b"kept"}


def spoiled(pull: GeneratedPull) -> GeneratedPull:
    golden = pull.goldens[0]
    return replace(pull, goldens=(replace(golden, evidence="stands nowhere"),))


@pytest.mark.parametrize("flaw", ["golden", "path", "id"])
def test_a_suite_that_is_not_fit_leaves_nothing_behind(tmp_path: Path, flaw: str) -> None:
    first = next(pull for pull in pulls() if pull.goldens)
    broken = {
        "golden": lambda: write_suite([spoiled(first)], tmp_path / "new", "new", "1.0.0"),
        "path": lambda: write_suite([replace(first, head={})], tmp_path / "new", "new", "1.0.0"),
        "id": lambda: write_suite([first], tmp_path / "new", "Not An Id", "1.0.0"),
    }
    with pytest.raises((SynthError, SuiteError)):
        broken[flaw]()
    assert list(tmp_path.iterdir()) == []


def test_an_empty_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SynthError, match="no pull requests"):
        write_suite([], tmp_path / "new", "new", "1.0.0")


def test_a_suite_with_churn_is_written_under_a_name_of_its_own(tmp_path: Path) -> None:
    suite = main(9, 13, "medium", tmp_path / "deep" / "suite", clean=2)
    assert (suite.ref.id, suite.ref.version) == ("synthetic-medium", "1.0.0+seed9")
    assert [str(finding) for finding in verify(suite) if finding.level == "error"] == []


# --- templates ----------------------------------------------------------------------------------------------------

DESCRIPTION = """\
language: python
path: shop/prices.py
features:
  - title: Round to five cents
    body: Coins of one and two cents are going away.
    edits:
      - find: STEP = 1
        put: STEP = 5
"""
SOURCE = "STEP = 1\n\n\ndef page(number: int) -> int:\n    return (number - 1) * STEP\n"


def template(folder: Path, description: str = DESCRIPTION, source: str = SOURCE) -> Path:
    (folder / "template.yaml").write_text(description, encoding="utf-8")
    (folder / "source.txt").write_bytes(source.encode())
    return folder


def test_a_template_of_ones_own_can_be_read(tmp_path: Path) -> None:
    found = read_template(template(tmp_path))
    assert (found.language, found.path) == ("python", "shop/prices.py")
    assert found.features[0].replacements == (("STEP = 1", "STEP = 5"),)


@pytest.mark.parametrize(
    ("description", "source", "said"),
    [
        (DESCRIPTION.replace("python", "cobol"), SOURCE, "language: .*no grammar for 'cobol'; allowed: typescript"),
        (DESCRIPTION.replace("shop/", "../"), SOURCE, "path: .*is not a path inside the tree"),
        (DESCRIPTION.replace("title", "titel"), SOURCE, r"features\.0\.titel: Extra inputs"),
        (DESCRIPTION.replace("STEP = 1", "STEP"), SOURCE, "'STEP' stands there 2 times"),
        (DESCRIPTION.replace("put: STEP = 5", "put: STEP = ("), SOURCE, "the result does not parse"),
        (DESCRIPTION, "def (\n", "is not python as the grammar knows it"),
        (DESCRIPTION, SOURCE.replace("\n", "\r\n"), r"lines end in \\n"),
        ("features: [", SOURCE, "not YAML"),
    ],
)
def test_a_bad_template_is_refused_with_file_and_field(
    tmp_path: Path, description: str, source: str, said: str
) -> None:
    with pytest.raises(SynthError, match=said):
        read_template(template(tmp_path, description, source))


def test_a_template_without_its_source_is_refused(tmp_path: Path) -> None:
    template(tmp_path)
    (tmp_path / "source.txt").unlink()
    with pytest.raises(SynthError, match="cannot be read"):
        read_template(tmp_path)
