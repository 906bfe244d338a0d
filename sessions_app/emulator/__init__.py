"""The Gemini API, emulated offline; it answers the gateway when there is no key.

    transport ─┐                   ┌ wire_* → gemini_requests → validation         the request is checked
               ├→ http → service ──┼ cache_store, file_store (resource_store)      its resources are found
    asgi ──────┘         │         └ generation                                    it is answered:
                         │              prefix_cache                               what was seen before
                         │              scenarios → default_answer, sample_content what the model says
                         │              tool_results, provider_tools               what tools said to it
                         │              slash_commands, replay                     what is played instead
                         │              command_effects, continuation, faults      what goes wrong, and when
                         │              scripted_reply → responses                 the response objects
                         │              answer_form                                what differs by family
                         │              tool_use_layout, grounding                 parts around the text
                         │              signer, chunking, usage, api_errors        one property of them each
                         ├ embeddings   vectors
                         ├ openai_*     the same in the form of chat completions
                         ├ interactions_*  and in that of the Interactions API
                         ├ delivery     gzip, scripts of other origins
                         ├ framing      the bytes, whole or deliberately broken
                         └ journal      requests, responses and decisions, shown at /_emulator

`Emulator.handle` takes an ApiRequest and returns an ApiResponse with a streaming body; the ASGI
application and the transport carry the same bytes. Nothing here imports the rest of Pipeweb but
`errors` and `catalogue`, so that the emulator can contradict the code it tests.
`manage.py conform --recordings` compares it with recorded traffic, rule by rule.
"""

from sessions_app.emulator.service import Emulator
from sessions_app.emulator.transport import EmulatorTransport

__all__ = ["Emulator", "EmulatorTransport"]
