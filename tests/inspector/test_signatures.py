import base64
import uuid

import orjson
import pytest
from django.test import Client

from sessions_app.inspector.passports import Passport, Sighting, State
from sessions_app.inspector.tabs.signatures import ShownSignatures, SignaturesTab
from sessions_app.models import Blob, Exchange, HistoryChunk, Session, Source, Turn
from sessions_app.models.source import Manifest
from sessions_app.runs.rewrite import delete_turns
from tests.factories import (
    answer_calls,
    answered,
    call_chunk,
    finish,
    make_exchange,
    make_history,
    make_run,
    play_flight,
    text_chunk,
)
from tests.inspector.reading import read

SIGNATURE = bytes(range(240, 256)) * 8


def passports(exchange: Exchange) -> ShownSignatures:
    return SignaturesTab().read(Exchange.objects.get(pk=exchange.pk), {})


def states(found: list[Passport]) -> list[State]:
    return [passport.state for passport in found]


def rewrite(turn: Turn, change: dict[str, str]) -> None:
    """Stores the turn with other bytes, as a fault or an edit would."""
    wire = turn.wire
    for old, new in change.items():
        assert old.encode() in wire
        wire = wire.replace(old.encode(), new.encode())
    turn.content_id = next(iter(Blob.objects.keep(turn.session.owner_id, [wire]).values()))
    turn.save()


def signed_reply(session: Session, route: str = "route-a") -> Exchange:
    run = make_run(session)
    exchange = make_exchange(run, [text_chunk("Yes.", signature=SIGNATURE, finish="STOP")], route=route)
    finish(run)
    return exchange


def test_a_signature_that_came_back_is_equal(session: Session) -> None:
    first, second = play_flight(session)
    received = passports(first).received
    assert states(received) == [State.EQUAL]
    assert received[0].on == "Calls check_flight"
    assert [(seen.exchange, seen.place) for seen in received[0].returned] == [(2, "contents[2].parts[0]")]
    assert states(passports(second).sent) == [State.EQUAL]


def test_it_knows_chunk_and_part_of_the_empty_text_at_the_end(session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    passport = passports(exchange).received[0]
    assert passport.on == "Empty text with a signature"
    assert passport.received is not None
    assert passport.received.place == "chunk 1, part 0"


def test_the_newest_signature_is_not_due_yet(session: Session) -> None:
    assert states(passports(signed_reply(session)).received) == [State.NOT_DUE]


def test_every_later_exchange_of_the_branch_is_listed(session: Session) -> None:
    first, *_ = make_history(session, 4)
    assert [seen.exchange for seen in passports(first).received[0].returned] == [2, 3, 4]


def test_another_branch_owes_nothing(session: Session) -> None:
    root = make_run(session, "Root").trigger
    finish(make_exchange(session.runs.get(), []).run)
    first = signed_reply(session)
    session.advance(root)
    finish(make_exchange(make_run(session, "Elsewhere")).run)
    assert states(passports(first).received) == [State.NOT_DUE]


def test_the_other_base64_alphabet_is_equal(session: Session) -> None:
    first = signed_reply(session)
    standard = base64.b64encode(SIGNATURE).decode()
    turn = first.turns.get()
    rewrite(turn, {standard: base64.urlsafe_b64encode(SIGNATURE).decode()})
    second = make_exchange(make_run(session))
    assert base64.urlsafe_b64encode(SIGNATURE) in second.request_body()
    assert states(passports(first).received) == [State.EQUAL]
    assert states(passports(second).sent) == [State.EQUAL]


def test_one_altered_byte_is_an_alarm(client: Client, session: Session) -> None:
    first = signed_reply(session)
    altered = base64.b64encode(SIGNATURE[:-1] + b"\0").decode()
    rewrite(first.turns.get(), {base64.b64encode(SIGNATURE).decode(): altered})
    second = make_exchange(make_run(session))
    assert states(passports(first).received) == [State.LOST]
    assert states(passports(second).sent) == [State.ALTERED]
    assert "1 alarm." in read(client, second, "signatures")


def test_a_signature_altered_only_on_its_way_out_is_an_alarm(session: Session) -> None:
    first = signed_reply(session)
    turn = first.turns.get()
    kept = turn.content_id
    standard = base64.b64encode(SIGNATURE).decode()
    rewrite(turn, {standard: base64.b64encode(b"other bytes").decode()})
    make_exchange(make_run(session))
    Turn.objects.filter(pk=turn.pk).update(content_id=kept)
    passport = passports(first).received[0]
    assert passport.state is State.ALTERED
    assert passport.returned == ()


def test_a_signature_left_out_is_an_alarm_on_both_sides(session: Session) -> None:
    first = signed_reply(session)
    turn = first.turns.get()
    kept = turn.content_id
    rewrite(turn, {f',"thoughtSignature":"{base64.b64encode(SIGNATURE).decode()}"': ""})
    second = make_exchange(make_run(session))
    Turn.objects.filter(pk=turn.pk).update(content_id=kept)
    assert states(passports(first).received) == [State.LOST]
    assert states(passports(second).sent) == [State.LOST]


def test_another_route_withholds_it_with_a_reason(session: Session) -> None:
    first = signed_reply(session)
    second = make_exchange(make_run(session), route="route-b")
    assert states(passports(first).received) == [State.WITHHELD]
    sent = passports(second).sent
    assert states(sent) == [State.WITHHELD]
    assert "Another route" in sent[0].words


def test_a_stand_in_says_so(client: Client, session: Session) -> None:
    run = make_run(session)
    make_exchange(run, [call_chunk("check_flight", {}, signature=SIGNATURE, finish="STOP")])
    answer_calls(run, {"status": "late"})
    second = make_exchange(run, step=2, route="route-b")
    assert states(passports(second).sent) == [State.STAND_IN]
    assert "stand-in signature" in read(client, second)


def test_a_turn_from_elsewhere_is_not_traced(session: Session) -> None:
    first = signed_reply(session)
    first.turns.update(exchange=None)
    assert states(passports(make_exchange(make_run(session))).sent) == [State.UNTRACED]


def test_a_reply_that_was_not_kept_owes_nothing(session: Session) -> None:
    first = signed_reply(session)
    first.turns.update(exchange=None)
    passport = passports(first).received[0]
    assert passport.state is State.WITHHELD
    assert "not kept" in passport.words


def test_a_cut_reply_may_lack_it(session: Session) -> None:
    first = signed_reply(session)
    rewrite(first.turns.get(), {f',"thoughtSignature":"{base64.b64encode(SIGNATURE).decode()}"': ""})
    first.turns.update(cut=True)
    assert states(passports(first).received) == [State.WITHHELD]


def test_parallel_calls_have_one_passport(session: Session) -> None:
    run = make_run(session)
    bodies = [
        call_chunk("get_weather", {"city": "Paris"}, signature=SIGNATURE),
        call_chunk("get_weather", {"city": "London"}, finish="STOP"),
    ]
    first = make_exchange(run, bodies)
    answer_calls(run, {"degrees": 11})
    make_exchange(run, step=2)
    assert states(passports(first).received) == [State.EQUAL]


def test_a_long_history_shows_its_newest_and_counts_the_others(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.inspector.tabs.signatures.SHOWN", 2)
    exchange = make_history(session, 5)[-1]
    shown = passports(exchange)
    assert (len(shown.sent), len(shown.newest), shown.older) == (4, 2, 2)
    assert "Show all 4" in read(client, exchange, "signatures")
    whole = client.get(exchange.get_absolute_url(), {"tab": "signatures", "all": "1"}).content.decode()
    assert "Show all" not in whole


def test_an_alarm_in_an_old_turn_is_shown_all_the_same(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.inspector.tabs.signatures.SHOWN", 1)
    first = signed_reply(session)
    altered = base64.b64encode(SIGNATURE[:-1] + b"\0").decode()
    rewrite(first.turns.get(), {base64.b64encode(SIGNATURE).decode(): altered})
    exchange = make_history(session, 4)[-1]
    assert State.ALTERED in states(passports(exchange).newest)


def test_a_passport_names_both_ends_of_a_long_list() -> None:
    seen = tuple(Sighting(number, "") for number in range(20))
    passport = Passport("", 0, "", State.EQUAL, "", None, seen)
    assert [one.exchange for one in (*passport.first, *passport.last)] == [0, 1, 2, 17, 18, 19]
    assert passport.between == 14


def test_a_turn_that_became_a_history_chunk_is_detached_and_no_alarm(session: Session) -> None:
    first = signed_reply(session)
    finish(make_exchange(make_run(session, "And then?")).run)
    last = session.head
    assert last is not None
    blob = next(iter(Blob.objects.keep(session.owner_id, [b"what was said"]).values()))
    chunk = HistoryChunk.objects.create(
        session=session, last_turn=last, name="Chat", content_id=blob, sha256="", tokens=4, messages=4
    )
    later = answered(session, "And now?", "Nothing.")
    carry_instead(later, f"chunk:{chunk.pk}", f"turn:{first.turns.get().public}")
    passport = passports(first).received[0]
    assert passport.state is State.DETACHED and not passport.state.is_alarm
    assert passport.words.startswith("Sent back byte for byte in 1 exchange. Since exchange 3 ")


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
    assert states(passports(second).sent) == [State.EQUAL]
    for tab in ("layers", "signatures", "wire"):
        page = read(client, second, tab)
        assert len(page) < 60_000
    assert "1.0 MB" in read(client, second, "signatures")


def test_chunks_that_are_no_replies_hold_no_signature(session: Session) -> None:
    odd = [b'"thoughtSignature"', b'{"candidates":[]}', b'{"error":{"message":"thoughtSignature"}}', b"[1]"]
    exchange = make_exchange(
        make_run(session), [*odd, orjson.dumps({"candidates": [{"signature": uuid.uuid4().hex}]})]
    )
    assert passports(exchange).received == []


def test_a_copy_on_a_rewritten_branch_sends_it_back_equal(session: Session) -> None:
    first, second = make_history(session, 2)
    doomed = first.run.trigger
    assert doomed is not None
    delete_turns(session.pk, [doomed.public])
    session.refresh_from_db()
    third = answered(session, "Question 3", "Answer 3")
    found = passports(second).received[0]
    assert found.state is State.EQUAL and [seen.exchange for seen in found.returned] == [third.number]


def test_a_deleted_turn_owes_nothing(session: Session) -> None:
    (first,) = make_history(session, 1)
    turn = first.turns.get()
    delete_turns(session.pk, [turn.public])
    session.refresh_from_db()
    answered(session, "Question 2", "Answer 2")
    assert states(passports(first).received) == [State.NOT_DUE]
