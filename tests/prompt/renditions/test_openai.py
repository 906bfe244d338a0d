"""The OpenAI-compatible form of a payload."""

from sessions_app.prompt.renditions import openai
from sessions_app.prompt.turns import Turn, TurnKind
from sessions_app.prompt.wire import dumps
from tests.prompt.renditions.examples import STATIC, original


def test_the_static_layer_is_the_system_message() -> None:
    first, *rest = openai.render(original())["messages"]
    assert first == {"role": "system", "content": STATIC}
    assert all(message["role"] != "system" for message in rest)


def test_without_a_static_text_there_is_no_system_message() -> None:
    assert openai.render(original(static=""))["messages"][0]["role"] == "user"


def test_the_panel_tool_is_declared_where_panels_are_its_calls() -> None:
    for panels_as_calls, names in ((True, ["check_flight", "dynamic_panel"]), (False, ["check_flight"])):
        tools = openai.render(original(), panels_as_calls=panels_as_calls)["tools"]
        assert [tool["function"]["name"] for tool in tools] == names


def test_code_and_its_result_are_paragraphs_of_their_own() -> None:
    parts = [
        {"text": "I compute "},
        {"text": "it."},
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"text": "", "thoughtSignature": "U2ln"},
        {"text": "It is "},
        {"text": "one."},
    ]
    answer = Turn("1", TurnKind.MODEL_RESPONSE, dumps({"role": "model", "parts": parts}))
    told = openai.render(original(answer, panels=()), panels_as_calls=False)["messages"]
    (said,) = (message["content"] for message in told if "compute" in str(message))
    assert said.split("\n\n") == [
        "I compute it.",
        "```python\nprint(1)\n```",
        "[Result of the code: OUTCOME_OK]\n1",
        "It is one.",
    ]
