"""Valid histories as each format writes them, and a file's history as turns."""

import base64
import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from sessions_app.chat.import_file import ImportFile
from sessions_app.chat.import_history import CheckedHistory, check_file
from sessions_app.prompt.turns import Turn

Wire = dict[str, Any]
Call = tuple[str, Wire, Wire]
"""Name, arguments, response."""
Round = list[Call]
Exchange = tuple[str, list[Round], str]
"""Message, rounds of tools, final answer."""

NAMES = st.sampled_from(["check_flight", "book_taxi", "todo_add"])
OBJECTS = st.dictionaries(
    st.sampled_from(["a", "b", "flight"]), st.integers(0, 9) | st.text(max_size=5), max_size=2
)
CALLS: st.SearchStrategy[Call] = st.tuples(NAMES, OBJECTS, OBJECTS)
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(str.strip)
HISTORIES: st.SearchStrategy[list[Exchange]] = st.lists(
    st.tuples(WORDS, st.lists(st.lists(CALLS, min_size=1, max_size=3), max_size=3), WORDS),
    min_size=1,
    max_size=3,
)


def gemini_contents(history: list[Exchange], *, is_signed: bool, are_apart: bool) -> list[Wire]:
    """`are_apart`: each response in a content of its own."""
    contents: list[Wire] = []
    for message, rounds, answer in history:
        contents.append({"role": "user", "parts": [{"text": message}]})
        for calls in rounds:
            asked: list[Wire] = [{"functionCall": {"name": name, "args": args}} for name, args, _ in calls]
            if is_signed:
                asked[0]["thoughtSignature"] = base64.urlsafe_b64encode(b"\xfb\xff" * 40).decode()
            contents.append({"role": "model", "parts": asked})
            given = [{"functionResponse": {"name": name, "response": said}} for name, _, said in calls]
            if are_apart:
                contents += [{"role": "function", "parts": [one]} for one in given]
            else:
                contents.append({"role": "user", "parts": given})
        contents.append({"role": "model", "parts": [{"text": answer}]})
    return contents


def openai_messages(history: list[Exchange], *, is_reversed: bool) -> list[Wire]:
    """`is_reversed`: the results stand in the opposite order of their calls."""
    messages: list[Wire] = [{"role": "system", "content": "Be brief."}]
    for turn, (message, rounds, answer) in enumerate(history):
        messages.append({"role": "user", "content": message})
        for step, calls in enumerate(rounds):
            keys = [f"call_{turn}_{step}_{place}" for place in range(len(calls))]
            functions = [{"name": name, "arguments": json.dumps(args)} for name, args, _ in calls]
            asked = [
                {"id": key, "type": "function", "function": function}
                for key, function in zip(keys, functions, strict=True)
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": asked})
            given = [
                {"role": "tool", "tool_call_id": key, "content": json.dumps(said)}
                for key, (_, _, said) in zip(keys, calls, strict=True)
            ]
            messages += given[::-1] if is_reversed else given
        messages.append({"role": "assistant", "content": answer})
    return messages


def checked(value: Any, folder: Path) -> tuple[CheckedHistory, list[Turn]]:
    """The history of a file with this JSON, and its turns. Raises NotImportable."""
    path = folder / "history.json"
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    with ImportFile(path) as file:
        found = check_file(file, lambda: None)
        assert isinstance(found, CheckedHistory)
        exported = [entry.read() for entry in found.turns()]
    return found, [Turn(str(one.key), one.kind, one.content, one.route) for one in exported]


def codes(found: CheckedHistory) -> dict[str, Any]:
    """Notes by code: the count, or the names."""
    return {str(note["code"]): note.get("count", note.get("model")) for note in found.notes}
