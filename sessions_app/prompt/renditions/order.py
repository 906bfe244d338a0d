"""The order that providers demand: calls answered at once, roles in turn (reference B4, B9, B10)."""

from collections.abc import Sequence
from dataclasses import replace

from sessions_app.prompt.renditions.blocks import Answered, Block, Called, Message, said

NO_RESULT = "No result was recorded."
FILLER = "ok"


def without_orphans(messages: Sequence[Message]) -> list[Message]:
    """Calls of which none is answered later go, and answers to calls that are not sent.

    One answered call keeps all calls of its message; `repair` completes the answers.
    """
    answered: set[str] = set()
    kept: list[Message] = []
    for message in reversed(messages):
        is_answered = any(call.id in answered for call in message.calls)
        kept.append(message if is_answered else _without(message, message.calls))
        answered |= {answer.id for answer in message.answers}
    sent: set[str] = set()
    told: list[Message] = []
    for message in reversed(kept):
        told.append(_without(message, [answer for answer in message.answers if answer.id not in sent]))
        sent |= {call.id for call in message.calls}
    return [message for message in told if message.blocks]


def repair(messages: Sequence[Message]) -> list[Message]:
    """Every call is answered in the very next message, in call order, and nothing else is.

    A missing answer gets a placeholder before the text of that message, or in a message of its own.
    """
    fixed: list[Message] = []
    waiting: tuple[Called, ...] = ()
    for message in messages:
        if message.role == "assistant":
            fixed += [Message("user", _answers(waiting, ())), message]
        else:
            fixed.append(Message("user", (*_answers(waiting, message.answers), *message.rest)))
        waiting = message.calls
    fixed.append(Message("user", _answers(waiting, ())))
    return [message for message in fixed if message.blocks]


def alternate(messages: Sequence[Message]) -> list[Message]:
    """User and assistant in turn, the user first; neighbours of one role are joined.

    Text never joins the answers before it: a filler of the assistant stands between.
    """
    told: list[Message] = []
    for message in messages:
        last = told[-1] if told else None
        if last is None:
            told += [said("user", FILLER)] if message.role == "assistant" else []
        elif last.role == message.role:
            if not last.answers or message.answers:
                told[-1] = replace(last, blocks=last.blocks + message.blocks)
                continue
            told.append(said("assistant", FILLER))
        told.append(message)
    return told


def _answers(calls: Sequence[Called], found: Sequence[Answered]) -> tuple[Answered, ...]:
    known = {answer.id: answer for answer in found}
    return tuple(known.get(call.id, Answered(call.id, call.name, NO_RESULT, failed=True)) for call in calls)


def _without(message: Message, dropped: Sequence[Block]) -> Message:
    return replace(message, blocks=tuple(block for block in message.blocks if block not in dropped))
