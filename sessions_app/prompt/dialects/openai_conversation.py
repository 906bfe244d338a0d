"""What was said in a chat completion of another program: its messages and the answer, to be read by a person.

Whatever the body holds, nothing is refused: what is no message is left out.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.dialects.conversation import (
    SIGNED,
    Conversation,
    SaidMessage,
    joined,
    object_in,
    texts_in,
)
from sessions_app.prompt.dialects.openai_chunks import OBJECT, signature_in
from sessions_app.prompt.parts import parts_of
from sessions_app.prompt.reply import Folder, Reply
from sessions_app.prompt.wire import as_dict, as_list

ANSWER_OBJECT = "chat.completion"
"""The `object` of an answer that is no stream: its choices have a `message` in the place of a `delta`."""

ANSWERS = "assistant"
STANDARD_TIER = "default"


def conversation_in(request: bytes, chunks: Iterable[bytes]) -> Conversation | None:
    """`chunks` are those of the answer. None where the body is no request for a chat completion."""
    body = object_in(request)
    messages = body.get("messages")
    if not isinstance(messages, list):
        return None
    reply, tier = _answered(chunks)
    said = [_said(one) for one in messages if isinstance(one, dict)]
    if answer := joined(_answer_lines(reply)):
        said.append(SaidMessage(ANSWERS, answer))
    model, refusal = body.get("model"), (reply.error or {}).get("message", "")
    usage = replace(reply.usage, raw=reply.usage.raw | tier)
    name = model if isinstance(model, str) else ""
    return Conversation(name, tuple(said), usage, str(refusal), reply.model_version)


def _answered(chunks: Iterable[bytes]) -> tuple[Reply, dict[str, str]]:
    """The answer, and the service tier that it names, as a member of a `usageMetadata`."""
    folder, tier = Folder("openai"), {}
    for chunk in chunks:
        event = _as_chunk(object_in(chunk))
        named = event.get("service_tier")
        if isinstance(named, str) and named != STANDARD_TIER:
            tier = {"serviceTier": named}
        with suppress(ValueError):
            folder.add(chunk, event)
    return folder.reply(), tier


def _as_chunk(event: dict[str, Any]) -> dict[str, Any]:
    """A whole answer as the only chunk of a stream; anything else unchanged."""
    choices = event.get("choices")
    if event.get("object") != ANSWER_OBJECT or not isinstance(choices, list):
        return event
    deltas = [{**one, "delta": one.get("message")} for one in choices if isinstance(one, dict)]
    return {**event, "object": OBJECT, "choices": deltas}


def _answer_lines(reply: Reply) -> Iterator[str]:
    parts = parts_of(reply.wire) if reply.wire else ()
    yield reply.thoughts
    yield reply.text
    if any(part.signature and part.call is None for part in parts):
        yield SIGNED
    for part in parts:
        if part.call is not None:
            yield f"{part.call.get('name')}({wire.dumps(part.call.get('args', {})).decode()})"
            yield SIGNED if part.signature else ""


def _said(message: Mapping[str, Any]) -> SaidMessage:
    lines = [*texts_in(message.get("content")), _signed(message)]
    for call in map(as_dict, as_list(message.get("tool_calls"))):
        if isinstance(function := call.get("function"), dict):
            lines += [f"{function.get('name')}({function.get('arguments')})", _signed(call)]
    return SaidMessage(str(message.get("role", "")), joined(lines))


def _signed(value: Mapping[str, Any]) -> str:
    """The line for the signature of a message or a call; empty without one."""
    return SIGNED if signature_in(value) else ""
