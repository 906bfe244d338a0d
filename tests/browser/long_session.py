"""A repository of 200 files and the messages of a session of 60 turns that works on it."""

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

FILES = 200
EDITED = tuple(f"src/module_{number:03}.py" for number in (7, 31, 58, 104, 166))
"""The files that the model opens and changes, in this order."""

NOTE = "The modules of the first hundred are read; five are changed."


def repository() -> bytes:
    """A zip archive of the files, the same each time."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(FILES):
            archive.writestr(zipfile.ZipInfo(f"src/module_{number:03}.py"), module(number))
    return packed.getvalue()


def module(number: int) -> str:
    lines = (f"    total += {number * step}  # step {step} of module {number}" for step in range(20))
    return "\n".join((f'"""Module {number}."""', "", "", "def add(total):", *lines, "    return total", ""))


def call(name: str, **arguments: Any) -> str:
    """A message that the emulator answers with this call."""
    return f"call {name} {json.dumps(arguments)}"


def exploring() -> Iterator[str]:
    yield call("add_todo", title="Read the modules")
    yield call("add_todo", title="Change five of them")
    yield call("list_files", files="src/*")
    for number in range(0, 46, 2):
        yield call("search_files", pattern=f"step 1\\d of module {number}$", files="src/*", context_lines=2)
        if number % 6 == 0:
            yield call("read_range", path=f"src/module_{number:03}.py", first=1, last=24)
    yield call("complete_todo", position=1)
    yield call("write_note", text="Each module adds its number times a step.")


def opening() -> Iterator[str]:
    for path in EDITED:
        yield call("open_file", path=path)


def editing() -> Iterator[str]:
    """One message for each file, each followed by one that changes nothing."""
    for path in EDITED:
        yield call("edit_file", path=path, old="return total", new="return total + 1")
        yield call("calculate", expression="6 * 7")


def keeping() -> Sequence[str]:
    return (
        call("remember", text="The modules add up totals."),
        call("switch_panel", panel="statistics", on=True),
        call("complete_todo", position=2),
        call("add_log", text="Five modules are changed."),
        call("close_file", path=EDITED[0], note="module 7 returns one more"),
    )


def working() -> list[str]:
    return [*exploring(), *opening(), *editing(), *keeping()]


def ending() -> Sequence[str]:
    return (
        "search for bees in the news",
        f"drop part 1 of the history and note: {NOTE}",
        "Hello",
    )
