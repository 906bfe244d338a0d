import base64
from typing import Any

import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.catalogue import MODELS
from sessions_app.emulator.signer import DUMMY_WORDS
from tests.emulator.helpers import FLASH, Wire, answers, call, declare, model, refusal, user

SIGNED = call("f", DUMMY_WORDS[0])
DONE = answers(("f", {}))


def test_no_contents_are_refused_in_the_recorded_words(emulator: Emulator) -> None:
    assert refusal(emulator, {}) == "* GenerateContentRequest.contents: contents is not specified\n"


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ([user("a"), DONE], "function response turn comes immediately after a function call turn"),
        ([user("a"), model({"text": "b"}), DONE], "function response turn comes immediately after"),
        ([model(SIGNED), DONE], "function call turn comes immediately after a user turn"),
        (
            [user("a"), model({"text": "b"}), model(SIGNED), DONE],
            "function call turn comes immediately after",
        ),
        (
            [user("a"), model(SIGNED), model(call("f")), model({"text": ""}), answers(("f", {}), ("f", {}))],
            "function response turn comes immediately after a function call turn",
        ),
        ([user("a"), model(SIGNED), answers(("f", {}), ("f", {}))], "number of function response parts"),
        ([user("a"), model(SIGNED), user("b")], "number of function response parts"),
        ([user("a"), model(SIGNED)], "number of function response parts"),
        ([{"role": "banana", "parts": [{"text": "a"}]}], "Role 'banana' is not supported."),
        ([{"role": "user"}], "contents[0].parts: contents.parts must not be empty."),
        ([user("a"), model({"thought": True})], "contents[1].parts[0].data: required oneof field 'data'"),
    ],
)
def test_a_broken_order_is_refused(emulator: Emulator, contents: list[Wire], words: str) -> None:
    assert words in refusal(emulator, {"contents": contents})


def test_functions_beside_the_providers_tools_need_consent(emulator: Emulator) -> None:
    body: Wire = {"contents": [user("a")], "tools": [*declare(f=[]), {"googleSearch": {}}]}
    assert refusal(emulator, body) == (
        "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with "
        "Function calling."
    )
    assert not refusal(emulator, body | {"toolConfig": {"includeServerSideToolInvocations": True}})


@pytest.mark.parametrize("role", ["user", "function", "tool"])
def test_answers_come_under_any_of_their_roles(emulator: Emulator, role: str) -> None:
    assert not refusal(emulator, {"contents": [user("a"), model(SIGNED), {**DONE, "role": role}]})


def test_a_missing_role_is_the_user(emulator: Emulator) -> None:
    assert not refusal(emulator, {"contents": [{"parts": [{"text": "hello"}]}]})


def test_two_user_texts_in_a_row_are_fine(emulator: Emulator) -> None:
    assert not refusal(emulator, {"contents": [user("static", "dynamic"), user("hello")]})


def test_a_part_with_only_a_signature_is_accepted(emulator: Emulator) -> None:
    bare = {"thoughtSignature": base64.b64encode(DUMMY_WORDS[1].encode()).decode()}
    assert not refusal(emulator, {"contents": [user("a"), model({"text": "b"}, bare), user("c")]})


def test_an_empty_tool_is_refused(emulator: Emulator) -> None:
    message = refusal(emulator, {"contents": [user("a")], "tools": [{}]})
    assert message == "tools[0].tool_type: required one_of 'tool_type' must have one initialized field"


@pytest.mark.parametrize(
    ("served", "thinking", "words"),
    [
        ("gemini-2.5-flash", {"thinkingLevel": "HIGH"}, "Thinking level is not supported for this model."),
        ("gemini-4-argon", {"thinkingBudget": 10}, "Use thinking level instead."),
        ("gemini-3.5-flash", {"thinkingBudget": 1, "thinkingLevel": "LOW"}, "only set only one of"),
        ("gemini-3.5-flash", {"thinking_level": "LOW"}, ""),
        ("gemini-2.5-pro", {"thinking_budget": 128}, ""),
    ],
)
def test_thinking_is_what_the_model_knows(
    emulator: Emulator, served: str, thinking: Wire, words: str
) -> None:
    body = {"contents": [user("a")], "generationConfig": {"thinkingConfig": thinking}}
    message = refusal(emulator, body, served)
    assert words in message and bool(words) == bool(message)


PRO, OLD, OLD_PRO, ARGON = "gemini-3.1-pro-preview", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-4-argon"
TOOLS = declare(check_flight=["flight"])


def ask(**config: Any) -> dict[str, Any]:
    return {"contents": [user("hello")], "generationConfig": config}


RETRY = "Please retry with other thinking level."


@pytest.mark.parametrize(
    ("model", "thinking", "message"),
    [
        (OLD, {"thinkingLevel": "low"}, "Thinking level is not supported for this model."),
        (
            PRO,
            {"thinkingLevel": "minimal"},
            f"Thinking level MINIMAL is not supported for this model. {RETRY}",
        ),
        (FLASH, {"thinkingLevel": "XHIGH"}, f"Thinking level XHIGH is not supported for this model. {RETRY}"),
        (OLD_PRO, {"thinkingBudget": 0}, "Budget 0 is invalid. This model only works in thinking mode."),
        (
            ARGON,
            {"thinkingBudget": 5},
            "Thinking budget is not supported for this model. Use thinking level instead.",
        ),
        (
            FLASH,
            {"thinkingBudget": 5, "thinkingLevel": "LOW"},
            "You can only set only one of thinking budget and thinking level.",
        ),
    ],
)
def test_a_way_of_thinking_the_model_lacks_is_refused(
    emulator: Emulator, model: str, thinking: dict[str, Any], message: str
) -> None:
    assert refusal(emulator, ask(thinkingConfig=thinking), model) == message


@pytest.mark.parametrize(
    ("model", "least", "most"),
    [(OLD_PRO, 128, 32_768), (OLD, 0, 24_576), ("gemini-2.5-flash-lite", 512, 24_576)],
)
def test_a_budget_beyond_those_of_the_model_is_refused_in_the_quoted_words(
    emulator: Emulator, model: str, least: int, most: int
) -> None:
    for budget in {most + 1, least - 1, -2} - {-1}:
        assert refusal(emulator, ask(thinkingConfig={"thinkingBudget": budget}), model) == (
            f"The thinking budget {budget} is invalid. Please choose a value between {least} and {most}."
        )
    for budget in (least, most, -1):
        assert not refusal(emulator, ask(thinkingConfig={"thinkingBudget": budget}), model)


@pytest.mark.parametrize("kind", ["text/html", "json", "image/png", "APPLICATION/JSON"])
def test_an_answer_has_one_of_five_media_types(emulator: Emulator, kind: str) -> None:
    assert refusal(emulator, ask(responseMimeType=kind)) == (
        "* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are `text/plain`, "
        "`application/json`, `application/xml`, `application/yaml` and `text/x.enum`.\n"
    )


@pytest.mark.parametrize("kind", ["", "text/plain", "application/xml", "application/yaml", "text/x.enum"])
def test_the_other_media_types_of_answers_are_taken(emulator: Emulator, kind: str) -> None:
    assert not refusal(emulator, ask(responseMimeType=kind))


def test_only_text_is_answered_with(emulator: Emulator) -> None:
    words = "Model does not support the requested response modalities: image"
    assert refusal(emulator, ask(responseModalities=["IMAGE"])) == words
    assert refusal(emulator, ask(response_modalities=["Text", "image"])) == words
    assert not refusal(emulator, ask(responseModalities="TEXT"))
    assert refusal(emulator, ask(responseModalities=["SMELL"])) == (
        "Invalid value at 'generation_config.response_modalities[0]' "
        '(type.googleapis.com/google.ai.generativelanguage.v1beta.GenerationConfig.Modality), "SMELL"'
    )


def test_an_unknown_level_is_named_with_its_path(emulator: Emulator) -> None:
    message = refusal(emulator, ask(thinkingConfig={"thinkingLevel": "huge"}))
    assert message.startswith("Invalid value at 'generation_config.thinking_config.thinking_level' (type.")
    assert message.endswith('"huge"')


@pytest.mark.parametrize("model", [FLASH, PRO, OLD, OLD_PRO, ARGON])
def test_every_supported_level_is_taken(emulator: Emulator, model: str) -> None:
    for level in MODELS[model].levels:
        assert not refusal(emulator, ask(thinkingConfig={"thinkingLevel": level.lower()}), model)


def test_gemini_3_answers_once(emulator: Emulator) -> None:
    assert refusal(emulator, ask(candidateCount=2)) == "Multiple candidates is not enabled for this model"
    assert not refusal(emulator, ask(candidateCount=1))


def test_too_many_candidates_are_out_of_range(emulator: Emulator) -> None:
    assert "candidateCount value of 9" in refusal(emulator, ask(candidateCount=9), OLD)
    assert not refusal(emulator, ask(candidateCount=8), OLD)


@pytest.mark.parametrize("heat", [-0.1, 1000])
def test_a_temperature_out_of_range_is_refused_in_the_recorded_words(emulator: Emulator, heat: float) -> None:
    assert refusal(emulator, ask(temperature=heat)) == (
        f"Unable to submit request because it has a temperature value of {heat:g} but the supported range "
        "is from 0 (inclusive) to 2.0001 (exclusive). Update the value and try again."
    )


@pytest.mark.parametrize(
    ("name", "key", "wrong", "span"),
    [
        ("topP", "topP", 1.5, "0 (inclusive) to 1.0001 (exclusive)"),
        ("maxOutputTokens", "maxOutputTokens", 0, "1 (inclusive) to 65537 (exclusive)"),
        ("maxOutputTokens", "maxOutputTokens", 1_000_000, "1 (inclusive) to 65537 (exclusive)"),
        ("stopSequences", "stopSequences", list("abcdef"), "1 (inclusive) to 6 (exclusive)"),
    ],
)
def test_other_settings_have_ranges_too(
    emulator: Emulator, name: str, key: str, wrong: Any, span: str
) -> None:
    value = len(wrong) if isinstance(wrong, list) else wrong
    assert refusal(emulator, ask(**{key: wrong})) == (
        f"Unable to submit request because it has a {name} value of {value} but the supported range "
        f"is from {span}. Update the value and try again."
    )


@pytest.mark.parametrize("penalty", ["presencePenalty", "frequency_penalty"])
def test_no_model_takes_penalties_but_zero(emulator: Emulator, penalty: str) -> None:
    assert refusal(emulator, ask(**{penalty: -0.5})) == "Penalty is not enabled for this model"
    assert not refusal(emulator, ask(**{penalty: 0.0}))


def test_before_gemini_3_there_are_no_log_probabilities(emulator: Emulator) -> None:
    message = refusal(emulator, ask(responseLogprobs=True), OLD)
    assert message == "Logprobs is not enabled for models/gemini-2.5-flash"
    assert not refusal(emulator, ask(responseLogprobs=False), OLD)


def test_settings_at_the_ends_of_their_ranges_are_taken(emulator: Emulator) -> None:
    for ends in ({"topP": 0, "maxOutputTokens": 1}, {"topP": 1, "maxOutputTokens": 65_536}):
        assert not refusal(emulator, ask(**ends, temperature=2, stopSequences=list("vwxyz")))


@pytest.mark.parametrize("name", ["", "2nd", "a b", "naïve", "x" * 65])
def test_every_function_with_a_wrong_name_is_named_by_its_place(emulator: Emulator, name: str) -> None:
    tools = [*TOOLS, {"functionDeclarations": [{"name": "fine"}, {"name": name}, {"name": name}]}]
    lines = refusal(emulator, ask() | {"tools": tools}).splitlines()
    places = [line.partition(": ")[0] for line in lines]
    assert places == [f"* GenerateContentRequest.tools[1].function_declarations[{at}].name" for at in (1, 2)]


@pytest.mark.parametrize("name", ["_", "a.b:c-d_9", "x" * 64])
def test_a_name_of_every_allowed_character_is_taken(emulator: Emulator, name: str) -> None:
    assert not refusal(emulator, ask() | {"tools": [{"functionDeclarations": [{"name": name}]}]})


def test_a_function_is_declared_once(emulator: Emulator) -> None:
    twice = [{"functionDeclarations": [{"name": "f"}]}, {"functionDeclarations": [{"name": "f"}]}]
    assert refusal(emulator, ask() | {"tools": twice}) == "Duplicate function declaration found: f"


@pytest.mark.parametrize("kind", ["png", "application/zip", "application/cu-seeme"])
def test_a_file_that_no_model_reads_is_refused(emulator: Emulator, kind: str) -> None:
    assert refusal(emulator, shown(kind)) == f"Unsupported MIME type: {kind}"


@pytest.mark.parametrize(
    "kind", ["image/png", "text/plain; charset=utf-8", "application/pdf", "audio/mp3", ""]
)
def test_files_that_models_read_are_taken(emulator: Emulator, kind: str) -> None:
    assert not refusal(emulator, shown(kind))


def shown(kind: str) -> Wire:
    return {"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": kind, "data": "AAAA"}}]}]}


def test_a_calling_mode_needs_functions(emulator: Emulator) -> None:
    mode = {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}
    words = "Function calling config is set without function_declarations."
    assert refusal(emulator, ask() | mode) == words
    assert not refusal(emulator, ask() | mode | {"tools": TOOLS})
    mode["toolConfig"]["includeServerSideToolInvocations"] = True  # type: ignore[assignment]
    assert not refusal(emulator, ask() | mode)


def test_before_gemini_3_the_providers_tools_stand_alone(emulator: Emulator) -> None:
    search: Wire = {"googleSearch": {}}
    both = ask() | {"tools": [*TOOLS, search], "toolConfig": {"includeServerSideToolInvocations": True}}
    assert refusal(emulator, both, OLD) == "Tool use with function calling is unsupported"
    assert not refusal(emulator, both, FLASH)
    body = ask(responseMimeType="application/json") | {"tools": [search]}
    words = "Tool use with a response mime type: 'application/json' is unsupported"
    assert refusal(emulator, body, OLD) == words
    assert not refusal(emulator, body, FLASH)


def test_before_gemini_3_functions_and_json_exclude_each_other(emulator: Emulator) -> None:
    body = ask(responseMimeType="application/json") | {"tools": TOOLS}
    words = "Function calling with a response mime type: 'application/json' is unsupported"
    assert refusal(emulator, body, OLD) == words
    assert not refusal(emulator, body, FLASH)
