"""A runner for as long as a test lasts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from asgiref.sync import sync_to_async
from django.db import connections

from pipeweb.composition import build_emulator, build_runner
from sessions_app.emulator import Emulator
from sessions_app.gemini.gateway import Gateway
from sessions_app.runs.patience import Patience
from sessions_app.runs.runner import Runner

QUICK = Patience(base=0.01, longest=1)


@asynccontextmanager
async def running(gateway: Gateway | None = None, patience: Patience = QUICK) -> AsyncIterator[Runner]:
    """A runner before `gateway`, or before an emulator of its own that never dawdles."""
    gateway = gateway or build_emulator(Emulator(delay=0))
    runner = build_runner(gateway, patience)
    yield runner
    await runner.shutdown()
    await gateway.aclose()
    # The thread that did the database work keeps its connection, which PostgreSQL would not let be dropped.
    await sync_to_async(connections.close_all)()
