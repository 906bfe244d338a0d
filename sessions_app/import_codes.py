"""The codes of what an import recognises, and of what its owner should know of it (`wording.imports`)."""

from enum import StrEnum

from sessions_app.prompt.stored import Code


class ImportFormat(Code):
    """What a file is; a file of an earlier version's job has none."""

    UNKNOWN = ""
    PIPEWEB = "pipeweb"
    GEMINI = "gemini"
    AI_STUDIO = "ai_studio"
    OPENAI = "openai"


class ImportNote(Code):
    """What became of a history from elsewhere. The comments name the figures."""

    UNKNOWN = "unknown"
    # model, used.
    MODEL_REPLACED = "model_replaced"
    # cache.
    CACHE_ABSENT = "cache_absent"
    # names (the first of them), count.
    TOOLS_UNKNOWN = "tools_unknown"
    WITHOUT_SETTING = "without_setting"
    VALUES_REFUSED = "values_refused"
    # count.
    SIGNATURES_FOREIGN = "signatures_foreign"
    SIGNATURES_UNREADABLE = "signatures_unreadable"
    CALLS_UNSIGNED = "calls_unsigned"
    FILES_ABSENT = "files_absent"
    ENTRIES_EMPTY = "entries_empty"
    SYSTEM_AS_MESSAGE = "system_as_message"
    UNSENT = "unsent"
    # count, where (of the first).
    HISTORY_BROKEN = "history_broken"


class ExpectedValue(StrEnum):
    """What should stand at a place of a file."""

    OBJECT = "object"
    LIST = "list"
    TEXT = "text"
    PARTS = "parts"
    ROLE = "role"
    CALL = "call"
    ARGUMENTS = "arguments"
    RESPONSE = "response"
    BASE64 = "base64"
