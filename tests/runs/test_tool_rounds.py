"""Resuming tool rounds: what was done is kept, nothing runs twice unasked, and every history is valid."""

import uuid
from collections.abc import Sequence

import pytest
from asgiref.sync import sync_to_async
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions_app.errors import RunError
from sessions_app.models import Exchange, Run, Session, Todo, ToolCall
from sessions_app.prompt.turns import CLOSING
from sessions_app.runs.tool_rounds import NOT_RUN, UNKNOWN
from tests.factories import make_session
from tests.runs.rounds import PLACES, Call, Played, Tally

MILK: Sequence[Sequence[Call]] = ([("add_todo", "buy milk")],)


def todos(session: Session) -> list[str]:
    return list(Todo.objects.filter(session=session).values_list("title", flat=True))


async def test_after_a_failed_second_step_continue_runs_no_tool_again(played: Played) -> None:
    played.provider.rounds, played.provider.fault, played.provider.fault_from = MILK, "400", 1
    failed = await played.send("add it")
    played.provider.fault = ""
    resumed = await played.resume()
    assert (failed.status, resumed.status) == (Run.Status.FAILED, Run.Status.COMPLETED)
    assert await sync_to_async(todos)(played.session) == ["buy milk"]
    kinds = [turn.kind for turn in await played.branch()]
    assert kinds == ["user_task", "function_calling", "tool_response", "model_response"]


async def test_a_resumed_request_ends_with_the_tool_responses_and_has_no_filler(played: Played) -> None:
    played.provider.rounds, played.provider.fault, played.provider.fault_from = MILK, "400", 1
    await played.send("add it")
    sent = played.provider.requests[-1]["contents"]
    played.provider.fault = ""
    run = await played.resume()
    assert played.provider.requests[-1]["contents"][-3:] == sent[-3:]
    exchange = await Exchange.objects.aget(run=run)
    assert exchange.stages[0]["figures"]["case"] == "tool_results" and not exchange.notes
    first = await Exchange.objects.filter(session=played.session).order_by("number").afirst()
    assert first is not None and exchange.run_id != first.run_id


async def test_a_retry_from_the_start_of_a_resumed_run_asks_the_message_again(played: Played) -> None:
    played.provider.rounds, played.provider.fault, played.provider.fault_from = MILK, "400", 1
    first = await played.send("add it")
    again = await played.resume()
    played.provider.fault = ""
    client_id = uuid.uuid4()
    await played.runner.retry(played.session.pk, client_id, again.public)
    await played.runner.drain()
    run = await Run.objects.aget(client_id=client_id)
    assert run.trigger_id == first.trigger_id and run.status == Run.Status.COMPLETED
    assert await sync_to_async(todos)(played.session) == ["buy milk", "buy milk"]


async def test_a_message_instead_closes_the_round_with_a_turn_that_is_stored_and_labelled(
    played: Played,
) -> None:
    await Session.objects.filter(pk=played.session.pk).aupdate(settings={"history_policy": "strict"})
    played.provider.rounds, played.provider.fault, played.provider.fault_from = MILK, "400", 1
    failed = await played.send("add it")
    played.provider.fault, played.provider.rounds = "", ()
    run = await played.send("never mind")
    assert run.status == Run.Status.COMPLETED
    closing = (await played.branch())[3]
    assert (closing.closing, closing.wire, closing.run_id) == (True, CLOSING, failed.pk)
    exchange = await Exchange.objects.aget(run=run)
    assert not exchange.notes and "repaired" not in [one["status"] for one in exchange.stages]
    assert await played.broken_rules() == []


async def test_after_a_limit_a_strict_session_takes_a_message(played: Played) -> None:
    options = {"history_policy": "strict", "max_rounds": 1}
    await Session.objects.filter(pk=played.session.pk).aupdate(settings=options)
    played.provider.rounds = [[("look", "a")], [("mark", "b")], [("mark", "c")]]
    limited = await played.send("go")
    assert limited.error["reason"] == "max_rounds" and (await played.responses())[-1] == [NOT_RUN]
    played.provider.rounds = ()
    assert (await played.send("enough")).status == Run.Status.COMPLETED


async def test_after_a_limit_continue_runs_the_calls_that_were_left(played: Played, tally: Tally) -> None:
    await Session.objects.filter(pk=played.session.pk).aupdate(settings={"max_rounds": 1})
    played.provider.rounds = [[("mark", "a")], [("mark", "b"), ("add_todo", "c")]]
    limited = await played.send("go")
    resumed = await played.resume()
    assert (limited.status, resumed.status) == (Run.Status.FAILED, Run.Status.COMPLETED)
    assert tally.marks == {"a": 1, "b": 1} and await sync_to_async(todos)(played.session) == ["c"]
    assert await played.responses() == [[{"marked": "a"}], [{"marked": "b"}, {"added": "c"}]]


async def test_a_call_without_a_stored_result_is_unknown_until_the_person_decides(
    played: Played, tally: Tally
) -> None:
    played.provider.rounds = [[("mark", "a")]]
    played.saboteur.place = "ran"
    await played.send("go")
    assert await played.responses() == [[UNKNOWN]] and tally.marks == {"a": 1}
    await played.resume()
    assert await played.responses() == [[UNKNOWN]] and tally.marks == {"a": 1}
    await played.resume(repeats=True)
    assert await played.responses() == [[{"marked": "a"}]] and tally.marks == {"a": 2}


async def test_a_call_that_may_have_run_stays_unknown_where_its_repetition_did_not_begin(
    played: Played, tally: Tally
) -> None:
    played.provider.rounds = [[("mark", "a")]]
    played.saboteur.place = "ran"
    await played.send("go")
    played.saboteur.place, played.saboteur.count = "begin", 0
    await played.resume(repeats=True)
    assert await played.responses() == [[UNKNOWN]] and tally.marks == {"a": 1}
    await played.resume()
    assert await played.responses() == [[UNKNOWN]] and tally.marks == {"a": 1}


async def test_calls_with_effects_are_carried_out_in_call_order(played: Played) -> None:
    titles = [str(number) for number in range(8)]
    played.provider.rounds = [[("add_todo", title) for title in titles]]
    await played.send("go")
    assert await sync_to_async(todos)(played.session) == titles


async def test_tool_responses_that_are_not_there_cannot_be_resumed(played: Played) -> None:
    run = await played.send("hello")
    assert run.trigger is not None
    with pytest.raises(RunError):
        await played.runner.resume(played.session.pk, uuid.uuid4(), run.public, run.trigger.public)


async def test_a_round_without_rows_runs_nothing(played: Played, tally: Tally) -> None:
    """As an earlier version, an import or a fork leaves it."""
    played.provider.rounds = [[("mark", "a")]]
    played.saboteur.place = "begin"
    await played.send("go")
    await ToolCall.objects.all().adelete()
    assert (await played.resume()).status == Run.Status.COMPLETED
    assert tally.marks == {} and await played.responses() == [[NOT_RUN]]


KINDS = st.sampled_from(["add_todo", "mark", "look"])
ROUNDS = st.lists(st.lists(KINDS, min_size=1, max_size=4), min_size=1, max_size=2)
FAULT = st.one_of(
    st.tuples(st.sampled_from(PLACES), st.integers(0, 4), st.booleans()),
    st.tuples(st.sampled_from(["400", "503", "cut", "gone"]), st.integers(1, 2), st.just(False)),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROUNDS, st.lists(st.tuples(FAULT, st.booleans()), min_size=1, max_size=4))
async def test_every_call_happens_once_or_is_said_to_be_unknown(
    played: Played,
    tally: Tally,
    kinds: list[list[str]],
    faults: list[tuple[tuple[str, int, bool], bool]],
) -> None:
    """The law of resuming: `faults` meet one run each, with the decision about unknown calls after it."""
    await begin_anew(played, tally)
    rounds = [[(kind, f"{n}.{i}") for i, kind in enumerate(each)] for n, each in enumerate(kinds)]
    played.provider.rounds = rounds
    repeated, run = 0, None
    for fault, repeats in [*faults, (("", 0, False), False)]:
        arm(played, fault)
        if run is None:
            run = await played.send("go")
        elif run.status != Run.Status.COMPLETED and (await played.responses()):
            repeated += await played.unknown() if repeats else 0
            run = await played.resume(repeats=repeats)
        elif run.status != Run.Status.COMPLETED:
            run = await played.send("go")
        assert await played.broken_rules() == []
        await assert_as_stored(played, tally, rounds, repeated)
    assert run is not None and run.status == Run.Status.COMPLETED
    assert sum(map(len, await played.responses())) >= sum(map(len, rounds))


async def begin_anew(played: Played, tally: Tally) -> None:
    owner = await sync_to_async(lambda: played.session.owner)()
    options = {"history_policy": "strict"}
    played.session = await sync_to_async(make_session)(owner, settings=options)
    tally.marks.clear()


def arm(played: Played, fault: tuple[str, int, bool]) -> None:
    place, count, stops = fault
    saboteur, provider = played.saboteur, played.provider
    saboteur.place, saboteur.stop, provider.fault = "", None, ""
    if place in PLACES:
        saboteur.place, saboteur.count = place, count
        if stops:
            played.stop_later()
    else:
        provider.fault, provider.fault_from = place, count


async def assert_as_stored(
    played: Played, tally: Tally, rounds: Sequence[Sequence[Call]], repeated: int
) -> None:
    """Each response of the branch says what happened, exactly."""
    added = await sync_to_async(todos)(played.session)
    for calls, found in zip(rounds, await played.responses(), strict=False):
        assert len(calls) == len(found)
        for (name, key), response in zip(calls, found, strict=True):
            done = {"add_todo": added.count(key), "mark": tally.marks[key]}.get(name, 0)
            if response == NOT_RUN:
                assert done == 0
            elif response == UNKNOWN:
                assert done <= 1 + repeated and (name != "add_todo" or done == 0)
            else:
                assert (done == 1 or name == "look") if name != "mark" else 1 <= done <= 1 + repeated
