"""The codes of MCP servers: rows hold them, `wording/mcp` has their sentences."""

from enum import StrEnum

FUNCTION_SEPARATOR = "__"
"""Between the name of a server and that of its tool in the name of a function; no other function has it."""


class ServerTransport(StrEnum):
    STDIO = "stdio"
    HTTP = "http"


class Approval(StrEnum):
    """Whether the calls of a tool run without asking, after a person was asked, or not at all."""

    ALWAYS = "always"
    ASK = "ask"
    NEVER = "never"


class Choice(StrEnum):
    """What a person answers to an ask."""

    ONCE = "once"
    CHAT = "chat"
    REFUSE = "refuse"


class Decision(StrEnum):
    """What became of an ask; none while it is open."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    EXPIRED = "expired"


class SchemaLoss(StrEnum):
    """What of a tool's declaration does not reach the model. Each has a place in the schema."""

    KEYWORD = "keyword"
    REFERENCE = "reference"
    RECURSION = "recursion"
    TOO_MANY_REFERENCES = "too_many_references"
    TYPE_ASSUMED = "type_assumed"
    CHOICES = "choices"
    ENUM = "enum"
    PROPERTY_NAME = "property_name"
    TOO_DEEP = "too_deep"
    TOO_MANY_PROPERTIES = "too_many_properties"
    TEXT_CUT = "text_cut"
    NOT_AN_OBJECT = "not_an_object"


class ListingLoss(StrEnum):
    """What of a server's list of tools is left out; figures are counts."""

    TOO_MANY_TOOLS = "too_many_tools"
    TOO_MANY_PAGES = "too_many_pages"
    TOO_LARGE = "too_large"
    SAME_NAME = "same_name"
    UNUSABLE_NAME = "unusable_name"


class ServerProblem(StrEnum):
    """Why a server cannot be used. The comments name the figures."""

    # command
    COMMAND_NOT_ALLOWED = "command_not_allowed"
    # command
    NOT_STARTED = "not_started"
    # seconds
    START_TIMEOUT = "start_timeout"
    LIST_TIMEOUT = "list_timeout"
    # nothing
    SECRETS_UNREADABLE = "secrets_unreadable"
    ENDED = "ended"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    UNREACHABLE = "unreachable"
    # message, of the server
    REFUSED = "refused"
    # seconds until it may be started again
    PAUSED = "paused"
    # limit
    TOO_MANY = "too_many"
