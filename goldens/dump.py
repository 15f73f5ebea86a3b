"""A new suite file from values, in the dialect that suite files have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from goldens.schema import parse_suite


class _Dumper(yaml.SafeDumper):
    """Without anchors, which suite files refuse."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def suite_yaml(value: Mapping[str, Any], name: str) -> bytes:
    """The bytes of a suite file, checked by the schema that will read it; `name` is what problems call it.

    Raises:
        SuiteError: the values are not what a suite file may say.
    """
    text = yaml.dump(dict(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    data = text.encode("utf-8")
    parse_suite(data, name)
    return data
