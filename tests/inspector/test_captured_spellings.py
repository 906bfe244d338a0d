"""Programs spell the members of a request as they like: pages and copies read them all the same."""

import ast
import json
from typing import Any

import orjson
import pytest

from sessions_app.inspector.code_samples import sdk
from sessions_app.inspector.request_diff import settings_of
from sessions_app.inspector.tabs.cache_tab import bill_for
from sessions_app.inspector.tabs.diff_tab import DiffTab
from sessions_app.inspector.tabs.renditions_tab import renditions_of
from sessions_app.models import Exchange
from sessions_app.prompt.billing import ItemChange
from sessions_app.prompt.comparisons import StateSubject
from tests.capture.answers import audited, says
from tests.capture.conversations import body_of, model, user
from tests.capture.program import Program

pytestmark = pytest.mark.django_db

SCHEMA = {"type": "object", "properties": {"a_b": {"type": "integer"}}}
SNAKE: dict[str, Any] = {
    "tools": [{"function_declarations": [{"name": "weather", "parameters_json_schema": SCHEMA}]}],
    "generation_config": {"max_output_tokens": 5, "top_p": 0.5},
}
CAMEL: dict[str, Any] = {
    "tools": [{"functionDeclarations": [{"name": "weather", "parametersJsonSchema": SCHEMA}]}],
    "generationConfig": {"maxOutputTokens": 5, "topP": 0.5},
}


def captured(program: Program, told: dict[str, Any], *contents: dict[str, Any]) -> Exchange:
    row = program.ask(body_of(contents, **told), b"{}", model="gemini-3-flash-preview")
    assert row.exchange is not None
    return Exchange.objects.get(pk=row.exchange.pk)


def written(exchange: Exchange, title: str) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(
        next(one.write() for one in renditions_of(exchange) if one.title == title)
    )
    return found


@pytest.mark.parametrize("told", [SNAKE, CAMEL])
def test_a_rendition_has_schemas_and_settings(program: Program, told: dict[str, Any]) -> None:
    exchange = captured(program, told, user("How hot is it?"))
    (tool,) = written(exchange, "Anthropic")["tools"]
    assert tool["input_schema"] == SCHEMA
    chat = written(exchange, "OpenAI-compatible, panels as JSON")
    assert (chat["max_completion_tokens"], chat["top_p"]) == (5, 0.5)


def test_another_spelling_is_no_other_setting(program: Program) -> None:
    first = captured(program, SNAKE, user("Hi"))
    second = captured(program, CAMEL, user("Hi"), model("Hello."), user("And?"))
    assert settings_of(first, second) == []


def spelled_twice(program: Program) -> list[Exchange]:
    """Two requests of one conversation: the first with escapes and spaces, the second without."""
    asked = user("Wie heiß ist er?")
    wide = json.dumps(orjson.loads(body_of([asked], **SNAKE))).encode()
    bodies = (wide, body_of([asked, model("Very."), user("And?")], **CAMEL))
    rows = [program.ask(body, says("Very.", 9_000), model="gemini-3-flash-preview") for body in bodies]
    return [Exchange.objects.get(pk=row.exchange.pk) for row in rows if row.exchange]


def test_an_item_in_another_spelling_is_unchanged_on_the_bill(program: Program) -> None:
    first, second = spelled_twice(program)
    assert second.previous == first
    items = bill_for(second).items
    changes = [(one.entry.source.partition(":")[0], one.change) for one in items]
    same, new = ItemChange.UNCHANGED, ItemChange.NEW
    turns = [("turn", same), ("turn", new), ("turn", new)]
    assert changes == [("tools", same), ("system", same), *turns] and not audited()


def test_another_spelling_is_no_change_of_the_session(program: Program) -> None:
    _, second = spelled_twice(program)
    found = DiffTab().read(second, {})
    assert [(one.subject, one.how) for one in found.state] == [(StateSubject.HISTORY, "new")]
    changed = [one for layer in found.layers for one in layer.pairs if one.pair.status == "changed"]
    told = {one.pair.shown.name: one.change.is_hidden for one in changed if one.change}
    assert told.pop("system") and any(
        name.startswith("turn:") and is_hidden for name, is_hidden in told.items()
    )


def test_a_turn_that_lost_its_signature_is_changed_on_the_bill(program: Program) -> None:
    """All that is left of it stands first again, so that the prompts part behind it."""
    tail = {"text": "", "thoughtSignature": "c2lnbmVk"}
    signed = model("Very.") | {"parts": [{"text": "Very."}, tail]}
    asked, then = user("How hot is it?"), [user("And?"), model("Cold."), user("So?")]
    for contents in ([asked], [asked, signed, *then[:1]], [asked, model("Very."), *then]):
        row = program.ask(body_of(contents), says("Yes.", 9_000), model="gemini-3-flash-preview")
    assert row.exchange is not None
    exchange = Exchange.objects.get(pk=row.exchange.pk)
    turns = [one for one in bill_for(exchange).items if one.entry.source.startswith("turn:")]
    assert exchange.ledger["prefix"] > 3 and exchange.break_line["source"] == turns[1].entry.source
    same, new, behind = ItemChange.UNCHANGED, ItemChange.NEW, ItemChange.BEHIND
    assert [one.change for one in turns] == [same, new, behind, new, new] and not audited()


def test_a_copy_for_the_sdk_has_the_settings_where_it_takes_them(program: Program) -> None:
    exchange = captured(program, SNAKE, user("Hi"))
    lines = sdk(exchange, exchange.sent_body())
    tree = ast.parse(lines)
    config = next(
        ast.literal_eval(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "CONFIG"
    )
    assert (config["max_output_tokens"], "generation_config" in config) == (5, False)
