"""What a foreign request asks for, whatever its spelling."""

from typing import Any

import pytest

from tests.capture.conversations import body_of, traits, user

ONE = [{"functionDeclarations": [{"name": "town"}]}]
TWO = [{"function_declarations": [{"name": "town"}, {"name": "river"}]}]
ANY: dict[str, Any] = {"mode": "ANY"}


@pytest.mark.parametrize(
    ("tools", "config", "expected"),
    [
        (ONE, {"functionCallingConfig": ANY}, True),
        (TWO, {"functionCallingConfig": ANY | {"allowedFunctionNames": ["town"]}}, True),
        (TWO, {"function_calling_config": ANY | {"allowed_function_names": ["town"]}}, True),
        (TWO, {"functionCallingConfig": ANY}, True),
        (TWO, {"functionCallingConfig": ANY | {"allowedFunctionNames": ["town", "river"]}}, True),
        (ONE, {"functionCallingConfig": {"mode": "AUTO"}}, False),
        (TWO, {"functionCallingConfig": {"mode": ["ANY"], "allowedFunctionNames": 5}}, False),
        (5, {"functionCallingConfig": ANY}, False),
        (ONE, {"functionCallingConfig": 5}, False),
        (ONE, 5, False),
    ],
)
def test_an_answer_that_has_to_be_a_call(tools: Any, config: Any, expected: bool) -> None:
    for name in ("toolConfig", "tool_config"):
        body = body_of([user("Which town?")], tools=tools, **{name: config})
        assert traits(body, scope="client", name="").must_call is expected
