"""What the body of a chat completion says beside its messages."""

from collections.abc import Iterator
from dataclasses import replace

from sessions_app.chat.import_formats.base import ImportHeader, Node, without_known
from sessions_app.chat.import_formats.settings import Settings

_BODY = frozenset(
    {
        *("model", "tools", "functions", "tool_choice", "function_call"),
        *("temperature", "top_p", "reasoning_effort", "response_format"),
        *("stream", "stream_options"),
    }
)
_CHOICES = ("tool_choice", "function_call")
_EFFORTS = {"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}


def read_header(body: Node) -> ImportHeader:
    """Raises NotImportable with the path of what no request could hold."""
    tools = [(one, one.at("function")) for one in body.at("tools").items()]
    functions = [function for _, function in tools if not function.is_absent]
    functions += body.at("functions").items()
    settings = Settings()
    settings.take("temperature", body.at("temperature"))
    settings.take("top_p", body.at("top_p"))
    effort = body.at("reasoning_effort")
    settings.take("thinking_level", replace(effort, value=_EFFORTS.get(effort.text, effort.value)))
    return ImportHeader(
        model=body.at("model").text.rpartition("/")[2],
        tools=tuple(name for one in functions if (name := one.at("name").text)),
        without_setting=(
            *(one.where for one, function in tools if function.is_absent),
            *(one.where for one in map(body.at, _CHOICES) if one.value not in (None, "auto")),
            *_take_format(body.at("response_format"), settings),
            *without_known(body, _BODY),
        ),
        settings=settings.values,
        refused=settings.refused,
    )


def _take_format(node: Node, settings: Settings) -> Iterator[str]:
    """The schema of the answer; gives the path of another form than text."""
    if node.is_absent:
        return
    kind, named = node.at("type").text, node.at("json_schema")
    schema = named if named.is_absent else named.at("schema")
    if kind == "json_schema" and not schema.is_absent:
        settings.take_schema(schema)
    elif kind not in ("", "text"):
        yield node.where
