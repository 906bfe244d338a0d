"""Whatever comes in, an answer goes out."""

from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.emulator.gemini_requests import Content, GenerationOptions, Part, PromptFields
from sessions_app.emulator.interactions_requests import (
    InteractionConfig,
    InteractionFormat,
    InteractionRequest,
    InteractionStep,
    InteractionTool,
    StepContent,
    ToolChoice,
)
from sessions_app.emulator.openai_requests import (
    CalledFunction,
    ChatMessage,
    ChatRequest,
    ChatToolCall,
    DeclaredFunction,
    DeclaredTool,
    MessagePart,
)
from sessions_app.emulator.tool_declarations import (
    FunctionCallingConfig,
    FunctionDeclaration,
    Schema,
    ToolConfig,
    ToolDeclarations,
)
from tests.emulator.helpers import FLASH, send

SHAPES = (
    PromptFields,
    Content,
    Part,
    ToolDeclarations,
    FunctionDeclaration,
    GenerationOptions,
    ToolConfig,
    FunctionCallingConfig,
)
FIELDS = {name for shape in (*SHAPES, Schema) for name in shape.model_fields}
NAMES = st.sampled_from(sorted(FIELDS | {"args", "response", "ttl", "thinkingConfig", "generationConfig"}))
CHATTED = (
    ChatRequest,
    ChatMessage,
    MessagePart,
    ChatToolCall,
    CalledFunction,
    DeclaredTool,
    DeclaredFunction,
)
CHAT_NAMES = st.sampled_from(sorted({name for shape in CHATTED for name in shape.model_fields}))
INTERACTED = (
    InteractionRequest,
    InteractionStep,
    StepContent,
    InteractionConfig,
    InteractionFormat,
    InteractionTool,
    ToolChoice,
)
INTERACTION_NAMES = st.sampled_from(sorted({name for shape in INTERACTED for name in shape.model_fields}))
WORDS = st.text(max_size=8).filter(lambda text: "/" not in text)
KNOWN = st.sampled_from(
    ["user", "model", "tool", "ANY", "application/json", "text", "object", "required", "{}"]
)
VALUES = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), WORDS, KNOWN)


def json_of(names: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4)
    )


JSON = json_of(NAMES)
PATHS = st.sampled_from(
    [f"models/{FLASH}:{method}" for method in ("generateContent", "streamGenerateContent", "countTokens")]
    + ["cachedContents"]
)


@settings(max_examples=300, deadline=None)
@given(path=PATHS, body=st.dictionaries(NAMES, JSON, max_size=5))
def test_any_object_is_answered_or_refused(path: str, body: dict[str, Any]) -> None:
    status, answer = send(Emulator(delay=0), "POST", path, body, alt="sse")
    assert status == 200 or "error" in orjson.loads(answer)


@settings(max_examples=200, deadline=None)
@given(
    contents=st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "model"]), "parts": st.lists(JSON, max_size=3)}
        )
    )
)
def test_any_contents_are_answered_or_refused(contents: list[Any]) -> None:
    status, answer = send(
        Emulator(delay=0), "POST", f"models/{FLASH}:generateContent", {"contents": contents}
    )
    assert status == 200 or "error" in orjson.loads(answer)


@settings(max_examples=300, deadline=None)
@given(
    body=st.dictionaries(CHAT_NAMES, json_of(CHAT_NAMES), max_size=6),
    messages=st.lists(st.dictionaries(CHAT_NAMES, json_of(CHAT_NAMES), max_size=4), max_size=3),
)
def test_any_chat_is_answered_or_refused(body: dict[str, Any], messages: list[Any]) -> None:
    asked = {"model": FLASH, "messages": messages} | {key: body[key] for key in body if key != "model"}
    bearer = {"authorization": "Bearer emulator"}
    status, answer = send(Emulator(delay=0), "POST", "openai/chat/completions", asked, headers=bearer)
    assert status == 200 or "error" in orjson.loads(answer)[0]


STEP_TYPES = st.sampled_from(
    ["user_input", "model_output", "thought", "function_call", "function_result", "google_search_result"]
)
STEPS = st.builds(
    lambda kind, fields: fields | {"type": kind},
    STEP_TYPES,
    st.dictionaries(INTERACTION_NAMES, json_of(INTERACTION_NAMES), max_size=4),
)


@settings(max_examples=150, deadline=None)
@given(
    body=st.dictionaries(INTERACTION_NAMES, json_of(INTERACTION_NAMES), max_size=5),
    asked=st.text() | st.lists(STEPS, max_size=3),
)
def test_any_interaction_is_answered_or_refused(body: dict[str, Any], asked: Any) -> None:
    status, answer = send(
        Emulator(delay=0), "POST", "interactions", body | {"model": FLASH, "input": asked, "stream": False}
    )
    assert status == 200 or {"message", "code"} == set(orjson.loads(answer)["error"])


@given(token=st.text(), size=st.text())
def test_any_page_is_shown_or_refused(token: str, size: str) -> None:
    assert send(Emulator(delay=0), "GET", "models", pageToken=token, pageSize=size)[0] in {200, 400}
