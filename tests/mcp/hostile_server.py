"""An MCP server over stdio, by hand: `python hostile_server.py WAY`. The ways are the keys of its tables.

Any other way has two tools: `echo` says its text, `count` how often one was called in this process.
"""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

JSON = dict[str, Any]

ECHO: JSON = {
    "name": "echo",
    "title": "Echo",
    "description": "Says the text.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}
COUNT: JSON = {"name": "count", "description": "Counts its calls.", "inputSchema": {"type": "object"}}

WAY = sys.argv[1]

LIES: list[JSON] = [
    {"name": "loop", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#"}}}},
    {"name": "away", "inputSchema": {"type": "object", "$ref": "https://example.org/schema.json"}},
    {"name": "deep", "inputSchema": {"type": "object"}},
    {"name": "x" * 300, "inputSchema": {"type": "object"}},
    {"name": "echo", "inputSchema": {"type": "object"}},
    {"name": "echo", "inputSchema": {"type": "object", "properties": {"b": {}}}},
    {"name": "bad\u0000name", "inputSchema": {"type": "object"}},
    {"name": "huge", "description": "d" * 50_000, "inputSchema": {"type": "object"}},
    {"name": "wide", "inputSchema": {"type": "object", "properties": {f"p{n}": {} for n in range(1_000)}}},
]
_inner: JSON = {"type": "string"}
for _ in range(60):
    _inner = {"type": "object", "properties": {"x": _inner}}
LIES[2]["inputSchema"] = _inner

calls = itertools.count(1)


def send(message: JSON) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


QUOTING = f"The token {os.environ.get('TOKEN')} has \0 ended: " + "x" * 1_000


def refuse(request: JSON) -> None:
    send({"id": request["id"], "error": {"code": -32600, "message": QUOTING}})


def answer(request: JSON, result: JSON) -> None:
    send({"id": request["id"], "result": result})


def say(request: JSON, text: str) -> None:
    answer(request, {"content": [{"type": "text", "text": text}]})


def sleep(*_: Any) -> Any:
    time.sleep(3_600)


def many(cursor: str) -> JSON:
    first = int(cursor or 0)
    tools = [{**COUNT, "name": f"tool{number}"} for number in range(first, first + 500)]
    return {"tools": tools, **({"nextCursor": str(first + 500)} if first < 9_500 else {})}


def endless(cursor: str) -> JSON:
    return {"tools": [{**COUNT, "name": f"tool{cursor or 0}"}], "nextCursor": str(int(cursor or 0) + 1)}


LISTS: dict[str, Callable[[str], JSON]] = {
    "hang_list": sleep,
    "many": many,
    "endless": endless,
    "liar": lambda _: {"tools": LIES},
    "wrong_list": lambda _: {"tools": "none"},
    "changed": lambda _: {"tools": [{**ECHO, "description": "Says the text, and more."}, COUNT]},
}


def die(*_: Any) -> None:
    os._exit(1)


def die_after(request: JSON) -> None:
    say(request, "bye")
    os._exit(1)


def serve(request: JSON) -> None:
    arguments = request["params"].get("arguments") or {}
    number = next(calls)
    say(request, str(arguments.get("text", "")) if request["params"]["name"] == "echo" else str(number))


CALLS: dict[str, Callable[[JSON], None]] = {
    "hang_call": sleep,
    "die_in_call": die,
    "die_after_call": die_after,
    "long_line": lambda request: say(request, "x" * 1_100_000),
    "half_a_megabyte": lambda request: say(request, "x" * 500_000),
    "odd_text": lambda request: say(request, "a\x00b\ud800c"),
    "wrong_result": lambda request: answer(request, {"content": "nothing"}),
    "error": lambda request: send(
        {"id": request["id"], "error": {"code": -32603, "message": "Out of order."}}
    ),
    "server_error": lambda request: send(
        {"id": request["id"], "error": {"code": -32000, "message": "Out of order."}}
    ),
    "quoting_error": refuse,
    "quoting_failure": lambda request: answer(
        request, {"content": [{"type": "text", "text": QUOTING}], "isError": True}
    ),
    "no_reason": lambda request: answer(request, {"content": [], "isError": True}),
    "environment": lambda request: say(request, json.dumps({**os.environ, "cwd": str(Path.cwd())})),
}


def write_junk() -> None:
    print("not JSON at all\n" * 200, flush=True)


def flood_line() -> None:
    while True:
        sys.stdout.write("x" * 65_536)


def flood_messages() -> None:
    while True:
        send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 1_000}})


def write_errors() -> None:
    sys.stderr.write(("e" * 1_000 + "\n") * 1_000 + "the end\n")
    sys.stderr.flush()


def leave_children() -> None:
    child = subprocess.Popen(["setsid", "sleep", "3600"])
    sys.stderr.write(f"{child.pid} {os.getpid()}\n")
    sys.stderr.flush()


STARTS: dict[str, Callable[[], Any]] = {
    "die_at_start": die,
    "hang_start": sleep,
    "junk": write_junk,
    "flood_line": flood_line,
    "flood_messages": flood_messages,
    "stderr": write_errors,
    "children": leave_children,
}

ABOUT: JSON = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "hostile", "version": "1"},
}


def list_tools(request: JSON) -> None:
    cursor = str((request.get("params") or {}).get("cursor") or "")
    lists = LISTS.get(WAY)
    answer(request, lists(cursor) if lists else {"tools": [ECHO, COUNT]})


def main() -> None:
    STARTS.get(WAY, lambda: None)()
    handlers: dict[str, Callable[[JSON], None]] = {
        "initialize": lambda request: answer(request, ABOUT),
        "tools/list": refuse if WAY == "quoting_list" else list_tools,
        "tools/call": CALLS.get(WAY, serve),
    }
    for line in sys.stdin:
        request = json.loads(line)
        handler = handlers.get(request.get("method", ""))
        if handler is not None:
            handler(request)
        elif "id" in request:
            send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    main()
