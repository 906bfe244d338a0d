"""The routes of the OpenAI-compatible door."""

from dataclasses import replace
from typing import Protocol

from sessions_app.emulator import framing
from sessions_app.emulator.answers import whole
from sessions_app.emulator.catalogue import MODELS
from sessions_app.emulator.exchange import Response
from sessions_app.emulator.files import Clock
from sessions_app.emulator.generation import Answer, Generator
from sessions_app.emulator.openai.replies import Completion, events
from sessions_app.emulator.openai.requests import to_generate
from sessions_app.emulator.openai.shapes import ChatRequest
from sessions_app.emulator.parsing import parse
from sessions_app.emulator.replies import Reply
from sessions_app.emulator.scripts import Script
from sessions_app.emulator.visits import Visit

_VERSION = "v1main"


class House(Protocol):
    """What this door needs of the emulator it belongs to."""

    generator: Generator
    clock: Clock

    def paced(self, visit: Visit, script: Script, pieces: list[bytes], content_type: str) -> Response: ...


def complete(house: House, visit: Visit) -> Response:
    """Raises Refusal in Gemini's words; the door wraps it in a list."""
    asked = parse(ChatRequest, visit.request.body)
    name = asked.model.removeprefix("google/")
    model = replace(visit, version=_VERSION).model("generateContent", name)
    headers = {**visit.request.headers, "x-goog-api-key": visit.request.bearer}
    request = replace(visit.request, headers=headers)
    answer = _with_whole_calls(
        house.generator.reply(to_generate(asked, model), model, request, streams=asked.stream)
    )
    told = Completion(name, int(house.clock().timestamp()), asked.wants_usage)
    if asked.stream:
        pieces = list(events(told.stream(answer.stream())))
        return house.paced(visit, answer.script, pieces, framing.EVENT_TYPE)
    return house.paced(visit, answer.script, [framing.pretty(told.whole(answer.whole()))], framing.JSON_TYPE)


def _with_whole_calls(answer: Answer) -> Answer:
    """This door never streams arguments in pieces."""
    if not isinstance(answer, Reply):
        return answer
    return replace(answer, script=replace(answer.script, partial=False))


def list_models(visit: Visit) -> Response:
    models = [
        {"id": f"models/{name}", "object": "model", "owned_by": "google", "display_name": model.title}
        for name, model in MODELS.items()
    ]
    return whole(visit.entry, {"object": "list", "data": models})
