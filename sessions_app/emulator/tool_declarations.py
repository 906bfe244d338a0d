"""The tools of a request, their schemas and how they may be called, as pydantic reads them."""

from typing import Annotated, Any, ClassVar

from sessions_app.emulator.wire_enums import CallingMode, SchemaType
from sessions_app.emulator.wire_model import JsonObject, Repeated, WireModel, message

_PROVIDER_TOOLS = (
    *("google_search", "google_search_retrieval", "google_maps", "code_execution", "url_context"),
    *("file_search", "computer_use"),
)
_NO_MODE = frozenset({"", "MODE_UNSPECIFIED"})


class Schema(WireModel):
    """The subset of OpenAPI that the API accepts; other keywords are errors."""

    type: SchemaType | None = None
    format: str | None = None
    title: str | None = None
    description: str | None = None
    nullable: bool | None = None
    enum: Repeated[str] | None = None
    items: "Schema | None" = None
    min_items: int | None = None
    max_items: int | None = None
    properties: dict[str, "Schema"] | None = None
    property_ordering: Repeated[str] | None = None
    required: Repeated[str] | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    example: Any = None
    default: Any = None
    any_of: Repeated["Schema"] | None = None

    def as_json(self) -> JsonObject:
        """In camelCase and without unset fields."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class FunctionCallingConfig(WireModel):
    mode: CallingMode = ""
    allowed_function_names: Repeated[str] = []
    stream_function_call_arguments: bool = False


class ToolConfig(WireModel):
    function_calling_config: FunctionCallingConfig = FunctionCallingConfig()
    retrieval_config: Annotated[JsonObject, message("RetrievalConfig")] | None = None
    include_server_side_tool_invocations: bool = False

    @property
    def streams_arguments(self) -> bool:
        return self.function_calling_config.stream_function_call_arguments

    @property
    def mode(self) -> str:
        """One of AUTO, ANY, NONE and VALIDATED."""
        mode = self.function_calling_config.mode
        return "AUTO" if mode in _NO_MODE else mode


class FunctionDeclaration(WireModel):
    name: str = ""
    description: str | None = None
    parameters: Schema | None = None
    parameters_json_schema: Any = None
    response: Schema | None = None
    response_json_schema: Any = None
    behavior: str | None = None

    @property
    def argument_schema(self) -> JsonObject:
        """The JSON schema of the arguments, from either spelling; that of any object when there is none."""
        found = self.parameters.as_json() if self.parameters else self.parameters_json_schema
        return found if isinstance(found, dict) else {"type": "object"}

    @property
    def arguments(self) -> list[str]:
        """Argument names in declared order."""
        found = self.argument_schema
        named = found.get("propertyOrdering") or found.get("property_ordering") or found.get("properties")
        return [str(name) for name in named] if isinstance(named, list | dict) else []


class ToolDeclarations(WireModel):
    wire_name: ClassVar[str] = "Tool"

    function_declarations: Repeated[FunctionDeclaration] = []
    google_search: Annotated[JsonObject, message("Tool.GoogleSearch")] | None = None
    google_search_retrieval: Annotated[JsonObject, message("GoogleSearchRetrieval")] | None = None
    google_maps: Annotated[JsonObject, message("GoogleMaps")] | None = None
    code_execution: Annotated[JsonObject, message("CodeExecution")] | None = None
    url_context: Annotated[JsonObject, message("UrlContext")] | None = None
    file_search: Annotated[JsonObject, message("FileSearch")] | None = None
    computer_use: Annotated[JsonObject, message("Tool.ComputerUse")] | None = None
    mcp_servers: Repeated[Annotated[JsonObject, message("McpServer")]] = []

    @property
    def provider_tools(self) -> tuple[str, ...]:
        """The provider's own tools that are declared."""
        return tuple(name for name in _PROVIDER_TOOLS if getattr(self, name) is not None)
