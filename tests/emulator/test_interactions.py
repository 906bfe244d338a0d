"""Create, get, cancel and delete, as a client sees them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.http import ApiRequest
from tests.emulator.clock import Clock
from tests.emulator.helpers import FLASH, OPENING, Wire, declare, generate, send, user
from tests.emulator.interaction_helpers import (
    FLIGHT,
    TOOLS,
    WEATHER,
    answer_of,
    ask,
    calls,
    create,
    found,
    kinds,
    refusal,
    replay,
    result,
    stream,
    text_of,
    types,
)

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
FLASH_25 = "gemini-2.5-flash"


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def timed(clock: Clock) -> Emulator:
    return Emulator(delay=0.01, clock=clock)


def test_a_text_is_answered_with_a_signed_thought_and_an_output(emulator: Emulator) -> None:
    made = create(emulator, "hello")
    assert made["id"].startswith("v1_") and made["object"] == "interaction" and made["model"] == FLASH
    assert (made["status"], types(made)) == ("completed", ["thought", "model_output"])
    assert set(made["steps"][0]) == {"type", "signature"}
    assert OPENING in text_of(made)


def test_summaries_come_when_they_are_asked_for(emulator: Emulator) -> None:
    made = create(emulator, "hello", generation_config={"thinking_summaries": "auto"})
    (summary,) = made["steps"][0]["summary"]
    assert summary["type"] == "text" and summary["text"].startswith("**Looking")


def test_the_text_and_the_counts_are_those_of_generate_content(emulator: Emulator) -> None:
    system = {"parts": [{"text": "be brief"}]}
    body = {"contents": [user("hello")], "systemInstruction": system}
    native = generate(Emulator(delay=0), body)
    made = create(emulator, "hello", system_instruction="be brief")
    assert text_of(made) == native["candidates"][0]["content"]["parts"][0]["text"]
    counted, used = native["usageMetadata"], made["usage"]
    assert used["total_input_tokens"] == counted["promptTokenCount"]
    assert used["total_output_tokens"] == counted["candidatesTokenCount"]
    assert used["total_thought_tokens"] == counted["thoughtsTokenCount"]
    assert used["total_tokens"] == counted["totalTokenCount"]
    assert used["input_tokens_by_modality"] == [{"modality": "text", "tokens": used["total_input_tokens"]}]


def test_a_signature_goes_back_to_generate_content(emulator: Emulator) -> None:
    """It is made by the same signer: the native API takes it on the same call."""
    first = create(emulator, FLIGHT, tools=TOOLS)
    (call,) = calls(first)
    part: Wire = {"functionCall": {"name": call["name"], "args": call["arguments"]}}
    signed = part | {"thoughtSignature": first["steps"][0]["signature"]}
    answer = {"functionResponse": {"name": call["name"], "response": {"status": "on time"}}}
    contents = [user(FLIGHT), {"role": "model", "parts": [signed]}, {"role": "user", "parts": [answer]}]
    tools = declare(check_flight=["flight"], book_taxi=["time"])
    assert "candidates" in generate(emulator, {"contents": contents, "tools": tools})
    tampered = "AAAA" + signed["thoughtSignature"][4:]
    contents[1] = {"role": "model", "parts": [part | {"thoughtSignature": tampered}]}
    assert "Corrupted" in generate(emulator, {"contents": contents, "tools": tools})["error"]["message"]


@pytest.mark.parametrize("model", [FLASH, FLASH_25])
@pytest.mark.parametrize(
    "told",
    [
        {"status": "delayed", "departure_time": "12 PM"},
        '{"status": "delayed", "departure_time": "12 PM"}',
        [{"type": "text", "text": '{"status": "delayed", "departure_time": "12 PM"}'}],
    ],
)
def test_a_chain_of_calls_goes_on_from_the_previous_interaction(
    emulator: Emulator, model: str, told: Any
) -> None:
    first = create(emulator, FLIGHT, tools=TOOLS, model=model)
    assert (first["status"], types(first)) == ("requires_action", ["thought", "function_call"])
    (check,) = calls(first)
    assert (check["name"], check["arguments"]) == ("check_flight", {"flight": "AA100"})
    goes_on: Wire = {"tools": TOOLS, "model": model}
    second = create(emulator, [result(check, told)], previous_interaction_id=first["id"], **goes_on)
    (book,) = calls(second)
    assert book["arguments"] == {"time": "10 AM"} and book["id"] != check["id"]
    booked = [result(book, {"booking_status": "success"})]
    last = create(emulator, booked, previous_interaction_id=second["id"], **goes_on)
    assert last["status"] == "completed" and "12 PM" in text_of(last)


def test_a_chain_of_calls_goes_on_without_a_store(emulator: Emulator) -> None:
    steps: list[Wire] = [{"type": "user_input", "content": [{"type": "text", "text": FLIGHT}]}]
    told = iter(({"status": "delayed", "departure_time": "12 PM"}, {"booking_status": "success"}))
    answer = create(emulator, steps, tools=TOOLS, store=False)
    while made := calls(answer):
        assert "id" not in answer
        steps += [*answer["steps"], *(result(call, next(told)) for call in made)]
        answer = create(emulator, steps, tools=TOOLS, store=False)
    assert "12 PM" in text_of(answer)


def test_parallel_calls_are_steps_of_their_own(emulator: Emulator) -> None:
    first = create(emulator, WEATHER, tools=TOOLS)
    assert types(first) == ["thought", "function_call", "function_call"]
    made = calls(first)
    told = [result(call, {"temperature": 20}) for call in made]
    last = create(emulator, told, previous_interaction_id=first["id"], tools=TOOLS)
    assert last["status"] == "completed"
    assert refusal(emulator, input=told[:1], previous_interaction_id=first["id"], tools=TOOLS) == (
        400,
        "invalid_request",
    )


def test_a_call_without_its_thought_is_refused(emulator: Emulator) -> None:
    first = create(emulator, FLIGHT, tools=TOOLS, store=False)
    asked = {"type": "user_input", "content": [{"type": "text", "text": FLIGHT}]}
    (call,) = calls(first)
    sent = [asked, call, result(call, {"status": "on time"})]
    error = ask(emulator, input=sent, tools=TOOLS)["error"]
    assert error["code"] == "invalid_request" and "thought_signature" in error["message"]


def test_a_conversation_is_kept_and_its_tools_are_not(emulator: Emulator) -> None:
    first = create(emulator, "hello", tools=TOOLS)
    second = create(emulator, FLIGHT, previous_interaction_id=first["id"])
    assert second["previous_interaction_id"] == first["id"]
    assert second["usage"]["total_input_tokens"] > first["usage"]["total_output_tokens"]
    assert types(second)[-1] == "model_output" and "does not allow" in text_of(second)


def test_a_long_conversation_hits_the_implicit_cache(emulator: Emulator) -> None:
    first = create(emulator, "word " * 6_000)
    second = create(emulator, "and now?", previous_interaction_id=first["id"])
    cached = second["usage"]["total_cached_tokens"]
    assert first["usage"]["total_cached_tokens"] == 0 < cached < second["usage"]["total_input_tokens"]
    assert second["usage"]["cached_tokens_by_modality"] == [{"modality": "text", "tokens": cached}]


def test_what_is_stored_has_the_input_too(emulator: Emulator) -> None:
    made = create(emulator, "hello")
    stored = found(emulator, made["id"])
    assert stored["steps"][0] == {"type": "user_input", "content": [{"type": "text", "text": "hello"}]}
    assert stored["steps"][1:] == made["steps"]
    assert stored | {"steps": made["steps"]} == made


@pytest.mark.parametrize("version", ["v1", "v1beta", "v1beta2"])
def test_every_version_serves_it(emulator: Emulator, version: str) -> None:
    headers = {"x-goog-api-key": "emulator"}
    body = b'{"model":"gemini-3-flash-preview","input":"hi"}'
    assert emulator.handle(ApiRequest("POST", f"/{version}/interactions", {}, headers, body)).status == 200


@pytest.mark.parametrize("streams", [False, True])
def test_what_is_not_stored_has_no_id_and_is_not_found(emulator: Emulator, streams: bool) -> None:
    if streams:
        made = stream(emulator, "hello", store=False)
        assert (made[0]["interaction"]["id"], made[1]["interaction_id"]) == ("", "")
    else:
        assert "id" not in create(emulator, "hello", store=False)
    status, raw = send(emulator, "GET", "interactions/v1_none")
    assert (status, answer_of(raw)["error"]["code"]) == (404, "not_found")


def test_a_deleted_or_foreign_or_expired_interaction_is_not_found(timed: Emulator, clock: Clock) -> None:
    names = [create(timed, "hello", key=key)["id"] for key in ("emulator", "emulator", "free")]
    assert send(timed, "DELETE", f"interactions/{names[0]}") == (200, b"{}")
    assert found(timed, names[0])["error"]["code"] == "not_found"
    assert found(timed, names[1], key="somebody")["error"]["code"] == "not_found"
    assert found(timed, names[1])["status"] == "completed"
    assert found(timed, names[2], key="free")["status"] == "completed"
    clock.now += timedelta(days=2)
    assert found(timed, names[2], key="free")["error"]["code"] == "not_found"
    assert refusal(timed, previous_interaction_id=names[0]) == (404, "not_found")
    assert send(timed, "DELETE", f"interactions/{names[0]}")[0] == 404


def test_a_background_interaction_is_answered_later(timed: Emulator, clock: Clock) -> None:
    made = create(timed, "hello", background=True)
    assert made["status"] == "in_progress" and not {"steps", "usage"} & set(made)
    assert types(found(timed, made["id"])) == ["user_input"]
    assert refusal(timed, previous_interaction_id=made["id"]) == (400, "failed_precondition")
    clock.now += timedelta(minutes=1)
    ended = found(timed, made["id"])
    assert (ended["status"], types(ended)) == ("completed", ["user_input", "thought", "model_output"])
    assert made["created"] == "2026-11-22T12:00:00Z" <= ended["updated"] < "2026-11-22T12:01:00Z"


def test_a_background_interaction_can_be_cancelled_until_it_ends(timed: Emulator, clock: Clock) -> None:
    first, second, plain = (create(timed, "hello", background=run) for run in (True, True, False))
    cancelled = answer_of(send(timed, "POST", f"interactions/{first['id']}/cancel")[1])
    assert cancelled["status"] == "cancelled" == found(timed, first["id"])["status"]
    ends = replay(timed, first["id"])
    assert kinds(ends) == ["interaction.created", "interaction.status_update", "interaction.completed"]
    assert ends[-1]["interaction"]["status"] == "cancelled"
    clock.now += timedelta(minutes=1)
    for name, code in ((second["id"], "failed_precondition"), (plain["id"], "invalid_request")):
        status, raw = send(timed, "POST", f"interactions/{name}/cancel")
        assert (status, answer_of(raw)["error"]["code"]) == (400, code)
    assert found(timed, first["id"])["status"] == "cancelled"


def test_an_overload_ends_a_background_interaction_and_refuses_another(timed: Emulator, clock: Clock) -> None:
    assert refusal(timed, input="/error 503") == (503, "service_unavailable")
    made = create(timed, "/error 503", background=True)
    clock.now += timedelta(minutes=1)
    ended = found(timed, made["id"])
    assert (ended["status"], ended["errors"][0]["code"]) == ("failed", "service_unavailable")


def test_a_cut_answer_is_incomplete(emulator: Emulator) -> None:
    made = create(emulator, "hello", generation_config={"max_output_tokens": 40})
    assert made["status"] == "incomplete"
    assert "steps" not in create(emulator, "hello", generation_config={"max_output_tokens": 5}, store=False)


def test_a_stopped_generation_is_failed_with_a_code(emulator: Emulator) -> None:
    made = create(emulator, "/blocked")
    assert (made["status"], made["errors"][0]["code"]) == ("failed", "prohibited_content")
    assert create(emulator, "/safety")["errors"][0]["code"] == "safety"


@pytest.mark.parametrize("stores", [True, False])
def test_a_paused_answer_continues_with_its_token(emulator: Emulator, stores: bool) -> None:
    whole = text_of(create(emulator, "hello /continue 1"))
    answer = create(emulator, "hello /continue 3", store=stores)
    told = text_of(answer)
    while token := answer.get("continuation_token"):
        assert answer["status"] == "requires_continuation"
        named = {"previous_interaction_id": answer["id"]} if stores else {"input": "hello /continue 3"}
        answer = ask(emulator, continuation_token=token, store=stores, **named)
        told += text_of(answer)
    assert answer["status"] == "completed"
    assert told.replace("/continue 3", "") == whole.replace("/continue 1", "")


def test_code_and_images_of_the_model_are_steps_and_contents(emulator: Emulator) -> None:
    made = create(emulator, "/code /image draw")
    assert types(made) == ["thought", "code_execution_call", "code_execution_result", "model_output"]
    call, printed, output = made["steps"][1:]
    assert call["arguments"]["language"] == "python" and printed["call_id"] == call["id"]
    assert [content["type"] for content in output["content"]] == ["image", "text"]
    following = create(emulator, "go on", previous_interaction_id=made["id"])
    assert following["status"] == "completed"


def test_a_json_answer_has_the_schema(emulator: Emulator) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    form = {"type": "text", "mime_type": "application/json", "schema": schema}
    assert "city" in text_of(create(emulator, "hello", response_format=form))
    assert text_of(create(emulator, "hello", response_format=[form])).startswith("{")


def test_the_journal_has_every_request(emulator: Emulator) -> None:
    made = create(emulator, "hello")
    found(emulator, made["id"])
    refusal(emulator, input=[])
    assert [(entry.method, entry.path, entry.status) for entry in emulator.journal] == [
        ("POST", "/v1beta/interactions", 200),
        ("GET", f"/v1beta/interactions/{made['id']}", 200),
        ("POST", "/v1beta/interactions", 400),
    ]
    assert b"model_output" in bytes(next(iter(emulator.journal)).answer)
