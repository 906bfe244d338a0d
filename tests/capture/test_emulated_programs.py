"""Whatever a program changes between two requests: the audit agrees, and no page claims what is not so."""

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from sessions_app.models import CaptureAddress
from tests.capture.answers import audited
from tests.capture.emulated_program import MODELS, STEPS, EmulatedProgram
from tests.capture.random_programs import unsound
from tests.inspector.test_captured_pages import claims_on_pages
from tests.prices import make_price

pytestmark = pytest.mark.django_db


@settings(
    max_examples=2,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.sampled_from(list(STEPS)), min_size=2, max_size=9), st.booleans())
@example(["say", "keep", "say", "lose", "again", "edit"], False)
@example(["keep", "say", "lose", "say", "clock", "clock"], True)
@example(["call", "bare", "flip", "fail", "slide", "slide", "switch", "switch"], False)
def test_the_audit_agrees_with_what_is_said_of_it(
    client: Client, alice: User, steps: list[str], named: bool
) -> None:
    with transaction.atomic():
        for model in MODELS:
            make_price(model)
        address = CaptureAddress.issue(alice.pk, "Laptop", upstream=CaptureAddress.Upstream.EMULATOR)[0]
        program = EmulatedProgram(address, named)
        for step in steps:
            STEPS[step](program)
        assert not unsound() and not audited() and claims_on_pages(client) == {}
        transaction.set_rollback(True)
