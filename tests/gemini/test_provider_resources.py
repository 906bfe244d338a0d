"""Caches as values, and uploading through the SDK to the emulator: what comes back, what is waited for."""

import pytest
from google.genai import types

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import BadRequest
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.gemini.provider_resources import cache_created, cache_listed


@pytest.mark.parametrize("mime", ["application/pdf", "video/mp4"])
async def test_a_file_is_kept_for_two_days_and_is_ready(mime: str) -> None:
    emulator = Emulator(delay=0)
    gateway = Gateway.to_emulator(EmulatorTransport(emulator))
    kept = await gateway.upload_file(b"x" * 20_000_000, mime=mime, name="Résumé.bin")
    (file,) = emulator.files.owned_by("emulator")
    assert (kept.uri, file.size, file.display_name) == (file.uri, 20_000_000, "Résumé.bin")
    assert kept.expires == file.expires and file.is_active(emulator.clock())
    await gateway.aclose()


async def test_the_openai_endpoint_takes_files_only_inside_the_request() -> None:
    gateway = OpenAIGateway.to_emulator(EmulatorTransport(Emulator(delay=0)))
    with pytest.raises(BadRequest):
        await gateway.upload_file(b"x", mime="video/mp4", name="clip.mp4")
    await gateway.aclose()


@pytest.mark.parametrize(("said", "tokens"), [(5_000, 5_000), (None, 0), (-5, 0), (2**31, 0), (10**20, 0)])
def test_a_cache_has_the_tokens_of_a_count_that_can_be_one(said: int | None, tokens: int) -> None:
    usage = types.CachedContentUsageMetadata(total_token_count=said)
    cache = types.CachedContent(name="cachedContents/a", usage_metadata=usage)
    assert cache_created(cache).tokens == cache_listed(cache).tokens == tokens
