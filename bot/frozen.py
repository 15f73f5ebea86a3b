"""What a run keeps to from its plan on, whatever is changed meanwhile."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frozen:
    """Registry entries and the organisation's own suite as they stood when the run was planned, as text."""

    reviewers: str = ""
    """The registry's entries of the run's reviewers as JSON; empty in plans of versions that did not keep them."""
    commit: str = ""
    """The commit of the control repository that the organisation's own files were read at."""
    suite_file: str = ""
    """Where the suite stands in the control repository; empty for one that ships."""
    suite: str = ""
    """The organisation's own suite."""
