"""Other sentences on the same pages change nothing but text: no code compares or splits a sentence."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.error_codes import CaptureFault
from sessions_app.inspector.tabs import TABS
from sessions_app.mcp_codes import ListingLoss
from sessions_app.models import (
    AuditEntry,
    CacheEntry,
    CaptureAddress,
    CapturedRequest,
    Exchange,
    ImportJob,
    McpServer,
    RetentionRules,
    Run,
    Session,
)
from sessions_app.wording import imports
from tests.factories import make_session
from tests.wording.figures import figures_of
from tests.wording.sessions import Example, make_examples
from tests.wording.skeleton import skeleton
from tests.wording.templates import all_templates, reworded

OF_A_SESSION = (
    "outlook",
    "gauge",
    "panels",
    "details",
    "session-settings",
    "session-model",
    "arguments",
    "exchanges",
    "session-savings",
    "share",
)
"""What a session's page loads beside the conversation, and the inspector's list."""


@pytest.fixture
def staff(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def addresses(session: Session, example: Example) -> Iterator[str]:
    """The chat, the cards of its answers, the drawer, the inspector's list, tabs and refused runs."""
    yield session.get_absolute_url()
    yield from (reverse(name, args=[session.public]) for name in OF_A_SESSION)
    yield reverse("exchanges", args=[session.public]) + "?page=2&verdict=hit"
    for run in Run.objects.filter(session=session).exclude(stages=[]):
        yield reverse("refused-run", args=[session.public, run.public])
    exchanges = list(Exchange.objects.filter(session=session).select_related("run", "session"))
    for exchange in exchanges:
        yield reverse("account", args=[session.public, exchange.run.public])
        yield from (f"{exchange.get_absolute_url()}?tab={tab}" for tab in example.tabs)
    for exchange in exchanges[-1:]:
        yield from (f"{exchange.get_absolute_url()}?tab={tab.id}" for tab in TABS)


OF_A_TEAM = {"sign_ins"}
"""Modules whose pages are there with PIPEWEB_ACCOUNTS=team only (`tests/team/test_sign_in.py`)."""


def admin_addresses() -> Iterator[str]:
    newest = {"exchange": Exchange.objects.latest("pk"), "cacheentry": CacheEntry.objects.latest("pk")}
    yield reverse("admin:sessions_app_auditentry_change", args=[AuditEntry.objects.earliest("pk").pk])
    for model, row in newest.items():
        yield reverse(f"admin:sessions_app_{model}_changelist")
        yield reverse(f"admin:sessions_app_{model}_change", args=[row.pk])
    yield from (reverse(f"admin:sessions_app_{model}_changelist") for model in ("run", "turn", "booking"))


def read(client: Client, wanted: Iterator[str]) -> dict[str, str]:
    answers = {address: client.get(address) for address in wanted}
    assert {address for address, answer in answers.items() if answer.status_code != 200} == set()
    return {address: answer.content.decode() for address, answer in answers.items()}


def after_actions(client: Client, session: Session) -> dict[str, str]:
    """The messages after a session was archived, taken back, and taken out of its folder."""
    data = {"session": str(session.public)}
    moved = client.post(reverse("move-to-folder"), data, follow=True)
    return {"moved": moved.content.decode()} | {
        action: client.post(reverse("act"), {"act": action, **data}, follow=True).content.decode()
        for action in ("archive", "unarchive")
    }


def test_other_sentences_change_nothing_but_text(
    client: Client, staff: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine a cache would grow cold between the two readings.
    at = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: at)
    examples = make_examples(alice)
    arguments = reverse("arguments", args=[examples[0][0].public])
    for problem, text in imports.SENTENCES.items():
        error = {"reason": problem, "figures": figures_of(text)}
        ImportJob.objects.create(owner=alice, state=ImportJob.State.FAILED, error=error)

    address, _ = CaptureAddress.issue(alice.pk, "Laptop")
    CapturedRequest.objects.create(address=address, received_at=timezone.now(), fault=CaptureFault.REVOKED)

    server = McpServer.objects.create(name="notes", title="Notes", losses=[[ListingLoss.SAME_NAME, 2]])
    rules = RetentionRules.objects.create()
    make_session(alice, deleted_at=timezone.now() - timedelta(days=40))

    def pages() -> dict[str, str]:
        found = read(client, iter([reverse("sessions"), reverse("spending"), reverse("capture")]))
        found |= after_actions(client, examples[0][0])
        found["refused"] = client.post(arguments, {"args": "[NaN]"}).content.decode()
        settings = reverse("session-settings", args=[examples[0][0].public])
        found["no schema"] = client.post(settings, {"answer_schema": "{"}).content.decode()
        broken = SimpleUploadedFile("x.har", b"{}")
        found["no archive"] = client.post(reverse("har"), {"file": broken}, follow=True).content.decode()
        page = reverse("web-page", args=[examples[0][0].public])
        found["no page"] = client.post(page, {"url": "no address"}).content.decode()
        for session, example in examples:
            found |= read(client, addresses(session, example))
        preview = reverse("admin:sessions_app_retentionrules_change", args=[rules.pk])
        entered = reverse("admin:sessions_app_mcpserver_change", args=[server.pk])
        found |= read(staff, iter([reverse("key"), preview, entered]))
        return found | read(staff, admin_addresses())

    before = pages()
    for name, texts in all_templates():
        for key, text in list(texts.items()):
            monkeypatch.setitem(texts, key, reworded(name, key, text))
    after = pages()
    assert [one for one in before if skeleton(before[one]) != skeleton(after[one])] == []
    seen = set(re.findall(r"⟦(\w+)", "".join(after.values())))
    assert seen == {name.partition(".")[0] for name, _ in all_templates()} - OF_A_TEAM


def test_the_skeleton_sees_a_class_and_an_element_but_no_text() -> None:
    page = '<p class="good" title="a">hit</p>'
    assert skeleton(page) == skeleton('<p class="good" title="b">miss</p>')
    assert skeleton(page) != skeleton('<p class="bad" title="a">hit</p>')
    assert skeleton(page) != skeleton('<p class="good" title="a">hit</p><p>more</p>')
