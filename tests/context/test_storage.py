"""Bytes that people upload and store: booked before they are taken, counted again now and then."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction
from django.utils import timezone
from pytest_django import Settings

from sessions_app.context.storage import MEGABYTE, check_storage, check_upload, count_stored, old_counts
from sessions_app.context.workspaces import workspace_of
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import OverLimit
from sessions_app.models import Blob, PersonalLimits, PersonalUsage
from sessions_app.workspace import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def limits(alice: User, settings: Settings, tmp_path: Path) -> PersonalLimits:
    settings.PIPEWEB_WORKSPACES = tmp_path
    return PersonalLimits.objects.create(user=alice, upload_mb_per_day=3, storage_mb=5)


def age(user: User, by: timedelta) -> None:
    PersonalUsage.objects.filter(user=user).update(counted_at=timezone.now() - by)


def test_uploads_of_a_day_are_booked(alice: User, bob: User) -> None:
    check_upload(alice.pk, 2 * MEGABYTE)
    check_upload(bob.pk, 2 * MEGABYTE)
    with pytest.raises(OverLimit) as refused:
        check_upload(alice.pk, 2 * MEGABYTE)
    assert refused.value.reason is RefusalCode.UPLOAD_MB_PER_DAY
    assert (refused.value.figures["used"], refused.value.figures["limit"]) == (2, 3)
    assert 0 < (refused.value.seconds or 0) <= 86_400
    check_upload(alice.pk, MEGABYTE)
    PersonalUsage.objects.update(day=timezone.now().date() - timedelta(days=1))
    check_upload(alice.pk, MEGABYTE)
    assert PersonalUsage.objects.get(user=alice).uploaded == MEGABYTE


def test_a_file_larger_than_the_limit_of_a_day_waits_for_no_other_day(alice: User) -> None:
    with pytest.raises(OverLimit) as refused:
        check_upload(alice.pk, 3 * MEGABYTE + 1)
    assert (refused.value.reason, refused.value.seconds) == (RefusalCode.UPLOAD_MB_PER_DAY, None)


def test_what_is_stored_is_counted_in_the_workspace_and_in_the_blobs(alice: User) -> None:
    workspace_of(alice.pk).write_text("notes/a.md", "x" * 1_000)
    Blob.objects.store(alice.pk, [b"y" * 500])
    assert count_stored(alice.pk).stored == 1_500


@pytest.mark.django_db(transaction=True)
def test_storage_is_reserved_until_it_is_counted_again(alice: User) -> None:
    check_storage(alice.pk, 4 * MEGABYTE)
    with pytest.raises(OverLimit) as refused:
        check_storage(alice.pk, 2 * MEGABYTE)
    assert refused.value.reason is RefusalCode.STORAGE_MB and refused.value.figures["used"] == 4
    age(alice, timedelta(seconds=61))  # Nothing was written after all, or it was removed.
    check_storage(alice.pk, 2 * MEGABYTE)


def test_an_upload_that_does_not_fit_is_not_booked(alice: User, limits: PersonalLimits) -> None:
    limits.storage_mb = 1
    limits.save()
    with pytest.raises(OverLimit):
        check_upload(alice.pk, 2 * MEGABYTE)
    assert PersonalUsage.objects.get(user=alice).uploaded_today == 0


@pytest.mark.django_db(transaction=True)
def test_a_walk_is_made_once_in_a_while_and_never_inside_a_transaction(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks: list[int] = []

    def count(user_id: int) -> PersonalUsage:
        walks.append(user_id)
        return count_stored(user_id)

    monkeypatch.setattr("sessions_app.context.storage.count_stored", count)
    check_storage(alice.pk, 1)
    check_storage(alice.pk, 1)
    assert walks == [alice.pk]
    age(alice, timedelta(minutes=11))
    assert old_counts() == [alice.pk]
    check_storage(alice.pk, 1)
    assert len(walks) == 2 and old_counts() == []


@pytest.fixture
def while_it_walks(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Acts once, in the walk of the next count."""

    def plan(act: Callable[[], object]) -> None:
        walk, acts = Workspace.size, [act]

        def size(workspace: Workspace) -> int:
            found = walk(workspace)
            if acts:
                acts.pop()()
            return found

        monkeypatch.setattr(Workspace, "size", size)

    return plan


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_first", [True, False])
def test_what_is_reserved_beside_a_count_is_kept(
    alice: User, while_it_walks: Callable[[Callable[[], object]], None], is_first: bool
) -> None:
    workspace_of(alice.pk).write_text("a.md", "x" * 1_000)
    if not is_first:
        check_storage(alice.pk, MEGABYTE)

    def upload() -> None:
        with transaction.atomic():
            check_upload(alice.pk, 2 * MEGABYTE)

    while_it_walks(upload)
    usage = count_stored(alice.pk)
    usage.refresh_from_db()
    assert (usage.stored, usage.uploaded) == (2 * MEGABYTE + 1_000, 2 * MEGABYTE)


@pytest.mark.django_db(transaction=True)
def test_of_two_counts_beside_each_other_none_loses_what_was_reserved_between(
    alice: User, while_it_walks: Callable[[Callable[[], object]], None]
) -> None:
    check_storage(alice.pk, 4 * MEGABYTE)  # Nothing was written after all.

    def count_and_upload() -> None:
        count_stored(alice.pk)
        check_upload(alice.pk, 2 * MEGABYTE)

    while_it_walks(count_and_upload)
    assert count_stored(alice.pk).stored == 2 * MEGABYTE
    assert PersonalUsage.objects.get().stored == 2 * MEGABYTE


@pytest.mark.django_db(transaction=True)
def test_a_count_waits_for_an_upload_that_holds_the_row(
    alice: User, while_it_walks: Callable[[Callable[[], object]], None]
) -> None:
    check_storage(alice.pk, 1)
    held = Event()

    def edit() -> None:
        try:
            with transaction.atomic():
                PersonalUsage.objects.hold(alice.pk)
                held.set()
                check_storage(alice.pk, MEGABYTE)
        finally:
            held.set()
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        editing: list[Future[None]] = []

        def begin() -> None:
            editing.append(thread.submit(edit))
            assert held.wait(60)

        while_it_walks(begin)
        count_stored(alice.pk)
        editing[0].result(60)
    assert PersonalUsage.objects.get().stored == MEGABYTE
