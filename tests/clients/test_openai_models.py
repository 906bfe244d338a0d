"""The models of the OpenAI-compatible endpoint through the openai clients."""

import pytest

from tests.clients.running import Findings
from tests.emulator.helpers import FLASH

pytestmark = pytest.mark.slow


def test_a_model_is_found_by_its_name(openai: Findings) -> None:
    assert openai["retrieved_model"] == f"models/{FLASH}"
