"""Settings of the pages: who may look at them, and from where."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict


def _not_blank(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().strip():
        raise PydanticCustomError("setting", "is blank")
    return value


Secret = Annotated[SecretStr, AfterValidator(_not_blank)]
"""A value that is never shown."""


class WebSettings(BaseSettings):
    """The part of the settings that only the web server reads."""

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    client_secret: Secret | None = Field(default=None, examples=["a-client-secret-of-the-app"])
    """The App's client secret: with it people sign in to the pages through GitHub. Without it there are no pages."""
    local_user: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]{1,39}$", examples=["mira-lund"])
    """Who everybody on this machine is taken for, without signing in. For trying things out; only on loopback."""
    trusted_proxies: int = Field(default=0, ge=0, le=5, examples=["1"])
    """How many proxies of yours stand before the web server and say in `X-Forwarded-For` who asks."""
