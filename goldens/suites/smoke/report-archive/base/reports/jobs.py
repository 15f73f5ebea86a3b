"""Report jobs, as the worker runs them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reports.export import write_report


@dataclass(frozen=True)
class Job:
    """What a customer asked for in the report form."""

    report_id: int
    columns: list[str]


def run(job: Job, rows: Iterable[Mapping[str, str]], out_dir: Path) -> Path:
    """Produce the file that a job asks for."""
    return write_report(out_dir, job.report_id, rows, job.columns)
