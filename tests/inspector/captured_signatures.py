"""A program whose answers are signed, and what is said of their signatures from both ends."""

import base64
from collections.abc import Sequence
from typing import Any

from sessions_app.inspector.received_signatures import received_traces
from sessions_app.inspector.signature_table import signature_table
from sessions_app.inspector.signature_trace import SignatureState
from sessions_app.inspector.signature_tracers import SentSignatureTracer
from sessions_app.models import Exchange
from sessions_app.prompt import wire
from sessions_app.prompt.parts import call_part, content, response_part
from tests.capture.conversations import body_of
from tests.capture.program import Program

SIGNATURE, OTHER = (base64.b64encode(value).decode() for value in (b"signature of a part", b"another one"))

Part = dict[str, Any]


def signed(part: Part, signature: str = SIGNATURE) -> Part:
    return part | {"thoughtSignature": signature}


def called(name: str, call_id: str = "", **arguments: Any) -> Part:
    return call_part(name, arguments, call_id=call_id)


def returned(name: str, call_id: str = "") -> Part:
    return response_part(name, {"done": True}, call_id=call_id)


def model(*parts: Part) -> dict[str, Any]:
    return content("model", parts)


def results(*parts: Part) -> dict[str, Any]:
    return content("user", parts)


def asked(
    program: Program,
    contents: Sequence[object],
    *answer: Part,
    name: str = "gemini-3-flash-preview",
    status: int = 200,
) -> Exchange:
    candidate = {"content": model(*answer), "finishReason": "STOP"}
    body = wire.dumps({"candidates": [candidate], "modelVersion": name})
    path = f"/v1beta/models/{name}:generateContent"
    row = program.ask(body_of(contents), body, status, path=path, model=name)
    assert row.exchange is not None
    return row.exchange


def received(exchange: Exchange) -> list[SignatureState]:
    """As the exchange's own tab says it, which the table of the session repeats."""
    exchange = Exchange.objects.get(pk=exchange.pk)
    traces = received_traces(exchange)
    rows = [row.trace for row in signature_table(exchange.session, {}).rows]
    assert all(one in rows for one in traces)
    return [one.state for one in traces]


def sent(exchange: Exchange) -> list[SignatureState]:
    return [one.state for one in SentSignatureTracer(Exchange.objects.get(pk=exchange.pk)).traces()]
