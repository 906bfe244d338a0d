"""Embeddings: `embedContent` and `batchEmbedContents`.

A vector is made of the words of a text, so that the same text always has the same vector and texts
with words in common are closer than others. Nothing of its meaning is in it.
"""

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.emulator.api_errors import RequestFlaw, flawed, invalid, unknown_model
from sessions_app.emulator.gemini_requests import Content
from sessions_app.emulator.http import ApiResponse, RouteMatch, json_response
from sessions_app.emulator.request_flaws import part_flaws
from sessions_app.emulator.usage import count_tokens, details, estimate_tokens
from sessions_app.emulator.wire_enums import TaskType
from sessions_app.emulator.wire_model import Int32, JsonObject, Repeated, WireModel, parse

MOST_REQUESTS = 100
"""Contents that one batch may hold."""

_DIMENSIONS = 3_072
_PLACES_OF_A_WORD = 24
_NOISE = 0.02
"""Weight of a text's own digest: texts of the same words in another order differ a little."""
_TASK_WEIGHT = 0.5
_WORD = re.compile(r"\w+")
_DIGITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """`scales_shortened`: a vector of fewer dimensions has length 1 again, as `gemini-embedding-2` does;
    with `gemini-embedding-001` that is left to the client. `reads_media`: parts other than text count."""

    name: str
    title: str
    input_limit: int
    scales_shortened: bool = True
    reads_media: bool = True

    def resource(self) -> JsonObject:
        return {
            "name": f"models/{self.name}",
            "version": "001",
            "displayName": self.title,
            "description": f"{self.title}, played by the Pipeweb emulator",
            "inputTokenLimit": self.input_limit,
            "outputTokenLimit": 1,
            "supportedGenerationMethods": ["embedContent", "countTokens"],
        }


EMBEDDING_MODELS = {
    model.name: model
    for model in (
        EmbeddingModel(
            name="gemini-embedding-001",
            title="Gemini Embedding 001",
            input_limit=2_048,
            scales_shortened=False,
            reads_media=False,
        ),
        EmbeddingModel(name="gemini-embedding-2", title="Gemini Embedding 2", input_limit=8_192),
    )
}


class EmbedContentConfig(WireModel):
    """`auto_truncate`, `document_ocr` and `audio_track_extraction` are accepted and change nothing."""

    task_type: TaskType = ""
    title: str = ""
    output_dimensionality: Int32 | None = None
    auto_truncate: bool | None = None
    document_ocr: Any = None
    audio_track_extraction: Any = None


class EmbedContentRequest(WireModel):
    """The options stand beside the content, or in `embedContentConfig`, which wins."""

    model: str = ""
    content: Content | None = None
    task_type: TaskType = ""
    title: str = ""
    output_dimensionality: Int32 | None = None
    embed_content_config: EmbedContentConfig = EmbedContentConfig()

    @property
    def dimensions(self) -> int:
        named = self.embed_content_config.output_dimensionality or self.output_dimensionality
        return _DIMENSIONS if named is None else named

    @property
    def context(self) -> str:
        """Task and title, which change the vector."""
        config = self.embed_content_config
        return f"{config.task_type or self.task_type}\n{config.title or self.title}".strip()


class BatchEmbedContentsRequest(WireModel):
    requests: Repeated[EmbedContentRequest] = []


def embedding_model(name: str, version: str, method: str) -> EmbeddingModel:
    """Raises ApiError (404) for a model that makes no embeddings."""
    model = EMBEDDING_MODELS.get(name.removeprefix("models/"))
    if model is None:
        raise unknown_model(name.removeprefix("models/"), version, method)
    return model


def embed_content(route: RouteMatch) -> ApiResponse:
    model = embedding_model(route.name, route.version, "embedContent")
    request = parse(EmbedContentRequest, route.request.body)
    if flaws := list(_content_flaws(request, "EmbedContentRequest")):
        raise flawed(flaws)
    return json_response(route.entry, {"embedding": {"values": embed(request, model)}} | _usage([request]))


def batch_embed_contents(route: RouteMatch) -> ApiResponse:
    model = embedding_model(route.name, route.version, "batchEmbedContents")
    requests = parse(BatchEmbedContentsRequest, route.request.body).requests
    check_batch(requests, model)
    embeddings = [{"values": embed(request, model)} for request in requests]
    return json_response(route.entry, {"embeddings": embeddings} | _usage(requests))


def check_batch(requests: Sequence[EmbedContentRequest], model: EmbeddingModel) -> None:
    """Raises ApiError (400) for their number, and for what any of them lacks."""
    where = "BatchEmbedContentsRequest.requests"
    if not requests:
        raise flawed([RequestFlaw(where, "requests is not specified")])
    if len(requests) > MOST_REQUESTS:
        raise flawed([RequestFlaw(where, f"at most {MOST_REQUESTS} requests can be in one batch")])
    flaws = [
        flaw
        for index, request in enumerate(requests)
        for flaw in (
            *_name_flaws(request, model, f"{where}[{index}]"),
            *_content_flaws(request, f"{where}[{index}]"),
        )
    ]
    if flaws:
        raise flawed(flaws)


def _name_flaws(request: EmbedContentRequest, model: EmbeddingModel, where: str) -> Iterator[RequestFlaw]:
    if not request.model:
        yield RequestFlaw(f"{where}.model", "model is not specified")
    elif request.model != f"models/{model.name}":
        yield RequestFlaw(f"{where}.model", "unexpected model name format")


def _content_flaws(request: EmbedContentRequest, where: str) -> Iterator[RequestFlaw]:
    """A content without parts, an empty part, and a size there is not."""
    content = request.content or Content()
    if not content.parts:
        yield RequestFlaw(f"{where}.content", "content is not specified")
    yield from part_flaws(content, f"{where}.content")
    if not 1 <= request.dimensions <= _DIMENSIONS:
        yield RequestFlaw(f"{where}.output_dimensionality", f"must be between 1 and {_DIMENSIONS}")


def embed(request: EmbedContentRequest, model: EmbeddingModel) -> list[float]:
    """The vector of a request that was checked. Raises ApiError (400) for an empty text."""
    content = request.content or Content()
    if any(part.text == "" for part in content.parts):
        raise invalid("EmbedContentRequest.content contains an empty Part.")
    vector = _scaled(_vector(list(_features(content, model)), request.context))
    shortened = vector[: request.dimensions]
    chosen = _scaled(shortened) if model.scales_shortened else shortened
    return [round(value, _DIGITS) for value in chosen]


def _features(content: Content, model: EmbeddingModel) -> Iterator[str]:
    """What the vector is made of: words, and media by their digest, up to the model's input limit."""
    left = model.input_limit
    for part in content.parts:
        if part.text is None:
            if model.reads_media:
                yield hashlib.sha256(part.model_dump_json().encode()).hexdigest()
            continue
        for word in _WORD.findall(part.text.lower()):
            if left <= 0:
                return
            left -= estimate_tokens(word)
            yield word


def _vector(features: list[str], context: str) -> list[float]:
    """3,072 numbers: each feature adds to a few of them, the digest of the whole to all."""
    seed = hashlib.sha256("\0".join((context, *features)).encode()).digest()
    noise = hashlib.shake_256(seed).digest(_DIMENSIONS)
    vector = [_NOISE * (byte / 127.5 - 1) for byte in noise]
    weights = [(feature, 1.0) for feature in features] + [(f"\0{context}", _TASK_WEIGHT)]
    for feature, weight in weights:
        digest = hashlib.shake_256(feature.encode()).digest(2 * _PLACES_OF_A_WORD)
        for high, low in zip(digest[::2], digest[1::2], strict=True):
            place = (high << 8 | low) % _DIMENSIONS
            vector[place] += weight if high & 0x80 else -weight
    return vector


def _scaled(vector: list[float]) -> list[float]:
    length = math.hypot(*vector)
    return [value / length for value in vector] if length else vector


def _usage(requests: list[EmbedContentRequest]) -> JsonObject:
    """`promptTokenDetails` is spelled so in embeddings only (recorded-traffic "Usage")."""
    contents = [request.content for request in requests if request.content]
    counts = count_tokens(contents)
    return {"usageMetadata": {"promptTokenCount": counts.total(), "promptTokenDetails": details(counts)}}
