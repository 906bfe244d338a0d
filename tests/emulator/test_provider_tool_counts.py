"""What answers count that use the provider's own tools, as the recordings do."""

import pytest

from sessions_app.emulator import Emulator
from tests.emulator.helpers import FLASH, Wire, generate, stream
from tests.emulator.test_provider_tools import CODE, MEXICO, OLDER, PAGES, SEARCH, SHOWN, ask


def is_balanced(usage: Wire) -> bool:
    counted = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount")
    return bool(usage["totalTokenCount"] == sum(usage.get(key, 0) for key in counted))


@pytest.mark.parametrize(
    ("asked", "text", "tool", "counted"),
    [
        (FLASH, "compute 2+2", CODE, "last"),
        (OLDER, "compute 2+2", CODE, "after the result"),
        (FLASH, MEXICO, SEARCH, "never"),
        (OLDER, MEXICO, SEARCH, "all"),
        (OLDER, "see https://example.com/", PAGES, "all"),
    ],
)
def test_what_tools_bring_in_is_counted_where_it_was_recorded(
    emulator: Emulator, asked: str, text: str, tool: Wire, counted: str
) -> None:
    usages = [chunk["usageMetadata"] for chunk in stream(emulator, ask(text, tool, toolConfig=SHOWN), asked)]
    found = ["toolUsePromptTokenCount" in usage for usage in usages]
    expected = {
        "last": [False] * (len(found) - 1) + [True],
        "after the result": [False] * 2 + [True] * (len(found) - 2),
        "never": [False] * len(found),
        "all": [True] * len(found),
    }
    assert found == expected[counted] and all(map(is_balanced, usages))
    whole = generate(emulator, ask(text, tool, toolConfig=SHOWN), asked)["usageMetadata"]
    assert whole == usages[-1]


def test_each_step_of_gemini_3_counts_for_itself_until_the_last_chunk(emulator: Emulator) -> None:
    call, result, *texts = (chunk["usageMetadata"] for chunk in stream(emulator, ask("compute 2+2", CODE)))
    assert call["thoughtsTokenCount"] > 0 and set(result) == {
        *("promptTokenCount", "totalTokenCount", "promptTokensDetails", "serviceTier")
    }
    end, before = texts[-1], texts[-2]
    assert end["thoughtsTokenCount"] == call["thoughtsTokenCount"] + before["thoughtsTokenCount"]
    assert end["promptTokenCount"] == call["promptTokenCount"] + call["thoughtsTokenCount"]
    assert end["promptTokensDetails"][0]["tokenCount"] == end["promptTokenCount"]


def test_the_keys_of_the_counts_stand_in_their_order(emulator: Emulator) -> None:
    usage = generate(emulator, ask("compute 2+2", CODE))["usageMetadata"]
    assert list(usage) == [
        *("promptTokenCount", "candidatesTokenCount", "totalTokenCount", "promptTokensDetails"),
        *("toolUsePromptTokenCount", "toolUsePromptTokensDetails", "thoughtsTokenCount", "serviceTier"),
    ]
