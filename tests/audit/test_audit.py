"""The audit of sessions that the product made, sound and with one figure changed."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from sessions_app.audit.audit import audit_session
from sessions_app.audit.differences import Difference, Figure
from sessions_app.models import Exchange, Session
from tests.runs.patient_person import PatientPerson

BROKEN: dict[Figure, dict[str, Any]] = {
    Figure.REQUEST_SIZE: {"request_size": 7},
    Figure.REQUEST_SHA256: {"request_sha256": "0" * 64},
    Figure.LAYER_TOKENS: {"layer_tokens": {"static": 1}},
    Figure.USAGE: {"usage": {"totalTokenCount": 1}},
    Figure.PROMPT_TOKENS: {"prompt_tokens": 99_999},
    Figure.CACHED_TOKENS: {"cached_tokens": 9_999},
    Figure.OUTPUT_TOKENS: {"output_tokens": 999_999},
    Figure.THOUGHT_TOKENS: {"thought_tokens": 999_999},
    Figure.FINISH_REASON: {"finish_reason": "OTHER"},
    Figure.SERVED_MODEL: {"served_model": "gemini-0"},
    Figure.RESPONSE_ID: {"response_id": "another"},
    Figure.COST: {"usd": Decimal("12.5")},
    Figure.LOST_TOKENS: {"lost_tokens": 999_999},
    Figure.LOST_USD: {"lost_usd": Decimal("0.5")},
    Figure.VERDICT: {"verdict": "our_drop"},
    Figure.RESERVED_USD: {"reserved_usd": Decimal("0.00000001")},
}
"""By figure a change of one exchange that only this figure contradicts, and perhaps the loss of the next."""

FOLLOWING = {(3, Figure.LOST_TOKENS), (3, Figure.LOST_USD)}
"""What the next exchange lost is computed from what was cached for this one."""

BROKEN_IN_JSON = {
    Figure.BREAK_PLACE,
    Figure.COMPARED_WITH,
    Figure.IMPLICIT_MINIMUM,
    Figure.BREAK_BYTES,
    Figure.CULPRIT,
    Figure.PREFIX_TOKENS,
    Figure.NAMED_EVENTS,
    Figure.CACHE_LIFE,
}
"""Broken in `test_mutations` and `test_compared`: within a column, or in other rows."""


@pytest.fixture
def session(alice: User, transactional_db: None) -> Iterator[Session]:
    """Some messages with tool rounds before a kind provider."""
    person = PatientPerson(1, alice)
    person.provider.be_kind(True)
    person.send(1, 2)
    person.send(0, 1)
    yield person.session
    person.process.end()


def audited(session: Session) -> list[Difference]:
    return list(audit_session(session.pk, str(session.public)))


def test_what_the_product_stored_follows_from_the_raw_rows(session: Session) -> None:
    assert session.exchanges.count() == 3
    assert audited(session) == []


def test_each_changed_figure_is_noticed_and_no_other(session: Session) -> None:
    exchange = session.exchanges.get(number=2)
    rows = Exchange.objects.filter(pk=exchange.pk)
    for figure, changes in BROKEN.items():
        kept = rows.values(*changes).get()
        rows.update(**changes)
        found = {(one.exchange, one.figure) for one in audited(session)}
        assert found - FOLLOWING == {(2, figure)}
        assert not found & FOLLOWING or figure is Figure.CACHED_TOKENS
        rows.update(**kept)


def test_every_figure_is_broken_by_a_test() -> None:
    assert set(BROKEN) | BROKEN_IN_JSON == set(Figure)


def test_the_command_exits_with_1_when_a_figure_differs(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("audit", "--all")
    session.exchanges.filter(number=1).update(prompt_tokens=3)
    with pytest.raises(SystemExit) as exit_:
        call_command("audit", str(session.public))
    assert exit_.value.code == 1
    assert f"{session.public} exchange 1: prompt_tokens is stored as 3" in capsys.readouterr().out
