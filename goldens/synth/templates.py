"""The templates that ship with the generator, and how others are read."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from goldens.schema import safe_path
from goldens.synth.model import Feature, SynthError, Template
from goldens.synth.syntax import LANGUAGES, read
from goldens.synth.usable import parses

DESCRIPTION, TEXT = "template.yaml", "source.txt"
"""A template is a directory with these two. The source is not named `.py` and so on: it is data, not part of us."""


def _language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"no grammar for {name[:40]!r}; allowed: {', '.join(LANGUAGES)}")
    return name


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Replacement(_Entry):
    find: str
    """Stands in the source exactly once."""
    put: str


class _Feature(_Entry):
    title: str
    body: str
    edits: list[_Replacement]


class _Description(_Entry):
    language: Annotated[str, AfterValidator(_language)]
    path: Annotated[str, AfterValidator(safe_path)]
    features: list[_Feature]


@cache
def packaged() -> tuple[Template, ...]:
    """The templates that ship with the package, by name."""
    root = Path(str(files("goldens.synth").joinpath("templates")))
    return tuple(read_template(path.parent) for path in sorted(root.glob(f"*/{DESCRIPTION}")))


def read_template(folder: Path) -> Template:
    """Read one template.

    Raises:
        SynthError: a file is missing, or what it says cannot be used; the message names file and field.
    """
    try:
        described, text = (folder / DESCRIPTION).read_bytes(), (folder / TEXT).read_bytes()
        entry = _Description.model_validate(yaml.safe_load(described))
    except OSError as error:
        raise SynthError(f"{folder.name}: {error.filename} cannot be read: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise SynthError(f"{folder.name}/{DESCRIPTION}: not YAML: {error}") from None
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise SynthError(f"{folder.name}/{DESCRIPTION}: {problems}") from None
    features = tuple(
        Feature(feature.title, feature.body, tuple((edit.find, edit.put) for edit in feature.edits))
        for feature in entry.features
    )
    template = Template(folder.name, entry.language, entry.path, text, features)
    check_template(template)
    return template


def check_template(template: Template) -> None:
    """Check that a template and all its features are whole files of the language.

    Raises:
        SynthError: the source does not parse, or a feature has no place in it.
    """
    if b"\r" in template.text or not template.text.endswith(b"\n"):
        raise SynthError(f"{template.id}/{TEXT}: lines end in \\n, the last one too")
    if not parses(read(template.text, template.language)):
        raise SynthError(f"{template.id}/{TEXT}: is not {template.language} as the grammar knows it")
    for feature in template.features:
        if not parses(read(with_feature(template, feature), template.language)):
            raise SynthError(f"{template.id}/{DESCRIPTION}: {feature.title!r}: the result does not parse")


def with_feature(template: Template, feature: Feature) -> bytes:
    """The template with a feature built in.

    Raises:
        SynthError: what the feature replaces does not stand in the source exactly once.
    """
    text = template.text.decode()
    for find, put in feature.replacements:
        if not find or text.count(find) != 1:
            raise SynthError(
                f"{template.id}/{DESCRIPTION}: {feature.title!r}: {find[:60]!r} stands there {text.count(find)} times"
            )
        text = text.replace(find, put)
    return text.encode()
