"""Cursors: opaque to clients, an entry id to us."""

import base64
import binascii


class CursorError(ValueError):
    """A client sent a cursor that we never gave out."""


def encode(entry_id: int) -> str:
    """The cursor that goes on after an entry."""
    return base64.urlsafe_b64encode(str(entry_id).encode("ascii")).decode("ascii")


def decode(cursor: str) -> int:
    """The entry id behind a cursor."""
    try:
        entry_id = int(base64.b64decode(cursor, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        raise CursorError("not a cursor") from None
    if not 0 < entry_id < 2**63:
        raise CursorError("not a cursor")
    return entry_id
