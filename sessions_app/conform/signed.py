"""Probes of thought signatures: asked for, replaced by the stand-in, altered."""

import base64
from typing import Any

from sessions_app.conform.bench import Bench, said, tool_of
from sessions_app.conform.report import Finding, told
from sessions_app.errors import BadRequest
from sessions_app.prompt.signatures import DUMMY

FUNCTION = "get_weather"
ALTERED = base64.b64encode(b"not a signature of anybody's " * 4).decode()


async def demanded(bench: Bench) -> Finding:
    """A call of the current turn without its signature."""
    error = await _ask(bench, "")
    return told(_words(error), same=(error is not None) == bench.facts.signatures_required, **_learned(error))


async def stand_in(bench: Bench) -> Finding:
    """The documented dummy in the place of a lost signature."""
    error = await _ask(bench, DUMMY)
    return told(_words(error), same=error is None)


async def altered(bench: Bench) -> Finding:
    """Bytes that no model made."""
    error = await _ask(bench, ALTERED)
    return told(_words(error), same=(error is not None) == bench.facts.signatures_required)


async def _ask(bench: Bench, signature: str) -> BadRequest | None:
    call: dict[str, Any] = {"functionCall": {"name": FUNCTION, "args": {"city": "Paris"}}}
    if signature:
        call["thoughtSignature"] = signature
    answer = {"functionResponse": {"name": FUNCTION, "response": {"temp": "15C"}}}
    contents = [
        said("What is the weather in Paris? Answer in three words."),
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [answer]},
    ]
    return await bench.refusal(contents, tools=[tool_of(FUNCTION)])


def _words(error: BadRequest | None) -> str:
    return "answered" if error is None else f"{error.code} {error.message[:90]}"


def _learned(error: BadRequest | None) -> dict[str, bool]:
    """Only a refusal that speaks of signatures settles it."""
    if error is None:
        return {"signatures_required": False}
    return {"signatures_required": True} if "signature" in error.message else {}
