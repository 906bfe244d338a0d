"""The upload of a file to import, and the imports of a person in the list."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from sessions_app.chat import import_views
from sessions_app.chat.imports import add_job
from sessions_app.models import ImportJob


def upload(client: Client, body: bytes, **headers: Any) -> Any:
    return client.post(reverse("import"), {"file": SimpleUploadedFile("talk.json", body)}, headers=headers)


def test_a_failure_is_said_beside_the_field(client: Client) -> None:
    answer = upload(client, b"[{]", **{"HX-Request": "true"})
    assert "The file is not JSON, or damaged, at byte" in answer.content.decode()
    assert not ImportJob.objects.exists()


def test_a_large_file_is_refused_by_its_size(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_views, "IMPORT_LIMIT", 2**20)
    answer = upload(client, b" " * (2**20 + 1), **{"HX-Request": "true"})
    assert "at most 1 MB can be imported" in answer.content.decode() and not ImportJob.objects.exists()


def test_the_list_shows_what_goes_on_and_how_it_ended(client: Client, stranger: Client, alice: User) -> None:
    job = add_job(alice, "talk.json", [b"{}"])
    page = client.get(reverse("sessions")).content.decode()
    assert "Checking the file" in page and 'hx-trigger="every 1s"' in page
    ImportJob.objects.update(state=ImportJob.State.RUNNING, done=1_500, total=3_000)
    assert "1,500 of 3,000" in client.get(reverse("imports")).content.decode()
    assert "talk.json" not in stranger.get(reverse("imports")).content.decode()
    ImportJob.objects.update(
        state=ImportJob.State.FAILED, error={"reason": "not_json", "figures": {"byte": 7}}
    )
    page = client.get(reverse("imports")).content.decode()
    assert "damaged, at byte 7" in page and "every 1s" not in page
    assert stranger.post(reverse("dismiss-import", args=[job.public])).status_code == 404
    client.post(reverse("dismiss-import", args=[job.public]))
    assert not ImportJob.objects.exists()
