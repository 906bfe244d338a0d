"""What of the provider's tools, functions and a schema a request may ask for."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.catalogue import CATALOGUE, FAMILIES
from sessions_app.prompt import provider_tools
from sessions_app.prompt.parts import parts_of
from sessions_app.prompt.provider_tools import (
    DECLARED_AS,
    LeftOut,
    Obstacle,
    Offer,
    ProviderTool,
    Support,
    Wish,
    offer,
    whole_uses,
)

ALL = tuple(tool.value for tool in ProviderTool)
NEWER, OLDER = Support(ALL, mixes_tools=True), Support(ALL, mixes_tools=False)
CALCULATE: dict[str, object] = {"name": "calculate", "description": "Sums."}


def test_newer_models_take_all_of_it_together() -> None:
    assert offer(ALL, NEWER, has_schema=True, has_functions=True) == Offer(ALL, has_schema=True)


def test_before_gemini_3_a_schema_leaves_out_both_kinds_of_tools() -> None:
    found = offer(["google_search"], OLDER, has_schema=True, has_functions=True)
    assert (found.tools, found.has_schema, found.has_functions) == ((), True, False)
    why = Obstacle.BESIDE_SCHEMA
    assert found.left_out == (LeftOut("google_search", why), LeftOut(Wish.FUNCTIONS, why))


def test_before_gemini_3_the_providers_tools_leave_out_functions() -> None:
    found = offer(["google_search"], OLDER, has_schema=False, has_functions=True)
    assert (found.tools, found.has_functions) == (("google_search",), False)
    assert found.left_out == (LeftOut(Wish.FUNCTIONS, Obstacle.BESIDE_PROVIDER_TOOLS),)


def test_what_a_model_does_not_know_is_named() -> None:
    found = offer(["code_execution"], Support((), mixes_tools=False), has_schema=False, has_functions=True)
    assert found == Offer(left_out=(LeftOut("code_execution", Obstacle.MODEL),))


def test_another_dialect_has_none_of_it() -> None:
    support = Support(ALL, mixes_tools=True, is_gemini=False)
    found = offer(["url_context"], support, has_schema=True, has_functions=True)
    assert (found.tools, found.has_schema, found.has_functions) == ((), False, True)
    assert {one.why for one in found.left_out} == {Obstacle.DIALECT}


@given(
    tools=st.lists(st.sampled_from(ALL), unique=True),
    support=st.builds(
        Support,
        st.lists(st.sampled_from(ALL), unique=True),
        mixes_tools=st.booleans(),
        is_gemini=st.booleans(),
    ),
    has_schema=st.booleans(),
    has_functions=st.booleans(),
)
def test_a_wish_is_sent_or_named_and_never_what_excludes_another(
    tools: list[str], support: Support, has_schema: bool, has_functions: bool
) -> None:
    found = offer(tools, support, has_schema=has_schema, has_functions=has_functions)
    wished = {*tools, *([Wish.SCHEMA] if has_schema else ()), *([Wish.FUNCTIONS] if has_functions else ())}
    sent = {*found.tools, *([Wish.SCHEMA] if found.has_schema else ())}
    sent |= {Wish.FUNCTIONS} if found.has_functions and has_functions else set()
    left = [one.what for one in found.left_out]
    assert wished == sent | set(left) and len(left) == len(set(left)) and not sent & set(left)
    kinds = {Wish.PROVIDER_TOOLS if one in ALL else one for one in sent}
    assert support.mixes_tools or len(kinds) <= 1


def test_each_tool_is_an_entry_of_its_own_in_one_order() -> None:
    sent = provider_tools.declarations([CALCULATE], ("google_search", "code_execution"))
    assert orjson.loads(sent) == [
        {"functionDeclarations": [CALCULATE]},
        {"googleSearch": {}},
        {"codeExecution": {}},
    ]
    assert offer(["code_execution", "google_search"], NEWER, has_schema=False, has_functions=True).tools == (
        "google_search",
        "code_execution",
    )
    assert provider_tools.declarations([], ()) == b""
    assert set(DECLARED_AS) == set(ProviderTool)


def test_consent_is_given_where_both_kinds_stand_together() -> None:
    assert provider_tools.tool_config([CALCULATE], ["google_search"]) == provider_tools.CONSENT
    assert (
        provider_tools.tool_config([], ["google_search"])
        == provider_tools.tool_config([CALCULATE], [])
        == b""
    )


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_listed_model_has_known_tools_and_says_where_that_was_read(name: str) -> None:
    traits = CATALOGUE[name].traits
    assert set(traits.own_tools) <= set(ALL) and traits.tools_source
    assert traits.mixes_tools == (CATALOGUE[name].generation >= 3)


def test_of_a_model_that_nobody_knows_no_tool_is_assumed() -> None:
    assert FAMILIES[""].own_tools == () and not FAMILIES[""].mixes_tools


def test_a_use_without_its_result_is_not_kept() -> None:
    code, result = {"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "1"}}
    search = {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB"}}
    body = orjson.dumps({"role": "model", "parts": [code, result, {"text": "x"}, code, search]})
    assert [view.index for view in whole_uses(parts_of(body))] == [0, 1, 2]
