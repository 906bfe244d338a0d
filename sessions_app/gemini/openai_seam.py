"""The OpenAI-compatible door: the same prepared body, told as a chat completion.

What arrives is left as it is: raw chunks are evidence, and the fold reads them in either dialect
(`prompt.renditions.chunks`). Errors come as a list of one Gemini error object (gemini-wire §6, 9).
"""

import httpx2
import orjson

from sessions_app.gemini.adapter import STREAM, Seam
from sessions_app.gemini.mapping import error_of_answer
from sessions_app.prompt.renditions import openai

PATH = "/v1beta/openai"
"""Under the provider's base URL."""


class OpenAISeam:
    """Streams go to `url` + `/chat/completions` with the key as bearer token, all else the native way."""

    def __init__(self, client: httpx2.AsyncClient, url: str, native: Seam, secret: str) -> None:
        self._client = client
        self._url = f"{url}/chat/completions"
        self._native = native
        self._secret = secret

    async def post(self, model: str, verb: str, body: bytes) -> httpx2.Response:
        """Raises GatewayError for every status but 200, and what the transport raises."""
        if verb != STREAM:
            return await self._native.post(model, verb, body)
        request = self._client.build_request("POST", self._url, content=openai.request_of(model, body))
        response = await self._client.send(request, stream=True)
        if response.status_code == 200:
            return response
        try:
            answer = await response.aread()
        finally:
            await response.aclose()
        raise error_of_answer(response.status_code, _parsed(answer), secret=self._secret)


def _parsed(answer: bytes) -> object:
    """The error body; a proxy's page stays text."""
    try:
        return orjson.loads(answer)
    except orjson.JSONDecodeError:
        return answer.decode("utf-8", "replace")
