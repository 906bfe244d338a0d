"""A program that is killed inside a tool, and one that finds what it left.

`begin` plays a round of three tools, of which one never ends; `after` ends the abandoned run, goes on with
it, and prints what each step left. Both use the data folder of the environment.
"""

import asyncio
import os
import sys
import uuid
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")
django.setup()

import orjson  # noqa: E402 (Django has to be set up first)
from asgiref.sync import sync_to_async  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402

import pipeweb.composition  # noqa: E402
from sessions_app.gemini.gateway import Gateway  # noqa: E402
from sessions_app.models import Run, Session, Todo, Turn  # noqa: E402
from sessions_app.panels.kinds.todos import AddTodo  # noqa: E402
from sessions_app.runs.runner import Runner  # noqa: E402
from sessions_app.tools import Toolbox  # noqa: E402
from sessions_app.tools.toolbox import tool  # noqa: E402
from tests.runs.rounds import Rounds  # noqa: E402
from tests.runs.running import end_abandoned_runs, running  # noqa: E402

FOLDER = Path(os.environ["PIPEWEB_DATA"])
ROUND = (("add_todo", "buy milk"), ("hang", "here"), ("add_todo", "buy rye"))


async def hang(key: str) -> dict[str, str]:
    """Does something, and ends only when it is asked a second time."""
    marks = FOLDER / "marks"
    marks.write_text((marks.read_text() if marks.exists() else "") + f"{key}\n")
    if "begin" in sys.argv:
        await asyncio.sleep(3600)
    return {"hung": key}


def runner_of() -> Any:
    toolbox = Toolbox((AddTodo.as_tool("todos"), tool(hang, "test", "Hang")))
    setattr(pipeweb.composition, "TOOLBOX", toolbox)  # noqa: B010 (mypy: a name it only imports)
    provider = Rounds()
    provider.rounds = [ROUND]
    return running(Gateway(api_key="test", transport=provider))


async def begin() -> None:
    owner = await User.objects.acreate(username="alice")
    session = await Session.objects.acreate(owner=owner, model="gemini-3-flash-preview")
    async with runner_of() as runner:
        await runner.send(session.pk, uuid.uuid4(), "go")
        await runner.drain()


async def after() -> None:
    async with runner_of() as runner:
        await sync_to_async(end_abandoned_runs)(runner.process_lock)
        say(await sync_to_async(left)())
        for repeats in (False, True):
            await resume(runner, repeats)
            say(await sync_to_async(left)())


async def resume(runner: Runner, repeats: bool) -> None:
    turn = await Turn.objects.select_related("run").filter(kind="tool_response").order_by("pk").alast()
    assert turn is not None and turn.run is not None
    await runner.resume(turn.session_id, uuid.uuid4(), turn.run.public, turn.public, repeats=repeats)
    await runner.drain()


def left() -> dict[str, Any]:
    turn = Turn.objects.filter(kind="tool_response").order_by("pk").last()
    run = Run.objects.order_by("pk").last()
    assert turn is not None and run is not None
    return {
        "status": run.status,
        "todos": list(Todo.objects.values_list("title", flat=True)),
        "marks": (FOLDER / "marks").read_text().split(),
        "responses": [part.response["response"] for part in turn.parts if part.response],
    }


def say(facts: dict[str, Any]) -> None:
    print(orjson.dumps(facts).decode(), flush=True)


if __name__ == "__main__":
    if "begin" in sys.argv:
        call_command("migrate", verbosity=0)
    asyncio.run(begin() if "begin" in sys.argv else after())
