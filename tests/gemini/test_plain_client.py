"""The client sends what httpx2's would, and nothing that it adds on the way."""

from typing import Any

import httpx2
import pytest

from sessions_app.gemini.plain_client import PlainClient

URL = "https://example.org/v1beta/models/m:streamGenerateContent?alt=sse"
HEADERS = {"x-goog-api-key": "k", "user-agent": "google-genai", "Content-Type": "application/json"}


class Answering(httpx2.AsyncBaseTransport):
    """Answers everything alike, or raises."""

    def __init__(self, error: httpx2.RequestError | None = None) -> None:
        self.error = error
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        headers = {"set-cookie": "a=b", "location": "https://example.com/"}
        return httpx2.Response(302, headers=headers, content=b"moved")


def built(client: httpx2.AsyncClient, **given: Any) -> httpx2.Request:
    return client.build_request("POST", URL, **given)


@pytest.mark.parametrize("content", [b'{"contents":[]}', None])
def test_a_request_is_that_of_httpx2(content: bytes | None) -> None:
    transport = Answering()
    plain, usual = PlainClient(transport), httpx2.AsyncClient(transport=transport, trust_env=False)
    ours, theirs = (built(one, headers=HEADERS, content=content, timeout=None) for one in (plain, usual))
    assert (ours.method, ours.url) == (theirs.method, theirs.url)
    assert ours.headers.multi_items() == theirs.headers.multi_items()
    assert ours.content == theirs.content and ours.extensions == theirs.extensions


def test_what_asks_for_more_is_built_by_httpx2() -> None:
    plain = PlainClient(Answering())
    assert plain.build_request("GET", URL, params={"pageSize": "3"}).url.params["pageSize"] == "3"
    assert built(plain, json={"a": 1}).content == b'{"a":1}'


async def test_it_follows_nothing_and_keeps_no_cookie() -> None:
    transport = Answering()
    async with PlainClient(transport) as client:
        answer = await client.send(built(client, headers=HEADERS, content=b"{}"))
        again = built(client, headers=HEADERS, content=b"{}")
    assert (answer.status_code, answer.content) == (302, b"moved")
    assert len(transport.requests) == 1 and "cookie" not in again.headers


async def test_an_error_names_its_request() -> None:
    async with PlainClient(Answering(httpx2.ConnectError("no way"))) as client:
        request = built(client, headers=HEADERS)
        with pytest.raises(httpx2.ConnectError) as caught:
            await client.send(request, stream=True)
    assert caught.value.request is request


async def test_a_closed_client_sends_nothing() -> None:
    client = PlainClient(Answering())
    await client.aclose()
    with pytest.raises(RuntimeError):
        await client.send(built(client, headers=HEADERS))
