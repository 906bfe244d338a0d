"""The composition root: HTTP to Django, the socket to the chat, one runner behind both."""

import gc
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")

from django.core.asgi import get_asgi_application

http = get_asgi_application()

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.urls import path

from pipeweb.composition import build_gateway, build_runner
from sessions_app.chat.consumers import ChatConsumer
from sessions_app.instruments import FLUSH_LAG
from sessions_app.runs.caretaking import Caretaker
from sessions_app.runs.watch import Watch

gateway = build_gateway()
runner = build_runner(gateway)
watch = Watch(runner)
caretaker = Caretaker(gateway)
FLUSH_LAG.set_function(lambda: runner.lag)


def wake_up() -> None:
    watch.start()
    caretaker.start()


async def shut_down() -> None:
    """Ends every run in order, then the connections to the provider."""
    await watch.stop()
    await caretaker.stop()
    await runner.shutdown()
    await gateway.aclose()


async def lifespan(
    scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
) -> None:
    """For servers that speak ASGI lifespan; Daphne does not and gets a reactor trigger below."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            wake_up()
        else:
            await shut_down()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def http_with_runner(scope: Any, receive: Any, send: Any) -> None:
    """Pages that start a run or ask the model find the process's runner in their scope."""
    await http({**scope, "runner": runner}, receive, send)


chat: Any = ChatConsumer.as_asgi(runner=runner)
route: Any = path("ws/s/<uuid:public>/", chat)

application = ProtocolTypeRouter(
    {
        "http": http_with_runner,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter([route]))),
        "lifespan": lifespan,
    }
)

if "twisted.internet.reactor" in sys.modules:
    import asyncio

    from twisted.internet.defer import Deferred

    reactor: Any = sys.modules["twisted.internet.reactor"]
    # Later, not when running: the loop must be inside its first turn.
    reactor.callLater(0, wake_up)
    reactor.addSystemEventTrigger(
        "before", "shutdown", lambda: Deferred.fromFuture(asyncio.ensure_future(shut_down()))
    )

# A full collection walks Django and the SDK for 100 ms and stops every stream meanwhile (performance §3).
gc.collect()
gc.freeze()
