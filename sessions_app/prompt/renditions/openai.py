"""The OpenAI-compatible rendition: system message, panels, conversation."""

from typing import Any

from sessions_app.prompt.dialects.openai import chat_completion, chat_messages
from sessions_app.prompt.renditions.assembly import UNKNOWN_TIMES, assemble_messages
from sessions_app.prompt.renditions.earlier_texts import true_of_all_formats
from sessions_app.prompt.renditions.original import Original
from sessions_app.prompt.renditions.stand_ins import tools_for
from sessions_app.prompt.renditions.times import KnownTimes

Wire = dict[str, Any]


def render(original: Original, *, panels_as_calls: bool = True, times: KnownTimes = UNKNOWN_TIMES) -> Wire:
    """A chat completion request: the static layer is the system message, then panels and conversation.

    With `panels_as_calls` off the dynamic layer is one user message of JSON.
    """
    messages = assemble_messages(original, panels_as_calls=panels_as_calls, times=times)
    brief = true_of_all_formats(original.static_text)
    system: list[Wire] = [{"role": "system", "content": brief}] if brief else []
    tools = tools_for(messages, original.tools)
    return chat_completion(original.model, [*system, *chat_messages(messages)], tools, original.config)
