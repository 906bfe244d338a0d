"""Models and embeddings through the OpenAI-compatible endpoint."""

import base64
import math
import struct
from collections.abc import AsyncIterator

import httpx2
import pytest

from sessions_app.emulator import Emulator, EmulatorTransport
from tests.emulator.helpers import FLASH, Wire

EMBEDDING = "gemini-embedding-001"


@pytest.fixture
async def openai(emulator: Emulator) -> AsyncIterator[httpx2.AsyncClient]:
    headers, base = {"authorization": "Bearer emulator"}, "http://e.test/v1beta/openai"
    transport = EmulatorTransport(emulator)
    async with httpx2.AsyncClient(transport=transport, base_url=base, headers=headers) as made:
        yield made


@pytest.mark.parametrize("name", [FLASH, f"models/{FLASH}", EMBEDDING])
async def test_each_listed_model_can_be_retrieved(openai: httpx2.AsyncClient, name: str) -> None:
    listed = {model["id"]: model for model in (await openai.get("/models")).json()["data"]}
    found = (await openai.get(f"/models/{name}")).json()
    assert found == listed[f"models/{name.removeprefix('models/')}"]
    assert (found["object"], found["owned_by"]) == ("model", "google")


async def test_an_unknown_model_is_the_list_form_of_an_error(openai: httpx2.AsyncClient) -> None:
    response = await openai.get("/models/gpt-4")
    assert response.status_code == 404
    assert response.json()[0]["error"]["message"].startswith(
        "Model is not found: models/gpt-4 for api version v1main"
    )


async def test_embeddings_come_as_numbers_and_in_base64(openai: httpx2.AsyncClient) -> None:
    body = {"model": EMBEDDING, "input": ["rye", "bread"], "dimensions": 64}
    numbers = (await openai.post("/embeddings", json=body)).json()
    packed = (await openai.post("/embeddings", json=body | {"encoding_format": "base64"})).json()
    assert [entry["index"] for entry in numbers["data"]] == [0, 1]
    assert (numbers["object"], numbers["model"]) == ("list", EMBEDDING)
    assert numbers["usage"]["prompt_tokens"] == numbers["usage"]["total_tokens"] > 0
    for plain, coded in zip(numbers["data"], packed["data"], strict=True):
        read = struct.unpack("<64f", base64.b64decode(coded["embedding"]))
        assert read == pytest.approx(plain["embedding"], abs=1e-6)


async def test_the_native_endpoint_gives_the_same_vector(
    openai: httpx2.AsyncClient, http: httpx2.AsyncClient
) -> None:
    native = await http.post(
        f"/v1beta/models/{EMBEDDING}:embedContent", json={"content": {"parts": [{"text": "rye"}]}}
    )
    through = await openai.post("/embeddings", json={"model": EMBEDDING, "input": "rye"})
    vector = through.json()["data"][0]["embedding"]
    assert vector == native.json()["embedding"]["values"] and math.hypot(*vector) == pytest.approx(1)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"model": FLASH, "input": "a"}, 404, "not supported for batchEmbedContents"),
        ({"model": EMBEDDING, "input": []}, 400, "requests is not specified"),
        ({"model": EMBEDDING, "input": [""]}, 400, "contains an empty Part."),
        ({"model": EMBEDDING, "input": ["a"] * 101}, 400, "at most 100 requests"),
        ({"model": EMBEDDING, "input": [[1, 2]]}, 400, "Invalid value at 'input[0]'"),
        ({"model": EMBEDDING, "input": "a", "encoding_format": "hex"}, 400, "encoding_format"),
    ],
)
async def test_a_wrong_request_is_refused_in_geminis_words(
    openai: httpx2.AsyncClient, body: Wire, status: int, words: str
) -> None:
    response = await openai.post("/embeddings", json=body)
    assert response.status_code == status and words in response.json()[0]["error"]["message"]
