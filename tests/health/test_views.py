"""What machines ask, and what strangers must not learn."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from sessions_app.health import checks, views
from sessions_app.instruments import EVENTS, REGISTRY

pytestmark = pytest.mark.django_db


@pytest.fixture
def machine() -> Client:
    """A caller that is not signed in."""
    return Client()


@pytest.fixture
def redis_is(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Any:
    def answering(answers: bool) -> None:
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        monkeypatch.setattr(checks, "redis_answers", lambda: answers)

    return answering


def test_a_healthy_process_says_ok_and_its_version(machine: Client) -> None:
    answer = machine.get("/healthz")
    assert (answer.status_code, answer.json()) == (
        200,
        {"status": "ok", "database": "ok", "version": checks.version()},
    )


def test_redis_is_named_where_it_is_configured(machine: Client, redis_is: Any) -> None:
    redis_is(True)
    assert machine.get("/healthz").json()["redis"] == "ok"


def test_without_redis_the_process_serves_on_and_says_degraded(machine: Client, redis_is: Any) -> None:
    redis_is(False)
    answer = machine.get("/healthz")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["redis"]) == ("degraded", "no answer")


def test_a_redis_that_is_not_there_does_not_answer(settings: Settings) -> None:
    pytest.importorskip("redis")
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert checks.redis_answers() is False


def test_without_a_database_it_is_503_and_no_reason_leaks(
    machine: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> Any:
        raise DatabaseError("password of pipeweb at db.example.org is wrong")

    monkeypatch.setattr(connection, "cursor", refuse)
    answer = machine.get("/healthz")
    assert (answer.status_code, answer.json()["database"]) == (503, "no answer")
    assert b"example.org" not in answer.content


def test_health_is_never_cached_and_takes_no_post(machine: Client) -> None:
    assert "no-store" in machine.get("/healthz")["Cache-Control"]
    assert machine.post("/healthz").status_code == 405


def test_health_asks_one_question_of_the_database(
    machine: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        machine.get("/healthz")


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


@pytest.mark.parametrize("header", views.FORWARDED)
def test_what_a_proxy_of_this_machine_passes_on_is_not_local(machine: Client, header: str) -> None:
    forwarded: dict[str, Any] = {header: "127.0.0.1"}
    assert machine.get("/metrics", **forwarded).status_code == 404


@pytest.mark.parametrize(("is_staff", "status"), [(True, 200), (False, 404)])
def test_of_people_only_staff_read_the_figures(
    alice: User, client: Client, is_staff: bool, status: int
) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=is_staff)
    assert client.get("/metrics", REMOTE_ADDR="203.0.113.7").status_code == status


def test_health_holds_no_secret(machine: Client, settings: Settings, redis_is: Any) -> None:
    redis_is(False)
    settings.REDIS_URL = "redis://:hushhush@127.0.0.1:1/0"
    body = json.dumps(machine.get("/healthz").json())
    assert "hushhush" not in body and settings.SECRET_KEY not in body
