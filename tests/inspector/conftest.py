import pytest
from django.contrib.auth.models import User

from sessions_app.models import CaptureAddress, Session
from tests.capture.program import Program
from tests.factories import make_session


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


@pytest.fixture
def program(alice: User) -> Program:
    return Program(CaptureAddress.issue(alice.pk, "Laptop")[0])
