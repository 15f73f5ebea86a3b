"""The setting that says which models may review: names with commas between them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

_MODEL = re.compile(r"[a-z][a-z0-9_-]{0,39}/[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,149}", re.ASCII)


def _names(value: object) -> object:
    if not isinstance(value, str):
        return value
    names = tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))
    if not all(_MODEL.fullmatch(name) for name in names):
        raise PydanticCustomError("setting", "must be models as provider/model, separated by commas")
    return names


ModelNames = Annotated[tuple[str, ...], BeforeValidator(_names)]
"""Models, each as provider/model."""
