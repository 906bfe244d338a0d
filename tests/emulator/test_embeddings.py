"""Embeddings through the real SDK and over HTTP."""

import math

import httpx2
import pytest
from google.genai import types
from google.genai.client import AsyncClient

from sessions_app.emulator.embeddings import EMBEDDING_MODELS, MOST_REQUESTS
from tests.emulator.helpers import FLASH, Wire

ONE, TWO = "gemini-embedding-001", "gemini-embedding-2"


async def embed(http: httpx2.AsyncClient, text: str, model: str = ONE, **more: object) -> list[float]:
    body = {"content": {"parts": [{"text": text}]}, **more}
    response = await http.post(f"/v1beta/models/{model}:embedContent", json=body)
    values: list[float] = response.json()["embedding"]["values"]
    return values


def cosine(left: list[float], right: list[float]) -> float:
    return sum(one * other for one, other in zip(left, right, strict=True))


async def test_the_sdk_embeds_several_contents_at_once(sdk: AsyncClient) -> None:
    config = types.EmbedContentConfig(task_type="RETRIEVAL_DOCUMENT", title="A", output_dimensionality=768)
    answer = await sdk.models.embed_content(model=ONE, contents=["one", "two"], config=config)
    assert [len(found.values or []) for found in answer.embeddings or []] == [768, 768]


@pytest.mark.parametrize("model", EMBEDDING_MODELS)
async def test_a_vector_is_the_same_each_time_and_of_length_one(http: httpx2.AsyncClient, model: str) -> None:
    first, again = await embed(http, "rye bread", model), await embed(http, "rye bread", model)
    assert first == again and len(first) == 3_072
    assert math.hypot(*first) == pytest.approx(1, abs=1e-6)


async def test_shortened_vectors_are_cut_and_only_the_newer_model_scales_them(
    http: httpx2.AsyncClient,
) -> None:
    whole, short = await embed(http, "rye bread"), await embed(http, "rye bread", outputDimensionality=256)
    assert short == whole[:256] and math.hypot(*short) < 0.9
    newer = await embed(http, "rye bread", TWO, embedContentConfig={"output_dimensionality": 256})
    assert len(newer) == 256 and math.hypot(*newer) == pytest.approx(1, abs=1e-6)


async def test_texts_with_words_in_common_are_closer(http: httpx2.AsyncClient) -> None:
    asked = await embed(http, "How do I bake rye bread?")
    near, far = await embed(http, "To bake rye bread, wait."), await embed(http, "The taxi is late.")
    assert cosine(asked, near) > 0.3 > abs(cosine(asked, far))


async def test_task_and_title_change_the_vector(http: httpx2.AsyncClient) -> None:
    plain, task = await embed(http, "rye"), await embed(http, "rye", taskType="CLUSTERING")
    titled = await embed(http, "rye", task_type="RETRIEVAL_DOCUMENT", title="Bread")
    assert len({tuple(vector) for vector in (plain, task, titled)}) == 3


async def test_several_parts_are_one_vector_and_media_count_where_they_are_read(
    http: httpx2.AsyncClient,
) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
    vectors: dict[str, list[list[float]]] = {}
    for model in EMBEDDING_MODELS:
        for parts in ([{"text": "rye"}], [{"text": "rye"}, image]):
            body = {"content": {"parts": parts}}
            reply = (await http.post(f"/v1beta/models/{model}:embedContent", json=body)).json()
            vectors.setdefault(model, []).append(reply["embedding"]["values"])
    assert vectors[ONE][0] == vectors[ONE][1] and vectors[TWO][0] != vectors[TWO][1]


async def test_tokens_are_counted_and_can_be_counted_before(http: httpx2.AsyncClient) -> None:
    content = {"parts": [{"text": "rye bread"}]}
    reply = (await http.post(f"/v1beta/models/{ONE}:embedContent", json={"content": content})).json()
    counted = await http.post(f"/v1beta/models/{ONE}:countTokens", json={"contents": content})
    assert reply["usageMetadata"]["promptTokenCount"] == counted.json()["totalTokens"] == 3


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "* EmbedContentRequest.content: content is not specified\n"),
        ({"content": {"parts": [{"text": ""}]}}, "EmbedContentRequest.content contains an empty Part."),
        ({"content": {"parts": [{}]}}, "required oneof field 'data' must have one initialized field\n"),
        ({"content": {"parts": [{"text": "a"}]}, "outputDimensionality": 4_000}, "between 1 and 3072"),
        ({"content": {"parts": [{"text": "a"}]}, "outputDimensionality": 0}, "between 1 and 3072"),
        ({"content": {"parts": [{"text": "a"}]}, "taskType": "GUESSING"}, "Invalid value at 'task_type'"),
        ({"contents": []}, 'Unknown name "contents"'),
    ],
)
async def test_a_wrong_request_is_refused(http: httpx2.AsyncClient, body: Wire, words: str) -> None:
    response = await http.post(f"/v1beta/models/{ONE}:embedContent", json=body)
    assert response.status_code == 400 and words in response.json()["error"]["message"]


ENTRY = {"model": f"models/{ONE}", "content": {"parts": [{"text": "a"}]}}


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ([], "requests is not specified"),
        ([ENTRY, {"content": ENTRY["content"]}], "requests[1].model: model is not specified"),
        ([{**ENTRY, "model": ONE}], "requests[0].model: unexpected model name format"),
        ([{**ENTRY, "content": {"parts": [{}]}}], "requests[0].content.parts[0].data: required oneof"),
        ([ENTRY] * (MOST_REQUESTS + 1), "at most 100 requests can be in one batch"),
    ],
)
async def test_a_wrong_batch_is_refused(http: httpx2.AsyncClient, requests: list[Wire], words: str) -> None:
    response = await http.post(f"/v1beta/models/{ONE}:batchEmbedContents", json={"requests": requests})
    assert response.status_code == 400 and words in response.json()["error"]["message"]


async def test_every_wrong_request_of_a_batch_has_a_line(http: httpx2.AsyncClient) -> None:
    requests = [{"content": {"parts": [{}]}}, {**ENTRY, "outputDimensionality": 0}]
    response = await http.post(f"/v1beta/models/{ONE}:batchEmbedContents", json={"requests": requests})
    lines = response.json()["error"]["message"].splitlines()
    assert [line.partition(": ")[0].partition("requests")[2] for line in lines] == [
        "[0].model",
        "[0].content.parts[0].data",
        "[1].output_dimensionality",
    ]


@pytest.mark.parametrize(
    ("model", "method"), [(FLASH, "embedContent"), (FLASH, "batchEmbedContents"), (ONE, "generateContent")]
)
async def test_a_model_without_the_method_is_a_404(http: httpx2.AsyncClient, model: str, method: str) -> None:
    response = await http.post(f"/v1beta/models/{model}:{method}", json={})
    assert response.status_code == 404
    assert (
        f"models/{model} is not found for API version v1beta, or is not supported for {method}."
        in (response.json()["error"]["message"])
    )


async def test_a_long_text_is_cut_at_the_models_limit(http: httpx2.AsyncClient) -> None:
    words = " ".join(f"word{number}" for number in range(3_000))
    assert await embed(http, words) == await embed(http, words + " and more")


async def test_an_embedding_model_is_described(sdk: AsyncClient) -> None:
    model = await sdk.models.get(model=TWO)
    assert model.supported_actions == ["embedContent", "countTokens"] and model.input_token_limit == 8_192
