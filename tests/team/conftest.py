"""The sign-in of a team. `tests/accounts/test_team.py` runs these with PIPEWEB_ACCOUNTS=team."""

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from tests.team.people import Person

collect_ignore_glob = [] if settings.PIPEWEB_ACCOUNTS == "team" else ["test_*.py"]


@pytest.fixture(autouse=True)
def fresh_cache() -> None:
    """Used codes and counted requests are of the test before."""
    cache.clear()


@pytest.fixture
def alice_at(alice: User) -> Person:
    """Alice with a password, in no browser yet."""
    return Person(alice, "wonderland")


@pytest.fixture
def guarded(alice_at: Person, transactional_db: None) -> Person:
    """Alice, whose second factor is on; signed in where she turned it on."""
    alice_at.sign_in()
    alice_at.turn_on()
    return alice_at


@pytest.fixture
def administrator(db: None) -> Client:
    root = User.objects.create_superuser("root", password="hunter-and-gatherer")
    client = Client()
    client.force_login(root)
    return client
