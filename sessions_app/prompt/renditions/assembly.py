"""The messages of a rendition, by the rules that hold for all providers (seed 4, reference B4 to B6).

Panels are calls of a tool, each with its content as the result.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.dialects.messages import (
    Block,
    CallBlock,
    Message,
    ResultBlock,
    TextBlock,
    messages_of,
    text_message,
    valid_id,
)
from sessions_app.prompt.renditions.earlier_texts import true_of_all_formats
from sessions_app.prompt.renditions.original import Original
from sessions_app.prompt.renditions.stand_ins import PANEL_TOOL, files_as_text, part_text
from sessions_app.prompt.renditions.times import KnownTimes
from sessions_app.prompt.signatures import DUMMY

UNKNOWN_TIMES = KnownTimes()


def assemble_messages(
    original: Original,
    *,
    panels_as_calls: bool = True,
    repeats_system: bool = False,
    times: KnownTimes = UNKNOWN_TIMES,
) -> list[Message]:
    """Dynamic layer, optionally the system prompt again, then the conversation, in a valid order."""
    history = without_orphans(files_as_text(messages_of(original.turns, part_text)))
    front = _front(original, history, panels_as_calls, times)
    if front and panels_as_calls and repeats_system:
        front += repeated_system(true_of_all_formats(original.static_text))
    return alternate(complete_results([*front, *history]))


def has_user_text(messages: Sequence[Message]) -> bool:
    users = (message for message in messages if message.role == "user")
    return any(isinstance(block, TextBlock) for message in users for block in message.blocks)


def _front(
    original: Original, history: Sequence[Message], panels_as_calls: bool, times: KnownTimes
) -> list[Message]:
    if not panels_as_calls:
        return [text_message("user", original.dynamic_text)] if original.dynamic_text else []
    # Calls before the newest user text are not validated; without one they are the current turn.
    return panel_messages(original, times, "" if has_user_text(history) else DUMMY)


MISSING_RESULT = "No result was recorded."
FILLER_TEXT = "ok"


def without_orphans(messages: Sequence[Message]) -> list[Message]:
    """Without calls that have no result and results that have no call.

    One result keeps all calls of its message; `complete_results` adds the others.
    """
    answered: set[str] = set()
    kept: list[Message] = []
    for message in reversed(messages):
        is_answered = any(call.id in answered for call in message.calls)
        kept.append(message if is_answered else _without(message, message.calls))
        answered |= {answer.id for answer in message.answers}
    sent: set[str] = set()
    built: list[Message] = []
    for message in reversed(kept):
        built.append(_without(message, [answer for answer in message.answers if answer.id not in sent]))
        sent |= {call.id for call in message.calls}
    return [message for message in built if message.blocks]


def complete_results(messages: Sequence[Message]) -> list[Message]:
    """Exactly one result for every call in the next message, in call order; placeholders for missing ones."""
    fixed: list[Message] = []
    waiting: tuple[CallBlock, ...] = ()
    for message in messages:
        if message.role == "assistant":
            fixed += [Message("user", _answers(waiting, ())), message]
        else:
            fixed.append(Message("user", (*_answers(waiting, message.answers), *message.rest)))
        waiting = message.calls
    fixed.append(Message("user", _answers(waiting, ())))
    return [message for message in fixed if message.blocks]


def alternate(messages: Sequence[Message]) -> list[Message]:
    """User and assistant alternating, the user first; adjacent messages of one role are joined.

    Text is not joined to results before it: an assistant filler separates them.
    """
    built: list[Message] = []
    for message in messages:
        last = built[-1] if built else None
        if last is None:
            built += [text_message("user", FILLER_TEXT)] if message.role == "assistant" else []
        elif last.role == message.role:
            if not last.answers:
                built[-1] = replace(last, blocks=last.blocks + message.blocks)
                continue
            built.append(text_message("assistant", FILLER_TEXT))
        built.append(message)
    return built


def _answers(calls: Sequence[CallBlock], found: Sequence[ResultBlock]) -> tuple[ResultBlock, ...]:
    known = {answer.id: answer for answer in found}
    return tuple(
        known.get(call.id, ResultBlock(call.id, call.name, MISSING_RESULT, failed=True)) for call in calls
    )


def _without(message: Message, dropped: Sequence[Block]) -> Message:
    return replace(message, blocks=tuple(block for block in message.blocks if block not in dropped))


HEADER = "Beginning of dynamic panel display. All content displayed below may be considered up to date."
FOOTER = "End of dynamic panel displays."
FOOTER_RESULT = "Panel display complete. Proceeding with conversation."
REPEATED = "System instructions (repeated for emphasis):\n\n"
ACKNOWLEDGED = "Understood. I will follow these instructions."


def panel_messages(original: Original, times: KnownTimes, signature: str = "") -> list[Message]:
    """One call and one answer per panel that is not empty, oldest change first, then the footer's.

    `signature` is the dummy for the calls, required when no user text follows them (reference C1).
    Without panels there is no header and no footer.
    """
    shown = {key: value for key, value in original.panels.items() if _is_filled(value)}
    built: list[Message] = []
    for key, value in shown.items():
        text = times.generated_at(key)
        opening = text if built else f"{HEADER}\n\n{text}"
        built += _pair(key, opening, {"id": key}, _result(key, value), signature)
    if built:
        text = "\n".join((FOOTER, *times.lines(original.clock)))
        built += _pair("footer", text, {"action": "end_panels"}, FOOTER_RESULT, signature)
    return built


def panel_count(original: Original) -> int:
    """The number of panels that are sent, without the footer."""
    return sum(_is_filled(value) for value in original.panels.values())


def repeated_system(system: str) -> list[Message]:
    """The system prompt once more, after the panels (seed 4, "Seed Re-injection")."""
    return [text_message("user", REPEATED + system), text_message("assistant", ACKNOWLEDGED)]


def _pair(key: str, text: str, args: dict[str, str], result: str, signature: str) -> list[Message]:
    name = valid_id(f"panel_{key}")
    called = CallBlock(name, PANEL_TOOL, args, signature)
    return [
        Message("assistant", (TextBlock(text), called)),
        Message("user", (ResultBlock(name, PANEL_TOOL, result),)),
    ]


def _result(key: str, value: Any) -> str:
    kind, within, name = key.partition("/")
    title = kind.replace("_", " ").capitalize() + within + name
    content = value if isinstance(value, str) else wire.dumps(value).decode()
    return f"======= [{key}] {title} =======\n{true_of_all_formats(content)}"


def _is_filled(value: Any) -> bool:
    return value not in ("", None, [], {})
