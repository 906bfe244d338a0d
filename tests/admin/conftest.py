import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.fixture
def root(db: None) -> Client:
    """The browser of a superuser."""
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client
