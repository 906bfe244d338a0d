"""What a history from elsewhere says of its settings, as those of a session.

A value that the setting of a session does not take is left out, and its path kept.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from sessions_app.chat.import_formats.base import Node
from sessions_app.models import SessionSettings
from sessions_app.prompt import wire
from sessions_app.prompt.answer_schema import KEYWORDS, fault_of

SAMPLING = frozenset(
    {
        *("temperature", "top_p", "topP"),
        *("response_mime_type", "responseMimeType"),
        *("response_schema", "responseSchema"),
        *("response_json_schema", "responseJsonSchema"),
    }
)
"""Keys that `Settings.take_config` reads."""

THINKING = frozenset(
    {
        *("thinking_level", "thinkingLevel"),
        *("thinking_budget", "thinkingBudget"),
        *("include_thoughts", "includeThoughts"),
    }
)
"""Keys that `Settings.take_thinking` reads."""

_PLAIN, _JSON = "text/plain", "application/json"
_SNAKE = {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): name for name in KEYWORDS}
"""The SDK writes names inside of a schema in either way."""


@dataclass(slots=True)
class Settings:
    """`values` are those of `SessionSettings`, `refused` the paths of what it does not take."""

    values: dict[str, Any] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def take(self, name: str, node: Node) -> None:
        """The value of the node as this setting; nothing where nothing stands."""
        if node.is_absent:
            return
        try:
            found = SessionSettings.model_validate({name: node.value}, strict=True)
        except ValidationError:
            self.refused.append(node.where)
        else:
            self.values[name] = getattr(found, name)

    def take_schema(self, node: Node) -> None:
        """A JSON schema of the answer, by the rules of the form."""
        if node.is_absent:
            return
        text = wire.dumps(node.value).decode()
        if fault_of(text) is None:
            self.values["answer_schema"] = text
        else:
            self.refused.append(node.where)

    def take_config(self, config: Node) -> Iterator[str]:
        """What stands in a config of Gemini or of AI Studio; gives the paths that no setting says."""
        self.take("temperature", config.at("temperature"))
        self.take("top_p", config.at("top_p", "topP"))
        typed = config.at("response_schema", "responseSchema")
        self.take_schema(replace(typed, value=_as_json_schema(typed.value)))
        plain = config.at("response_json_schema", "responseJsonSchema")
        self.take_schema(plain)
        mime = config.at("response_mime_type", "responseMimeType")
        has_schema = not (typed.is_absent and plain.is_absent)
        if mime.text not in ("", _PLAIN) and not (has_schema and mime.text == _JSON):
            yield mime.where

    def take_thinking(self, node: Node) -> None:
        level = node.at("thinking_level", "thinkingLevel")
        name = level.text.upper().removeprefix("THINKING_")
        if not name.endswith("_UNSPECIFIED"):
            self.take("thinking_level", replace(level, value=name or None))
        self.take("thinking_budget", node.at("thinking_budget", "thinkingBudget"))
        self.take("include_thoughts", node.at("include_thoughts", "includeThoughts"))


def _as_json_schema(value: Any) -> Any:
    """A `responseSchema` as JSON Schema: types in small letters, names of keywords as they are written there.

    What JSON Schema does not have stays, and is refused with the rules of a schema.
    """
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, below in value.items():
        name = str(_SNAKE.get(key, key))
        if name == "type" and isinstance(below, str):
            found[name] = below.lower()
        elif name in ("properties", "$defs") and isinstance(below, Mapping):
            found[name] = {inner: _as_json_schema(one) for inner, one in below.items()}
        elif name in ("anyOf", "oneOf", "prefixItems") and isinstance(below, list):
            found[name] = [_as_json_schema(one) for one in below]
        else:
            found[name] = _as_json_schema(below) if name in ("items", "additionalProperties") else below
    return found
