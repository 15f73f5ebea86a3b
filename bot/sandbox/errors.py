"""Refusals as GitHub words them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

DOCS = "https://docs.github.com/rest"
INTEGRATION = "Resource not accessible by integration"


class ApiError(Exception):
    """An answer that is not a success. `errors` are GitHub's error objects or plain sentences."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: Sequence[Mapping[str, Any] | str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = list(errors)
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """The JSON that GitHub would answer."""
        told: dict[str, Any] = {"message": self.message}
        if self.errors:
            told["errors"] = self.errors
        return {**told, "documentation_url": DOCS, "status": str(self.status)}


def not_found() -> ApiError:
    """404, also where the caller may not know that the thing exists."""
    return ApiError(404, "Not Found")


def forbidden(message: str = INTEGRATION) -> ApiError:
    """403."""
    return ApiError(403, message)


def bad_credentials() -> ApiError:
    """401 for a token that is unknown, revoked or expired."""
    return ApiError(401, "Bad credentials")


def invalid(resource: str, field: str, code: str = "invalid", message: str | None = None) -> ApiError:
    """422 with one error object. Codes: missing, missing_field, invalid, already_exists, unprocessable, custom."""
    error: dict[str, Any] = {"resource": resource, "code": code, "field": field}
    if message is not None:
        error["message"] = message
    return ApiError(422, "Validation Failed", errors=[error])


def unreadable(message: str) -> ApiError:
    """422 for a body that does not have the documented form."""
    return ApiError(422, f"Invalid request.\n\n{message}")
