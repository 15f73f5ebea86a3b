"""Our own profile on a bundle: the same counting for a live run, and for evidence scored again years later."""

from __future__ import annotations

from scoring.bundle import Bundle
from scoring.judges.base import Judge
from scoring.model import Report, Trial
from scoring.profiles import assay


def trials_of(bundle: Bundle) -> tuple[Trial, ...]:
    """The trials of a bundle as our profile takes them.

    Raises:
        ValueError: a trial is about a golden pull request that the bundle does not hold.
    """
    pulls = {pull.id: pull for pull in bundle.pulls}
    if missing := sorted({trial.pull for trial in bundle.trials} - set(pulls)):
        raise ValueError(f"trials about golden pull requests that are not in the bundle: {', '.join(missing)}")
    return tuple(
        Trial(
            pull=trial.pull,
            reviewer=trial.reviewer,
            status=trial.status,
            complete=trial.complete,
            reason=trial.reason,
            goldens=pulls[trial.pull].goldens,
            comments=trial.comments,
            language=pulls[trial.pull].language,
        )
        for trial in bundle.trials
    )


def score_bundle(bundle: Bundle, judge: Judge) -> Report:
    """Judge and count a bundle under our own profile."""
    chatter = {reviewer.id: reviewer.not_findings for reviewer in bundle.reviewers}
    return assay.score_run(trials_of(bundle), judge, bundle.suite, notes=bundle.card.notes, not_findings=chatter)
