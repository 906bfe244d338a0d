"""A report beside another: form only, each difference named with both sides."""

import httpx2
import orjson
import pytest

from sessions_app.conform.report import ConformanceReport, WireExchange
from sessions_app.conform.report_comparison import ProbeComparison, compare
from sessions_app.conform.wire_form import form_of
from tests.conform.helpers import Handler, Provider, bench, chosen, empty_report


async def played(handler: Handler = lambda request: None, *names: str) -> ConformanceReport:
    made = bench(Provider(handler), empty_report(run="ba9876543210"))
    if names:
        made.run.chosen = chosen(*names)
    return await made.run.run()


async def against_emulator(handler: Handler, name: str) -> ProbeComparison:
    (found,) = compare(await played(handler, name), await played(lambda request: None, name))
    return found


def answering(*events: object, status: int = 200) -> Handler:
    def handle(request: httpx2.Request) -> httpx2.Response | None:
        if "stream" not in request.url.path:
            return None
        if status != 200:
            return httpx2.Response(status, json=events[0])
        text = b"".join(b"data: " + orjson.dumps(event) + b"\r\n\r\n" for event in events)
        return httpx2.Response(
            200, headers={"content-type": "text/event-stream"}, stream=httpx2.ByteStream(text)
        )

    return handle


async def test_two_runs_of_the_emulator_are_the_same() -> None:
    found = compare(await played(), await bench().run.run())
    assert len(found) > 20 and [one for one in found if one.differences or one.reason] == []


async def test_another_status_is_named() -> None:
    error = {"error": {"code": 404, "message": "nothing here", "status": "NOT_FOUND"}}
    found = await against_emulator(answering(error, status=404), "signature_demanded")
    text = "\n".join(found.lines())
    assert "differs" in text and "status: live 404, emulator 400" in text and "live nothing here" in text


async def test_other_words_of_an_error_are_named_but_not_other_figures() -> None:
    message = (
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
        "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
        "data, function call `default_api:another` , position 77. Please refer to "
        "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
    )

    def error(text: str) -> Handler:
        inner = {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}
        answer = httpx2.Response(400, json={"error": inner})
        answer.headers["content-type"] = "application/json; charset=UTF-8"
        return lambda request: httpx2.Response(400, headers=answer.headers, content=answer.content)

    assert (await against_emulator(error(message), "signature_demanded")).differences == ()
    (difference,) = (
        await against_emulator(error(message.replace("missing a", "without a")), "signature_demanded")
    ).differences
    assert "error words" in difference


async def test_keys_that_one_side_lacks_are_named() -> None:
    event = {
        "candidates": [{"content": {"parts": [{"text": "yes"}], "role": "model"}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9},
        "turnToken": "t",
    }
    found = await against_emulator(answering(event), "usage_sum")
    (keys,) = (difference for difference in found.differences if ": keys:" in difference)
    theirs, ours = keys.split("emulator only")
    assert "turnToken" in theirs and "responseId" in ours


def exchange(*events: object) -> WireExchange:
    text = "".join(f"data: {orjson.dumps(event).decode()}\r\n\r\n" for event in events)
    return WireExchange(
        method="POST", path="/v1beta/x", request="", status=200, headers={}, response=text, end="whole"
    )


def test_where_a_signature_stands_is_part_of_the_form() -> None:
    text, tail = {"parts": [{"text": "a"}]}, {"parts": [{"text": "", "thoughtSignature": "s"}]}
    last, first = form_of(exchange(text, text, tail)), form_of(exchange(tail, text))
    assert last.keys == first.keys and last.placement != first.placement


@pytest.mark.parametrize("other", [["a"] * 9, ["b", "c"]])
def test_what_was_said_and_in_how_many_pieces_is_not(other: list[str]) -> None:
    tail = {"parts": [{"text": "", "thoughtSignature": "s"}]}
    one = exchange({"parts": [{"text": "x"}]}, tail)
    assert form_of(exchange(*({"parts": [{"text": text}]} for text in other), tail)) == form_of(one)


async def test_what_was_not_settled_is_not_compared() -> None:
    live = await played(lambda request: httpx2.ConnectError("no way"), "served_model")
    (found,) = compare(live, await played(lambda request: None, "served_model"))
    assert "failed" in found.reason and not found.differences
