"""The ASGI application: HTTP to Django or the relay, the socket to the chat, one runner for both."""

import asyncio
import gc
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")

import django

django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter, URLRouter
from django.urls import path

from pipeweb.bodies import BodyGuard, BodyHandler
from pipeweb.composition import build_gateway, build_relay, build_runner
from pipeweb.memory import memory_release
from sessions_app.accounts.origins import SameOriginOnly
from sessions_app.capture.router import CaptureRouter
from sessions_app.chat.consumers import ChatConsumer
from sessions_app.chat.importer import Importer
from sessions_app.chat.sockets import Sockets
from sessions_app.health.probe import HealthProbe
from sessions_app.metrics import FLUSH_LAG, HEARTBEAT_AGE
from sessions_app.runs.cache_janitor import CacheJanitor
from sessions_app.runs.run_poller import RunPoller

runner = build_runner(build_gateway())
sockets = Sockets()
poller = RunPoller(runner)
janitor = CacheJanitor(lambda: runner.gateway)
importer = Importer()
probe = HealthProbe(poll_age=lambda: poller.poll_age, heartbeat_age=lambda: poller.heartbeat_age)
memory = memory_release()
http = BodyHandler()
FLUSH_LAG.set_function(lambda: runner.lag)
HEARTBEAT_AGE.set_function(lambda: poller.heartbeat_age)

FAREWELL_SECONDS = 0.3


def start_background() -> None:
    poller.start()
    sockets.start()
    janitor.start()
    importer.start()
    probe.start()
    memory.start()


async def shut_down() -> None:
    """Ends all runs, then the connections to the provider."""
    await poller.stop()
    await sockets.stop()
    await janitor.stop()
    await importer.stop()
    await probe.stop()
    await memory.stop()
    await router.close()
    await runner.shutdown()
    if runner.streams:
        # The pages are told how their runs ended before their sockets close.
        await asyncio.sleep(FAREWELL_SECONDS)
    await runner.close_gateways()


async def lifespan(
    scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
) -> None:
    """For servers with ASGI lifespan; Daphne has none and gets a reactor trigger below."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            start_background()
        else:
            await shut_down()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def http_with_runner(scope: Any, receive: Any, send: Any) -> None:
    """Puts runner and importer into the scope for views, the probe for the health middleware."""
    await http({**scope, "runner": runner, "importer": importer, "probe": probe}, receive, send)


router = CaptureRouter(BodyGuard(http_with_runner), build_relay)
chat: Any = ChatConsumer.as_asgi(runner=runner, sockets=sockets)
route: Any = path("ws/s/<uuid:public>/", chat)

application = ProtocolTypeRouter(
    {
        "http": router,
        "websocket": SameOriginOnly(URLRouter([route])),
        "lifespan": lifespan,
    }
)

if "twisted.internet.reactor" in sys.modules:
    from twisted.internet.defer import Deferred

    from pipeweb import daphne_access, daphne_bodies, daphne_sockets

    daphne_access.install()
    daphne_bodies.install()
    daphne_sockets.install()
    reactor: Any = sys.modules["twisted.internet.reactor"]
    # Not `callWhenRunning`: the event loop must be running already.
    reactor.callLater(0, start_background)
    reactor.addSystemEventTrigger(
        "before", "shutdown", lambda: Deferred.fromFuture(asyncio.ensure_future(shut_down()))
    )

# A full collection over Django and the SDK would stop every stream for 100 ms (performance §3). What turns
# keep makes one long too: the young are looked at every 10,000 objects, not every 700, and the old seldom.
gc.collect()
gc.freeze()
gc.set_threshold(10_000, 20, 50)
