"""Short ways to write requests and read answers."""

import asyncio
from collections.abc import Iterator
from typing import Any

import orjson

from sessions_app.emulator.http import ApiRequest, ApiResponse
from sessions_app.emulator.service import Emulator

Wire = dict[str, Any]
FLASH = "gemini-3-flash-preview"
OPENING = "I am an emulator"
"""What the default answer to a text begins with."""


def user(*texts: str) -> Wire:
    return {"role": "user", "parts": [{"text": text} for text in texts]}


def model(*parts: Wire) -> Wire:
    return {"role": "model", "parts": list(parts)}


def call(name: str, signature: str = "", **args: Any) -> Wire:
    part: Wire = {"functionCall": {"name": name, "args": args}}
    return part | ({"thoughtSignature": signature} if signature else {})


def answers(*pairs: tuple[str, Wire]) -> Wire:
    parts = [{"functionResponse": {"name": name, "response": response}} for name, response in pairs]
    return {"role": "user", "parts": parts}


def declare(**functions: list[str]) -> list[Wire]:
    """`tools` with one declaration a function, its arguments all strings."""
    return [
        {"functionDeclarations": [_declaration(name, arguments) for name, arguments in functions.items()]}
    ]


def _declaration(name: str, arguments: list[str]) -> Wire:
    properties = {argument: {"type": "string"} for argument in arguments}
    return {"name": name, "parameters": {"type": "object", "properties": properties}}


def send(
    emulator: Emulator,
    method: str,
    path: str,
    body: Any = None,
    *,
    key: str = "emulator",
    headers: dict[str, str] | None = None,
    **query: str,
) -> tuple[int, bytes]:
    """One request under /v1beta; the status and the whole body."""
    data = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
    request = ApiRequest(method, f"/v1beta/{path}", query, {"x-goog-api-key": key, **(headers or {})}, data)
    response = emulator.handle(request)
    return response.status, asyncio.run(_drain(response))


def generate(emulator: Emulator, body: Wire, model: str = FLASH) -> Wire:
    """A unary answer, or the error object."""
    answer: Wire = orjson.loads(send(emulator, "POST", f"models/{model}:generateContent", body)[1])
    return answer


def stream(emulator: Emulator, body: Wire, model: str = FLASH) -> list[Wire]:
    """The chunks of an event stream."""
    path = f"models/{model}:streamGenerateContent"
    return list(events(send(emulator, "POST", path, body, alt="sse")[1]))


def refusal(emulator: Emulator, body: Wire, model: str = FLASH) -> str:
    """The message a request is refused with; "" when it is answered."""
    message: str = generate(emulator, body, model).get("error", {}).get("message", "")
    return message


def events(raw: bytes) -> Iterator[Wire]:
    for frame in raw.split(b"\r\n\r\n"):
        if frame:
            yield orjson.loads(frame.removeprefix(b"data: "))


def parts(chunk: Wire) -> list[Wire]:
    found: list[Wire] = chunk.get("candidates", [{}])[0].get("content", {}).get("parts", [])
    return found


def text_of(chunks: list[Wire]) -> str:
    return "".join(
        part.get("text", "") for chunk in chunks for part in parts(chunk) if not part.get("thought")
    )


async def _drain(response: ApiResponse) -> bytes:
    return b"".join([piece async for piece in response.body])
