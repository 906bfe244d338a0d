"""Uploading through the SDK to the emulator: what comes back, and what is waited for."""

import pytest

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import BadRequest
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.openai_gateway import OpenAIGateway


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
