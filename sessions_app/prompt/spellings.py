"""Names of the protocol in one spelling: REST writes camelCase, SDKs that dump their models snake_case.

The provider reads both alike. What a person named, and what stands in a JSON schema, is something else in
another spelling.
"""

import re
from typing import Any

_BEHIND_UNDERSCORE = re.compile("_([a-z])")
_OWN_NAMES = frozenset({"properties", "defs", "labels"})
"""Members whose own members are named by a person."""

_OWN_VALUES = frozenset({"parametersJsonSchema", "responseJsonSchema", "default", "example", "enum"})
"""Members that are taken as they are."""


def in_camel_case(name: str) -> str:
    return _BEHIND_UNDERSCORE.sub(lambda found: found[1].upper(), name)


def spelled_alike(value: Any) -> Any:
    """Declarations of tools, or settings, in camelCase, but for objects with a name in both spellings."""
    if isinstance(value, list):
        return [spelled_alike(one) for one in value]
    if not isinstance(value, dict):
        return value
    names = {name: in_camel_case(name) for name in value}
    if len(set(names.values())) < len(names):
        names = {name: name for name in value}
    return {names[name]: _member(names[name], one) for name, one in value.items()}


def _member(name: str, value: Any) -> Any:
    if name in _OWN_VALUES:
        return value
    if name in _OWN_NAMES and isinstance(value, dict):
        return {own: spelled_alike(one) for own, one in value.items()}
    return spelled_alike(value)
