"""What was said in a chat completion of another program: its messages and the answer, to be read by a person.

Whatever the body holds, nothing is refused: what is no message is left out.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.calls import FunctionCall
from sessions_app.prompt.dialects.conversation import Conversation, SaidMessage, joined, object_in, texts_in
from sessions_app.prompt.dialects.openai_chunks import OBJECT
from sessions_app.prompt.reply import Folder, Reply

ANSWER_OBJECT = "chat.completion"
"""Of an answer that is no stream: its choices have a `message` in the place of a `delta`."""

ANSWERS = "assistant"


def conversation_in(request: bytes, chunks: Iterable[bytes]) -> Conversation | None:
    """`chunks` are those of the answer. None where the body is no request for a chat completion."""
    body = object_in(request)
    messages = body.get("messages")
    if not isinstance(messages, list):
        return None
    reply = _reply(chunks)
    said = [_said(one) for one in messages if isinstance(one, dict)]
    answer = joined([reply.thoughts, reply.text, *map(_call, reply.calls)])
    if answer:
        said.append(SaidMessage(ANSWERS, answer))
    model, refusal = body.get("model"), (reply.error or {}).get("message", "")
    return Conversation(model if isinstance(model, str) else "", tuple(said), reply.usage, str(refusal))


def _reply(chunks: Iterable[bytes]) -> Reply:
    folder = Folder("openai")
    for chunk in chunks:
        with suppress(ValueError):
            folder.add(chunk, _as_chunk(object_in(chunk)))
    return folder.reply()


def _as_chunk(event: dict[str, Any]) -> dict[str, Any]:
    """A whole answer as the only chunk of a stream; anything else unchanged."""
    choices = event.get("choices")
    if event.get("object") != ANSWER_OBJECT or not isinstance(choices, list):
        return event
    deltas = [{**one, "delta": one.get("message")} for one in choices if isinstance(one, dict)]
    return {**event, "object": OBJECT, "choices": deltas}


def _said(message: Mapping[str, Any]) -> SaidMessage:
    calls = message.get("tool_calls")
    objects = [one for one in (calls if isinstance(calls, list) else ()) if isinstance(one, dict)]
    called = [one["function"] for one in objects if isinstance(one.get("function"), dict)]
    lines = [f"{one.get('name')}({one.get('arguments')})" for one in called]
    return SaidMessage(str(message.get("role", "")), joined([*texts_in(message.get("content")), *lines]))


def _call(call: FunctionCall) -> str:
    return f"{call.name}({wire.dumps(call.args).decode()})"
