"""The OpenAI-compatible API beside chat completions: models and embeddings."""

import base64
import struct
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BeforeValidator

from sessions_app.emulator.catalogue import MODELS
from sessions_app.emulator.embeddings import (
    EMBEDDING_MODELS,
    EmbedContentRequest,
    check_batch,
    embed,
    embedding_model,
)
from sessions_app.emulator.gemini_requests import Content, Part
from sessions_app.emulator.http import ApiResponse, RouteMatch, json_response
from sessions_app.emulator.openai_requests import ChatModel
from sessions_app.emulator.usage import count_tokens
from sessions_app.emulator.wire_model import JsonObject, parse

OPENAI_VERSION = "v1main"
"""What error texts call the version of this API."""


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class EmbeddingsRequest(ChatModel):
    model: str
    input: Annotated[list[str], BeforeValidator(_as_list)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: str | None = None


def list_models(route: RouteMatch) -> ApiResponse:
    titles = {name: model.entry.title for name, model in MODELS.items()}
    titles |= {name: model.title for name, model in EMBEDDING_MODELS.items()}
    data = [_model(name, title) for name, title in titles.items()]
    return json_response(route.entry, {"object": "list", "data": data})


def get_model(route: RouteMatch) -> ApiResponse:
    """Raises ApiError (404) for a model there is not."""
    if found := EMBEDDING_MODELS.get(route.name):
        return json_response(route.entry, _model(found.name, found.title))
    model = replace(route, version=OPENAI_VERSION).described_model()
    return json_response(route.entry, _model(model.name, model.entry.title))


def create_embeddings(route: RouteMatch) -> ApiResponse:
    """Raises ApiError in Gemini's words: the endpoint is one more way to a batch."""
    body = parse(EmbeddingsRequest, route.request.body)
    name = body.model.removeprefix("google/").removeprefix("models/")
    model = embedding_model(name, OPENAI_VERSION, "batchEmbedContents")
    requests = [
        EmbedContentRequest(
            model=f"models/{model.name}",
            content=Content(parts=[Part(text=text)]),
            output_dimensionality=body.dimensions,
        )
        for text in body.input
    ]
    check_batch(requests, model)
    vectors = [embed(request, model) for request in requests]
    tokens = count_tokens(request.content for request in requests if request.content).total()
    answer = {
        "object": "list",
        "data": [_embedding(vector, at, body.encoding_format) for at, vector in enumerate(vectors)],
        "model": name,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
    return json_response(route.entry, answer)


def _model(name: str, title: str) -> JsonObject:
    return {"id": f"models/{name}", "object": "model", "owned_by": "google", "display_name": title}


def _embedding(vector: list[float], index: int, form: str) -> JsonObject:
    """As numbers, or as 32-bit floats, little-endian, in base64."""
    packed = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
    return {"object": "embedding", "index": index, "embedding": packed if form == "base64" else vector}
