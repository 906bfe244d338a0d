from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import Http404
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.inspector.request_diff import ItemPair, pairs_of, settings_of
from sessions_app.inspector.tabs.diff_tab import INLINE_BYTES, DiffTab, ShownDiff
from sessions_app.models import CaptureAddress, Exchange, Session
from sessions_app.prompt.break_culprit import outside_order
from sessions_app.wording import comparisons
from tests.capture.answers import Asking, says
from tests.capture.conversations import body_of, model, user
from tests.factories import answered, make_exchange, make_history, make_run, make_session, play_flight
from tests.inspector.reading import read


def diff(exchange: Exchange, **asked: str) -> ShownDiff:
    return DiffTab().read(Exchange.objects.get(pk=exchange.pk), asked)


def statuses(pairs: list[ItemPair]) -> list[tuple[str, str]]:
    return [(pair.status, pair.shown.name.partition(":")[0]) for pair in pairs if pair.status != "same"]


def test_the_next_message_adds_an_answer_and_a_question(session: Session) -> None:
    first, second = make_history(session, 2)
    assert statuses(pairs_of(first, second)) == [("new", "turn"), ("new", "turn")]


def test_the_trigger_that_became_history_is_the_same_item(session: Session) -> None:
    first, second = make_history(session, 2)
    moved = [pair for pair in pairs_of(first, second) if pair.moved_from]
    assert [(pair.status, pair.moved_from, pair.shown.layer) for pair in moved] == [
        ("same", "trigger", "buffered")
    ]


def test_going_from_a_miss_to_a_hit_is_no_change(client: Client, session: Session) -> None:
    run = make_run(session)
    first = make_exchange(run, [])
    second = make_exchange(run, [], step=2, cache_name="cachedContents/abc")
    shown = diff(second)
    assert shown.is_same and shown.settings == []
    page = read(client, second, "diff")
    assert "so this is no change" in page and "The two requests say the same" in page
    assert diff(first, **{"with": "2"}).is_same


def named_or_sent(case: str, named: int, sent: int) -> str:
    return comparisons.NAMED_OR_SENT[case].format(named=named, sent=sent)


def test_another_static_layer_is_not_called_the_same_where_a_cache_stood_for_the_one_before(
    session: Session,
) -> None:
    run = make_run(session)
    make_exchange(run, [], cache_name="cachedContents/abc")
    session.background = "The blue taxi is booked."
    session.save()
    second = make_exchange(run, [], step=2)
    assert diff(second).cache == named_or_sent("differs", 1, 2)


def test_what_a_cache_holds_that_nobody_was_seen_making_is_not_called_the_same(alice: User) -> None:
    program = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    first = program.exchange(body_of([user("Hello.")]), says("Hi."))
    more = [user("Hello."), model("Hi."), user("And now?")]
    second = program.exchange(body_of(more, system="", tools=None, cachedContent="cachedContents/x"))
    assert second.session == first.session
    assert diff(second).cache == named_or_sent("unseen", 2, 1)


def test_two_requests_with_caches_that_nobody_was_seen_making_are_not_called_the_same(alice: User) -> None:
    program = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    for name in ("x", "y", "y"):
        body = body_of([user("Hello.")], system="", tools=None, cachedContent=f"cachedContents/{name}")
        program.exchange(body, says("Hi."), name="one")
    first, second, third = Exchange.objects.order_by("pk")
    assert diff(second).cache == named_or_sent("two_unseen", second.number, first.number)
    assert not diff(second).is_same
    assert diff(third).is_same and not diff(third).cache


def test_a_changed_source_is_told_word_by_word(client: Client, session: Session) -> None:
    session.background = "The red taxi is booked."
    session.save()
    answered(session, "Hello", "Hi")
    session.background = "The blue taxi is booked."
    session.save()
    page = read(client, answered(session, "Hello?", "Hi"), "diff")
    assert '<del><span class="sign">−</span>red ' in page
    assert '<ins><span class="sign">+</span>blue ' in page


def test_an_edit_elsewhere_shows_what_is_gone(session: Session) -> None:
    first, second = make_history(session, 2)
    assert {status for status, _ in statuses(pairs_of(second, first))} == {"gone"}


def test_settings_are_compared_without_the_cache(session: Session) -> None:
    first, second = make_history(session, 2)
    second.model = "gemini-2.5-pro"
    tail = second.stored_manifest.tail
    second.stored_manifest.tail = tail[:-1] + ',"cachedContent":"x","generationConfig":{"temperature":1}}'
    found = {setting.name: (setting.old, setting.new) for setting in settings_of(first, second)}
    assert found["model"] == ("gemini-3-flash-preview", "gemini-2.5-pro")
    assert found["generationConfig.temperature"] == ("", "1")
    assert not any("cachedContent" in name for name in found)


def test_any_exchange_can_be_chosen_and_an_unknown_one_does_not_exist(session: Session) -> None:
    first, _, third = make_history(session, 3)
    assert diff(third, **{"with": "1"}).other == first
    with pytest.raises(Http404):
        diff(third, **{"with": "99"})
    assert diff(third, **{"with": "nonsense"}).other == diff(third).other


def test_the_previous_exchange_is_that_of_its_branch(session: Session) -> None:
    first, _, third = make_history(session, 3)
    third.previous = first
    third.save()
    shown = diff(third)
    assert (shown.other, shown.previous) == (first, 1)


def test_the_first_exchange_has_nothing_before_it(client: Client, session: Session) -> None:
    exchange, _ = make_history(session, 2)
    assert diff(exchange).other is None
    assert "there is nothing before it" in read(client, exchange, "diff")


def test_what_differs_only_in_a_signature_says_so(session: Session) -> None:
    play_flight(session)
    exchange = make_exchange(make_run(session), route="route-b")
    hidden = [
        one
        for layer in diff(exchange, **{"with": "2"}).layers
        for one in layer.pairs
        if one.change and one.change.is_hidden
    ]
    assert hidden and all(one.pair.status == "changed" for one in hidden)


def test_a_large_item_waits_until_it_is_opened(client: Client, session: Session) -> None:
    answered(session, "Hello", "Hi")
    exchange = answered(session, "long " * INLINE_BYTES + "THE-VERY-END", "Hi")
    page = read(client, exchange, "diff")
    assert "THE-VERY-END" not in page and "Compare the words" in page
    place = f"x-{len(exchange.sent_items()) - 1}"
    address = reverse("exchange-change", args=[session.public, 2, 1, place])
    assert address in page
    assert "THE-VERY-END" in client.get(address).content.decode()


def test_a_change_that_is_not_there_does_not_exist(client: Client, session: Session) -> None:
    make_history(session, 2)
    for other, place in ((1, "99-99"), (1, "x"), (9, "0-0")):
        address = reverse("exchange-change", args=[session.public, 2, other, place])
        assert client.get(address).status_code == 404


def test_another_persons_change_does_not_exist(stranger: Client, session: Session) -> None:
    make_history(session, 2)
    address = reverse("exchange-change", args=[session.public, 2, 1, "0-0"])
    assert stranger.get(address).status_code == 404


def test_an_exchange_of_another_session_is_never_compared(
    client: Client, session: Session, bob: User
) -> None:
    make_history(make_session(bob), 3)
    exchange = answered(session, "Hello", "Hi")
    assert client.get(exchange.get_absolute_url(), {"tab": "diff", "with": "3"}).status_code == 404


@given(st.permutations(range(8)))
def test_what_strayed_is_all_but_a_longest_run_in_order(order: list[int]) -> None:
    kept = [one for one in order if one not in outside_order(order)]
    assert kept == sorted(kept)
    assert len(kept) == longest(order)


def longest(order: list[Any]) -> int:
    best: list[int] = []
    for at, value in enumerate(order):
        best.append(1 + max((best[i] for i in range(at) if order[i] < value), default=0))
    return max(best, default=0)


def test_panels_in_another_order_are_the_same_and_reordered(client: Client, session: Session) -> None:
    first, second = make_history(session, 2)
    entries = second.stored_manifest.entries
    names = [item.source.name for item in second.sent_items()]
    clock, todos = names.index("clock"), names.index("panel:todos")
    entries[clock], entries[todos] = entries[todos], entries[clock]
    reordered = [pair for pair in pairs_of(first, second) if pair.reordered]
    assert len(reordered) >= 1 and all(pair.status == "same" for pair in reordered)


def test_the_diff_costs_the_same_however_long(
    client: Client, session: Session, django_assert_max_num_queries: Any
) -> None:
    exchanges = make_history(session, 20)
    with django_assert_max_num_queries(13):
        read(client, exchanges[-1], "diff")
