"""The OpenAI-compatible endpoint, with the bodies of seed 2's chapter on it."""

from typing import Any

import httpx2
import orjson
import pytest

from sessions_app.emulator import Emulator, EmulatorTransport
from tests.emulator.helpers import OPENING, Wire

FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed."
WEATHER = "Check the weather in Paris and London."
PATH = "/v1beta/openai/chat/completions"
NAME = "google/gemini-3-pro-preview"


def function(name: str, argument: str) -> Wire:
    fields = {argument: {"type": "string", "description": "as the seed describes it"}}
    schema = {"type": "object", "properties": fields, "required": [argument]}
    return {"type": "function", "function": {"name": name, "description": "a tool", "parameters": schema}}


TOOLS = [
    function("check_flight", "flight"),
    function("book_taxi", "time"),
    function("get_current_temperature", "location"),
]


class OpenAIChat:
    """A client that keeps the conversation, as the seed does."""

    def __init__(self, emulator: Emulator, key: str = "emulator") -> None:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        transport = EmulatorTransport(emulator)
        self.http = httpx2.AsyncClient(transport=transport, base_url="http://e.test", headers=headers)

    async def post(self, *messages: Wire, **more: Any) -> httpx2.Response:
        body = {"model": NAME, "messages": list(messages), "tools": TOOLS} | more
        return await self.http.post(PATH, json=body)

    async def say(self, *messages: Wire, **more: Any) -> Wire:
        message: Wire = (await self.post(*messages, **more)).json()["choices"][0]["message"]
        return message

    async def chunks(self, *messages: Wire, **more: Any) -> list[Any]:
        text = (await self.post(*messages, stream=True, **more)).text
        frames = [frame.removeprefix("data: ") for frame in text.split("\n\n") if frame]
        assert frames.pop() == "[DONE]"
        return [orjson.loads(frame) for frame in frames]


@pytest.fixture
def chat(emulator: Emulator) -> OpenAIChat:
    return OpenAIChat(emulator)


def user(text: str) -> Wire:
    return {"role": "user", "content": text}


def answer(call: Wire, **response: str) -> Wire:
    content = orjson.dumps(response).decode()
    return {"role": "tool", "name": call["function"]["name"], "tool_call_id": call["id"], "content": content}


def signature(call: Wire) -> str:
    found: str = call.get("extra_content", {}).get("google", {}).get("thought_signature", "")
    return found


@pytest.mark.parametrize("role", ["model", "assistant"])
async def test_the_flight_and_taxi_example_plays(chat: OpenAIChat, role: str) -> None:
    first = await chat.say(user(FLIGHT)) | {"role": role}
    (check,) = first["tool_calls"]
    told = answer(check, status="delayed", departure_time="12 PM")
    second = await chat.say(user(FLIGHT), first, told) | {"role": role}
    (book,) = second["tool_calls"]
    last = await chat.say(user(FLIGHT), first, told, second, answer(book, booking_status="success"))
    assert check["function"] == {"arguments": '{"flight":"AA100"}', "name": "check_flight"}
    assert book["function"] == {"arguments": '{"time":"10 AM"}', "name": "book_taxi"}
    assert signature(check) and signature(book) and "10 AM" in last["content"] and "tool_calls" not in last


@pytest.mark.parametrize("model", [NAME, "gemini-2.5-flash"])
@pytest.mark.parametrize("given", ["", "function-call-1"])
async def test_answers_name_their_calls_by_ids_of_any_round(chat: OpenAIChat, model: str, given: str) -> None:
    messages = [user(FLIGHT)]
    for response in ({"status": "delayed", "departure_time": "12 PM"}, {"booking_status": "success"}):
        asked = await chat.say(*messages, model=model)
        (call,) = asked["tool_calls"]
        call["id"] = given or call["id"]
        told = answer(call, **response)
        del told["name"]
        messages += [asked, told]
    assert "is delayed" in (await chat.say(*messages, model=model))["content"]


@pytest.mark.parametrize("model", [NAME, "gemini-2.5-pro"])
async def test_each_call_of_a_conversation_has_an_id_of_its_own(chat: OpenAIChat, model: str) -> None:
    chunks = await chat.chunks(user(WEATHER), model=model) + await chat.chunks(user(WEATHER), model=model)
    calls = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", [])]
    assert len({call["id"] for call in calls}) == 4


async def test_the_paris_and_london_example_plays(chat: OpenAIChat) -> None:
    asked = await chat.say(user(WEATHER))
    paris, london = asked["tool_calls"]
    last = await chat.say(user(WEATHER), asked, answer(paris, temp="15C"), answer(london, temp="12C"))
    assert signature(paris) and not signature(london)
    assert "**Paris**: 15C" in last["content"] and "**London**: 12C" in last["content"]


async def test_a_lost_signature_is_refused_in_a_list(chat: OpenAIChat) -> None:
    asked = await chat.say(user(FLIGHT))
    del asked["tool_calls"][0]["extra_content"]
    refused = await chat.post(user(FLIGHT), asked, answer(asked["tool_calls"][0], status="delayed"))
    (body,) = refused.json()
    assert refused.status_code == body["error"]["code"] == 400
    assert "default_api:check_flight` , position 2" in body["error"]["message"]


async def test_a_dummy_signature_is_taken(chat: OpenAIChat) -> None:
    asked = await chat.say(user(FLIGHT))
    google = {"thought_signature": "skip_thought_signature_validator"}
    asked["tool_calls"][0]["extra_content"] = {"google": google}
    refused = await chat.post(user(FLIGHT), asked, answer(asked["tool_calls"][0], status="delayed"))
    assert refused.status_code == 200


async def test_interleaved_parallel_answers_are_refused(chat: OpenAIChat) -> None:
    asked = await chat.say(user(WEATHER))
    first, second = ({**asked, "tool_calls": [call]} for call in asked["tool_calls"])
    told = [answer(call, temp="15C") for call in asked["tool_calls"]]
    refused = await chat.post(user(WEATHER), first, told[0], second, told[1])
    assert refused.status_code == 400


async def test_a_stream_brings_calls_whole_and_signed(chat: OpenAIChat) -> None:
    chunks = await chat.chunks(user(WEATHER))
    calls = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", [])]
    assert [bool(signature(call)) for call in calls] == [True, False]
    assert "index" not in calls[0] and orjson.loads(calls[1]["function"]["arguments"]) == {
        "location": "London"
    }
    assert [chunk["choices"][0].get("finish_reason") for chunk in chunks] == [None, None, "stop"]


async def test_calls_are_whole_even_when_pieces_are_asked_for(chat: OpenAIChat) -> None:
    chunks = await chat.chunks(user("weather in Paris /partial"))
    (call,) = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", [])]
    assert "Paris" in call["function"]["arguments"]


async def test_a_streamed_text_ends_with_its_signature(chat: OpenAIChat) -> None:
    chunks = await chat.chunks(user("hello"), stream_options={"include_usage": True})
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert OPENING in "".join(delta.get("content", "") for delta in deltas)
    assert signature(deltas[-1]) and not any(map(signature, deltas[:-1]))
    assert chunks[-1]["usage"]["total_tokens"] > chunks[-1]["usage"]["prompt_tokens"]
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}


async def test_a_whole_answer_has_the_openai_form(chat: OpenAIChat) -> None:
    told = (await chat.post(user("hello"))).json()
    assert list(told) == ["choices", "created", "id", "model", "object", "usage"]
    assert told["object"] == "chat.completion" and told["model"] == "gemini-3-pro-preview"
    assert told["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("/maxtokens", "length"),
        ("/safety", "content_filter: SAFETY"),
        ("/blocked", "content_filter: PROHIBITED_CONTENT"),
        ("/malformed", "function_call_filter: MALFORMED_FUNCTION_CALL"),
        (FLIGHT, "tool_calls"),
    ],
)
async def test_every_ending_has_openais_word(chat: OpenAIChat, text: str, reason: str) -> None:
    assert (await chat.post(user(text))).json()["choices"][0]["finish_reason"] == reason


async def test_thoughts_stand_between_tags(chat: OpenAIChat) -> None:
    thinking = {"google": {"thinking_config": {"include_thoughts": True}}}
    message = await chat.say(user("hello"), extra_body=thinking)
    assert message["content"].startswith("<thought>") and f"</thought>Hello! {OPENING}" in message["content"]


@pytest.mark.parametrize("spelling", ["thinking_level", "thinkingLevel"])
async def test_a_level_of_the_extra_body_is_taken_in_both_spellings(chat: OpenAIChat, spelling: str) -> None:
    thinking = {"google": {"thinking_config": {spelling: "low"}}}
    assert (await chat.post(user("hello"), extra_body=thinking)).status_code == 200


async def test_a_system_message_is_the_system_instruction(chat: OpenAIChat, emulator: Emulator) -> None:
    short, long = [
        (await chat.post(*before, user("hello"))).json()["usage"]["prompt_tokens"]
        for before in ([], [{"role": "system", "content": "word " * 33}])
    ]
    assert long - short == 50


async def test_a_picture_counts_as_one(chat: OpenAIChat) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    content = [{"type": "text", "text": "look"}, picture]
    usage = (await chat.post({"role": "user", "content": content})).json()["usage"]
    assert usage["prompt_tokens"] > 258


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("required", "check_flight"),
        ({"type": "function", "function": {"name": "book_taxi"}}, "book_taxi"),
        ("none", None),
        ("auto", None),
    ],
)
async def test_a_tool_choice_is_kept(chat: OpenAIChat, choice: Any, called: str | None) -> None:
    message = await chat.say(user("hello"), tool_choice=choice)
    assert [call["function"]["name"] for call in message.get("tool_calls", [])] == (
        [called] if called else []
    )


@pytest.mark.parametrize("model", ["gemini-3.5-flash", "gemini-2.5-flash"])
@pytest.mark.parametrize("effort", ["none", "minimal", "low", "medium", "high"])
async def test_an_effort_suits_every_family(chat: OpenAIChat, model: str, effort: str) -> None:
    told = await chat.post(user("hello"), model=model, reasoning_effort=effort)
    thoughts = told.json()["usage"]
    spent = thoughts["total_tokens"] - thoughts["prompt_tokens"] - thoughts["completion_tokens"]
    idle = effort == "none" or (effort == "minimal" and "3.5" in model)
    assert (spent == 0) is idle


async def test_an_unknown_effort_is_refused(chat: OpenAIChat) -> None:
    assert (await chat.post(user("hello"), reasoning_effort="heroic")).status_code == 400


async def test_json_is_given_on_request(chat: OpenAIChat) -> None:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    assert orjson.loads((await chat.say(user("hello"), response_format=form))["content"]) == {"word": "word"}


@pytest.mark.parametrize(
    ("key", "words"),
    [("", "Missing or invalid Authorization header."), ("invalid", "API key not valid.")],
)
async def test_a_bad_key_is_refused_in_a_list(emulator: Emulator, key: str, words: str) -> None:
    (body,) = (await OpenAIChat(emulator, key).post(user("hello"))).json()
    assert body["error"]["code"] == 400 and body["error"]["message"].startswith(words)


async def test_an_unknown_model_and_an_unknown_field_are_refused(chat: OpenAIChat) -> None:
    lost = await chat.post(user("hello"), model="gpt-4")
    odd = await chat.post(user("hello"), banana=1)
    assert lost.status_code == 404 and "models/gpt-4 is not found for API version v1main" in lost.text
    assert odd.status_code == 400 and 'Unknown name \\"banana\\"' in odd.text


@pytest.mark.parametrize("arguments", ["{", "[]"])
async def test_arguments_that_are_no_object_are_refused(chat: OpenAIChat, arguments: str) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    refused = await chat.post(user("hi"), {"role": "assistant", "tool_calls": [call]})
    assert refused.status_code == 400 and "Invalid function call arguments" in refused.text


async def test_an_error_in_mid_stream_is_bare_json(chat: OpenAIChat) -> None:
    text = (await chat.post(user("/wire bare"), stream=True)).text
    assert text.count("data: ") == 2 and text.rstrip().endswith("}") and '"error": {' in text


async def test_a_plain_result_and_a_text_signature_are_taken(chat: OpenAIChat) -> None:
    asked = await chat.say(user(FLIGHT))
    told = answer(asked["tool_calls"][0]) | {"content": "delayed"}
    assert (await chat.post(user(FLIGHT), asked, told)).status_code == 200
    said = await chat.say(user("hello"))
    assert signature(said)
    assert (await chat.post(user("hello"), said, user("and now?"))).status_code == 200


async def test_models_are_listed(chat: OpenAIChat) -> None:
    listed = (await chat.http.get("/v1beta/openai/models")).json()
    assert "models/gemini-3-flash-preview" in [model["id"] for model in listed["data"]]
