"""What was said in a request of another form than Gemini's, and in its answer, to be read by a person."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from sessions_app.prompt import wire
from sessions_app.prompt.chunks import Usage

SIGNED = "[signature]"
"""Stands for a thought signature, which nobody can read."""


class SaidMessage(NamedTuple):
    """`role` is the program's word for who speaks. A call is a line `name(arguments)` of the text."""

    role: str
    text: str


class Conversation(NamedTuple):
    """`messages` end with the answer, as far as one came.

    `usage` is what the provider counted, `refusal` what it said in the place of an answer, `served` the model
    that answered, where it is named. The rest is of interactions: `continued` names the one before it, whose
    messages the provider keeps; `searches` are those that it counted.
    """

    model: str
    messages: tuple[SaidMessage, ...]
    usage: Usage
    refusal: str = ""
    served: str = ""
    name: str = ""
    status: str = ""
    continued: str = ""
    searches: int = 0


def object_in(body: bytes) -> dict[str, Any]:
    """The object that a body is; empty for anything else."""
    found: Any = None
    if not wire.is_too_complex(body):
        with suppress(ValueError):
            found = wire.loads(body)
    return found if isinstance(found, dict) else {}


def texts_in(content: Any) -> Iterator[str]:
    """Texts as they are; of anything else its type, in brackets."""
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text
        elif isinstance(part, dict):
            yield f"[{part.get('type', '')}]"


def joined(texts: Iterable[str]) -> str:
    return "\n".join(filter(None, texts))
