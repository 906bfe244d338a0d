"""What a model's turn shows by itself: formatted text and thoughts, and its tool calls with their responses.

Turns never change, so what was formatted of one is kept, in each process.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Any
from uuid import UUID

from django.utils.safestring import SafeString, mark_safe

from sessions_app.chat.answer_markdown import told
from sessions_app.chat.citations import ShownCitations, marks_of
from sessions_app.markup import Mark, render
from sessions_app.models import Turn
from sessions_app.panels import brief_of, tool_title
from sessions_app.panels.context_actions import DROPPING_TOOL
from sessions_app.panels.file_edits import CHANGING_TOOLS
from sessions_app.prompt.answer_schema import Fit
from sessions_app.prompt.call_pairing import paired
from sessions_app.prompt.calls import tool_type, tool_use
from sessions_app.prompt.parts import PartView, without_signature
from sessions_app.prompt.wire import readable
from sessions_app.wording.activity import call_brief
from sessions_app.wording.endings import UNREAD
from sessions_app.wording.provider_tools import use

BRIEF_LENGTH = 200

KEPT = 4_000_000
"""Characters that are kept of all turns together."""


@dataclass(frozen=True, slots=True)
class ToolCard:
    """A tool call and its response as indented JSON; `response` is empty while pending."""

    name: str
    brief: str
    """What stands beside the title: values of arguments."""
    args: str
    response: str
    failed: bool
    args_label: str = "Arguments"
    index: int | None = None
    """The number of the call in its step; None for a tool of the provider."""
    state: str = ""
    """What became of a call without a response, in words."""
    decision: str = ""
    """What a person said to the question whether it may be called, in words; empty where nobody was asked."""
    title: str = ""
    """What the tool does; the name where it has no title."""
    change: str = ""
    """The key of the change that it made to a file (`FileChange`)."""
    drop: str = ""
    """The key of what it let go of the history (`HistoryDrop`)."""
    is_read: bool = True
    """Whether it is a tool rather than a part of a kind that is not known."""


@dataclass(frozen=True, slots=True)
class TurnContent:
    thoughts: SafeString
    text: SafeString
    cards: tuple[ToolCard, ...]
    cited: ShownCitations | None
    fit: Fit | None = None
    """Whether a JSON answer fits its schema."""
    beside: str = ""
    """Text that was sent in one content with the responses: other programs do that."""

    @property
    def size(self) -> int:
        cards = sum(len(card.args) + len(card.response) for card in self.cards)
        return len(self.thoughts) + len(self.text) + cards + len(self.beside)

    @classmethod
    def of(cls, turn: Turn, answer: Turn | None) -> "TurnContent":
        """`answer` is the turn with the responses to its calls."""
        parts = turn.parts
        calls = [part for part in parts if part.call is not None]
        (markdown, citations), scope = told(turn), f"{turn.public}-"
        return cls(
            thoughts=thoughts_html(parts, scope),
            text=_html(markdown, scope, marks_of(citations)),
            cards=(
                *_tool_uses(parts),
                *_unread(parts),
                *map(_card, count(), calls, _answers_to(calls, answer)),
            ),
            cited=ShownCitations.of(citations, scope) if citations else None,
            fit=turn.schema_fit,
            beside="".join(part.text for part in answer.parts if part.kind == "text") if answer else "",
        )


class TurnContents:
    """The contents shown last, `limit` characters of all together. For any number of threads."""

    def __init__(self, limit: int = KEPT) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[tuple[UUID, UUID | None], TurnContent] = OrderedDict()
        self._lock = Lock()

    def of(self, turn: Turn, answer: Turn | None) -> TurnContent:
        key = (turn.public, answer.public if answer else None)
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return kept
        content = TurnContent.of(turn, answer)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = content
                self._size += content.size
            while self._size > self._limit:
                self._size -= self._kept.popitem(last=False)[1].size
        return content


CONTENTS = TurnContents()


def thoughts_html(parts: Iterable[PartView], scope: str) -> SafeString:
    """`scope` begins the ids in it, as the marks of footnotes need them."""
    return _html("".join(part.text for part in parts if part.kind == "thought"), f"{scope}thought-")


def _tool_uses(parts: Sequence[PartView]) -> Iterable[ToolCard]:
    """What tools of the provider were asked, each with the result that follows it."""
    results = (tool_use(part.raw) for part in parts if part.kind == "tool_response")
    for part in parts:
        if part.kind == "tool_call":
            kind, args, result = tool_type(part.raw), tool_use(part.raw), next(results, None)
            yield ToolCard(
                name=kind,
                title=use(kind),
                brief=call_brief(args),
                args=readable(args),
                response="" if result is None else readable(result),
                failed=False,
            )


def _unread(parts: Sequence[PartView]) -> Iterable[ToolCard]:
    """Parts of kinds that the chat does not show otherwise, as they came."""
    for part in parts:
        if part.kind == "other":
            raw = without_signature(part.raw)
            yield ToolCard(
                name=UNREAD["name"].format(keys=", ".join(raw)),
                brief=readable(raw, indent=False)[:BRIEF_LENGTH],
                args=readable(raw),
                response=UNREAD["response"],
                failed=False,
                args_label=UNREAD["label"],
                is_read=False,
            )


def _html(markdown: str, scope: str, marks: Sequence[Mark] = ()) -> SafeString:
    html = render(markdown, scope, marks) if markdown else ""
    return mark_safe(html)  # noqa: S308 - render is the sanitiser


def _answers_to(calls: Sequence[PartView], answer: Turn | None) -> list[PartView | None]:
    """The response to each call; None for one that has none."""
    found = [part for part in answer.parts if part.response is not None] if answer else []
    pairs = paired([_named(one.call) for one in calls], [_named(one.response) for one in found])
    return [found[pairs[at]] if at in pairs else None for at in range(len(calls))]


def _named(value: Mapping[str, Any] | None) -> tuple[str, str]:
    told = value or {}
    return str(told.get("id") or ""), str(told.get("name") or "")


def _card(index: int, call: PartView, answer: PartView | None) -> ToolCard:
    request, answered = call.call or {}, (answer.response or {}) if answer else {}
    response, args = answered.get("response"), request.get("args") or {}
    name = str(request.get("name", ""))
    return ToolCard(
        name=name,
        title=tool_title(name),
        brief=brief_of(name, args if isinstance(args, dict) else {}),
        args=readable(args),
        response=readable(response) if answer else "",
        failed=isinstance(response, dict) and "error" in response,
        index=index,
        change=_key_in(response, "change") if name in CHANGING_TOOLS else "",
        drop=_key_in(response, "drop") if name == DROPPING_TOOL else "",
    )


def _key_in(response: Any, name: str) -> str:
    key = response.get(name, "") if isinstance(response, dict) else ""
    return key if isinstance(key, str) else ""
