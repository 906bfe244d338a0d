"""The Gemini protocol, played offline: what stands behind the gateway when there is no key.

    transport ─┐                 ┌ shapes, structure, configuration, signatures   what is refused
               ├→ core (routes) →┼ caches, files, prefixes                        what is kept
    asgi ──────┘    │            └ scenarios → formats → replies → framing        what is answered
                    ├ chats, openai/   the same replies in OpenAI's form
                    ├ replay           recorded traffic in place of a scenario
                    ├ faults, markers, troubles   what goes wrong, by header, word or command line
                    └ pages            /_emulator: the journal and the caches, to look at

The core knows nothing of servers: a Request goes in, a Response with a streaming body comes
out. The two doors carry the same bytes. Nothing here imports the rest of Pipeweb but `errors`,
so that the emulator can contradict the code it tests. `tests/conformance` holds it against
recorded traffic, rule by rule.
"""

from sessions_app.emulator.core import Emulator
from sessions_app.emulator.transport import EmulatorTransport

__all__ = ["Emulator", "EmulatorTransport"]
