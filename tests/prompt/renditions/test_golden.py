"""Whole renditions of one request, to be read; a change shows as a difference of these files."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sessions_app.prompt.renditions import anthropic, openai
from sessions_app.prompt.renditions.times import KnownTimes
from tests.prompt.renditions.examples import original

GOLDEN = Path(__file__).parent / "golden"
CONFIG = (
    '],"generationConfig":{"temperature":1.5,"maxOutputTokens":512,'
    '"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}}'
)
TIMES = KnownTimes({"todos": datetime(2026, 11, 20, 18, 30, tzinfo=UTC)})

RENDERED: dict[str, Any] = {
    "openai_calls": lambda: openai.render(original(tail=CONFIG), times=TIMES),
    "openai_json": lambda: openai.render(original(tail=CONFIG), panels_as_calls=False),
    "anthropic": lambda: anthropic.render(original(tail=CONFIG), times=TIMES),
}


@pytest.mark.parametrize("name", RENDERED)
def test_a_rendition_is_what_the_golden_file_shows(name: str) -> None:
    written = json.dumps(RENDERED[name](), ensure_ascii=False, indent=2) + "\n"
    assert written == (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
