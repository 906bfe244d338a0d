"""Reads one answer of an endpoint, and prints how it ended, its cost in MB of memory, and in seconds.

Run by test_bounds as a process of its own.
"""

import asyncio
import resource
import sys
from time import perf_counter

from sessions_app.errors import AnswerRefused
from sessions_app.gemini.gateway import Gateway


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000


async def main(url: str) -> None:
    gateway = Gateway(api_key="not-a-real-key", base_url=url)
    before, began, said = peak(), perf_counter(), "nothing"
    try:
        async with gateway.stream("gemini-3-flash-preview", b'{"contents":[]}') as chunks:
            async for _ in chunks:
                pass
    except AnswerRefused as error:
        said = error.reason.value
    print(said, f"{peak() - before:.0f}", f"{perf_counter() - began:.1f}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
