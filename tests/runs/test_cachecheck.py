import io
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.management import CommandError, call_command

from sessions_app.models import Exchange, PanelState, Session, Todo
from sessions_app.models.origin import Origin
from sessions_app.models.payload_purge import purge_payloads
from sessions_app.panels import TOOLBOX
from sessions_app.prompt.prefix_diff import BreakLine
from sessions_app.runs.cachecheck import Unknown, check_session
from sessions_app.wording.break_lines import place
from tests.runs.conftest import Ask


def run_command(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("cachecheck", *arguments, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


async def checked(session: Session, **options: Any) -> Any:
    fresh = await Session.objects.aget(pk=session.pk)
    return await sync_to_async(check_session)(fresh, TOOLBOX, **options)


async def test_unchanged_code_and_prompts_send_the_same(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await ask("use: calculate 6*7")
    found = await checked(session)
    assert not found.is_changed and found.static_same
    assert found.prefix_tokens == found.tokens > found.static_tokens > 0


async def test_a_changed_prompt_shows_its_place(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await Session.objects.filter(pk=session.pk).aupdate(purpose="Try everything twice.")
    found = await checked(session)
    assert found.is_changed and not found.static_same
    assert found.broken.layer == "static" and found.prefix_tokens < found.tokens
    assert found.broken.now.startswith(" twice")


async def test_a_panel_that_moved_on_is_no_change_of_code(ask: Ask, session: Session) -> None:
    await ask("todo: buy milk")
    await Todo.objects.acreate(session=session, title="Buy bread", position=9)
    assert not (await checked(session)).is_changed
    assert (await checked(session, strict=True)).is_changed


async def test_a_check_leaves_nothing_behind(ask: Ask, session: Session) -> None:
    await ask("Hello")
    before = await PanelState.objects.acount(), await Exchange.objects.acount()
    await Session.objects.filter(pk=session.pk).aupdate(purpose="Else.")
    await checked(session)
    assert (await PanelState.objects.acount(), await Exchange.objects.acount()) == before
    assert (await Session.objects.aget(pk=session.pk)).purpose == "Else."


async def test_the_command_ends_with_0_or_1(ask: Ask, session: Session) -> None:
    await ask("Hello")
    code, words = await sync_to_async(run_command)(str(session.public))
    assert code == 0 and words.startswith("same")
    await Session.objects.filter(pk=session.pk).aupdate(purpose="Else.")
    code, words = await sync_to_async(run_command)("--all", "--json")
    told = json.loads(words)[0]
    assert code == 1 and told["broken"]["layer"] == "static"
    broken = BreakLine.restored(told["broken"])
    assert broken is not None and place(broken) in told["sentences"][1]


async def test_what_was_purged_is_unknown_and_a_later_request_is_checked(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await sync_to_async(purge_payloads)(session.pk)
    found = await checked(session)
    assert found.unknown is Unknown.PURGED and not found.is_changed
    code, words = await sync_to_async(run_command)("--all")
    assert code == 0 and words.startswith("unknown")
    await ask("Hello again")
    found = await checked(session)
    assert found.unknown is None and found.exchange and not found.is_changed


async def test_a_programs_session_is_unknown(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await Session.objects.filter(pk=session.pk).aupdate(purpose="Else.", origin=Origin.CAPTURED)
    assert (await checked(session)).unknown is Unknown.CAPTURED
    code, words = await sync_to_async(run_command)("--all", "--json")
    assert code == 0 and json.loads(words)[0]["unknown"] == "captured"


@pytest.mark.parametrize("arguments", [(), ("nonsense",), ("00000000-0000-4000-8000-000000000000",)])
def test_bad_input_ends_with_2(db: None, arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError) as refused:
        run_command(*arguments)
    assert refused.value.returncode == 2


def test_a_session_in_which_nothing_was_sent_is_the_same(session: Session) -> None:
    assert not check_session(session, TOOLBOX).is_changed
