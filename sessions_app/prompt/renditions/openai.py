"""The OpenAI-compatible rendition: system message, panels, conversation."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sessions_app.prompt.dialects.openai import chat_completion, chat_messages
from sessions_app.prompt.renditions.assembly import assemble_messages
from sessions_app.prompt.renditions.original import Original

Wire = dict[str, Any]


def render(
    original: Original, *, panels_as_calls: bool = True, changed: Mapping[str, datetime] | None = None
) -> Wire:
    """A chat completion request: the static layer is the system message, then panels and conversation.

    With `panels_as_calls` off the dynamic layer is one user message of JSON.
    """
    messages = assemble_messages(original, panels_as_calls=panels_as_calls, changed=changed)
    system: list[Wire] = [{"role": "system", "content": original.static_text}] if original.static_text else []
    return chat_completion(
        original.model, [*system, *chat_messages(messages)], original.tools, original.config
    )
