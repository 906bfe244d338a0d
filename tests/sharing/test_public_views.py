"""What a link opens for somebody without an account, and when it opens nothing."""

import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.models import Blob, Session, SharedFile, SharedLink, Turn
from sessions_app.models.shared_link import new_token
from sessions_app.prompt.media import inline_part
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind
from sessions_app.prompt.wire import dumps
from sessions_app.runs.person_erasure import erase_person
from tests.factories import answered, make_session, play_flight
from tests.sharing.links import address, make_link, read

PNG = b"\x89PNG\r\n\x1a\n picture"


@pytest.fixture
def session(alice: User) -> Session:
    session = make_session(alice, title="Two & two")
    parts = [inline_part(PNG, "image/png", "a.png"), inline_part(b"<svg onload=x>", "image/svg+xml", "b.svg")]
    wire = dumps({"role": "user", "parts": [*parts, {"text": "<b>What</b> is this?"}]})
    Turn.append(session, TurnValue(str(uuid.uuid4()), TurnKind.USER_TASK, wire), parent=None)
    play_flight(session)
    return session


@pytest.fixture
def link(client: Client, session: Session) -> SharedLink:
    return make_link(client, session, content="full", chosen_files=["0", "1"])


def test_no_account_and_no_cookie(link: SharedLink) -> None:
    visitor = Client()
    answer = visitor.get(address(link))
    html = answer.content.decode()
    assert answer.status_code == 200 and "Two &amp; two" in html and "check_flight" in html
    assert "&lt;b&gt;What&lt;/b&gt;" in html and "<script" not in html and "alice" not in html
    assert not visitor.cookies


def test_the_page_is_kept_and_indexed_by_nobody(link: SharedLink) -> None:
    for url in (address(link), reverse("shared-file", args=[link.token, 0])):
        answer = Client().get(url)
        assert answer["Cache-Control"] == "private, no-store"
        assert answer["Referrer-Policy"] == "no-referrer"
        assert "noindex" in answer["X-Robots-Tag"] and answer["X-Frame-Options"] == "DENY"
        assert "Vary" not in answer or "Cookie" not in answer["Vary"]
    assert '<meta name="robots" content="noindex' in read(link)


def test_the_policy_of_the_page_allows_no_script(link: SharedLink) -> None:
    policy = Client().get(address(link))["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src" not in policy and "unsafe" not in policy


def test_files_are_served_as_harmless_ones(link: SharedLink) -> None:
    picture, drawing = (Client().get(reverse("shared-file", args=[link.token, n])) for n in range(2))
    assert picture.content == PNG and picture["Content-Type"] == "image/png"
    assert drawing["Content-Type"] == "application/octet-stream"
    assert drawing["Content-Disposition"].startswith("attachment")
    for answer in (picture, drawing):
        assert "sandbox" in answer["Content-Security-Policy"]
        assert answer["X-Content-Type-Options"] == "nosniff"


def test_files_and_text_stay_when_what_nobody_needs_is_removed(link: SharedLink, alice: User) -> None:
    page = read(link)
    Blob.objects.delete_unreferenced(alice.pk)
    assert read(link) == page
    assert Client().get(reverse("shared-file", args=[link.token, 0])).content == PNG


def test_a_file_that_was_not_chosen_is_not_there(client: Client, session: Session) -> None:
    link = make_link(client, session, chosen_files=["1"])
    assert Client().get(reverse("shared-file", args=[link.token, 1])).status_code == 404
    assert Client().get(reverse("shared-file", args=[link.token, 0])).content == b"<svg onload=x>"
    assert "a.png" not in read(link) and "1 file not shared" in read(link)


def test_a_link_does_not_open_another_links_file(client: Client, link: SharedLink, session: Session) -> None:
    other = make_link(client, session)
    assert Client().get(reverse("shared-file", args=[other.token, 0])).status_code == 404


def test_an_unknown_token_is_like_anything_that_is_not_yours(link: SharedLink, session: Session) -> None:
    stranger = User.objects.create_user("carol")
    visitor = Client()
    visitor.force_login(stranger)
    other = visitor.get(session.get_absolute_url())
    for token in (new_token(), link.token[:-1], "x", "é" * 300):
        answer = visitor.get(reverse("shared", args=[token]))
        assert answer.status_code == 404
        assert ignoring_tokens(answer.content) == ignoring_tokens(other.content)


def ignoring_tokens(page: bytes) -> list[bytes]:
    """The lines of a page but those with a CSRF token, a nonce or its address."""
    left_out = (b"oken", b"nonce", b'name="next"')
    return [line for line in page.splitlines() if not any(word in line for word in left_out)]


def test_an_expired_link_opens_nothing(link: SharedLink) -> None:
    SharedLink.objects.update(expires_at=timezone.now() + timedelta(seconds=60))
    read(link)
    SharedLink.objects.update(expires_at=timezone.now())
    read(link, status=404)


def test_deleting_closes_undo_opens_and_erasing_erases(link: SharedLink, session: Session) -> None:
    session.soft_delete()
    read(link, status=404)
    Session.objects.filter(pk=session.pk).apply_action("restore")
    read(link)
    Session.objects.get(pk=session.pk).erase()
    read(link, status=404)
    assert not SharedLink.objects.exists() and not SharedFile.objects.exists() and not Blob.objects.exists()


def test_a_deactivated_person_shares_nothing(link: SharedLink, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_active=False)
    read(link, status=404)


def test_erasing_a_person_erases_their_links(link: SharedLink, alice: User) -> None:
    erase_person(alice, by=None)
    assert not SharedLink.objects.exists() and not Blob.objects.exists()
    assert Client().get(address(link)).status_code == 404


def test_a_token_has_more_than_128_bits_and_is_never_the_same() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100 and all(len(token) * 6 >= 128 for token in tokens)


def test_a_link_is_read_and_nothing_else(link: SharedLink) -> None:
    assert Client().post(address(link)).status_code == 405
    assert Client().head(address(link)).status_code == 200


def test_a_copy_stays_as_it_was_when_the_turn_changes(client: Client, alice: User) -> None:
    session = make_session(alice)
    answered(session, "Hello", "Hi")
    link = make_link(client, session)
    session.turns.filter(kind=TurnKind.MODEL_RESPONSE).update(text="Changed")
    assert "Hi" in read(link)
