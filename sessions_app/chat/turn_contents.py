"""What a model's turn shows by itself: formatted text and thoughts, and its tool calls with their responses.

Turns never change, so what was formatted of one is kept, in each process.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import UUID

from django.utils.safestring import SafeString, mark_safe

from sessions_app.chat.citations import ShownCitations, marks_of
from sessions_app.markup import Mark, render
from sessions_app.models import Turn
from sessions_app.panels import tool_title
from sessions_app.panels.file_edits import CHANGING_TOOLS
from sessions_app.prompt.parts import PartView, without_signature
from sessions_app.prompt.wire import readable
from sessions_app.wording.activity import call_brief
from sessions_app.wording.endings import UNREAD

BRIEF_LENGTH = 200

KEPT = 4_000_000
"""Characters that are kept of all turns together."""


@dataclass(frozen=True, slots=True)
class ToolCard:
    """A tool call and its response as indented JSON; `response` is empty while pending."""

    name: str
    brief: str
    """What stands beside the title: values of arguments, or the first line of code."""
    args: str
    response: str
    failed: bool
    args_label: str = "Arguments"
    index: int | None = None
    """The number of the call in its step; None for code that the provider ran."""
    state: str = ""
    """What became of a call without a response, in words."""
    title: str = ""
    """What the tool does; the name where it has no title."""
    change: str = ""
    """The key of the change that it made to a file (`FileChange`)."""
    is_read: bool = True
    """Whether it is a tool rather than a part of a kind that is not known."""


@dataclass(frozen=True, slots=True)
class TurnContent:
    thoughts: SafeString
    text: SafeString
    cards: tuple[ToolCard, ...]
    cited: ShownCitations | None

    @property
    def size(self) -> int:
        cards = sum(len(card.args) + len(card.response) for card in self.cards)
        return len(self.thoughts) + len(self.text) + cards

    @classmethod
    def of(cls, turn: Turn, answer: Turn | None) -> "TurnContent":
        """`answer` is the turn with the responses to its calls."""
        parts = turn.parts
        responses = [part for part in answer.parts if part.response is not None] if answer else []
        calls = [part for part in parts if part.call is not None]
        citations, scope = turn.cited, f"{turn.public}-"
        return cls(
            thoughts=_html(parts, "thought", f"{scope}thought-"),
            text=_html(parts, "text", scope, marks_of(citations)),
            cards=(
                *_code_runs(parts),
                *_unread(parts),
                *(
                    _card(index, call, responses[index] if index < len(responses) else None)
                    for index, call in enumerate(calls)
                ),
            ),
            cited=ShownCitations.of(citations, scope) if citations else None,
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


def _code_runs(parts: Sequence[PartView]) -> Iterable[ToolCard]:
    """Code executed by the provider, each with the result that follows it."""
    results = (part.code_result or {} for part in parts if part.kind == "code_execution_result")
    for part in parts:
        if part.kind == "executable_code":
            code, result = part.code or {}, next(results, {})
            written = str(code.get("code", ""))
            yield ToolCard(
                name=f"{str(code.get('language') or '').capitalize()} code".strip(),
                brief=written.strip().partition("\n")[0][:BRIEF_LENGTH],
                args=written,
                response=str(result.get("output", "")),
                failed=str(result.get("outcome", "OUTCOME_OK")) != "OUTCOME_OK",
                args_label="Code",
            )


def _unread(parts: Sequence[PartView]) -> Iterable[ToolCard]:
    """Parts of kinds that the chat does not show otherwise, as they came."""
    for part in parts:
        if part.kind in ("other", "tool_call", "tool_response"):
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


def _html(parts: Iterable[PartView], kind: str, scope: str, marks: Sequence[Mark] = ()) -> SafeString:
    text = "".join(part.text for part in parts if part.kind == kind)
    html = render(text, scope, marks) if text else ""
    return mark_safe(html)  # noqa: S308 - render is the sanitiser


def _card(index: int, call: PartView, answer: PartView | None) -> ToolCard:
    request, answered = call.call or {}, (answer.response or {}) if answer else {}
    response = answered.get("response")
    name = str(request.get("name", ""))
    return ToolCard(
        name=name,
        title=tool_title(name),
        brief=call_brief(request.get("args") or {}),
        args=readable(request.get("args") or {}),
        response=readable(response) if answer else "",
        failed=isinstance(response, dict) and "error" in response,
        index=index,
        change=_change_in(name, response),
    )


def _change_in(tool: str, response: Any) -> str:
    key = response.get("change", "") if isinstance(response, dict) and tool in CHANGING_TOOLS else ""
    return key if isinstance(key, str) else ""
