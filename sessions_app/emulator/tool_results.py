"""What a tool said, without the wrapping that its client put around it.

Clients disagree about the form of a function response. google-genai puts the return value of a
Python function under `result`, others put JSON text under `output`, the AI SDK and Genkit put the name of
the function beside its `content`; scenarios read what is inside.
"""

import orjson

from sessions_app.emulator.gemini_requests import FunctionResponse
from sessions_app.emulator.wire_model import JsonObject

_WRAPPINGS = frozenset({"result", "output", "return_value"})
_CONTENT = "content"


def result_of(answer: FunctionResponse) -> JsonObject:
    """The innermost object of the response. A value that is no object stays under its key."""
    found: JsonObject = _without_name(answer.response or {}, answer.name)
    while len(found) == 1 and found.keys() <= _WRAPPINGS and (inner := _object(*found.values())) is not None:
        found = inner
    return found


def _without_name(response: JsonObject, name: str) -> JsonObject:
    """The content alone, where nothing but the name of the function stands beside it."""
    if response.keys() != {"name", _CONTENT} or response["name"] != name:
        return response
    inner = _object(response[_CONTENT])
    return {_CONTENT: response[_CONTENT]} if inner is None else inner


def _object(value: object) -> JsonObject | None:
    """The value, or the JSON text, as an object."""
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return None
    return value if isinstance(value, dict) else None
