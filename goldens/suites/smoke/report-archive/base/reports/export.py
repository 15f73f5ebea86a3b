"""Writing finished reports to disk."""

import csv
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

log = logging.getLogger(__name__)


class ExportError(Exception):
    """A report could not be written."""


def report_path(out_dir: Path, report_id: int) -> Path:
    """Where the rows of a report are kept."""
    return out_dir / f"report-{report_id}.csv"


def write_report(out_dir: Path, report_id: int, rows: Iterable[Mapping[str, str]], columns: list[str]) -> Path:
    """Write the rows of a report; columns that a row lacks stay empty."""
    path = report_path(out_dir, report_id)
    try:
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, columns, restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        log.error("report %d not written: %s", report_id, error)
        raise ExportError(f"report {report_id} could not be written") from error
    return path
