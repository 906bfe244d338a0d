"""The openai client for Python. Argument: the emulator's URL."""

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

import openai

from tests.clients.programs.steps import FLASH, FLIGHT, WEATHER, report

Message = dict[str, Any]
ANSWERS: dict[str, Callable[..., Message]] = {
    "check_flight": lambda flight: {"status": "delayed", "departure_time": "12 PM"},
    "book_taxi": lambda time: {"booking_status": "success"},
    "get_current_temperature": lambda location: {"temp": {"Paris": "15C", "London": "12C"}[location]},
}


def client_with(key: str) -> openai.OpenAI:
    return openai.OpenAI(api_key=key, base_url=f"{sys.argv[1]}/v1beta/openai/", max_retries=0)


client = client_with("emulator")


def declared(name: str, argument: str) -> Message:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [
    declared("check_flight", "flight"),
    declared("book_taxi", "time"),
    declared("get_current_temperature", "location"),
]


def failure_of(action: Callable[[], object]) -> dict[str, Any]:
    """What the client raises."""
    try:
        action()
    except openai.APIStatusError as error:
        return {"raised": type(error).__name__, "code": error.status_code, "message": error.response.text}
    return {"raised": ""}


def unary(messages: list[Message]) -> Message:
    answer = client.chat.completions.create(model=FLASH, messages=messages, tools=TOOLS)
    message: Message = answer.choices[0].message.model_dump(exclude_none=True)
    return message


def streamed(messages: list[Message]) -> Message:
    """The message that the deltas of a stream add up to."""
    chunks = client.chat.completions.create(model=FLASH, messages=messages, tools=TOOLS, stream=True)
    deltas = [chunk.choices[0].delta.model_dump(exclude_none=True) for chunk in chunks if chunk.choices]
    calls = [
        {key: value for key, value in call.items() if key != "index"}
        for delta in deltas
        for call in delta.get("tool_calls", [])
    ]
    content = "".join(delta.get("content", "") for delta in deltas)
    return {"role": "assistant", "content": content} | ({"tool_calls": calls} if calls else {})


def signature_of(call: Message) -> str:
    found: str = call.get("extra_content", {}).get("google", {}).get("thought_signature", "")
    return found


def answered(call: Message) -> Message:
    function = call["function"]
    answer = ANSWERS[function["name"]](**json.loads(function["arguments"]))
    return {
        "role": "tool",
        "tool_call_id": call["id"],
        "name": function["name"],
        "content": json.dumps(answer),
    }


def converse(text: str, ask: Callable[[list[Message]], Message]) -> Message:
    """Plays rounds of calls until a message has none; signatures go back as they came."""
    messages: list[Message] = [{"role": "user", "content": text}]
    rounds = []
    while calls := (message := ask(messages)).get("tool_calls"):
        rounds.append(calls)
        messages += [message, *map(answered, calls)]
    return {
        "calls": [
            [call["function"]["name"], json.loads(call["function"]["arguments"])]
            for each in rounds
            for call in each
        ],
        "signed": [[bool(signature_of(call)) for call in each] for each in rounds],
        "text": message["content"],
    }


def text() -> Message:
    answer = client.chat.completions.create(model=FLASH, messages=[{"role": "user", "content": "hello"}])
    assert answer.usage
    return {
        "text": answer.choices[0].message.content,
        "finish": answer.choices[0].finish_reason,
        "total": answer.usage.total_tokens,
    }


def stream() -> Message:
    chunks = list(
        client.chat.completions.create(
            model=FLASH,
            messages=[{"role": "user", "content": "hello"}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    return {
        "chunks": len(chunks),
        "text": "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices),
        "finish": [choice.finish_reason for chunk in chunks for choice in chunk.choices][-1],
        "total": chunks[-1].usage.total_tokens if chunks[-1].usage else 0,
    }


def sequential() -> Message:
    return converse(FLIGHT, unary)


def parallel() -> Message:
    return converse(WEATHER, unary)


def streamed_sequential() -> Message:
    return converse(FLIGHT, streamed)


def streamed_parallel() -> Message:
    return converse(WEATHER, streamed)


def signatures() -> Message:
    """What happens to a call whose signature is altered or missing."""
    asked: Message = {"role": "user", "content": FLIGHT}
    first = unary([asked])
    (call,) = first["tool_calls"]
    true = signature_of(call)
    altered = true[:20] + ("A" if true[20] != "A" else "B") + true[21:]

    def refusal(**extra: Message) -> Message:
        bare = {key: value for key, value in call.items() if key != "extra_content"}
        message = {"role": "assistant", "tool_calls": [bare | extra]}
        return failure_of(lambda: unary([asked, message, answered(call)]))

    return {
        "true": refusal(extra_content=call["extra_content"]),
        "altered": refusal(extra_content={"google": {"thought_signature": altered}}),
        "missing": refusal(),
    }


def structured() -> Any:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
        "required": ["city", "people"],
    }
    answer = client.chat.completions.create(
        model=FLASH,
        messages=[{"role": "user", "content": "Name a city."}],
        response_format={"type": "json_schema", "json_schema": {"name": "place", "schema": schema}},
    )
    return json.loads(answer.choices[0].message.content or "")


def thinking() -> Message:
    answer = client.chat.completions.create(
        model=FLASH, messages=[{"role": "user", "content": "hello"}], reasoning_effort="low"
    )
    return {"text": answer.choices[0].message.content}


def errors_of_requests() -> Message:
    refused = client_with("invalid")
    ask = [{"role": "user", "content": "hello"}]
    return {
        "bad key": failure_of(lambda: refused.chat.completions.create(model=FLASH, messages=ask)),
        "lost model": failure_of(lambda: client.chat.completions.create(model="gemini-none", messages=ask)),
        "overloaded": failure_of(lambda: unary([{"role": "user", "content": "/error 503"}])),
    }


def listed_models() -> Any:
    return [model.id for model in client.models.list()]


def retrieved_model() -> Any:
    return client.models.retrieve(FLASH).id


def embeddings() -> Any:
    answer = client.embeddings.create(model="gemini-embedding-001", input=["hello", "there"])
    return [len(each.embedding) for each in answer.data]


STEPS = (
    text, stream, sequential, parallel, streamed_sequential, streamed_parallel, signatures, structured,
    thinking, errors_of_requests, listed_models, retrieved_model, embeddings,
)  # fmt: skip

if __name__ == "__main__":
    asyncio.run(report(*STEPS))
