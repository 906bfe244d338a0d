"""Addresses for other programs: the token is known to its owner only, and the address can end."""

import base64
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.capture.addresses import find_address
from sessions_app.error_codes import CaptureFault
from sessions_app.models import CaptureAddress
from sessions_app.models.capture_address import capture_digest

pytestmark = pytest.mark.django_db


def test_the_token_has_128_bits_and_is_not_stored(alice: User) -> None:
    row, token = CaptureAddress.issue(alice.pk, " Laptop ")
    assert len(base64.urlsafe_b64decode(f"{token}==")) == 16 and row.name == "Laptop"
    stored = CaptureAddress.objects.values().get()
    assert token not in str(stored) and stored["token_hash"] == capture_digest(token)
    assert CaptureAddress.issue(alice.pk, "Other")[1] != token


def test_an_address_is_found_by_its_token_until_it_ends(alice: User) -> None:
    row, token = CaptureAddress.issue(alice.pk, "Laptop", lifetime=timedelta(hours=1))
    digest = capture_digest(token)
    found = find_address(digest)
    assert found is not None and (found.pk, found.owner, found.fault) == (row.pk, alice.pk, None)
    CaptureAddress.objects.filter(pk=row.pk).update(expires_at=timezone.now())
    found = find_address(digest)
    assert found is not None and found.fault == CaptureFault.EXPIRED
    assert CaptureAddress.objects.filter(pk=row.pk).revoke() == 1
    found = find_address(digest)
    assert found is not None and found.fault == CaptureFault.REVOKED
    assert find_address(capture_digest("another")) is None


def test_an_address_without_an_end_stays(alice: User) -> None:
    row, _ = CaptureAddress.issue(alice.pk, "Laptop", lifetime=None)
    assert row.is_living and row in CaptureAddress.objects.living()


def test_nobody_who_was_deactivated_has_an_address(alice: User) -> None:
    _, token = CaptureAddress.issue(alice.pk, "Laptop")
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert find_address(capture_digest(token)) is None


def test_revoked_and_expired_ones_do_not_live(alice: User) -> None:
    kept, _ = CaptureAddress.issue(alice.pk, "1")
    gone, _ = CaptureAddress.issue(alice.pk, "2")
    CaptureAddress.issue(alice.pk, "3", lifetime=timedelta(0))
    CaptureAddress.objects.filter(pk=gone.pk).revoke()
    assert list(CaptureAddress.objects.of(alice).living()) == [kept]
