"""Making, listing and revoking links: a person reaches their own only."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.error_codes import ShareProblem
from sessions_app.models import Blob, PersonalLimits, Session, SharedLink
from sessions_app.sharing import public_views
from sessions_app.wording import sharing
from tests.factories import answered, make_session
from tests.sharing.links import address, digest_in, make_link, preview, read


@pytest.fixture
def session(alice: User) -> Session:
    session = make_session(alice)
    answered(session, "What is **two**?", "It is *two*.")
    return session


def dialog(client: Client, session: Session) -> str:
    return client.get(reverse("share", args=[session.public])).content.decode()


def test_the_dialog_previews_the_text_alone(client: Client, session: Session) -> None:
    html = dialog(client, session)
    assert "It is <em>two</em>." in html and digest_in(html) == digest_in(preview(client, session))


def test_the_preview_is_what_the_link_shows(client: Client, session: Session) -> None:
    shown = preview(client, session)
    body = shown[shown.index('<div class="transcript') :].strip()
    assert body in read(make_link(client, session))


def test_a_link_shows_nothing_of_what_came_later(client: Client, session: Session) -> None:
    link = make_link(client, session)
    before = read(link)
    answered(session, "Later", "Later still")
    session.rename("Another title")
    assert read(link) == before


def test_a_link_is_made_of_what_was_previewed_only(client: Client, session: Session) -> None:
    digest = digest_in(preview(client, session))
    answered(session, "Later", "Later still")
    answer = client.post(
        reverse("share", args=[session.public]), {"content": "text", "lifetime": "", "digest": digest}
    )
    assert sharing.PROBLEMS[ShareProblem.CHANGED] in answer.content.decode()
    assert not SharedLink.objects.exists()


def test_the_leaf_of_the_form_is_where_the_link_ends(client: Client, session: Session) -> None:
    leaf = session.head
    answered(session, "Later", "Later still")
    assert leaf
    link = make_link(client, session, leaf=str(leaf.public))
    assert "Later" not in read(link)


@pytest.mark.parametrize("leaf", ["x", "6a0c0c35-5e8a-4dbb-a3bb-4ce4c7d2f8d5"])
def test_a_leaf_of_another_session_is_not_found(client: Client, session: Session, leaf: str) -> None:
    assert client.get(reverse("share", args=[session.public]), {"leaf": leaf}).status_code == 404


@pytest.mark.parametrize(("lifetime", "days"), [("1", 1), ("7", 7), ("30", 30), ("", None)])
def test_a_link_ends_when_it_was_said(
    client: Client, session: Session, lifetime: str, days: int | None
) -> None:
    link = make_link(client, session, lifetime=lifetime)
    if days is None:
        assert link.expires_at is None
    else:
        assert link.expires_at
        assert abs(link.expires_at - timezone.now() - timedelta(days=days)) < timedelta(minutes=1)


def test_wrong_choices_make_no_link(client: Client, session: Session) -> None:
    digest = digest_in(preview(client, session))
    for wrong in ({"content": "all"}, {"lifetime": "365"}, {"chosen_files": "0"}):
        client.post(
            reverse("share", args=[session.public]),
            {"content": "text", "lifetime": "1", "digest": digest, **wrong},
        )
    assert not SharedLink.objects.exists()


def test_the_list_has_the_address_until_it_is_revoked(client: Client, session: Session) -> None:
    link = make_link(client, session)
    assert address(link) in client.get(reverse("shared-links")).content.decode()
    stored = Blob.objects.count()
    assert client.post(reverse("revoke-link", args=[link.public])).status_code == 302
    page = client.get(reverse("shared-links")).content.decode()
    assert address(link) not in page and "No link is open." in page
    assert not SharedLink.objects.exists() and Blob.objects.count() == stored - 1
    read(link, status=404)


def test_a_link_that_another_page_has_revoked_is_closed_as_well(client: Client, session: Session) -> None:
    link = make_link(client, session)
    for _ in range(2):
        answer = client.post(reverse("revoke-link", args=[link.public]), follow=True)
        assert answer.redirect_chain == [(reverse("shared-links"), 302)]
        assert [str(message) for message in answer.context["messages"]] == [sharing.REVOKED]


def test_a_link_of_a_deleted_chat_is_revoked_for_good(client: Client, session: Session) -> None:
    link = make_link(client, session)
    session.soft_delete()
    client.post(reverse("revoke-link", args=[link.public]))
    assert not SharedLink.objects.exists()


def test_nobody_shares_or_revokes_what_is_anothers(
    client: Client, stranger: Client, session: Session
) -> None:
    link = make_link(client, session)
    assert stranger.get(reverse("share", args=[session.public])).status_code == 404
    assert stranger.post(reverse("share-preview", args=[session.public])).status_code == 404
    assert stranger.post(reverse("revoke-link", args=[link.public])).status_code == 404
    assert address(link) not in stranger.get(reverse("shared-links")).content.decode()
    read(link)


def test_a_temporary_session_is_not_shared(client: Client, alice: User) -> None:
    session = make_session(alice, temporary=True)
    answered(session, "Hello", "Hi")
    assert sharing.PROBLEMS[ShareProblem.TEMPORARY] in dialog(client, session)


def test_switched_off_says_why_and_closes_the_links(client: Client, session: Session) -> None:
    link = make_link(client, session)
    everybody = PersonalLimits.objects.create(shared_links=0)
    read(link, status=404)
    assert sharing.PROBLEMS[ShareProblem.SWITCHED_OFF] in dialog(client, session)
    assert "switched sharing off" in client.get(reverse("shared-links")).content.decode()
    everybody.delete()
    read(link)


def test_a_person_has_a_number_of_links(client: Client, session: Session) -> None:
    PersonalLimits.objects.create(shared_links=1)
    make_link(client, session)
    digest = digest_in(preview(client, session))
    answer = client.post(
        reverse("share", args=[session.public]), {"content": "text", "lifetime": "1", "digest": digest}
    )
    assert "Shared links: 1. Your limit is 1." in answer.content.decode()
    assert SharedLink.objects.count() == 1


def test_a_storage_that_is_full_makes_no_link(client: Client, session: Session) -> None:
    PersonalLimits.objects.create(storage_mb=0)
    digest = digest_in(preview(client, session))
    answer = client.post(
        reverse("share", args=[session.public]), {"content": "text", "lifetime": "1", "digest": digest}
    )
    assert "Stored for you" in answer.content.decode() and not SharedLink.objects.exists()


def test_the_list_erases_what_has_expired(client: Client, session: Session) -> None:
    link = make_link(client, session)
    SharedLink.objects.update(expires_at=timezone.now())
    assert address(link) not in client.get(reverse("shared-links")).content.decode()
    assert not SharedLink.objects.exists()


def test_a_busy_link_asks_to_wait(client: Client, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    link, other = make_link(client, session), make_link(client, session, content="full")
    monkeypatch.setattr(public_views, "BURST", 2)
    monkeypatch.setattr(public_views, "PER_SECOND", 0.01)
    public_views._rate_of.cache_clear()
    for _ in range(2):
        read(link)
    answer = Client().get(address(link))
    assert answer.status_code == 429 and int(answer["Retry-After"]) > 1
    read(other)
    public_views._rate_of.cache_clear()
