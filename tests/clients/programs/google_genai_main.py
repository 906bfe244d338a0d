"""Everything but function calls through google-genai for Python. Argument: the emulator's URL."""

import asyncio
import io
from typing import Any

from google.genai import types

from tests.clients.programs.google_genai_client import (
    client,
    client_with,
    content_of,
    failure_of,
    generate,
    parts_of,
    said,
)
from tests.clients.programs.steps import FLASH, report


def text() -> dict[str, Any]:
    response = generate("hello")
    usage = response.usage_metadata
    assert response.candidates and usage
    return {
        "text": response.text,
        "finish": response.candidates[0].finish_reason,
        "model": response.model_version,
        "total": usage.total_token_count,
        "sum": (usage.prompt_token_count or 0)
        + (usage.candidates_token_count or 0)
        + (usage.thoughts_token_count or 0),
    }


def stream() -> dict[str, Any]:
    config = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True))
    chunks = list(client.models.generate_content_stream(model=FLASH, contents="hello", config=config))
    parts = [part for chunk in chunks for part in parts_of(content_of(chunk))]
    assert chunks[-1].candidates
    return {
        "chunks": len(chunks),
        "text": "".join(part.text or "" for part in parts if not part.thought),
        "thought": "".join(part.text or "" for part in parts if part.thought),
        "signed": [bool(part.thought_signature) for part in parts],
        "finish": chunks[-1].candidates[0].finish_reason,
        "ids": len({chunk.response_id for chunk in chunks}),
    }


def caches() -> dict[str, Any]:
    config = types.CreateCachedContentConfig(contents=[said("word " * 3000)], ttl="60s", display_name="words")
    made = client.caches.create(model=FLASH, config=config)
    name = str(made.name)
    used = generate("hello", types.GenerateContentConfig(cached_content=name)).usage_metadata
    longer = client.caches.update(name=name, config=types.UpdateCachedContentConfig(ttl="120s"))
    listed = [cache.name for cache in client.caches.list()]
    client.caches.delete(name=name)
    assert made.usage_metadata and used and made.expire_time and longer.expire_time
    return {
        "made": made.usage_metadata.total_token_count,
        "hit": used.cached_content_token_count,
        "longer": longer.expire_time > made.expire_time,
        "listed": name in listed,
        "gone": failure_of(lambda: client.caches.get(name=name)),
        "small": failure_of(
            lambda: client.caches.create(
                model=FLASH, config=types.CreateCachedContentConfig(contents=[said("word")])
            )
        ),
    }


def files() -> dict[str, Any]:
    config = types.UploadFileConfig(mime_type="text/plain", display_name="notes")
    made = client.files.upload(file=io.BytesIO(b"hello"), config=config)
    name = str(made.name)
    found = client.files.get(name=name)
    answer = generate([found, "what is this"]).text
    listed = [file.name for file in client.files.list()]
    client.files.delete(name=name)
    return {
        "size": found.size_bytes,
        "state": found.state,
        "display": found.display_name,
        "listed": name in listed,
        "answered": bool(answer),
        "gone": failure_of(lambda: client.files.get(name=name)),
    }


def count() -> dict[str, Any]:
    return {"tokens": client.models.count_tokens(model=FLASH, contents="hello").total_tokens}


def structured() -> Any:
    schema = {
        "type": "OBJECT",
        "properties": {"city": {"type": "STRING"}, "people": {"type": "INTEGER"}},
        "required": ["city", "people"],
    }
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=schema)
    return generate("Name a city.", config).parsed


def thinking() -> dict[str, Any]:
    def thoughts(config: types.ThinkingConfig) -> dict[str, Any]:
        response = generate("hello", types.GenerateContentConfig(thinking_config=config))
        assert response.usage_metadata
        return {
            "shown": any(part.thought for part in parts_of(content_of(response))),
            "tokens": response.usage_metadata.thoughts_token_count or 0,
        }

    return {
        "shown": thoughts(types.ThinkingConfig(include_thoughts=True)),
        "hidden": thoughts(types.ThinkingConfig(include_thoughts=False)),
        "low": thoughts(types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW)),
    }


def errors_of_requests() -> dict[str, Any]:
    refused = client_with("invalid")
    return {
        "bad key": failure_of(lambda: refused.models.get(model=FLASH)),
        "lost model": failure_of(
            lambda: client.models.generate_content(model="gemini-none", contents="hello")
        ),
        "overloaded": failure_of(lambda: generate("/error 503")),
    }


def models() -> dict[str, Any]:
    one = client.models.get(model=FLASH)
    return {
        "listed": [model.name for model in client.models.list()],
        "name": one.name,
        "input": one.input_token_limit,
        "actions": one.supported_actions,
    }


async def asynchronous() -> dict[str, Any]:
    answers = await asyncio.gather(
        *(client.aio.models.generate_content(model=FLASH, contents=f"hello {number}") for number in range(5))
    )
    return {"texts": [answer.text for answer in answers]}


def embeddings() -> dict[str, Any]:
    one = client.models.embed_content(model="gemini-embedding-001", contents="hello")
    many = client.models.embed_content(model="gemini-embedding-001", contents=["hello", "there"])
    return {
        "one": [len(each.values or []) for each in one.embeddings or []],
        "many": [len(each.values or []) for each in many.embeddings or []],
    }


STEPS = (
    text,
    stream,
    caches,
    files,
    count,
    structured,
    thinking,
    errors_of_requests,
    models,
    asynchronous,
    embeddings,
)

if __name__ == "__main__":
    asyncio.run(report(*STEPS))
