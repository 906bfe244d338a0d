"""What a program is called, by its User-Agent."""

import pytest

from sessions_app.wording.capture import program


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("curl/8.5.0", "curl"),
        ("node", "node"),
        ("GeminiCLI/0.61.0/gemini-3.8-flash (linux; x64; terminal)", "GeminiCLI"),
        ("google-genai-sdk/3.4.0 gl-python/3.11.7", "google-genai-sdk"),
        ("google-genai-sdk/3.4.0 gl-python/3.11.7 langchain-google-genai/4.4", "langchain-google-genai"),
        ("google-genai-sdk/2.32.0 gl-node/v24.19.0, google-adk/2.0.0 gl-typescript/v24", "google-adk"),
        ("google-genai-sdk/3.4.0 (linux; x64) gl-python/3.11.7", "google-genai-sdk"),
        ("gl-go/1.25", "gl-go"),
        ("@some/program 1", "@some"),
        ("(nothing but a comment)", "an unknown program"),
        ("", "an unknown program"),
    ],
)
def test_a_program_is_called_by_its_own_product(user_agent: str, name: str) -> None:
    assert program(user_agent) == name
