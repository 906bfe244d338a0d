"""Captured texts that no database takes as they are: NUL and half an emoji, wherever they stand."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.models import CaptureAddress, Exchange
from tests.capture.program import Program

pytestmark = pytest.mark.django_db

ODD = "\0 half \ud83d"
CONTEXT = "<session_context>\nThis is the Gemini CLI.\n"
LONG = "You bake bread and answer briefly, with weights in grams and times in minutes. " * 5
BODIES: dict[str, dict[str, Any]] = {
    "first message": {},
    "member": {f"la{ODD}bels": {}},
    "cache": {"cachedContent": f"cachedContents/{ODD}"},
    "tool": {"tools": [{"functionDeclarations": [{"name": ODD, "description": ODD}]}]},
    "role": {"contents": [{"role": ODD, "parts": [{"text": "Hi."}, {ODD: ODD}]}]},
    "call": {
        "contents": [{"role": "model", "parts": [{"functionCall": {"name": ODD, "id": ODD, "args": {}}}]}]
    },
    "settings": {"generationConfig": {ODD: ODD, "stopSequences": [ODD]}},
}


def asked(instruction: str, context: str, more: dict[str, Any], *, again: bool) -> bytes:
    """Half an emoji is an escape, as clients write it that cut a text by its UTF-16 units."""
    parts = [{"text": one} for one in (context, ODD) if one]
    contents: list[dict[str, Any]] = [{"role": "user", "parts": parts}, *more.get("contents", ())]
    if again:
        contents += [
            {"role": "model", "parts": [{"text": ODD}]},
            {"role": "user", "parts": [{"text": "Go on."}]},
        ]
    body: dict[str, Any] = (
        {"systemInstruction": {"parts": [{"text": instruction}]}} | more | {"contents": contents}
    )
    return json.dumps(body).encode()


def record(owner: User, *bodies: bytes) -> Exchange:
    """The last request of a program; each is answered."""
    program = Program(CaptureAddress.issue(owner.pk, "Laptop")[0])
    answer = {"content": {"role": "model", "parts": [{"text": ODD}]}, "finishReason": "STOP"}
    response = {"candidates": [answer], "usageMetadata": {"promptTokenCount": 90, "totalTokenCount": 95}}
    for body in bodies:
        program.ask(body, json.dumps(response).encode())
    assert Exchange.objects.count() == len(bodies)
    return Exchange.objects.latest("pk")


@pytest.mark.parametrize("place", BODIES)
def test_a_request_is_recorded_whatever_its_texts_hold(alice: User, place: str) -> None:
    found = record(alice, asked("Be brief.", "", BODIES[place], again=False))
    assert found.is_faithful() and found.session.title == "half \ufffd"


@pytest.mark.parametrize(
    ("one", "other", "layer"),
    [
        ((LONG + ODD + "1", ""), (LONG + ODD + "2", ""), "static"),
        (("", CONTEXT + ODD + "1"), ("", CONTEXT + ODD + "2"), "dynamic"),
    ],
)
def test_the_place_of_a_break_is_kept_without_what_no_database_takes(
    alice: User, one: tuple[str, str], other: tuple[str, str], layer: str
) -> None:
    found = record(alice, asked(*one, {}, again=False), asked(*other, {}, again=True))
    broken = found.break_line
    assert broken["layer"] == layer and (broken["was"][:1], broken["now"][:1]) == ("1", "2")
    assert broken["before"].endswith(" half \ufffd")
