import base64
import uuid

import orjson
import pytest
from django.test import Client

from sessions_app.errors import SignatureRefused
from sessions_app.inspector.signature_trace import SignatureLocation, SignatureState, SignatureTrace
from sessions_app.inspector.tabs.signatures_tab import ShownSignatures, SignaturesTab
from sessions_app.models import Blob, Exchange, HistoryChunk, Run, Session, Source, Turn
from sessions_app.models.run import describe
from sessions_app.models.source import Manifest
from sessions_app.prompt.turns import IMPORTED
from sessions_app.runs.history_edits import delete_turns
from sessions_app.wording import remarks
from sessions_app.wording.signature_traces import CUT_OFF
from tests.factories import (
    answer_calls,
    answered,
    call_chunk,
    finish,
    make_exchange,
    make_history,
    make_run,
    play_flight,
    stop_answer,
    text_chunk,
)
from tests.inspector.reading import read

SIGNATURE = bytes(range(240, 256)) * 8


def traces(exchange: Exchange) -> ShownSignatures:
    return SignaturesTab().read(Exchange.objects.get(pk=exchange.pk), {})


def states(found: list[SignatureTrace]) -> list[SignatureState]:
    return [trace.state for trace in found]


def rewrite(turn: Turn, change: dict[str, str]) -> None:
    """Stores the turn with other bytes, as a fault or an edit would."""
    wire = turn.wire
    for old, new in change.items():
        assert old.encode() in wire
        wire = wire.replace(old.encode(), new.encode())
    turn.content_id = next(iter(Blob.objects.store(turn.session.owner_id, [wire]).values()))
    turn.save()


def signed_reply(session: Session, route: str = "route-a") -> Exchange:
    run = make_run(session)
    exchange = make_exchange(run, [text_chunk("Yes.", signature=SIGNATURE, finish="STOP")], route=route)
    finish(run)
    return exchange


def test_a_signature_that_came_back_is_equal(session: Session) -> None:
    first, second = play_flight(session)
    received = traces(first).received
    assert states(received) == [SignatureState.EQUAL]
    assert received[0].on == "Calls check_flight"
    assert [(seen.exchange, seen.place) for seen in received[0].returned] == [(2, "turn 2, part 1")]
    assert states(traces(second).sent) == [SignatureState.EQUAL]


def test_it_knows_chunk_and_part_of_the_empty_text_at_the_end(session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    trace = traces(exchange).received[0]
    assert trace.on == "Empty text with a signature"
    assert trace.received is not None
    assert trace.received.place == "chunk 1, part 1"


def test_the_newest_signature_is_not_due_yet(session: Session) -> None:
    assert states(traces(signed_reply(session)).received) == [SignatureState.NOT_DUE]


def test_every_later_exchange_of_the_branch_is_listed(session: Session) -> None:
    first, *_ = make_history(session, 4)
    assert [seen.exchange for seen in traces(first).received[0].returned] == [2, 3, 4]


def test_another_branch_owes_nothing(session: Session) -> None:
    root = make_run(session, "Root").trigger
    finish(make_exchange(session.runs.get(), []).run)
    first = signed_reply(session)
    session.advance(root)
    finish(make_exchange(make_run(session, "Elsewhere")).run)
    assert states(traces(first).received) == [SignatureState.NOT_DUE]


def test_the_other_base64_alphabet_is_equal(session: Session) -> None:
    first = signed_reply(session)
    standard = base64.b64encode(SIGNATURE).decode()
    turn = first.turns.get()
    rewrite(turn, {standard: base64.urlsafe_b64encode(SIGNATURE).decode()})
    second = make_exchange(make_run(session))
    assert base64.urlsafe_b64encode(SIGNATURE) in second.request_body()
    assert states(traces(first).received) == [SignatureState.EQUAL]
    assert states(traces(second).sent) == [SignatureState.EQUAL]


def test_one_altered_byte_is_an_alarm(client: Client, session: Session) -> None:
    first = signed_reply(session)
    altered = base64.b64encode(SIGNATURE[:-1] + b"\0").decode()
    rewrite(first.turns.get(), {base64.b64encode(SIGNATURE).decode(): altered})
    second = make_exchange(make_run(session))
    assert states(traces(first).received) == [SignatureState.LOST]
    assert states(traces(second).sent) == [SignatureState.ALTERED]
    assert "1 alarm." in read(client, second, "signatures")


def test_a_signature_altered_only_on_its_way_out_is_an_alarm(session: Session) -> None:
    first = signed_reply(session)
    turn = first.turns.get()
    kept = turn.content_id
    standard = base64.b64encode(SIGNATURE).decode()
    rewrite(turn, {standard: base64.b64encode(b"other bytes").decode()})
    make_exchange(make_run(session))
    Turn.objects.filter(pk=turn.pk).update(content_id=kept)
    trace = traces(first).received[0]
    assert trace.state is SignatureState.ALTERED
    assert trace.returned == ()


def test_a_signature_left_out_is_an_alarm_on_both_sides(session: Session) -> None:
    first = signed_reply(session)
    turn = first.turns.get()
    kept = turn.content_id
    rewrite(turn, {f',"thoughtSignature":"{base64.b64encode(SIGNATURE).decode()}"': ""})
    second = make_exchange(make_run(session))
    Turn.objects.filter(pk=turn.pk).update(content_id=kept)
    assert states(traces(first).received) == [SignatureState.LOST]
    assert states(traces(second).sent) == [SignatureState.LOST]


def test_another_route_withholds_it_with_a_reason(session: Session) -> None:
    first = signed_reply(session)
    second = make_exchange(make_run(session), route="route-b")
    assert states(traces(first).received) == [SignatureState.FOREIGN]
    sent = traces(second).sent
    assert states(sent) == [SignatureState.FOREIGN]
    assert "another key or address" in sent[0].explanation


def test_a_stand_in_says_so(client: Client, session: Session) -> None:
    run = make_run(session)
    make_exchange(run, [call_chunk("check_flight", {}, signature=SIGNATURE, finish="STOP")])
    answer_calls(run, {"status": "late"})
    second = make_exchange(run, step=2, route="route-b")
    assert states(traces(second).sent) == [SignatureState.DUMMY]
    assert "stand-in signature" in read(client, second)


def test_a_turn_from_elsewhere_is_not_traced(session: Session) -> None:
    first = signed_reply(session)
    first.turns.update(exchange=None)
    assert states(traces(make_exchange(make_run(session))).sent) == [SignatureState.UNTRACED]


def test_a_signature_from_elsewhere_that_did_not_go_along_is_told(client: Client, session: Session) -> None:
    first = signed_reply(session)
    first.turns.update(exchange=None, route=IMPORTED)
    second = make_exchange(make_run(session))
    (trace,) = traces(second).sent
    assert (trace.state, trace.received) == (SignatureState.FOREIGN, None)
    assert trace.explanation == remarks.foreign(second.number, IMPORTED, second.route)
    assert "carried no signature" not in read(client, second)


def test_a_reply_that_was_not_kept_owes_nothing(session: Session) -> None:
    first = signed_reply(session)
    first.turns.update(exchange=None)
    trace = traces(first).received[0]
    assert trace.state is SignatureState.WITHHELD
    assert "not kept" in trace.explanation


def test_a_cut_reply_may_lack_it(session: Session) -> None:
    first = signed_reply(session)
    rewrite(first.turns.get(), {f',"thoughtSignature":"{base64.b64encode(SIGNATURE).decode()}"': ""})
    first.turns.update(cut=True)
    assert states(traces(first).received) == [SignatureState.WITHHELD]


def test_the_signature_of_half_a_call_is_missed_in_no_request(session: Session) -> None:
    """The text that came before it stays, and goes with each later request."""
    half = call_chunk("check_flight", {"flight": "AA100"}, signature=SIGNATURE)
    stop_answer(session, [text_chunk("I look it up."), half])
    session.refresh_from_db()
    (cut,) = session.turns.filter(cut=True)
    later = make_exchange(make_run(session, "And?"), route=cut.route)
    (trace,) = traces(later).sent
    assert (trace.state, trace.explanation) == (SignatureState.WITHHELD, CUT_OFF)
    assert states(traces(session.exchanges.get(number=1)).received) == [SignatureState.WITHHELD]


def test_parallel_calls_have_one_signature_trace(session: Session) -> None:
    run = make_run(session)
    bodies = [
        call_chunk("get_weather", {"city": "Paris"}, signature=SIGNATURE),
        call_chunk("get_weather", {"city": "London"}, finish="STOP"),
    ]
    first = make_exchange(run, bodies)
    answer_calls(run, {"degrees": 11})
    make_exchange(run, step=2)
    assert states(traces(first).received) == [SignatureState.EQUAL]


def test_a_long_history_shows_its_newest_and_counts_the_others(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.inspector.tabs.signatures_tab.SHOWN", 2)
    exchange = make_history(session, 5)[-1]
    shown = traces(exchange)
    assert (len(shown.sent), len(shown.newest), shown.older) == (4, 2, 2)
    assert "Show all 4" in read(client, exchange, "signatures")
    whole = client.get(exchange.get_absolute_url(), {"tab": "signatures", "all": "1"}).content.decode()
    assert "Show all" not in whole


def test_an_alarm_in_an_old_turn_is_shown_all_the_same(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.inspector.tabs.signatures_tab.SHOWN", 1)
    first = signed_reply(session)
    altered = base64.b64encode(SIGNATURE[:-1] + b"\0").decode()
    rewrite(first.turns.get(), {base64.b64encode(SIGNATURE).decode(): altered})
    exchange = make_history(session, 4)[-1]
    assert SignatureState.ALTERED in states(traces(exchange).newest)


def test_a_trace_names_both_ends_of_a_long_list() -> None:
    seen = tuple(SignatureLocation(number, "") for number in range(20))
    trace = SignatureTrace("", 0, "", SignatureState.EQUAL, "", None, seen)
    assert [one.exchange for one in (*trace.first, *trace.last)] == [0, 1, 2, 17, 18, 19]
    assert trace.between == 14


def test_a_turn_that_became_a_history_chunk_is_detached_and_no_alarm(session: Session) -> None:
    first = signed_reply(session)
    finish(make_exchange(make_run(session, "And then?")).run)
    last = session.head
    assert last is not None
    blob = next(iter(Blob.objects.store(session.owner_id, [b"what was said"]).values()))
    chunk = HistoryChunk.objects.create(
        session=session, last_turn=last, name="Chat", content_id=blob, sha256="", tokens=4, messages=4
    )
    later = answered(session, "And now?", "Nothing.")
    carry_instead(later, f"chunk:{chunk.pk}", f"turn:{first.turns.get().public}")
    trace = traces(first).received[0]
    assert trace.state is SignatureState.DETACHED and not trace.state.is_alarm
    assert trace.explanation.startswith("Sent back byte for byte in 1 exchange. Since exchange 3 ")


def carry_instead(exchange: Exchange, chunk: str, turn: str) -> None:
    """Rewrites a manifest as if the turn's text had been a history chunk of the static layer."""
    source = Source.objects.get(session=exchange.session, name=turn)
    moved = Source.objects.create(
        session=exchange.session, name=chunk, kind="text", blob=source.blob, tokens=4
    )
    manifest = exchange.stored_manifest
    entries = [
        entry._replace(source=moved.pk) if entry.source == source.pk else entry for entry in manifest.entries
    ]
    manifest = Manifest(entries=entries, tail=manifest.tail)
    Exchange.objects.filter(pk=exchange.pk).update(manifest=manifest.model_dump(mode="json"))


def test_a_signature_of_a_megabyte_is_a_size_and_a_hash(client: Client, session: Session) -> None:
    run = make_run(session)
    make_exchange(run, [text_chunk("", signature=bytes(1_000_000), finish="STOP")])
    finish(run)
    second = make_exchange(make_run(session))
    assert states(traces(second).sent) == [SignatureState.EQUAL]
    for tab in ("layers", "signatures", "wire"):
        page = read(client, second, tab)
        assert len(page) < 60_000
    assert "1.0 MB" in read(client, second, "signatures")


def test_chunks_that_are_no_replies_hold_no_signature(session: Session) -> None:
    odd = [b'"thoughtSignature"', b'{"candidates":[]}', b'{"error":{"message":"thoughtSignature"}}', b"[1]"]
    exchange = make_exchange(
        make_run(session), [*odd, orjson.dumps({"candidates": [{"signature": uuid.uuid4().hex}]})]
    )
    assert traces(exchange).received == []


def test_a_copy_on_a_rewritten_branch_sends_it_back_equal(session: Session) -> None:
    first, second = make_history(session, 2)
    doomed = first.run.trigger
    assert doomed is not None
    delete_turns(session.pk, [doomed.public])
    session.refresh_from_db()
    third = answered(session, "Question 3", "Answer 3")
    found = traces(second).received[0]
    assert found.state is SignatureState.EQUAL and [seen.exchange for seen in found.returned] == [
        third.number
    ]


@pytest.fixture
def refused(session: Session) -> list[Exchange]:
    """An answer, the exchange in which the provider refused its signature, and the one that repeats it."""
    first = answered(session, "Hello", "Hi")
    run = make_run(session, "And now?")
    failed = make_exchange(
        run, [], error=describe(SignatureRefused("Corrupted thought signature.", code=400))
    )
    keys = [str(turn.public) for turn in first.turns.all()]
    Turn.objects.mark_refused(session.pk, keys, failed.number)
    resent = make_exchange(run, resend_of=failed)
    finish(run)
    return [first, failed, resent]


def test_a_refused_signature_is_followed_to_the_exchange_that_refused_it(refused: list[Exchange]) -> None:
    first, failed, resent = refused
    (received,) = traces(first).received
    assert received.state is SignatureState.REFUSED
    assert received.explanation == "The provider refused it in exchange 2; 3 went without it."
    assert [seen.exchange for seen in received.returned] == [2]
    assert states(traces(failed).sent) == [SignatureState.REFUSED]
    assert "refused the signatures of this request" in traces(failed).sent[0].explanation
    (unsent,) = traces(resent).sent
    assert unsent.state is SignatureState.REFUSED and "in exchange 2" in unsent.explanation
    assert not any(traces(exchange).alarms for exchange in refused)


def test_the_stand_in_for_a_refused_call_says_so(session: Session) -> None:
    first, second = play_flight(session)
    keys = [str(turn.public) for turn in first.turns.all()]
    Turn.objects.mark_refused(session.pk, keys, second.number)
    session.refresh_from_db()
    session.head = Turn.objects.get(session=session, kind="tool_response")
    Run.objects.filter(pk=second.run_id).update(status=Run.Status.RUNNING)
    resent = make_exchange(second.run, resend_of=second)
    (sent,) = traces(resent).sent
    assert sent.state is SignatureState.DUMMY
    assert sent.explanation.startswith(
        "The documented stand-in. The provider refused the signature of this call"
    )


def test_the_page_of_a_repeated_request_says_why(client: Client, refused: list[Exchange]) -> None:
    page = client.get(refused[-1].get_absolute_url() + "?tab=pipeline").content.decode()
    assert "without the thought signatures that the provider refused in exchange 2" in page
    assert "The provider refused this signature in exchange 2." in page


def test_a_deleted_turn_owes_nothing(session: Session) -> None:
    (first,) = make_history(session, 1)
    turn = first.turns.get()
    delete_turns(session.pk, [turn.public])
    session.refresh_from_db()
    answered(session, "Question 2", "Answer 2")
    assert states(traces(first).received) == [SignatureState.NOT_DUE]
