"""The rules of a request's form (gemini-wire §5.2). Each check raises Refusal (400)."""

from collections.abc import Sequence

from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.configuration import check_configuration
from sessions_app.emulator.refusals import invalid
from sessions_app.emulator.shapes import Content, GenerateRequest, Tool

_ROLES = frozenset({"user", "model", "function", "tool", ""})
_KNOWN_ROLES = "SYSTEM, SYSTEM_1, USER, ASSISTANT, DEVELOPER, CONTEXT, USER_CONTEXT, MODEL, USER"
_COUNTS_DIFFER = (
    "Please ensure that the number of function response parts is equal to the number of function call "
    "parts of the function call turn."
)
_ANSWER_WITHOUT_CALL = (
    "Please ensure that function response turn comes immediately after a function call turn."
)
_CALL_OUT_OF_PLACE = (
    "Please ensure that function call turn comes immediately after a user turn or after a function "
    "response turn."
)


def check_structure(request: GenerateRequest, model: Model) -> None:
    if not request.contents:
        raise invalid("* GenerateContentRequest.contents: contents is not specified\n")
    check_parts(request.contents)
    check_tools(request.tools)
    check_order(request.contents if model.generation >= 3 else joined_answers(request.contents))
    check_configuration(request, model)


def check_parts(contents: Sequence[Content], message: str = "GenerateContentRequest") -> None:
    for index, content in enumerate(contents):
        where = f"* {message}.contents[{index}].parts"
        if content.role not in _ROLES:
            raise invalid(f"Role '{content.role}' is not supported. Please use a valid role: {_KNOWN_ROLES}.")
        if not content.parts:
            raise invalid(f"{where}: contents.parts must not be empty.\n")
        for position, part in enumerate(content.parts):
            if not part.kind and part.thought_signature is None:
                raise invalid(
                    f"{where}[{position}].data: required oneof field 'data' must have one initialized field\n"
                )


def check_tools(tools: Sequence[Tool]) -> None:
    for index, tool in enumerate(tools):
        if not tool.model_dump(exclude_none=True, exclude_defaults=True):
            where = f"tools[{index}].tool_type"
            raise invalid(f"{where}: required one_of 'tool_type' must have one initialized field")


def check_order(contents: Sequence[Content]) -> None:
    """Every call turn follows a user or answer turn and is answered, whole, by the next content."""
    for index, content in enumerate(contents):
        before = contents[index - 1] if index else None
        after = contents[index + 1] if index + 1 < len(contents) else None
        if content.answers and not (before and before.calls):
            raise invalid(_ANSWER_WITHOUT_CALL)
        if content.calls and (before is None or before.role == "model"):
            raise invalid(_CALL_OUT_OF_PLACE)
        if content.calls and (after is None or len(after.answers) != len(content.calls)):
            raise invalid(_COUNTS_DIFFER)


def joined_answers(contents: Sequence[Content]) -> list[Content]:
    """Contents with adjacent function responses in one: 2.5 takes them apart (recorded in 2026)."""
    joined: list[Content] = []
    for content in contents:
        if joined and joined[-1].answers and content.answers:
            joined[-1] = joined[-1].model_copy(update={"parts": [*joined[-1].parts, *content.parts]})
        else:
            joined.append(content)
    return joined


def turn_start(contents: Sequence[Content]) -> int:
    """Index of the newest user content with more than function responses; 0 when there is none."""
    return next((at for at in range(len(contents) - 1, -1, -1) if contents[at].opens_turn), 0)
