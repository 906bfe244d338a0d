"""Embeddings through the clients' own methods."""

import pytest

from tests.clients.running import Findings

pytestmark = pytest.mark.slow


def test_google_clients_embed_one_text_and_several(genai: Findings) -> None:
    told = genai["embeddings"]
    (length,) = told["one"]
    assert length > 0 and told["many"] == [length, length]


def test_openai_clients_embed_several_texts(openai: Findings) -> None:
    first, second = openai["embeddings"]
    assert first == second > 0
