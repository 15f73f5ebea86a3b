"""Accounts that are kept here."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field


@dataclass
class Account:
    """Somebody who may log in."""

    email: str
    tokens: list[str] = field(default_factory=list)

    def new_token(self) -> str:
        """A token for the command line."""
        self.tokens.append(secrets.token_urlsafe(32))
        return self.tokens[-1]

    def has_token(self, token: str) -> bool:
        """Whether the token is one of the account's."""
        return any(hmac.compare_digest(token, known) for known in self.tokens)
