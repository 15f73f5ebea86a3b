"""Named sets of scoring rules: ours, and those of published systems, reproduced to the digit.

A profile is loaded when it is asked for: our own alone needs none of what the others do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scoring.profiles.base import ProfileFn

_MODULES = {"assay": "replay"} | {
    name: name for name in ("martian", "cpp16", "vibeops", "codevetter", "crbench", "swe")
}


class _Profiles(Mapping[str, "ProfileFn"]):
    def __getitem__(self, name: str) -> ProfileFn:
        found: ProfileFn = import_module(f"scoring.profiles.{_MODULES[name]}").score
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


PROFILES: Mapping[str, ProfileFn] = _Profiles()
"""Every profile by its name on the command line."""


def named(name: str) -> ProfileFn:
    """The profile of that name.

    Raises:
        ProfileError: there is none; the message names those there are.
    """
    if name in PROFILES:
        return PROFILES[name]
    from scoring.profiles.base import ProfileError

    near = get_close_matches(name, PROFILES, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ProfileError(f"no profile {name!r}{hint} There is: {', '.join(PROFILES)}")
