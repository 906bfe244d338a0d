"""Settings of other programs become those of a session; what does not is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from sessions_app.chat.import_history import CheckedHistory
from sessions_app.import_codes import ImportNote
from sessions_app.models import SessionSettings
from sessions_app.prompt.answer_schema import fault_of
from sessions_app.wording.imports import note_text
from tests.chat.import_formats.histories import checked

HELLO = {"role": "user", "parts": [{"text": "Hello"}]}
CHUNKS = {"chunks": [{"role": "user", "text": "Hello"}]}
SCHEMA = {"type": "object", "properties": {"Type": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
TYPED = {"type": "OBJECT", "properties": {"Type": {"any_of": [{"type": "STRING"}, {"type": "NULL"}]}}}


def gemini(**body: Any) -> dict[str, Any]:
    return {"contents": [HELLO], **body}


def config(**values: Any) -> dict[str, Any]:
    return gemini(generationConfig=values)


def studio(**run: Any) -> dict[str, Any]:
    return {"runSettings": run, "chunkedPrompt": CHUNKS}


def openai(**body: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Hello"}], **body}


def found_in(file: Any, folder: Path) -> CheckedHistory:
    return checked(file, folder)[0]


def named(found: CheckedHistory) -> dict[str, list[str]]:
    """What is named as not imported, by code."""
    return {str(note["code"]): note["names"] for note in found.notes if "names" in note}


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        (config(top_p=0.4), {"top_p": 0.4}),
        (config(thinking_config={"include_thoughts": False}), {"include_thoughts": False}),
        (config(thinkingConfig={"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"}), {}),
        (config(responseMimeType="text/plain"), {}),
        (
            gemini(tools=[{"code_execution": {}}, {"urlContext": {}, "google_search": {}}]),
            {"provider_tools": ["google_search", "url_context", "code_execution"]},
        ),
        (studio(topP=1, responseMimeType="text/plain", enableSearchAsATool=False), {"top_p": 1.0}),
        (
            studio(enableCodeExecution=True, enableSearchAsATool=True, enableBrowseAsATool=True),
            {"provider_tools": ["google_search", "url_context", "code_execution"]},
        ),
        (openai(top_p=0, reasoning_effort="high"), {"top_p": 0.0, "thinking_level": "HIGH"}),
        (openai(response_format={"type": "text"}, tool_choice="auto", stream=True), {}),
    ],
)
def test_what_a_session_can_be_set_to_is_imported(
    tmp_path: Path, file: Any, settings: dict[str, Any]
) -> None:
    found = found_in(file, tmp_path)
    assert found.session.settings == settings and not found.notes
    assert SessionSettings.model_validate(settings).model_dump(exclude_unset=True) == settings


@pytest.mark.parametrize(
    "file",
    [
        config(responseMimeType="application/json", responseJsonSchema=SCHEMA),
        config(response_mime_type="application/json", response_schema=TYPED),
        studio(responseMimeType="application/json", responseSchema=TYPED),
        openai(response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}),
    ],
    ids=["plain", "typed", "studio", "openai"],
)
def test_a_schema_is_the_same_in_every_format(tmp_path: Path, file: Any) -> None:
    found = found_in(file, tmp_path)
    text = found.session.settings["answer_schema"]
    assert json.loads(text) == SCHEMA and fault_of(text) is None and not found.notes


@pytest.mark.parametrize(
    ("file", "path"),
    [
        (gemini(safetySettings=[{"category": "a"}]), "safetySettings"),
        (gemini(toolConfig={"functionCallingConfig": {"mode": "ANY"}}), "toolConfig"),
        (gemini(serviceTier="flex"), "serviceTier"),
        (gemini(colour="red"), "colour"),
        (gemini(tools=[{"googleMaps": {}}]), "tools[0].googleMaps"),
        (gemini(tools=[{"googleSearch": {"excluded": ["a"]}}]), "tools[0].googleSearch.excluded"),
        (config(seed=0), "generationConfig.seed"),
        (config(responseMimeType="application/json"), "generationConfig.responseMimeType"),
        (config(thinkingConfig={"pace": "slow"}), "generationConfig.thinkingConfig.pace"),
        (studio(topK=64), "runSettings.topK"),
        (studio(functionDeclarations="f()"), "runSettings.functionDeclarations"),
        (openai(max_tokens=100), "max_tokens"),
        (openai(tool_choice="required"), "tool_choice"),
        (openai(tools=[{"type": "web_search"}]), "tools[0]"),
        (openai(response_format={"type": "json_object"}), "response_format"),
    ],
)
def test_what_no_setting_says_is_named(tmp_path: Path, file: Any, path: str) -> None:
    found = found_in(file, tmp_path)
    assert named(found) == {ImportNote.WITHOUT_SETTING: [path]} and found.left_out == ()
    assert path in note_text(found.notes[0])


@pytest.mark.parametrize(
    ("file", "path"),
    [
        (config(temperature=3), "generationConfig.temperature"),
        (config(topP="0.5"), "generationConfig.topP"),
        (config(thinkingConfig={"thinkingLevel": "XHIGH"}), "generationConfig.thinkingConfig.thinkingLevel"),
        (config(thinkingConfig={"thinkingBudget": True}), "generationConfig.thinkingConfig.thinkingBudget"),
        (config(responseSchema={"type": "STRING", "pattern": "a+"}), "generationConfig.responseSchema"),
        (studio(thinkingBudget=10**6), "runSettings.thinkingBudget"),
        (openai(reasoning_effort="none"), "reasoning_effort"),
        (
            openai(response_format={"type": "json_schema", "json_schema": {"schema": "a"}}),
            "response_format.json_schema.schema",
        ),
    ],
)
def test_a_value_that_the_setting_does_not_take_is_named(tmp_path: Path, file: Any, path: str) -> None:
    found = found_in(file, tmp_path)
    assert found.session.settings == {} and named(found) == {ImportNote.VALUES_REFUSED: [path]}


def test_a_cache_that_is_not_in_the_file_is_told(tmp_path: Path) -> None:
    found = found_in(gemini(cachedContent="cachedContents/abc"), tmp_path)
    assert found.notes == ({"code": ImportNote.CACHE_ABSENT, "cache": "cachedContents/abc"},)
    assert "cachedContents/abc" in note_text(found.notes[0])
