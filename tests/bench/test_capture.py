"""`bench capture`: what it sends, and what it makes of its measurements."""

import asyncio
import json

import pytest

from tests.bench.bare_pipe import Side
from tests.bench.capture import CHUNK_AIM, FIRST_AIM, SIZES, Case, Found, Times, aims_of, cases

SMALL, LARGE = Case(1, SIZES[0]), Case(1, SIZES[1])


@pytest.mark.parametrize("case", [SMALL, LARGE])
def test_a_body_is_a_request_of_about_that_size_with_orders_for_the_upstream(case: Case) -> None:
    body = case.body(7)
    assert abs(len(body) - case.size) < case.size / 20
    parts = json.loads(body)["contents"][0]["parts"]
    assert parts[1] == {"text": f"chunks={case.chunks} pace={case.pace:g}"}
    assert case.body(8) != body


def test_large_bodies_are_sent_by_one_at_a_time() -> None:
    assert list(cases((1, 20))) == [SMALL, Case(20, SIZES[0]), LARGE]


def test_an_answer_with_few_chunks_takes_as_long() -> None:
    few = SMALL.with_few
    assert few.chunks < SMALL.chunks and few.chunks * few.pace == SMALL.chunks * SMALL.pace


def missed(first: float, cpu: float, *, piped: float = 0.0, case: Case = SMALL) -> list[bool]:
    direct, pipe = Times([1.0], [1.0]), Times([1.0], [1.0], 9.0, piped)
    found = {case: Found(direct, pipe, Times([1.0 + first], [1.0], 9.0, cpu))}
    large = {LARGE: Found(direct, pipe, Times([99.0], [1.0], 9.0, 9.0))}
    return [aim.is_missed for aim in aims_of(found | large)]


def test_aims_are_of_small_bodies() -> None:
    assert missed(FIRST_AIM, CHUNK_AIM) == [False, False]
    assert missed(FIRST_AIM + 0.1, CHUNK_AIM) == [True, False]
    assert missed(FIRST_AIM, CHUNK_AIM + 0.1) == [False, True]


def test_what_a_pipe_takes_is_taken_off_a_single_stream_only() -> None:
    assert missed(FIRST_AIM, CHUNK_AIM + 0.1, piped=0.2) == [False, False]
    assert missed(FIRST_AIM, CHUNK_AIM + 0.1, piped=0.2, case=Case(20, SIZES[0])) == [False, True]


def test_a_case_without_answers_has_no_time() -> None:
    found = {SMALL: Found(Times([1.0]), Times([1.0]), Times())}
    assert next(aims_of(found)).is_missed


async def test_a_pipe_passes_bytes_on_in_both_directions() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read(100)).upper())
        writer.close()

    loop = asyncio.get_running_loop()
    async with await asyncio.start_server(echo, "127.0.0.1", 0) as end:
        port = end.sockets[0].getsockname()[1]
        async with await loop.create_server(lambda: Side(port), "127.0.0.1", 0) as pipe:
            reader, writer = await asyncio.open_connection("127.0.0.1", pipe.sockets[0].getsockname()[1])
            writer.write(b"bytes")
            assert await reader.read() == b"BYTES"
            writer.close()
            await writer.wait_closed()
