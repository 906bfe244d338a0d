"""A client of google-genai and short ways to use it, for any release. Argument: the emulator's URL."""

import sys
from collections.abc import Callable
from typing import Any

from google import genai
from google.genai import errors, types

from tests.clients.programs.steps import FLASH

BASE = sys.argv[1]


def client_with(key: str) -> genai.Client:
    return genai.Client(api_key=key, vertexai=False, http_options=types.HttpOptions(base_url=BASE))


client = client_with("emulator")


def failure_of(action: Callable[[], object]) -> dict[str, Any]:
    """What the SDK raises."""
    try:
        action()
    except errors.APIError as error:
        return {
            "raised": type(error).__name__,
            "code": error.code,
            "status": error.status,
            "message": error.message,
        }
    return {"raised": ""}


def said(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


def content_of(response: types.GenerateContentResponse) -> types.Content:
    assert response.candidates and response.candidates[0].content
    return response.candidates[0].content


def parts_of(content: types.Content | None) -> list[types.Part]:
    return (content.parts if content else None) or []


def calls_of(content: types.Content) -> list[types.FunctionCall]:
    return [part.function_call for part in parts_of(content) if part.function_call]


def generate(
    contents: Any, config: types.GenerateContentConfig | None = None
) -> types.GenerateContentResponse:
    return client.models.generate_content(model=FLASH, contents=contents, config=config)
