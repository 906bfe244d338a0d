"""What is told of a server's own words: never its secrets, and no more than a row takes."""

from collections.abc import Callable
from typing import Any

import httpx2
import orjson
import pytest

from sessions_app.errors import McpServerFailed, ToolError
from sessions_app.mcp.connections import Connections
from sessions_app.mcp.refusals import MASK, WORDS_LIMIT, masked, refusal_words
from sessions_app.mcp.spec import ServerSpec
from sessions_app.mcp_codes import ServerProblem, ServerTransport
from sessions_app.wording.mcp import problem_texts
from tests.mcp.test_connections import server

SECRETS = {"TOKEN": "s3cr3t-of-the-server"}


async def nothing(*_: Any) -> None:
    pass


@pytest.fixture
async def connections() -> Any:
    found = Connections(nothing, nothing)
    yield found
    await found.close()


async def test_a_server_that_refuses_its_list_is_quoted_without_its_secret(connections: Connections) -> None:
    with pytest.raises(McpServerFailed) as raised:
        await connections.call(server("quoting_list", secrets=SECRETS), 1, "echo", {})
    words = raised.value.figures["message"]
    assert raised.value.reason is ServerProblem.REFUSED and words.startswith(f"The token {MASK} has  ended")
    assert len(words) == WORDS_LIMIT and "\0" not in words


ERROR = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "Unknown key."}}
REFUSED, UNREADABLE = ServerProblem.REFUSED, ServerProblem.UNREADABLE


@pytest.mark.parametrize(
    ("status", "answer", "reason", "words"),
    [
        (401, {"json": {"error": "bad token"}}, REFUSED, "HTTP 401"),
        (404, {"html": "<h1>Nothing</h1>"}, REFUSED, "HTTP 404"),
        (500, {"text": "oops"}, REFUSED, "HTTP 500"),
        (403, {"json": ERROR}, REFUSED, "Unknown key."),
        (200, {"html": "<h1>Hello</h1>"}, UNREADABLE, None),
        (200, {"headers": {"content-type": "application/json"}, "content": b""}, UNREADABLE, None),
    ],
)
async def test_an_http_answer_that_is_no_message_is_told_by_its_status(
    status: int, answer: Any, reason: ServerProblem, words: str | None, connections: Connections
) -> None:
    def network(_: str) -> httpx2.AsyncBaseTransport:
        return httpx2.MockTransport(lambda _: httpx2.Response(status, **answer))

    url = "http://tools.example/mcp"
    spec = ServerSpec("http", "test", ServerTransport.HTTP, url=url, network=network, start_seconds=5)
    with pytest.raises(McpServerFailed) as raised:
        await connections.call(spec, 1, "echo", {})
    assert (raised.value.reason, raised.value.figures.get("message")) == (reason, words)


SERVED = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "plain", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
}


def answering(answer_call: Callable[[int], httpx2.Response]) -> ServerSpec:
    """A server over HTTP that starts and lists, and is given the id of each call."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked = orjson.loads(request.content) if request.content else {}
        if "id" not in asked:
            return httpx2.Response(202 if request.method == "POST" else 405)
        if asked["method"] not in SERVED:
            return answer_call(asked["id"])
        told = {"jsonrpc": "2.0", "id": asked["id"], "result": SERVED[asked["method"]]}
        return httpx2.Response(200, json=told)

    url, network = "http://tools.example/mcp", lambda _: httpx2.MockTransport(answer)
    return ServerSpec("http", "test", ServerTransport.HTTP, url=url, network=network, start_seconds=5)


async def test_a_call_that_is_answered_by_a_server_error_over_http_is_told_in_its_words(
    connections: Connections,
) -> None:
    spec = answering(lambda asked: httpx2.Response(200, json={**ERROR, "id": asked}))
    with pytest.raises(ToolError, match=r"Unknown key\."):
        await connections.call(spec, 1, "echo", {})


@pytest.mark.parametrize(
    "answer",
    [
        {"html": "<h1>Hello</h1>"},
        {"headers": {"content-type": "application/json"}, "content": b""},
        {"json": [1]},
        {"headers": {"content-type": "text/event-stream"}, "content": b"data: nothing\n\n"},
    ],
    ids=["a page", "nothing", "no message", "an event"],
)
async def test_a_call_whose_answer_is_no_message_may_have_done_something(
    answer: Any, connections: Connections
) -> None:
    spec = answering(lambda _: httpx2.Response(200, **answer))
    with pytest.raises(McpServerFailed) as raised:
        await connections.call(spec, 1, "echo", {})
    assert raised.value.reason is UNREADABLE
    assert "unknown whether" in problem_texts(UNREADABLE, raised.value.figures)[1]


@pytest.mark.parametrize("way", ["quoting_error", "quoting_failure"])
async def test_a_call_that_fails_is_told_without_the_secret(way: str, connections: Connections) -> None:
    with pytest.raises(ToolError) as raised:
        await connections.call(server(way, secrets=SECRETS), 1, "echo", {})
    assert MASK in str(raised.value) and SECRETS["TOKEN"] not in str(raised.value)


@pytest.mark.parametrize(
    ("secret", "said", "told"),
    [
        ("Bearer abcdefgh-1", "bad token “abcdefgh-1”", f"bad token “{MASK}”"),
        ("long-value-1", "xlong-value-1x", f"x{MASK}x"),
        ("on", "on or one", f"{MASK} or one"),
        ("", "nothing", "nothing"),
    ],
)
def test_a_value_is_masked_in_every_spelling(secret: str, said: str, told: str) -> None:
    assert masked(said, {"NAME": secret}) == told


def test_a_secret_at_the_end_of_what_is_kept_leaves_no_beginning() -> None:
    text = "x" * (WORDS_LIMIT - 5) + SECRETS["TOKEN"]
    assert SECRETS["TOKEN"][:4] not in refusal_words(text, SECRETS)
