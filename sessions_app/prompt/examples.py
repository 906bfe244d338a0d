"""Messages of user and assistant that stand in a prompt template with their roles (seed 3; reference A4).

A person writes them as one text, in which a line that begins with a role begins a message.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

MOST = 40
"""Messages of one template."""

_HEAD = re.compile(r"^(user|assistant):[ \t]*", re.MULTILINE)


class ExampleMessage(BaseModel):
    """One message; `text` is a template by itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["user", "assistant"]
    text: Annotated[str, StringConstraints(min_length=1)]


def parse_examples(text: str) -> list[ExampleMessage]:
    """The messages of a text. Raises ValueError for a text without a role, or a role without a text."""
    beginning, *rest = _HEAD.split(text)
    if beginning.strip():
        raise ValueError("no role")
    return list(_messages(rest))


def _messages(pieces: list[str]) -> Iterator[ExampleMessage]:
    for role, text in zip(pieces[::2], pieces[1::2], strict=True):
        if not text.strip():
            raise ValueError("no text")
        yield ExampleMessage.model_validate({"role": role, "text": text.strip("\n")})


def written(examples: list[ExampleMessage]) -> str:
    """The text that `parse_examples` reads."""
    return "\n".join(f"{one.role}: {one.text}" for one in examples)
