"""Checks an API key with one free call: the list of models."""

import asyncio
import json
from dataclasses import dataclass, replace
from typing import Literal

import httpx2

from sessions_app.errors import (
    BadKey,
    GatewayError,
    QuotaExceeded,
    Redirected,
    SettingsError,
    Unreachable,
    excerpt,
)
from sessions_app.gemini.error_mapping import REACH_HINT
from sessions_app.gemini.gateway import Gateway
from sessions_app.hosts import GOOGLE, host_of

Result = Literal["works", "malformed", "refused", "disabled", "quota", "unreachable", "failed"]

LONGEST_SECONDS = 15.0
"""After that a person should hear something."""

_DISABLED = ("SERVICE_DISABLED", "API_KEY_SERVICE_BLOCKED", "has not been used in project", "is disabled")


@dataclass(frozen=True, slots=True)
class KeyCheck:
    """The result of a check; no text of it holds the key.

    `message` says what happened and `hint` what to do. `said` is the provider's whole message where the
    other holds an excerpt of it.
    """

    result: Result
    message: str
    hint: str
    said: str = ""

    @property
    def works(self) -> bool:
        return self.result == "works"


async def check_key(
    key: str, *, base_url: str = GOOGLE, transport: httpx2.AsyncBaseTransport | None = None
) -> KeyCheck:
    """Lists the models of the provider with this key. An error of the provider is a result, not raised."""
    try:
        gateway = Gateway(api_key=key, base_url=base_url or GOOGLE, transport=transport)
    except SettingsError:
        return KeyCheck(
            "malformed",
            "This is not a key: it is empty or has spaces or characters that no key has.",
            "Copy the key alone, without quotes or line breaks.",
        )
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            models = await gateway.models()
    except GatewayError as error:
        return _refusal(error, host_of(gateway.base_url))
    except TimeoutError:
        return KeyCheck(
            "unreachable",
            f"{host_of(gateway.base_url)} did not answer within {LONGEST_SECONDS:.0f} seconds.",
            REACH_HINT,
        )
    finally:
        await gateway.aclose()
    return KeyCheck("works", f"The key works: it can use {len(models)} models.", "")


def _refusal(error: GatewayError, host: str) -> KeyCheck:
    cause = excerpt(error.message)
    said = "" if cause == error.message.strip() else error.message
    return replace(_explained(error, cause, host), said=said)


def _explained(error: GatewayError, cause: str, host: str) -> KeyCheck:
    match error:
        case BadKey() if _is_disabled(error):
            return KeyCheck(
                "disabled",
                "The key exists, but the Gemini API is not enabled for its project.",
                "Enable “Generative Language API” in the project's console, or make a key in AI Studio.",
            )
        case BadKey():
            return KeyCheck(
                "refused", f"{host} refused the key: {cause}", "Copy it again, or make a new one."
            )
        case QuotaExceeded():
            return KeyCheck("quota", f"The key is known, but its quota is used up: {cause}", error.hint)
        case Redirected():
            return KeyCheck("unreachable", cause, error.hint)
        case Unreachable():
            return KeyCheck("unreachable", cause, REACH_HINT)
    return KeyCheck("failed", f"The provider did not say whether the key works: {cause}", error.hint)


def _is_disabled(error: GatewayError) -> bool:
    message = json.dumps(error.details)
    return any(mark in message for mark in _DISABLED)
