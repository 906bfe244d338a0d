"""What the body of a generateContent request says beside its contents."""

from collections.abc import Iterator, Sequence

from sessions_app.chat.import_formats.base import ImportHeader, Node, without_known
from sessions_app.chat.import_formats.gemini import part_nodes
from sessions_app.chat.import_formats.settings import SAMPLING, THINKING, Settings
from sessions_app.prompt.provider_tools import DECLARED_AS, ProviderTool

_BODY = frozenset(
    {
        "model",
        "tools",
        *("system_instruction", "systemInstruction"),
        *("generation_config", "generationConfig"),
        *("cached_content", "cachedContent"),
    }
)
_CONFIG = SAMPLING | {"thinking_config", "thinkingConfig"}
_FUNCTIONS = ("function_declarations", "functionDeclarations")
_OWN_TOOLS = {name: tool for tool in ProviderTool for name in (tool.value, DECLARED_AS[tool])}


def read_header(body: Node) -> ImportHeader:
    """Raises NotImportable with the path of what no request could hold."""
    tools = list(body.at("tools").items())
    declared = (tool.at(*_FUNCTIONS) for tool in tools)
    settings = Settings()
    without_setting = (
        *_take_tools(tools, settings),
        *_take_config(body.at("generation_config", "generationConfig"), settings),
        *without_known(body, _BODY),
    )
    return ImportHeader(
        system=system_text(body.at("system_instruction", "systemInstruction")),
        model=body.at("model").text,
        tools=tuple(name for some in declared for one in some.items() if (name := one.at("name").text)),
        settings=settings.values,
        refused=settings.refused,
        without_setting=without_setting,
        cache=body.at("cached_content", "cachedContent").text,
    )


def system_text(node: Node) -> str:
    """A content, its text alone, or text; paragraphs for several parts."""
    if node.is_absent or isinstance(node.value, str):
        return node.text
    if text := node.at("text").text:
        return text
    return "\n\n".join(part.at("text").text for part in part_nodes(node))


def _take_tools(tools: Sequence[Node], settings: Settings) -> Iterator[str]:
    """The provider's own; gives the paths of other kinds of tools, and of what one is told."""
    found = set[str]()
    for tool in tools:
        for key in tool.fields:
            node = tool.at(key)
            if key in _FUNCTIONS or node.is_absent:
                continue
            if own := _OWN_TOOLS.get(key):
                found.add(own)
                yield from without_known(node, frozenset())
            else:
                yield f"{tool.where}.{key[:60]}"
    take_own_tools(found, settings)


def take_own_tools(found: set[str], settings: Settings) -> None:
    """Tools of the provider, in their order."""
    if found:
        settings.values["provider_tools"] = [tool.value for tool in ProviderTool if tool in found]


def _take_config(config: Node, settings: Settings) -> Iterator[str]:
    if config.is_absent:
        return
    yield from settings.take_config(config)
    thinking = config.at("thinking_config", "thinkingConfig")
    if not thinking.is_absent:
        settings.take_thinking(thinking)
        yield from without_known(thinking, THINKING)
    yield from without_known(config, _CONFIG)
