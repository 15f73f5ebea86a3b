"""Others' goldens, comments and judgements: into bundles and out of them, without losing what is not ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from goldens.importers.cloudaeye import CLOUDAEYE
from goldens.importers.codevetter import CODEVETTER
from goldens.importers.form import NO_OPTIONS, Format
from goldens.importers.martian import MARTIAN
from goldens.importers.problems import ImportProblem, Problem
from goldens.importers.rest import REST
from goldens.importers.sarif import SARIF
from goldens.importers.swe import SWE
from goldens.importers.words import Options

_ALL: tuple[Format, ...] = (MARTIAN, CLOUDAEYE, CODEVETTER, SWE, REST, SARIF)
FORMATS: Mapping[str, Format] = MappingProxyType({one.name: one for one in _ALL})
"""Every format by its name on the command line."""


def detect(path: Path) -> tuple[str, ...]:
    """The names of the formats that a file or folder looks like."""
    return tuple(name for name, one in FORMATS.items() if one.detect(path))


__all__ = ["FORMATS", "NO_OPTIONS", "Format", "ImportProblem", "Options", "Problem", "detect"]
