import pytest
from django.contrib.auth.models import User

from sessions_app.models import Session
from tests.factories import make_session


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)
