"""gemini-wire §5, row by row: status, name and words of every refusal. The test's name is the rule's."""

from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.signer import DUMMY_WORDS
from tests.emulator.helpers import FLASH, Wire, answers, call, declare, model, send, user

OLD, ARGON = "gemini-2.5-flash", "gemini-4-argon"
SIGNED, BARE = call("f", DUMMY_WORDS[0]), call("f")
DONE = answers(("f", {}))
GONE = {"contents": [user("a")], "cachedContent": "cachedContents/gone"}
ODD_SCHEMA = {"properties": {"a": {"type": "STRING"}, "b": {"type": "STRING", "x": 1}}}
MISSING = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
    "correctly, and missing thought_signature may lead to degraded model performance. Additional data, "
    "function call `default_api:f` , position 2. Please refer to "
    "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
)
COUNTS = (
    "Please ensure that the number of function response parts is equal to the number of function call parts "
    "of the function call turn."
)
NO_MODEL = (
    "models/gemini-none is not found for API version v1beta, or is not supported for generateContent. Call "
    "ModelService.ListModels to see the list of available models and their supported methods."
)
NO_CALLER = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or "
    "other form of API consumer identity to call this API."
)
BESIDE = (
    "CachedContent can not be used with GenerateContent request setting system_instruction, tools or "
    "tool_config.\n\nProposed fix: move those values to CachedContent from GenerateContent request."
)
BUSY = (
    "This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try "
    "again later."
)


@dataclass(frozen=True)
class Rule:
    """`words` begin the message, or are all of it when `whole`. `method` defaults to generating."""

    body: Wire
    words: str
    code: int = 400
    status: str = "INVALID_ARGUMENT"
    model: str = FLASH
    key: str = "conformance"
    whole: bool = True
    path: str = ""
    details: list[str] = field(default_factory=list)


def say(*contents: Wire, **more: Any) -> Wire:
    return {"contents": list(contents), **more}


def configured(**config: Any) -> Wire:
    return say(user("a"), generationConfig=config)


RULES = {
    "a_call_of_the_current_turn_needs_its_signature": Rule(say(user("a"), model(BARE), DONE), MISSING),
    "an_altered_signature_is_corrupted": Rule(
        say(user("a"), model(call("f", "AAAA")), DONE), "Corrupted thought signature."
    ),
    "a_signature_is_base64": Rule(
        say(user("a"), model(call("f", "!")), DONE),
        "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for "
        '"!"',
        details=["BadRequest"],
    ),
    "a_response_turn_follows_a_call_turn": Rule(
        say(user("a"), DONE),
        "Please ensure that function response turn comes immediately after a function call turn.",
    ),
    "a_call_turn_follows_a_user_or_response_turn": Rule(
        say(user("a"), model({"text": "b"}), model(SIGNED), DONE),
        "Please ensure that function call turn comes immediately after a user turn or after a function "
        "response turn.",
    ),
    "as_many_responses_as_calls": Rule(say(user("a"), model(SIGNED, BARE), DONE), COUNTS),
    "all_responses_in_one_content": Rule(say(user("a"), model(SIGNED, BARE), DONE, DONE), COUNTS),
    "parallel_answers_are_not_interleaved": Rule(
        say(user("a"), model(SIGNED), DONE, model(BARE), DONE), MISSING.replace("position 2", "position 4")
    ),
    "contents_are_specified": Rule(
        {"contents": []}, "* GenerateContentRequest.contents: contents is not specified\n"
    ),
    "a_part_has_data": Rule(
        say({"role": "user", "parts": [{"thought": True}]}),
        "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one "
        "initialized field\n",
    ),
    "a_tool_has_a_type": Rule(
        say(user("a"), tools=[{}]),
        "tools[0].tool_type: required one_of 'tool_type' must have one initialized field",
    ),
    "a_role_is_known": Rule(
        say({"role": "banana", "parts": [{"text": "a"}]}),
        "Role 'banana' is not supported. Please use a valid role: SYSTEM, SYSTEM_1, USER, ASSISTANT, "
        "DEVELOPER, CONTEXT, USER_CONTEXT, MODEL, USER.",
    ),
    "a_field_is_known": Rule(
        say(user("a"), banana=1),
        'Invalid JSON payload received. Unknown name "banana": Cannot find field.',
        details=["BadRequest"],
    ),
    "an_inner_field_is_known": Rule(
        say(user("a"), generationConfig={"thinkingConfig": {"depth": 1}}),
        "Invalid JSON payload received. Unknown name \"depth\" at 'generation_config.thinking_config': "
        "Cannot find field.",
        details=["BadRequest"],
    ),
    "a_schema_knows_its_fields": Rule(
        say(user("a"), tools=[{"functionDeclarations": [{"name": "f", "parameters": ODD_SCHEMA}]}]),
        'Invalid JSON payload received. Unknown name "x" at '
        "'tools[0].function_declarations[0].parameters.properties[1].value': Cannot find field.",
        details=["BadRequest"],
    ),
    "the_place_is_served": Rule(
        say(user("/error 412")), "User location is not supported for the API use.", 400, "FAILED_PRECONDITION"
    ),
    "an_enum_value_is_known": Rule(
        configured(thinkingConfig={"thinkingLevel": "deep"}),
        "Invalid value at 'generation_config.thinking_config.thinking_level' "
        '(type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel), "deep"',
        details=["BadRequest"],
    ),
    "the_input_has_a_limit": Rule(
        say(user("a" * 3_470_000)),
        "The input token count exceeds the maximum number of tokens allowed (1048576).",
    ),
    "levels_are_for_gemini_3": Rule(
        configured(thinkingConfig={"thinkingLevel": "LOW"}),
        "Thinking level is not supported for this model.",
        model=OLD,
    ),
    "budgets_end_with_gemini_4": Rule(
        configured(thinkingConfig={"thinkingBudget": 1}),
        "Thinking budget is not supported for this model. Use thinking level instead.",
        model=ARGON,
    ),
    "one_way_of_thinking": Rule(
        configured(thinkingConfig={"thinkingBudget": 1, "thinkingLevel": "LOW"}),
        "You can only set only one of thinking budget and thinking level.",
    ),
    "pro_has_to_think": Rule(
        configured(thinkingConfig={"thinkingBudget": 0}),
        "Budget 0 is invalid. This model only works in thinking mode.",
        model="gemini-2.5-pro",
    ),
    "gemini_3_has_one_candidate": Rule(
        configured(candidateCount=2), "Multiple candidates is not enabled for this model"
    ),
    "a_cache_is_large_enough": Rule(
        {"model": f"models/{FLASH}", "contents": [user("a" * 52)]},
        "Cached content is too small. total_token_count=16, min_total_token_count=1024",
        path="cachedContents",
    ),
    "a_missing_cache_is_forbidden_not_lost": Rule(
        GONE, "CachedContent not found (or permission denied)", 403, "PERMISSION_DENIED"
    ),
    "the_free_tier_stores_nothing": Rule(
        {"model": f"models/{FLASH}", "contents": [user("a" * 7_642)]},
        "TotalCachedContentStorageTokensPerModelFreeTier limit exceeded for model gemini-3-flash-preview: "
        "limit=0, requested=2316",
        429,
        "RESOURCE_EXHAUSTED",
        key="a-free-key",
        path="cachedContents",
    ),
    "argon_has_no_caches": Rule(
        {"model": f"models/{ARGON}", "contents": [user("a")]},
        "models/gemini-4-argon is not found for API version v1beta, or is not supported for "
        "createCachedContent.",
        404,
        "NOT_FOUND",
        path="cachedContents",
        whole=False,
    ),
    "a_bad_key_is_a_400": Rule(
        say(user("a")),
        "API key not valid. Please pass a valid API key.",
        key="invalid",
        details=["ErrorInfo", "LocalizedMessage"],
    ),
    "no_key_is_a_403": Rule(say(user("a")), NO_CALLER, 403, "PERMISSION_DENIED", key=""),
    "an_unknown_model_is_a_404": Rule(say(user("a")), NO_MODEL, 404, "NOT_FOUND", model="gemini-none"),
    "overload_is_a_503": Rule(say(user("/error 503")), BUSY, 503, "UNAVAILABLE"),
    "a_failure_is_a_500": Rule(
        say(user("/error 500")), "An internal error has occurred.", 500, "INTERNAL", whole=False
    ),
    "quota_is_a_429_with_retry_info": Rule(
        say(user("/error 429")),
        "You exceeded your current quota, please check your plan and billing details.",
        429,
        "RESOURCE_EXHAUSTED",
        whole=False,
        details=["Help", "QuotaFailure", "RetryInfo"],
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_refusal(emulator: Emulator, name: str) -> None:
    rule = RULES[name]
    path = rule.path or f"models/{rule.model}:generateContent"
    code, body = send(emulator, "POST", path, rule.body, key=rule.key)
    error = orjson.loads(body)["error"]
    assert (code, error["code"], error["status"]) == (rule.code, rule.code, rule.status)
    assert error["message"] == rule.words if rule.whole else error["message"].startswith(rule.words)
    assert [detail["@type"].rpartition(".")[2] for detail in error.get("details", [])] == rule.details


@pytest.mark.parametrize("field_name", ["systemInstruction", "tools", "toolConfig"])
def test_a_cache_stands_alone(emulator: Emulator, field_name: str) -> None:
    beside = {
        "systemInstruction": user("be terse"),
        "tools": declare(f=[]),
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    }
    body = say(user("a"), cachedContent=_cache(emulator), **{field_name: beside[field_name]})
    code, answer = send(emulator, "POST", f"models/{FLASH}:generateContent", body)
    assert (code, orjson.loads(answer)["error"]["message"]) == (400, BESIDE)


def test_a_cache_is_for_its_model(emulator: Emulator) -> None:
    body = say(user("a"), cachedContent=_cache(emulator))
    code, answer = send(emulator, "POST", "models/gemini-3.8-flash:generateContent", body)
    assert code == 400 and orjson.loads(answer)["error"]["message"] == (
        "Model used by GenerateContent request (models/gemini-3.8-flash) and CachedContent "
        "(models/gemini-3-flash-preview) has to be the same."
    )


def _cache(emulator: Emulator) -> str:
    body = {"model": f"models/{FLASH}", "contents": [user("word " * 1_000)]}
    name: str = orjson.loads(send(emulator, "POST", "cachedContents", body, key="emulator")[1])["name"]
    return name
