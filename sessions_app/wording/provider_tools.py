"""The provider's own tools: what they are called, and why one is left out of a request."""

from collections.abc import Sequence

from sessions_app.prompt.provider_tools import Obstacle, ProviderTool, Wish
from sessions_app.prompt.renditions.original import SIGNATURES, THOUGHTS

NAMES: dict[str, str] = {
    ProviderTool.SEARCH: "web search",
    ProviderTool.LINKS: "reading links",
    ProviderTool.CODE: "running code",
    Wish.SCHEMA: "answering as JSON",
    Wish.PROVIDER_TOOLS: "Gemini's own tools",
    Wish.FUNCTIONS: "calling the tools of this chat",
    THOUGHTS: "thoughts",
    SIGNATURES: "thought signatures",
}

TITLES: dict[str, str] = {
    ProviderTool.SEARCH: "Search the web",
    ProviderTool.LINKS: "Read links",
    ProviderTool.CODE: "Run code",
}
"""As switches have them."""

OBSTACLES: dict[str, str] = {
    Obstacle.DIALECT: "is not available through the OpenAI-compatible endpoint",
    Obstacle.MODEL: "is not known to {model}",
    Obstacle.BESIDE_SCHEMA: "is left out: {model} does not take it beside an answer as JSON",
    Obstacle.BESIDE_PROVIDER_TOOLS: "is left out: {model} does not take it beside Gemini's own tools",
}
"""The end of a sentence that begins with a name."""


CODE_RESULTS = {"done": "output", "failed": "failed", "nothing": "(no output)"}
"""What stands above the result of code that the provider ran, and in place of an empty one."""

USES: dict[str, str] = {
    "GOOGLE_SEARCH_WEB": "Web search",
    "GOOGLE_SEARCH_IMAGE": "Image search",
    "URL_CONTEXT": "Read links",
    "FILE_SEARCH": "File search",
    "GOOGLE_MAPS": "Maps",
    "CODE_EXECUTION": "Run code",
}
"""By the `toolType` of a part; others are shown as they are."""


USING = "{use}…"
"""While it works."""


def using(tool_type: str) -> str:
    return USING.format(use=use(tool_type))


def use(tool_type: str) -> str:
    return USES.get(tool_type) or tool_type.replace("_", " ").capitalize()


LEFT_OUT = "Left out of it: {names}."
"""The tools that a request in the format of another provider lacks."""


def not_told(names: Sequence[str]) -> str:
    return LEFT_OUT.format(names=", ".join(map(name, names))) if names else ""


def title(tool: ProviderTool) -> str:
    return TITLES[tool]


def name(what: str) -> str:
    return NAMES.get(what, what)


def left_out(what: str, why: str, model: str) -> str:
    found = name(what)
    return f"{found[:1].upper()}{found[1:]} {OBSTACLES.get(why, why).format(model=model)}."
