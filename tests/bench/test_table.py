from __future__ import annotations

import pytest

from tests.bench import __main__ as bench
from tests.bench.judged import second_opinion, trials
from tests.bench.table import Row, markdown


def test_a_table_shows_ratios_and_marks_what_exceeds_its_limit() -> None:
    rows = [Row("fast | lean", 1.0, "s", 4.0, 2.0), Row("slow", 150.4, "MB", limit=100)]
    assert markdown(rows) == (
        "| what        |   ours | against | ratio |             limit |\n"
        "|-------------|-------:|--------:|------:|------------------:|\n"
        "| fast / lean | 1.00 s |  4.00 s |  0.25 |            2.00 s |\n"
        "| slow        | 150 MB |         |       | 100 MB (exceeded) |\n"
    )


def test_a_name_that_is_no_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["scorings"]) == 2
    assert "no benchmark is called scorings; there are" in capsys.readouterr().err


def test_every_benchmark_module_is_found() -> None:
    assert "scoring" in bench.known()
    assert "fit_lexical" not in bench.known()


def test_made_up_trials_count_up_and_are_the_same_for_a_seed() -> None:
    made = trials(20, 4)
    assert made == trials(20, 4)
    assert made != trials(20, 4, seed=3)
    scores = [one.count() for one in made]
    assert any(not one.scored for one in scores)
    for one in scores:
        if one.scored:
            counts = one.counts
            claims = counts.tp + counts.fp + counts.valid + counts.duplicate + counts.unscored
            assert claims == len(one.candidates)
            assert counts.tp + counts.fn + counts.goldens_unscored == len(one.trial.goldens)
    changed = sum(a.count().counts != b.count().counts for a, b in zip(made, second_opinion(made), strict=True))
    assert 0 < changed < len(made)


def test_the_scoring_benchmark_computes_every_statistic_on_a_small_world(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.bench import bench_scoring

    monkeypatch.setattr(bench_scoring, "DRAWS", 200)
    judged = trials(12, 4)
    assert bench_scoring.everything(judged, second_opinion(judged)) > 40


def test_a_promise_of_at_least_so_much_is_missed_by_less() -> None:
    assert Row("rate", 9, "", least=10).kept is False
    assert Row("rate", 10, "", least=10).kept is True
    assert "| from 10.0 (missed) |" in markdown([Row("rate", 9, "", least=10)])
