"""Which gateway stands behind the pages, and that both token counters agree."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from pipeweb.composition import build_emulator, build_gateway, process_emulator
from sessions_app.emulator import usage as emulated
from sessions_app.errors import SettingsError
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.prompt import tokens

KEY = "a-made-up-key"
MODEL = "gemini-3-flash-preview"


def test_without_a_key_the_emulator_answers() -> None:
    assert build_gateway().is_emulator


def test_with_a_key_it_is_google(settings: Settings) -> None:
    settings.GEMINI_API_KEY = KEY
    gateway = build_gateway()
    assert not gateway.is_emulator and gateway.base_url.startswith("https://generativelanguage.")


def test_a_base_url_replaces_googles(settings: Settings) -> None:
    settings.GEMINI_API_KEY, settings.GOOGLE_GEMINI_BASE_URL = KEY, "http://127.0.0.1:9"
    gateway = build_gateway()
    assert (gateway.base_url, gateway.label) == ("http://127.0.0.1:9", "127.0.0.1:9")
    settings.PIPEWEB_DIALECT = "openai"
    assert build_gateway().label == "127.0.0.1:9 (OpenAI-compatible)"
    settings.GOOGLE_GEMINI_BASE_URL = ""
    assert build_gateway().label == "generativelanguage.googleapis.com (OpenAI-compatible)"


def test_keys_and_providers_have_routes_of_their_own(settings: Settings) -> None:
    settings.GEMINI_API_KEY = KEY
    assert build_gateway().route != build_emulator().route == build_emulator().route


def test_the_openai_dialect_is_a_setting(settings: Settings) -> None:
    settings.PIPEWEB_DIALECT = "openai"
    assert isinstance(build_gateway(), OpenAIGateway)


@given(st.text(max_size=300))
def test_the_emulator_counts_tokens_as_the_prompt_core_estimates_them(text: str) -> None:
    assert emulated.estimate_tokens(text) == tokens.estimate(text)


async def test_recordings_are_replayed_by_the_built_in_emulator(settings: Settings, tmp_path: Path) -> None:
    said = {"candidates": [{"content": {"parts": [{"text": "recorded"}], "role": "model"}, "index": 0}]}
    asked = {"contents": [{"role": "user", "parts": [{"text": "Say it again"}]}]}
    exchange = {
        "request": asked,
        "model_requested": MODEL,
        "endpoint": "streamGenerateContent",
        "status": 200,
    }
    recording = {"exchanges": [{**exchange, "response_chunks": [said]}]}
    (tmp_path / "one.json").write_bytes(orjson.dumps(recording))
    settings.PIPEWEB_REPLAY = tmp_path
    process_emulator.cache_clear()
    async with build_emulator().stream(MODEL, orjson.dumps(asked)) as chunks:
        assert [orjson.loads(chunk.body) async for chunk in chunks] == [said]
    process_emulator.cache_clear()


def test_a_torn_recording_ends_the_start_and_is_named(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "sky.json").write_bytes(b'{"exchanges": [')
    settings.PIPEWEB_REPLAY = tmp_path
    process_emulator.cache_clear()
    with pytest.raises(SettingsError, match=r"PIPEWEB_REPLAY .*sky\.json"):
        process_emulator()
