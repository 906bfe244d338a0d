"""What machines ask, and what strangers must not learn."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.health import views
from sessions_app.metrics import EVENTS, REGISTRY

pytestmark = pytest.mark.django_db


@pytest.fixture
def machine() -> Client:
    """A caller that is not signed in."""
    return Client()


@pytest.fixture
def counted() -> float:
    EVENTS.inc(3)
    return REGISTRY.get_sample_value("pipeweb_events_total") or 0


def test_this_machine_reads_the_figures(machine: Client, counted: float) -> None:
    answer = machine.get("/metrics")
    assert answer["Content-Type"].startswith("text/plain")
    assert f"pipeweb_events_total {counted}" in answer.content.decode()


@pytest.mark.parametrize("address", ["203.0.113.7", "::ffff:203.0.113.7", "", "not an address"])
def test_another_machine_finds_no_figures(machine: Client, address: str) -> None:
    assert machine.get("/metrics", REMOTE_ADDR=address).status_code == 404


@pytest.mark.parametrize("header", views.PROXY_HEADERS)
def test_what_a_proxy_of_this_machine_passes_on_is_not_local(machine: Client, header: str) -> None:
    forwarded: dict[str, Any] = {header: "127.0.0.1"}
    assert machine.get("/metrics", **forwarded).status_code == 404


@pytest.mark.parametrize(("is_staff", "status"), [(True, 200), (False, 404)])
def test_of_people_only_staff_read_the_figures(
    alice: User, client: Client, is_staff: bool, status: int
) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=is_staff)
    assert client.get("/metrics", REMOTE_ADDR="203.0.113.7").status_code == status
