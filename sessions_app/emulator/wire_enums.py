"""Enums of the API as JSON gives them: a name in any case, or a number.

The numbers are the places in `values` (google-ai-generativelanguage 0.12.1); those of thinking levels, which
it does not have yet, are an assumption. Reading is that of protobuf's JSON (`DataPiece::ToEnum`).
"""

from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator

from sessions_app.emulator.wire_violations import TYPES, wrong_value


@dataclass(frozen=True, slots=True)
class EnumType:
    """`name` is what errors call it."""

    name: str
    values: tuple[str, ...]

    def read(self, value: object) -> object:
        """The name in upper case; "" and a number that has no name stand for the default."""
        if isinstance(value, int) and not isinstance(value, bool):
            return self.values[value] if 0 <= value < len(self.values) else self.values[0]
        if not isinstance(value, str):
            raise wrong_value(TYPES + self.name)
        if value.isascii() and value.isdecimal() and int(value) < len(self.values):
            return self.values[int(value)]
        name = value.upper().replace("-", "_")
        if name and name not in self.values:
            raise wrong_value(TYPES + self.name)
        return name


def _enum(name: str, values: str) -> BeforeValidator:
    return BeforeValidator(EnumType(name, tuple(values.split())).read)


_HARMS = (
    "UNSPECIFIED DEROGATORY TOXICITY VIOLENCE SEXUAL MEDICAL DANGEROUS HARASSMENT HATE_SPEECH "
    "SEXUALLY_EXPLICIT DANGEROUS_CONTENT CIVIC_INTEGRITY"
)

ThinkingLevel = Annotated[
    str,
    _enum("ThinkingConfig.ThinkingLevel", "THINKING_LEVEL_UNSPECIFIED MINIMAL LOW MEDIUM HIGH XHIGH"),
]
CallingMode = Annotated[str, _enum("FunctionCallingConfig.Mode", "MODE_UNSPECIFIED AUTO ANY NONE VALIDATED")]
HarmCategory = Annotated[
    str, _enum("HarmCategory", " ".join(f"HARM_CATEGORY_{harm}" for harm in _HARMS.split()))
]
HarmBlockThreshold = Annotated[
    str,
    _enum(
        "SafetySetting.HarmBlockThreshold",
        "HARM_BLOCK_THRESHOLD_UNSPECIFIED BLOCK_LOW_AND_ABOVE BLOCK_MEDIUM_AND_ABOVE BLOCK_ONLY_HIGH "
        "BLOCK_NONE OFF",
    ),
]
Modality = Annotated[str, _enum("GenerationConfig.Modality", "MODALITY_UNSPECIFIED TEXT IMAGE AUDIO VIDEO")]
SchemaType = Annotated[str, _enum("Type", "TYPE_UNSPECIFIED STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL")]
TaskType = Annotated[
    str,
    _enum(
        "TaskType",
        "TASK_TYPE_UNSPECIFIED RETRIEVAL_QUERY RETRIEVAL_DOCUMENT SEMANTIC_SIMILARITY CLASSIFICATION "
        "CLUSTERING QUESTION_ANSWERING FACT_VERIFICATION CODE_RETRIEVAL_QUERY",
    ),
]

FINISH_REASONS = (
    *("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "LANGUAGE"),
    *("BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY"),
    *("UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"),
)
BLOCK_REASONS = (
    *("BLOCK_REASON_UNSPECIFIED", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT"),
    "IMAGE_SAFETY",
)
MODALITIES = ("MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "VIDEO", "AUDIO", "DOCUMENT")


def name_of(value: object, names: tuple[str, ...]) -> str:
    """The name of a value in a recorded answer, whose client may have asked for numbers.

    Returns "" for 0, and an unknown number in digits.
    """
    if not isinstance(value, int):
        return str(value)
    return names[value] if 0 < value < len(names) else str(value or "")
