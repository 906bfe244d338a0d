"""Two requests have the same settings where all that stands beside their prompts is the same."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.audit.audit import audit_session
from sessions_app.models import CaptureAddress, Exchange, Session
from sessions_app.prompt import wire
from sessions_app.prompt.verdict import VerdictReason
from sessions_app.runs.sent_settings import have_same_settings
from tests.capture.conversations import body_of, model, user
from tests.capture.program import Program
from tests.factories import make_session, text_chunk

pytestmark = pytest.mark.django_db

USAGE = {"promptTokenCount": 9_000, "candidatesTokenCount": 5, "totalTokenCount": 9_005}
ANSWER = text_chunk("Hot.", finish="STOP", usage=USAGE)
FIRST, SECOND = user("How hot is the oven in the kitchen?"), user("And the one in the cellar?")
MODE_ANY = {"functionCallingConfig": {"mode": "ANY"}}
MODE_AUTO = {"functionCallingConfig": {"mode": "AUTO"}}
BLOCKING = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]


def asked(program: Program, *contents: Any, **beside: Any) -> Exchange:
    row = program.ask(body_of(contents, **beside), ANSWER, model="gemini-3-flash-preview")
    assert row.exchange is not None
    return row.exchange


@pytest.mark.parametrize(
    ("before", "now", "is_same"),
    [
        ({}, {}, True),
        ({"toolConfig": MODE_AUTO}, {"toolConfig": MODE_AUTO}, True),
        ({"tool_config": MODE_AUTO}, {"toolConfig": MODE_AUTO}, True),
        ({"generationConfig": {"topK": 3}}, {"generationConfig": {"topK": 4}}, False),
        ({"toolConfig": MODE_AUTO}, {"toolConfig": MODE_ANY}, False),
        ({"toolConfig": MODE_AUTO}, {}, False),
        ({}, {"safetySettings": BLOCKING}, False),
        ({"serviceTier": "flex"}, {"serviceTier": "standard"}, False),
        ({"continuationToken": "a"}, {"continuationToken": "b"}, True),
    ],
)
def test_a_miss_after_other_settings_is_not_the_providers(
    alice: User, before: dict[str, Any], now: dict[str, Any], is_same: bool
) -> None:
    program = Program(CaptureAddress.issue(alice.pk, "Laptop")[0])
    asked(program, FIRST, **before)
    exchange = asked(program, FIRST, model("Hot."), SECOND, **now)
    verdict = Exchange.objects.get(pk=exchange.pk).found_verdict
    assert verdict is not None
    assert verdict.reason is (VerdictReason.UNEXPLAINED if is_same else VerdictReason.OTHER_SETTINGS)
    assert list(audit_session(exchange.session_id, "captured")) == []


NAMED, NAMELESS = '"cachedContent":"cachedContents/a"', '"toolConfig":{"mode":"ANY"}'


@pytest.mark.parametrize(
    ("before", "now", "is_same"),
    [
        ("", "", True),
        (NAMELESS, NAMELESS, True),
        (NAMELESS, NAMED, True),
        (NAMED, NAMED.replace("/a", "/b"), True),
        (NAMELESS, "", False),
        (NAMELESS, NAMELESS.replace("ANY", "AUTO"), False),
        ('"generationConfig":{"topK":3}', f'"generationConfig":{{"topK":4}},{NAMED}', False),
        ('"continuationToken":"a"', "", True),
    ],
)
def test_our_own_requests_are_compared_by_their_ends(
    alice: User, before: str, now: str, is_same: bool
) -> None:
    was, then = (_ended_with(make_session(alice), one) for one in (before, now))
    assert have_same_settings(was, then) is have_same_settings(then, was) is is_same


def _ended_with(session: Session, beside: str) -> Exchange:
    tail = "]" + (f",{beside}" if beside else "") + "}"
    assert wire.loads('{"contents":[' + tail)
    return Exchange(session=session, manifest={"entries": [], "tail": tail})
