"""Interactions as resources: what is kept of one, and how it looks at a given time."""

import base64
import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sessions_app.emulator.gemini_requests import GenerateRequest
from sessions_app.emulator.interactions_errors import not_found
from sessions_app.emulator.interactions_requests import InteractionStep
from sessions_app.emulator.interactions_steps import InteractionAnswer
from sessions_app.emulator.resource_store import Clock, ResourceStore
from sessions_app.emulator.wire_model import JsonObject

_KEPT, _KEPT_FREE = timedelta(days=55), timedelta(days=1)
_ID = 23


@dataclass(frozen=True, slots=True)
class StoredInteraction:
    """`name` is the id, "" for one that is not kept. `conversation` are all steps before the answer, `asked`
    those of the request itself. `body` is the native request, which a continuation repeats. `due` is when a
    background interaction has its answer."""

    name: str
    key: str
    model: str
    created: datetime
    due: datetime
    conversation: tuple[InteractionStep, ...]
    asked: tuple[InteractionStep, ...]
    body: GenerateRequest
    answer: InteractionAnswer
    previous: str = ""
    service_tier: str = "standard"
    is_background: bool = False
    cancelled: datetime | None = None

    @property
    def expires(self) -> datetime:
        """The free tier keeps them for a day."""
        return self.created + (_KEPT_FREE if "free" in self.key.lower() else _KEPT)

    @property
    def conversation_after(self) -> tuple[InteractionStep, ...]:
        steps = map(InteractionStep.model_validate, self.answer.steps)
        return (*self.conversation, *steps)

    def status(self, now: datetime) -> str:
        if self.cancelled:
            return "cancelled"
        return "in_progress" if now < self.due else self.answer.status

    def has_answer(self, now: datetime) -> bool:
        return not self.cancelled and now >= self.due

    def describe(self, now: datetime) -> JsonObject:
        """The stored resource, the steps of the request included."""
        asked = [step.model_dump(exclude_none=True) for step in self.asked]
        return self._resource(now, asked)

    def response(self, now: datetime) -> JsonObject:
        """What creating it returns: steps of the model alone, and no id if it is not kept."""
        return self._resource(now, [])

    def summary(self, now: datetime) -> JsonObject:
        """Without steps, as the last event of a stream has it."""
        ended, has_answer = self.cancelled or max(self.due, self.created), self.has_answer(now)
        found: JsonObject = {"id": self.name, "status": self.status(now)}
        if has_answer:
            found["usage"] = self.answer.usage
        found |= {
            "created": _seconds(self.created),
            "updated": _seconds(min(now, ended)),
            "service_tier": self.service_tier,
        }
        if self.previous:
            found["previous_interaction_id"] = self.previous
        if has_answer and self.answer.token:
            found["continuation_token"] = self.answer.token
        return found | {"object": "interaction", "model": self.model}

    def _resource(self, now: datetime, asked: list[JsonObject]) -> JsonObject:
        found = self.summary(now)
        if not self.name:
            del found["id"]
        has_answer = self.has_answer(now)
        if has_answer and self.answer.failure:
            found["errors"] = [self.answer.failure.description()]
        steps = asked + (self.answer.steps if has_answer else [])
        return found | ({"steps": steps} if steps else {})


class InteractionStore(ResourceStore[StoredInteraction]):
    """Missing, deleted and expired interactions and those of another key are alike not found."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, not_found)

    def next_name(self) -> str:
        """`v1_` and base64 of two fields, the length before each, as Google's ids read."""
        self._created += 1
        digest = hashlib.sha256(f"interaction {self._created}".encode()).digest()
        value = base64.urlsafe_b64encode(digest)[:_ID]
        fields = b"\x0a" + bytes([_ID]) + value + b"\x12" + bytes([_ID]) + value
        return "v1_" + base64.urlsafe_b64encode(fields).decode().rstrip("=")

    def keep(self, interaction: StoredInteraction) -> StoredInteraction:
        return self._add(interaction)

    def cancel(self, interaction: StoredInteraction) -> StoredInteraction:
        return self._add(replace(interaction, cancelled=self.clock()))


def _seconds(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
