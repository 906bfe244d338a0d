"""Renditions are requests that the types of the other providers' clients accept, whatever the turns hold."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from sessions_app.prompt.parts import PartView
from sessions_app.prompt.renditions import anthropic, openai
from sessions_app.prompt.turns import Turn, TurnKind, user_task
from sessions_app.prompt.wire import dumps
from tests.clients.environments import ANTHROPIC, OPENAI, ClientEnvironment
from tests.clients.running import run
from tests.conftest import ROOT
from tests.prompt.examples import call, content, text
from tests.prompt.renditions.examples import CONVERSATION, EMPTY, original

pytestmark = pytest.mark.slow

Body = dict[str, Any]


def inline(mime: str) -> Body:
    return {"inlineData": {"mimeType": mime, "data": "SGk="}}


def at(mime: str, uri: str = "https://files.example/1") -> Body:
    return {"fileData": {"mimeType": mime, "fileUri": uri}}


MIMES = (
    *("image/png", "image/jpeg", "image/heic", "image/svg+xml", "audio/wav", "audio/mpeg", "video/mp4"),
    *("application/pdf", "text/plain", "text/html", ""),
)
PARTS: dict[str, Body] = {
    "text": text("Hi"),
    "blank": text(" "),
    "thought": text("Hm", thought=True),
    "signature": text("", thoughtSignature="QUJD"),
    "signed": text("Yes.", thoughtSignature="QUJD"),
    "call": call("check_flight", "QUJD", flight="AA100"),
    "undeclared": call("gone", city="Paris"),
    "response": {"functionResponse": {"name": "check_flight", "response": {"error": "no"}}},
    "with files": {
        "functionResponse": {"name": "f", "response": {}, "parts": [inline("image/png"), inline("")]}
    },
    "code": {"executableCode": {"language": "PYTHON", "code": "1+1"}},
    "code result": {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
    "tool call": {"toolCall": {"toolType": "GOOGLE_SEARCH", "id": "1"}},
    "tool response": {"toolResponse": {"toolType": "GOOGLE_SEARCH", "id": "1"}},
    "unknown": {"mood": {"is": "good"}},
    "empty file": {"inlineData": {"mimeType": "image/png"}},
    "odd file": at("image/png", "gs://bucket/1"),
    **{f"inline {mime}": inline(mime) for mime in MIMES},
    **{f"file {mime}": at(mime) for mime in MIMES},
}


def bodies(render: Any) -> dict[str, Body]:
    """A request for each part on either side, with its call or response, and for the shapes of a request."""
    found = {
        "all": original(),
        "no panels": original(panels=(EMPTY,)),
        "no static text": original(static=""),
        "configured": original(tail='],"generationConfig":{"temperature":2,"maxOutputTokens":9}}'),
    }
    for name, part in PARTS.items():
        found |= {f"{name} of the user": original(asked(part)), f"{name} of the model": original(*said(part))}
    return {name: render(one) for name, one in found.items()}


def asked(*parts: Body) -> Turn:
    return Turn("1", TurnKind.USER_TASK, content("user", text("Look"), *parts))


def said(part: Body) -> tuple[Turn, ...]:
    name = (part.get("functionCall") or {}).get("name", "check_flight")
    answered = {"functionResponse": {"name": name, "response": {"ok": True}}}
    return (
        user_task("1", "Look"),
        Turn("2", TurnKind.FUNCTION_CALLING, content("model", part, call(name))),
        Turn("3", TurnKind.TOOL_RESPONSE, content("user", answered, answered)),
    )


def faults(client: ClientEnvironment, checked: dict[str, Body], folder: Path) -> dict[str, list[str]]:
    file = folder / f"{client.name}.json"
    file.write_bytes(dumps(checked))
    module = "tests.clients.programs.request_types"
    done = run([client.python, "-m", module, client.name, file], ROOT, folder)
    assert not done.returncode, done.stderr
    told: dict[str, list[str]] = orjson.loads(done.stdout)
    return {name: one for name, one in told.items() if one}


def without_googles(body: Body) -> Body:
    """Without the keys that Google documents for its own endpoint, where it documents them (seed 2)."""
    messages = [
        {key: value for key, value in one.items() if not _is_googles(key, one["role"])}
        for one in body["messages"]
    ]
    for one in messages:
        if calls := one.get("tool_calls"):
            one["tool_calls"] = [
                {key: value for key, value in each.items() if key != "extra_content"} for each in calls
            ]
    return {key: value for key, value in body.items() if key != "extra_body"} | {"messages": messages}


def _is_googles(key: str, role: str) -> bool:
    return (key, role) in (("extra_content", "assistant"), ("name", "tool"))


def test_the_samples_have_every_kind_of_part() -> None:
    from sessions_app.prompt import parts

    assert {PartView(0, part).kind for part in PARTS.values()} == {*parts._KINDS.values(), "thought", "other"}


def test_anthropics_types_accept_every_rendition(folder: Path) -> None:
    assert faults(ANTHROPIC, bodies(anthropic.render), folder) == {}


@pytest.mark.parametrize("panels_as_calls", [True, False], ids=["calls", "json"])
def test_openais_types_accept_every_rendition(folder: Path, *, panels_as_calls: bool) -> None:
    rendered = bodies(lambda one: openai.render(one, panels_as_calls=panels_as_calls))
    assert faults(OPENAI, {name: without_googles(one) for name, one in rendered.items()}, folder) == {}


@pytest.mark.parametrize("client", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])
def test_an_unknown_key_deep_inside_is_a_fault(client: ClientEnvironment, folder: Path) -> None:
    render = anthropic.render if client is ANTHROPIC else openai.render
    wrong = without_googles(render(original(*CONVERSATION)))
    wrong["messages"][-1] |= {"mood": "good"}
    assert list(faults(client, {"wrong": wrong}, folder)) == ["wrong"]
