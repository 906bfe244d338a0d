"""A request beside the one before it: ledger, break line, model and settings."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.models import Exchange, Session, Source, Turn
from sessions_app.models.source import body_starts
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine, Ledger
from sessions_app.prompt.routes import endpoint_of
from sessions_app.runs.comparison import compare_with_previous
from tests.factories import finish, make_exchange, make_history, make_run, make_session


def asked(session: Session, text: str = "Is AA100 late?", **facts: Any) -> Exchange:
    exchange = make_exchange(make_run(session, text), **facts)
    finish(exchange.run)
    return exchange


def trigger_of(exchange: Exchange) -> Turn:
    trigger = exchange.run.trigger
    assert trigger is not None
    return trigger


def test_a_history_that_only_grew_has_no_break_and_hits(alice: User) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous = first
    seen = compare_with_previous(second)
    assert seen is not None and seen.broken is None
    sums = Ledger.restored(second.ledger)
    assert sums is not None and sums.prefix == len(first.stored_manifest.entries)


def test_a_changed_text_shows_where(alice: User) -> None:
    session = make_session(alice, purpose="Book flights.")
    first = asked(session)
    session.purpose = "Book trains."
    second = asked(session)
    second.previous = first
    compare_with_previous(second)
    broken = BreakLine.restored(second.break_line)
    assert broken is not None and broken.layer == "static"
    assert (broken.was[:7], broken.now[:6]) == ("flights", "trains")


def test_from_a_miss_to_a_named_cache_is_no_change(alice: User) -> None:
    session = make_session(alice)
    first, second = asked(session), asked(session, cache_name="cachedContents/a")
    second.previous = first
    seen = compare_with_previous(second)
    assert seen is not None and seen.broken is None and seen.same_config


def test_another_model_reads_anew_though_the_bytes_are_the_same(alice: User) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous, second.model, second.served_model = first, "gemini-2.5-flash", "gemini-2.5-flash"
    seen = compare_with_previous(second)
    sums = Ledger.restored(second.ledger)
    assert seen is not None and seen.prefix_tokens and not seen.same_model
    assert sums is not None and sums.hits == 0


@pytest.mark.parametrize("model", ["gemini-3-flash-preview", "gemini-2.5-flash"])
def test_another_key_is_told_from_another_model(alice: User, model: str) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous, second.model = first, model
    second.route = f"{'0' * 16}/{model}"
    seen = compare_with_previous(second)
    assert seen is not None and (seen.same_model, seen.same_endpoint) == (False, False)
    second.route = first.route
    seen = compare_with_previous(second)
    assert seen is not None and seen.same_endpoint


def test_a_request_after_an_answer_of_another_model_still_asks_the_same(alice: User) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous = first
    first.served_model, second.served_model = "gemini-2.5-flash", "gemini-3-flash-preview"
    second.route = f"{endpoint_of(first.route)}/gemini-2.5-flash"
    seen = compare_with_previous(second)
    assert seen is not None and seen.same_model and not seen.same_served


def test_two_names_of_one_serving_model_are_the_same_model(alice: User) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous, second.model = first, "gemini-flash-latest"
    first.served_model = second.served_model = "gemini-3-flash-preview"
    seen = compare_with_previous(second)
    assert seen is not None and seen.same_model and seen.same_served


def test_another_endpoint_keeps_other_caches(alice: User) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous, second.route = first, "another/gemini-3-flash-preview"
    seen = compare_with_previous(second)
    assert seen is not None and not seen.same_model


def test_comparing_costs_one_statement_where_the_history_only_grew(
    alice: User, django_assert_num_queries: Any
) -> None:
    first, second = make_history(make_session(alice), 2)
    second.previous = first
    with django_assert_num_queries(1):
        compare_with_previous(second)


def test_a_break_costs_two_statements_more(alice: User, django_assert_num_queries: Any) -> None:
    session = make_session(alice, purpose="Book flights.")
    first = asked(session)
    session.purpose = "Book trains."
    second = asked(session, previous=first)
    # The ledger; the sources; the bodies near the break.
    with django_assert_num_queries(3):
        compare_with_previous(second)


def test_a_break_at_a_turn_has_its_number_on_the_branch(alice: User) -> None:
    session = make_session(alice)
    first, second = make_history(session, 2)
    trigger = trigger_of(second)
    session.head = trigger.parent
    other = asked(session, text="Another question", previous=second)
    compare_with_previous(other)
    broken = other.found_break
    assert broken is not None and broken.at is not None
    assert (broken.kind, broken.number, broken.at.number, broken.at.part) == (BreakKind.REPLACED, 3, 3, 1)
    assert trigger_of(first).number == 1


def test_a_copied_turn_is_the_turn_that_it_copies(alice: User) -> None:
    session = make_session(alice)
    *_, second = make_history(session, 2)
    copy = Source.objects.get(session=session, name=f"turn:{trigger_of(second).public}")
    key, copy.pk, copy.name = copy.pk, None, f"turn:{uuid.uuid4()}"
    copy.save()
    third = asked(session, text="More", previous=second)
    entries = [[copy.pk if one == key else one, *rest] for one, *rest in third.manifest["entries"]]
    third.manifest = third.manifest | {"entries": entries}
    seen = compare_with_previous(third)
    assert seen is not None and seen.broken is None
    sums = Ledger.restored(third.ledger)
    assert sums is not None and sums.prefix == len(second.manifest["entries"])


def test_a_body_with_contents_first_is_listed_in_reading_order(alice: User) -> None:
    """As native clients write it: `contents` before `tools`."""
    exchange = asked(make_session(alice))
    tools, *rest = exchange.stored_manifest.entries
    wires = [item.wire for item in exchange.sent_items()]
    begin, starts = 0, []
    for entry, wire in zip([*rest, tools], [*wires[1:], wires[0]], strict=True):
        starts.append(begin + len((entry.lead or "").encode()))
        begin = starts[-1] + len(wire)
    listed = [tools._replace(start=starts[-1])]
    listed += [entry._replace(start=start) for entry, start in zip(rest, starts, strict=False)]
    exchange.stored_manifest.entries = listed
    body = exchange.request_body()
    assert body.endswith(wires[0] + exchange.stored_manifest.tail.encode())
    places = body_starts(listed, [len(wire) for wire in wires])
    assert places == [entry.start for entry in listed]
    assert all(body[at or 0 :].startswith(wire) for at, wire in zip(places, wires, strict=True))
