"""The secrets of this process by their values, so that no log can show one in whatever form somebody quotes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, unquote, urlsplit

from pydantic import SecretStr

from bot.settings import Settings, SettingsError

SHORTEST = 6
"""A shorter text stands in too many words to be blotted out."""
SHORTEST_KEY = 12
"""The same for a variable that is only named like a secret."""
_NAMES = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$")
"""Variables with which providers of models are paid, and all others that are named like them."""


def secrets_of(settings: Settings, env: Mapping[str, str]) -> frozenset[str]:
    """Every secret in the settings and the environment, in the forms in which texts quote them."""
    keys = {value for name, value in env.items() if _NAMES.search(name.upper()) and len(value) >= SHORTEST_KEY}
    found = set(_of_settings(settings)) | keys
    return frozenset(form for secret in found if len(secret) >= SHORTEST for form in _forms(secret))


def _of_settings(settings: Settings) -> Iterator[str]:
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            yield from _of_value(name, value.get_secret_value())
    try:
        yield from _of_value("private_key", settings.read_private_key())
    except SettingsError:
        return


def _of_value(name: str, value: str) -> Iterator[str]:
    if name.endswith("_url"):
        # The address itself may be shown, and says which database it is.
        password = urlsplit(value).password
        if password is not None:
            yield password
            yield unquote(password)
        return
    yield value
    # Several webhook secrets stand on lines of their own. Of a key every line tells something.
    yield from (line for line in map(str.strip, value.splitlines()) if line and not line.startswith("-----"))


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield repr(secret)[1:-1]
    yield json.dumps(secret)[1:-1]
    yield quote(secret, safe="")
