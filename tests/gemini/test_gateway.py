import asyncio
import ssl
import traceback

import orjson
import pytest

from sessions_app.errors import (
    BadKey,
    BrokenStream,
    ProviderDown,
    SettingsError,
    UnknownModel,
    Unreachable,
)
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.routes import route_of
from sessions_app.prompt import wire
from sessions_app.runs.reply_progress import ReplyProgress
from tests.gemini.conftest import BODY, KEY, MODEL, bodies, read
from tests.gemini.upstream import Upstream, error_body, event, framed

BAD_KEY = error_body(400, f"API key not valid: {KEY}", "INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"})


async def test_the_body_goes_out_byte_for_byte(either: Gateway, upstream: Upstream) -> None:
    await read(either)
    assert [request.body for request in upstream.requests] == [BODY]


async def test_a_chunk_is_parsed_once(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []
    loads = wire.loads

    def note(body: bytes) -> object:
        parsed.append(body)
        return loads(body)

    monkeypatch.setattr(wire, "loads", note)
    progress, again = ReplyProgress("gemini"), ReplyProgress("gemini")
    chunks = await read(gateway)
    for chunk in chunks:
        progress.take(chunk.ms, chunk.body, chunk.event)
    assert parsed == [chunk.body for chunk in chunks]
    for chunk in chunks:
        again.take(chunk.ms, chunk.body)
    assert progress.folder.reply() == again.folder.reply()


async def test_the_path_names_version_model_and_framing(either: Gateway, upstream: Upstream) -> None:
    await read(either)
    assert upstream.requests[0].method == "POST"
    assert upstream.requests[0].target == f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"


async def test_the_sdk_writes_the_headers(either: Gateway, upstream: Upstream) -> None:
    await read(either)
    headers = upstream.requests[0].headers
    assert headers["x-goog-api-key"] == KEY
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"].startswith("google-genai-sdk/")
    assert "x-server-timeout" not in headers


async def test_chunks_arrive_verbatim_in_order_with_their_time(either: Gateway, upstream: Upstream) -> None:
    sent = [event(f"é{n}", usageMetadata={"promptTokenCount": n}) for n in range(3)]
    upstream.packets, upstream.pause = [framed(body) for body in sent], 0.02
    chunks = await read(either)
    assert [chunk.body for chunk in chunks] == sent
    assert [chunk.seq for chunk in chunks] == [0, 1, 2]
    assert 0 < chunks[0].ms < chunks[1].ms < chunks[2].ms < 2_000


async def test_a_chunk_is_there_before_the_next_one_is_sent(either: Gateway, upstream: Upstream) -> None:
    upstream.packets, upstream.hold = [framed(event("first"))], True
    async with either.stream(MODEL, BODY) as chunks, asyncio.timeout(20):
        assert (await anext(chunks)).body == event("first")


async def test_a_missing_finish_reason_passes(either: Gateway, upstream: Upstream) -> None:
    upstream.packets = [framed(event("half"))]
    assert await bodies(either) == [event("half")]


async def test_an_empty_stream_is_no_chunks(either: Gateway) -> None:
    assert await bodies(either) == []


async def test_calls_and_continuations_cause_no_second_request(either: Gateway, upstream: Upstream) -> None:
    call = {"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}, "finishReason": "STOP"}
    more = {"content": {}, "finishReason": "CONTINUATION", "continuationToken": "AAAA"}
    upstream.packets = [framed(orjson.dumps({"candidates": [one]})) for one in (call, more)]
    assert len(await read(either)) == 2
    assert len(upstream.requests) == 1


async def test_an_error_status_raises_before_the_first_chunk(either: Gateway, upstream: Upstream) -> None:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"}
    upstream.status, upstream.packets = 503, [error_body(503, "High demand.", "UNAVAILABLE", retry)]
    with pytest.raises(ProviderDown, match="High demand") as caught:
        await read(either)
    assert (caught.value.code, caught.value.status, caught.value.retry_after) == (503, "UNAVAILABLE", 3.5)
    assert caught.value.details["error"]["code"] == 503


@pytest.mark.parametrize("packet", [BAD_KEY, framed(orjson.dumps(orjson.loads(BAD_KEY))), b"[%b]" % BAD_KEY])
async def test_an_error_inside_the_stream_follows_its_chunks(
    either: Gateway, upstream: Upstream, packet: bytes
) -> None:
    upstream.packets = [framed(event()), packet]
    async with either.stream(MODEL, BODY) as chunks:
        assert (await anext(chunks)).body == event()
        with pytest.raises(BadKey):
            await anext(chunks)


async def test_a_cut_connection_is_unreachable_after_its_chunks(either: Gateway, upstream: Upstream) -> None:
    upstream.packets, upstream.cut = [framed(event())], True
    with pytest.raises(Unreachable, match=r"^The connection to the provider broke\.$"):
        await read(either)


async def test_a_page_in_place_of_a_stream_is_broken(either: Gateway, upstream: Upstream) -> None:
    upstream.packets = [b"<html>Sign in to the network</html>\n"]
    with pytest.raises(BrokenStream):
        await read(either)


async def test_nobody_listening_is_unreachable() -> None:
    gateway = Gateway(api_key=KEY, base_url="http://127.0.0.1:9")
    with pytest.raises(Unreachable, match=r"^The provider could not be reached\.$"):
        await read(gateway)
    await gateway.aclose()


async def test_the_key_is_in_no_error(either: Gateway, upstream: Upstream) -> None:
    upstream.status, upstream.packets = 400, [BAD_KEY]
    with pytest.raises(BadKey) as caught:
        await read(either)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr((caught.value.message, caught.value.details, caught.value.args, either))


async def test_an_impossible_model_name_sends_nothing(either: Gateway, upstream: Upstream) -> None:
    for name in ("", "../secrets", "a?b", "models/a/b", "a b"):
        with pytest.raises(UnknownModel):
            async with either.stream(name, BODY):
                pass
    assert upstream.requests == []


@pytest.mark.parametrize("key", ["", "  ", "two words", "kéy", "line\nbreak"])
def test_what_cannot_be_a_key_is_refused(key: str) -> None:
    with pytest.raises(SettingsError):
        Gateway(api_key=key)


def test_the_route_depends_on_url_and_key_and_hides_the_key() -> None:
    route = route_of("http://a", KEY)
    assert len({route, route_of("http://b", KEY), route_of("http://a", "other")}) == 3
    assert len(route) == 16
    assert KEY not in route


def test_no_authorities_are_read_for_clients_that_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK would read them twice, for 40 ms of the event loop."""

    def load(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", load)
    monkeypatch.setattr(ssl.SSLContext, "set_default_verify_paths", load)
    Gateway(api_key=KEY)


async def test_the_environment_changes_nothing(upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_GENAI_API_VERSION"):
        monkeypatch.setenv(name, "from-the-environment")
    for name in ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"):
        monkeypatch.setenv(name, "true")
    for name in ("HTTP_PROXY", "ALL_PROXY", "HTTPS_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "socks5://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_GENAI_CLIENT_MODE", "replay")
    gateway = Gateway(api_key=KEY, base_url=upstream.url)
    upstream.answers["cachedContents"] = b"{}"
    await read(gateway)
    await gateway.list_caches()
    await gateway.aclose()
    assert not gateway._client.vertexai
    assert upstream.requests[0].target.startswith("/v1beta/models/")
    assert upstream.requests[1].target.startswith("/v1beta/cachedContents")
    assert {request.headers["x-goog-api-key"] for request in upstream.requests} == {KEY}
