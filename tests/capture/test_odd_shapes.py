"""Captured bodies whose members have other shapes than the API takes: the pages open all the same."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.code_samples import code_samples_of
from sessions_app.inspector.tabs import TABS
from sessions_app.models import CaptureAddress, Exchange
from sessions_app.prompt.saving_causes import tool_change
from tests.capture.program import Program

pytestmark = pytest.mark.django_db

CONTENTS = [{"role": "user", "parts": [{"text": "Hi."}]}]
DECLARED = {"name": "f", "parameters": {"type": 5, "properties": [1], "enum": "x", "items": "y"}}
ODD_PARTS = [
    {"functionCall": {"name": "f", "args": "x"}},
    {"functionResponse": {"name": "g", "response": [1]}},
    {"inlineData": 5},
    {"fileData": []},
    {"executableCode": "x"},
    {"thoughtSignature": 5},
]
BODIES: dict[str, dict[str, Any]] = {
    "tools of a list": {"tools": [[]]},
    "tools of texts": {"tools": ["x"]},
    "no tool": {"tools": [None]},
    "tools as an object": {"tools": {"a": 1}},
    "declarations of texts": {"tools": [{"functionDeclarations": ["x"]}]},
    "declarations as an object": {"tools": [{"function_declarations": {"a": 1}}]},
    "a declaration of numbers": {"tools": [{"functionDeclarations": [DECLARED]}]},
    "a configuration that is a text": {"generationConfig": "x"},
    "a configuration that is a list": {"generation_config": [1]},
    "settings of numbers": {"generationConfig": {"thinkingConfig": 1, "responseSchema": 3}},
    "an instruction that is a text": {"systemInstruction": "x"},
    "parts": {"contents": [*CONTENTS, {"role": "user", "parts": ODD_PARTS}]},
    "contents as an object": {"contents": CONTENTS[0]},
}


@pytest.mark.parametrize("name", BODIES)
def test_every_page_and_download_of_an_odd_body_opens(client: Client, alice: User, name: str) -> None:
    program = Program(CaptureAddress.issue(alice.pk, "Laptop")[0])
    program.ask(json.dumps({"contents": CONTENTS} | BODIES[name]).encode(), b'{"error": {"code": 400}}')
    exchange = Exchange.objects.get()
    place = [exchange.session.public, exchange.number]
    page = reverse("exchange", args=place)
    renditions = [reverse("exchange-whole", args=[*place, "rendition", number]) for number in range(4)]
    samples = [reverse("exchange-program", args=[*place, one.id]) for one in code_samples_of(exchange)]
    urls = [*(f"{page}?tab={tab.id}" for tab in TABS), *renditions, *samples]
    assert {url: code for url in urls if (code := client.get(url).status_code) != 200} == {}


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ([{"functionDeclarations": None}], []),
        ([{"functionDeclarations": [5, {"name": "f"}]}], ["f"]),
        ({"functionDeclarations": {"name": "f"}}, ["f"]),
        ([5, "x", None], None),
    ],
)
def test_the_difference_of_odd_tools_opens(
    client: Client, alice: User, tools: Any, names: list[str] | None
) -> None:
    program = Program(CaptureAddress.issue(alice.pk, "Laptop")[0])
    program.ask(json.dumps({"contents": CONTENTS}).encode())
    program.ask(json.dumps({"contents": [*CONTENTS, *CONTENTS], "tools": tools}).encode())
    exchange = Exchange.objects.latest("number")
    page = reverse("exchange", args=[exchange.session.public, exchange.number])
    assert client.get(f"{page}?tab=diff&with=1").status_code == 200
    change = tool_change(b"", json.dumps(tools).encode())
    assert (list(change.came) if change else None) == names
