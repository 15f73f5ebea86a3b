"""Loading the App without looking for garbage must not leave a process that never looks for it."""

from __future__ import annotations

import gc

import pytest

from bot.cli_workers import _loading


def test_garbage_is_looked_for_again_even_where_loading_failed() -> None:
    assert gc.isenabled()
    try:
        with pytest.raises(ImportError), _loading():
            assert not gc.isenabled()
            raise ImportError("half a library")
        assert gc.isenabled()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
    gc.disable()
    try:
        with _loading():
            pass
        assert not gc.isenabled(), "who had it off keeps it off"
    finally:
        gc.enable()
        gc.unfreeze()
