"""A small request with everything in it, as its manifest tells it."""

from sessions_app.prompt.layers import Layer
from sessions_app.prompt.renditions.original import Original, OriginalEntry
from sessions_app.prompt.turns import Turn, compressed_history, user_task
from sessions_app.prompt.wire import dumps, escaped
from tests.prompt.examples import answer, answers, call, calling, text

STATIC = '{"session_goal": "Say “hé”."}'
FLIGHT = {
    "name": "check_flight",
    "description": "Gets the current status of a flight",
    "parameters": {
        "type": "OBJECT",
        "properties": {"flight": {"type": "STRING"}, "type": {"type": "string"}},
        "required": ["flight"],
    },
}
TODOS = '\n"todos": [{"title":"Book a taxi","done":false}],'
FILES = '\n"file_references/Plan.md": "# Plan",'
EMPTY = '\n"artifacts": [],'
CLOCK = '\n"current_datetime": "2026-11-21T09:00:00+01:00"'

CONVERSATION = (
    compressed_history("0", "They spoke about flights."),
    answer("1", "Noted.", signature="U2ln"),
    user_task("2", "Is AA100 late, and BA200?"),
    calling(
        "3",
        text("Two flights.", thought=True),
        text("I look them up."),
        call("check_flight", "QUJD", flight="AA100"),
        call("check_flight", flight="BA200"),
    ),
    answers("4", "check_flight", "check_flight"),
)


def original(
    *turns: Turn, panels: tuple[str, ...] = (FILES, EMPTY, TODOS), static: str = STATIC, tail: str = "]}"
) -> Original:
    entries = [OriginalEntry(Layer.STATIC, "tools", dumps([{"functionDeclarations": [FLIGHT]}]))]
    entries += [OriginalEntry(Layer.STATIC, "template:static", escaped(static))]
    pieces = ("{", *panels, CLOCK, "\n}")
    entries += [OriginalEntry(Layer.DYNAMIC, "template:dynamic", escaped(piece)) for piece in pieces]
    told = turns or CONVERSATION
    entries += [OriginalEntry(Layer.BUFFERED, f"turn:{turn.key}", turn.wire) for turn in told[:-1]]
    entries += [OriginalEntry(Layer.TRIGGER, f"turn:{told[-1].key}", told[-1].wire)]
    return Original("gemini-3-flash-preview", tuple(entries), tail.encode())
