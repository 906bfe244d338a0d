"""The Gemini protocol, played offline: what stands behind the gateway when there is no key.

    transport ─┐                          ┌ caches, prefixes      what is cached
               ├→ core (routes) → shapes →┼ structure, signatures what is refused
    asgi ──────┘                          └ scenarios → replies   what is answered

The core knows nothing of servers: a Request goes in, a Response with a streaming body comes
out. The two doors carry the same bytes. Nothing here imports the rest of Pipeweb but `errors`,
so that the emulator can contradict the code it tests.
"""

from sessions_app.emulator.core import Emulator
from sessions_app.emulator.transport import EmulatorTransport

__all__ = ["Emulator", "EmulatorTransport"]
