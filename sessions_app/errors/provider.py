"""Errors of the provider, and how its messages are shortened."""

from collections.abc import Mapping
from typing import Any

from sessions_app.errors.base import PipewebError, RequestRefused

EXCERPT_LIMIT = 240
"""Characters of a provider's message in a line of a page."""


def excerpt(message: str, limit: int = EXCERPT_LIMIT) -> str:
    """The message, or its beginning up to a space and an ellipsis, together at most `limit` characters.

    Never up to the end of a sentence: nothing tells that from an abbreviation or the number of a list.
    """
    text = message.strip()
    if len(text) <= limit:
        return text
    words = text[:limit].rsplit(maxsplit=1)
    return (words[0] if len(words) > 1 else text[: limit - 1]) + "…"


class GatewayError(PipewebError):
    """An error response of the provider, or none at all.

    `code` is the HTTP status (None without a response), `status` Google's name of it (`RESOURCE_EXHAUSTED`),
    `details` the error body, `retry_after` seconds until the provider takes requests again, if it said so.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        code: int | None = None,
        status: str = "",
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.status = status
        self.details = dict(details or {})
        self.retry_after = retry_after


class BadRequest(GatewayError):
    pass


class BadKey(BadRequest):
    pass


class UnknownModel(BadRequest):
    pass


class CacheGone(BadRequest):
    pass


class CacheOfOtherModel(CacheGone):
    """The cache that a request named may live, but serves another model."""


class CacheTooSmall(BadRequest):
    pass


class SignatureRefused(BadRequest):
    pass


class SignatureMissing(BadRequest):
    pass


class QuotaExceeded(GatewayError):
    pass


class ProviderDown(GatewayError):
    pass


class Unreachable(GatewayError):
    pass


class Redirected(GatewayError):
    """The provider redirects; redirects are not followed."""


class BrokenStream(GatewayError):
    pass


class AnswerRefused(RequestRefused, GatewayError):
    pass
