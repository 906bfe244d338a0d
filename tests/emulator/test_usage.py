from collections import Counter

import pytest
from google.genai.client import AsyncClient
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.emulator.catalogue import MODELS
from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedCall, ScriptedReply
from sessions_app.emulator.slash_commands import find_commands
from sessions_app.emulator.usage import TokenCounts, estimate_tokens
from tests.emulator.helpers import FLASH, Wire, answers, declare, generate, model, parts, stream, user

CUES = (
    "hello",
    "/think",
    "/long",
    "/maxtokens",
    "/safety",
    "/blocked",
    "/empty",
    "/nofinish",
    "what time is it",
)
NEW = "gemini-3.5-flash"
WORDS = st.text(max_size=200).filter(lambda text: not find_commands(text))
TEXTS = st.lists(st.one_of(WORDS, st.sampled_from(CUES)), min_size=1, max_size=4)
TOOLS = declare(current_time=["timezone"], calculate=["expression"])


def holds(usage: Wire) -> bool:
    counters = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount")
    return bool(usage["totalTokenCount"] == sum(usage.get(name, 0) for name in counters))


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, served=st.sampled_from(sorted(MODELS)), shown=st.booleans())
def test_the_identity_holds_in_every_chunk(texts: list[str], served: str, shown: bool) -> None:
    thinking = {"thinkingConfig": {"includeThoughts": shown}}
    body = {"contents": [user(text) for text in texts], "tools": TOOLS, "generationConfig": thinking}
    chunks = stream(Emulator(delay=0), body, served)
    assert chunks and all(holds(chunk["usageMetadata"]) for chunk in chunks)
    totals = [chunk["usageMetadata"]["totalTokenCount"] for chunk in chunks]
    assert totals == sorted(totals)


def test_counters_of_nothing_are_absent(emulator: Emulator) -> None:
    blocked = stream(emulator, {"contents": [user("/blocked")]})[0]["usageMetadata"]
    assert set(blocked) == {"promptTokenCount", "totalTokenCount", "promptTokensDetails", "serviceTier"}


def test_the_prompt_includes_what_was_cached() -> None:
    usage = TokenCounts(Counter(TEXT=100), Counter(TEXT=40)).metadata(candidates=5)
    assert (usage["promptTokenCount"], usage["cachedContentTokenCount"], usage["totalTokenCount"]) == (
        100,
        40,
        105,
    )


def test_the_prompt_jumps_in_the_last_chunk_of_a_tool_loop(emulator: Emulator) -> None:
    ask, body = user("calculate 1+1"), {"tools": TOOLS}
    asked = generate(emulator, {"contents": [ask], **body})
    done = answers(("calculate", {"result": 2}))
    chunks = stream(emulator, {"contents": [ask, model(*parts(asked)), done], **body})
    prompts = [chunk["usageMetadata"]["promptTokenCount"] for chunk in chunks]
    assert len(set(prompts[:-1])) == 1
    assert prompts[-1] - prompts[0] == asked["usageMetadata"]["thoughtsTokenCount"]


def stepping(context: ScenarioContext) -> ScriptedReply:
    """Calls without end, each step with more thoughts than the one before."""
    call = ScriptedCall("calculate", {"expression": "1+1"})
    return ScriptedReply(calls=(call,), unseen_thoughts=10 + len(context.rounds))


def after_steps(emulator: Emulator, count: int, served: str = FLASH) -> list[Wire]:
    contents: list[Wire] = [user("hello")]
    for _ in range(count):
        asked = generate(emulator, {"contents": contents, "tools": TOOLS}, served)
        contents += [model(*parts(asked)), answers(("calculate", {"result": 2}))]
    return contents


def jump(emulator: Emulator, contents: list[Wire], served: str = FLASH) -> int:
    """By how much the last chunk counts more as prompt than the first."""
    chunks = stream(emulator, {"contents": contents, "tools": TOOLS}, served)
    prompts = [chunk["usageMetadata"]["promptTokenCount"] for chunk in chunks]
    return int(prompts[-1]) - int(prompts[0])


def test_the_thoughts_of_every_step_of_the_turn_stay_in_the_prompt() -> None:
    emulator = Emulator(delay=0, play=stepping)
    assert jump(emulator, after_steps(emulator, 3)) == 10 + 11 + 12


def test_before_gemini_3_no_thoughts_are_restored() -> None:
    emulator = Emulator(delay=0, play=stepping)
    assert jump(emulator, after_steps(emulator, 2, "gemini-2.5-pro"), "gemini-2.5-pro") == 0


@pytest.mark.parametrize(("served", "kept"), [(FLASH, 0), ("gemini-3.1-pro-preview", 0), (NEW, 10 + 11)])
def test_the_thoughts_of_past_turns_leave_the_prompt_but_of_3_5_flash(served: str, kept: int) -> None:
    emulator = Emulator(delay=0, play=stepping)
    past = [*after_steps(emulator, 2, served), model({"text": "It is 2."}), user("hello again")]
    assert jump(emulator, past, served) == kept


def test_a_text_that_comes_back_signed_is_billed_with_its_thoughts(emulator: Emulator) -> None:
    """As recorded of 3.5 Flash: prompt 60, candidates 25, thoughts 385, the next prompt 481."""
    first = generate(emulator, {"contents": [user("hello")]}, NEW)
    contents = [user("hello"), model(*parts(first)), user("bye")]
    second = generate(emulator, {"contents": contents}, NEW)["usageMetadata"]
    assert second["promptTokenCount"] == first["usageMetadata"]["totalTokenCount"] + estimate_tokens("bye")


def test_the_raw_prompt_counts_contents_and_signatures(emulator: Emulator) -> None:
    body: Wire = {"contents": [user("hello")], "systemInstruction": user("Be kind.")}
    first = generate(emulator, body, NEW)
    body["contents"] += [model(*parts(first)), user("bye")]
    usages = [answer["usageMetadata"] for answer in (first, generate(emulator, body, NEW))]
    added = [usage["rawPromptTokenCount"] - usage["promptTokenCount"] for usage in usages]
    assert added == [35, 47]


async def test_count_tokens_is_what_generate_reports(sdk: AsyncClient) -> None:
    contents = ["static 日本語", user("hello")]
    counted = await sdk.models.count_tokens(model=FLASH, contents=contents)
    reply = await sdk.models.generate_content(model=FLASH, contents=contents)
    assert reply.usage_metadata and counted.total_tokens == reply.usage_metadata.prompt_token_count


@pytest.mark.parametrize("part", [{"fileUri": "https://files.test/a"}, {"data": "AAAA"}])
def test_media_is_a_fixed_count_of_its_modality(emulator: Emulator, part: dict[str, str]) -> None:
    kind = "inlineData" if "data" in part else "fileData"
    media = {"role": "user", "parts": [{kind: {"mimeType": "image/png", **part}}, {"text": "what is this"}]}
    usage = generate(emulator, {"contents": [media]})["usageMetadata"]
    assert usage["promptTokensDetails"][0] == {"modality": "IMAGE", "tokenCount": 258}
    assert usage["promptTokenCount"] == 258 + estimate_tokens("what is this")


@given(st.text())
def test_a_token_is_three_point_three_bytes(text: str) -> None:
    size = len(text.encode())
    assert 3.3 * (estimate_tokens(text) - 1) < size <= 3.3 * estimate_tokens(text) + 1e-9
