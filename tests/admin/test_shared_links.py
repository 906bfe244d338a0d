"""The admin lists links by owner and revokes them; it shows neither their content nor their address."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.models import SharedLink
from tests.factories import answered, make_session
from tests.sharing.links import make_link, read


@pytest.fixture
def link(client: Client, alice: User) -> SharedLink:
    session = make_session(alice, title="Private title")
    answered(session, "Private question", "Private answer")
    return make_link(client, session)


def test_owner_and_end_without_content(admin_client: Client, link: SharedLink) -> None:
    pages = (
        reverse("admin:sessions_app_sharedlink_changelist"),
        reverse("admin:sessions_app_sharedlink_change", args=[link.pk]),
    )
    for url in pages:
        html = admin_client.get(url).content.decode()
        assert "alice" in html and link.token not in html and "Private" not in html


def test_deleting_revokes(admin_client: Client, link: SharedLink) -> None:
    answer = admin_client.post(
        reverse("admin:sessions_app_sharedlink_changelist"),
        {"action": "delete_selected", "_selected_action": [link.pk], "post": "yes"},
    )
    assert answer.status_code == 302 and not SharedLink.objects.exists()
    read(link, status=404)


def test_staff_without_the_permission_cannot_revoke(client: Client, link: SharedLink, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    url = reverse("admin:sessions_app_sharedlink_delete", args=[link.pk])
    assert client.post(url, {"post": "yes"}).status_code == 403
    assert SharedLink.objects.exists()
