"""Checks requests against the types of a client: `request_types anthropic|openai FILE`.

The file maps names to request bodies; what is printed maps the same names to the faults of each. Unknown
keys are faults too, although a TypedDict lets them pass. Nothing is sent.
"""

import importlib
import inspect
import json
import sys
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import is_typeddict

TYPES = {
    "anthropic": ("anthropic.types.message_create_params", "MessageCreateParamsStreaming"),
    "openai": ("openai.types.chat.completion_create_params", "CompletionCreateParamsNonStreaming"),
}
STRICT = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def adapter_of(client: str) -> TypeAdapter[Any]:
    module_name, name = TYPES[client]
    wanted = getattr(importlib.import_module(module_name), name)
    loaded = [module for key, module in sys.modules.items() if key.startswith(f"{client}.types")]
    for module in loaded:
        for _, found in inspect.getmembers(module, is_typeddict):
            found.__pydantic_config__ = STRICT
    return TypeAdapter(wanted)


def faults_of(adapter: TypeAdapter[Any], body: object) -> list[str]:
    try:
        exhaust(adapter.validate_python(body))
    except ValidationError as error:
        return [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return []


def exhaust(value: object) -> None:
    """What is typed Iterable is validated only while it is read."""
    if isinstance(value, str | bytes):
        return
    for each in value.values() if isinstance(value, dict) else value if hasattr(value, "__iter__") else ():
        exhaust(each)


if __name__ == "__main__":
    checked = adapter_of(sys.argv[1])
    bodies: dict[str, object] = json.loads(Path(sys.argv[2]).read_bytes())
    print(json.dumps({name: faults_of(checked, body) for name, body in bodies.items()}))
