"""What to mine: repositories and the rules of selection, from a small YAML file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, StrictInt, ValidationError

from goldens.fields import Slug, Text, Upstream, not_empty, wrong
from goldens.located import Problem, SuiteError, did_you_mean, read_document


def _range(bounds: tuple[int, int]) -> tuple[int, int]:
    if bounds[0] < 0 or bounds[1] < bounds[0]:
        raise wrong(f"[{bounds[0]}, {bounds[1]}] is not a range from small to large")
    return bounds


def _small(word: str) -> str:
    if not word.isascii() or not word.isalnum() or word != word.lower():
        raise wrong(f"{word[:40]!r} is not one word in small letters")
    return word


Bounds = Annotated[tuple[StrictInt, StrictInt], AfterValidator(_range)]


class MineConfig(BaseModel):
    """The rules by which pull requests are chosen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mine: Slug
    """The name of these rules."""
    licence: Text = "NOASSERTION"
    """SPDX expression of the mined texts; what nobody has looked up is NOASSERTION."""
    repositories: Annotated[tuple[Upstream, ...], AfterValidator(not_empty)]
    labels: tuple[Annotated[str, AfterValidator(_small)], ...] = ("bug", "bugs", "bugfix", "regression", "defect")
    """Words of which a label must have one to mark the mending of a bug."""
    files: Bounds = (1, 10)
    """Fewest and most changed files."""
    changed_lines: Bounds = (20, 500)
    """Fewest and most added and removed lines together."""


def config_names() -> tuple[str, ...]:
    """The configurations that ship with the package."""
    return tuple(sorted(path.name.removesuffix(".yaml") for path in _packaged().glob("*.yaml")))


def _packaged() -> Path:
    return Path(str(files("goldens").joinpath("mine")))


def load_config(which: str | Path) -> MineConfig:
    """Read a configuration: text is the name of a packaged one, a `Path` is a file.

    Raises:
        SuiteError: there is none, or it has problems; every one is told with its line.
    """
    if isinstance(which, str):
        names = config_names()
        if which not in names:
            what = f"no mining configuration {which[:80]!r}"
            raise SuiteError([Problem("mine", 1, "mine", what, names, did_you_mean(which, names))])
        which = _packaged() / f"{which}.yaml"
    try:
        data = which.read_bytes()
    except OSError as error:
        raise SuiteError([Problem(str(which), 1, "", f"cannot be read: {error.strerror}")]) from None
    return read_config(data, str(which))


def read_config(data: bytes, name: str) -> MineConfig:
    """Read a configuration from bytes; `name` is what problems call it."""
    document = read_document(data, name)
    try:
        return MineConfig.model_validate(document.value)
    except ValidationError as error:
        fields = tuple(MineConfig.model_fields)
        raise SuiteError(_explained(document, detail, fields) for detail in error.errors()) from None


def _explained(document: Any, detail: Any, fields: tuple[str, ...]) -> Problem:
    problem: Problem
    if detail["type"] == "extra_forbidden":
        problem = document.problem(detail["loc"], "unknown field", fields, str(detail["loc"][-1]))
    else:
        what = "missing" if detail["type"] == "missing" else detail["msg"]
        problem = document.problem(detail["loc"], what)
    return problem
