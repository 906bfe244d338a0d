"""The provider's own tools and a JSON schema of the answer: what of them a request may ask for.

Gemini 3 and later take them together with functions, and then show what they did as parts; before that a
request has one of the three, and refuses the others (`catalogue`, `ModelTraits.mixes_tools`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sessions_app.prompt import wire
from sessions_app.prompt.parts import PartView


class ProviderTool(StrEnum):
    """In the order in which a request declares them."""

    SEARCH = "google_search"
    LINKS = "url_context"
    CODE = "code_execution"


DECLARED_AS: dict[str, str] = {
    ProviderTool.SEARCH: "googleSearch",
    ProviderTool.LINKS: "urlContext",
    ProviderTool.CODE: "codeExecution",
}

CONSENT = b'{"includeServerSideToolInvocations":true}'
"""What a request with functions and tools of the provider has to say (recorded; else 400)."""


class Wish(StrEnum):
    """What a person may want beside text, in the order in which one wins where they exclude each other."""

    SCHEMA = "schema"
    PROVIDER_TOOLS = "provider_tools"
    FUNCTIONS = "functions"


class Obstacle(StrEnum):
    """Why something is left out of a request."""

    DIALECT = "dialect"
    MODEL = "model"
    BESIDE_SCHEMA = "beside_schema"
    BESIDE_PROVIDER_TOOLS = "beside_provider_tools"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """`what` is a name of a ProviderTool, or a Wish."""

    what: str
    why: Obstacle


@dataclass(frozen=True, slots=True)
class Offer:
    """What a request asks for. `has_functions` is false where functions must not be declared."""

    tools: tuple[str, ...] = ()
    has_schema: bool = False
    has_functions: bool = True
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Support:
    """What a model takes, asked in a dialect. `own_tools` are names of ProviderTool."""

    own_tools: Sequence[str]
    mixes_tools: bool
    is_gemini: bool = True


def offer(tools: Collection[str], support: Support, *, has_schema: bool, has_functions: bool) -> Offer:
    """What is asked for of what a person wants; the rest is named with its reason."""
    wanted = [tool.value for tool in ProviderTool if tool.value in tools]
    if not support.is_gemini:
        gone = [*wanted, *([Wish.SCHEMA.value] if has_schema else ())]
        return Offer(left_out=tuple(LeftOut(what, Obstacle.DIALECT) for what in gone))
    taken = tuple(name for name in wanted if name in support.own_tools)
    unknown = tuple(LeftOut(name, Obstacle.MODEL) for name in wanted if name not in taken)
    if support.mixes_tools:
        return Offer(taken, has_schema, left_out=unknown)
    beside = tuple(_beside(taken, has_schema=has_schema, has_functions=has_functions))
    return Offer(
        () if has_schema else taken,
        has_schema,
        has_functions=not (has_schema or taken),
        left_out=(*unknown, *beside),
    )


def _beside(taken: Sequence[str], *, has_schema: bool, has_functions: bool) -> Iterator[LeftOut]:
    """What one of the others excludes."""
    why = Obstacle.BESIDE_SCHEMA if has_schema else Obstacle.BESIDE_PROVIDER_TOOLS
    if has_schema:
        yield from (LeftOut(name, why) for name in taken)
    if has_functions and (has_schema or taken):
        yield LeftOut(Wish.FUNCTIONS.value, why)


def declarations(functions: Sequence[Mapping[str, object]], tools: Sequence[str]) -> bytes:
    """The wire JSON of `tools`; empty without any."""
    entries: list[dict[str, object]] = [{"functionDeclarations": list(functions)}] if functions else []
    entries += [{DECLARED_AS[name]: {}} for name in tools]
    return wire.dumps(entries) if entries else b""


def tool_config(functions: Sequence[Mapping[str, object]], tools: Sequence[str]) -> bytes:
    """The wire JSON of `toolConfig`; empty where nothing has to be said."""
    return CONSENT if functions and tools else b""


def own_tools(tools: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """Names of the provider's tools among the `tools` of a request, in either spelling."""
    return tuple(
        tool.value
        for tool in ProviderTool
        if any(key in entry for entry in tools for key in (tool.value, DECLARED_AS[tool]))
    )


def has_answer_schema(config: Mapping[str, object]) -> bool:
    """Whether a `generationConfig` asks for an answer by a schema, in any of its spellings."""
    return any(key in config for key in _SCHEMAS)


_SCHEMAS = ("responseJsonSchema", "response_json_schema", "responseSchema", "response_schema")

SCHEMA_KEYS = frozenset({*_SCHEMAS, "responseMimeType", "response_mime_type"})
"""Members of a `generationConfig` that an answer by a schema takes."""

KEPT_OF_CUT = frozenset(
    {
        *("text", "thought", "other", "executable_code", "code_execution_result"),
        *("tool_call", "tool_response", "inline_data"),
    }
)
"""Kinds of parts that an answer keeps which was cut off."""

_USES = {"executable_code": "code_execution_result", "tool_call": "tool_response"}
"""What the provider's tools were asked, and what they returned."""


def whole_uses(views: Sequence[PartView]) -> tuple[PartView, ...]:
    """Without what was asked of a provider's tool whose result did not arrive."""
    kinds = [view.kind for view in views]
    return tuple(
        view for at, view in enumerate(views) if view.kind not in _USES or _USES[view.kind] in kinds[at:]
    )
