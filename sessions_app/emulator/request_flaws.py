"""What the API requires of the parts and declarations of a prompt, beside the form of its fields.

All of it is told at once; that contents and tools share one list of lines is an assumption.
"""

import re
from collections.abc import Iterator

from sessions_app.emulator.api_errors import RequestFlaw
from sessions_app.emulator.decisions import Rule
from sessions_app.emulator.gemini_requests import Content, GenerateRequest, PromptFields
from sessions_app.emulator.schema_flaws import schema_flaws
from sessions_app.emulator.tool_declarations import FunctionDeclaration

_NAME = re.compile(r"[A-Za-z_][\w.:-]{0,63}", re.ASCII)
# google-gemini/gemini-cli#9535 (2025-09-25), one line for each name.
_NAME_RULE = (
    "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), "
    "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
)
_NO_DATA = "required oneof field 'data' must have one initialized field"

_ANSWER_TYPES = ("text/plain", "application/json", "application/xml", "application/yaml", "text/x.enum")
_ANSWER_TYPE_LIST = f"{', '.join(f'`{kind}`' for kind in _ANSWER_TYPES[:-1])} and `{_ANSWER_TYPES[-1]}`"
"""Quoted of several gateways between 2025 and 2026, in this order."""

_HARMS = tuple(
    f"HARM_CATEGORY_{harm}"
    for harm in ("HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT", "HARASSMENT", "CIVIC_INTEGRITY")
)
_HARM_LIST = ", ".join(f"HarmCategory.{harm}" for harm in _HARMS)
"""Quoted of 1.5 Pro to 3.1 Flash-Lite; the other categories are those of PaLM."""


def request_flaws(request: GenerateRequest) -> Iterator[RequestFlaw]:
    root = "GenerateContentRequest"
    yield from prompt_flaws(request, root)
    config, where = request.generation_config, f"{root}.generation_config"
    if config.response_mime_type and config.response_mime_type not in _ANSWER_TYPES:
        yield RequestFlaw(f"{where}.response_mime_type", f"allowed mimetypes are {_ANSWER_TYPE_LIST}.")
    yield from schema_flaws(config.response_schema, f"{where}.response_schema")
    for index, setting in enumerate(request.safety_settings):
        if setting.category not in _HARMS:
            reason = f"element predicate failed: $.category in ({_HARM_LIST})"
            yield RequestFlaw(f"{root}.safety_settings[{index}]", reason)


def prompt_flaws(prompt: PromptFields, root: str) -> Iterator[RequestFlaw]:
    """`root` is the message that the prompt is part of."""
    for index, content in enumerate(prompt.contents):
        yield from _content_flaws(content, f"{root}.contents[{index}]")
    if prompt.system_instruction:
        yield from part_flaws(prompt.system_instruction, f"{root}.system_instruction")
    for index, tool in enumerate(prompt.tools):
        for position, function in enumerate(tool.function_declarations):
            where = f"{root}.tools[{index}].function_declarations[{position}]"
            yield from _declaration_flaws(function, where)


def _content_flaws(content: Content, where: str) -> Iterator[RequestFlaw]:
    if not content.parts:
        yield RequestFlaw(f"{where}.parts", "contents.parts must not be empty.", Rule.PARTS_MISSING)
    yield from part_flaws(content, where)


def part_flaws(content: Content, where: str) -> Iterator[RequestFlaw]:
    """Parts that hold nothing (one-api#2243: also of the system instruction); a signature alone is something.
    Calls and responses without a name."""
    for position, part in enumerate(content.parts):
        if not part.kind and part.thought_signature is None:
            yield RequestFlaw(f"{where}.parts[{position}].data", _NO_DATA, Rule.PART_EMPTY)
        for field in ("function_call", "function_response"):
            named = getattr(part, field)
            if named is not None and not named.name:
                yield RequestFlaw(f"{where}.parts[{position}].{field}.name", "Name cannot be empty.")


def _declaration_flaws(function: FunctionDeclaration, where: str) -> Iterator[RequestFlaw]:
    if not _NAME.fullmatch(function.name):
        yield RequestFlaw(f"{where}.name", _NAME_RULE)
    yield from schema_flaws(function.parameters, f"{where}.parameters")
    yield from schema_flaws(function.response, f"{where}.response")
