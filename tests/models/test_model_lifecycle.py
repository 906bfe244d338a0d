"""The dated rows of the catalogue in a database, beside those of an admin."""

from dataclasses import replace
from datetime import date

import pytest
from django.core.management import call_command

from sessions_app.catalogue import CATALOGUE
from sessions_app.models import ModelLifecycle, SeededLifecycle
from sessions_app.models.model_lifecycle import seed_lifecycles

pytestmark = pytest.mark.django_db
MODEL = "gemini-2.5-pro"


def test_every_change_of_the_catalogue_is_in_a_new_database() -> None:
    SeededLifecycle.objects.all().delete()
    ModelLifecycle.objects.all().delete()
    seed_lifecycles("default")
    listed = {(entry.name, change.valid_from) for entry in CATALOGUE.values() for change in entry.lifecycle}
    assert set(ModelLifecycle.objects.values_list("model", "valid_from")) == listed
    assert not ModelLifecycle.objects.filter(source="").exists()


def test_what_an_admin_corrected_or_deleted_stays() -> None:
    ModelLifecycle.objects.filter(model=MODEL).update(successor="gemini-4-argon", source="a mail")
    ModelLifecycle.objects.filter(model="gemini-2.5-flash").delete()
    call_command("migrate", verbosity=0)
    assert ModelLifecycle.objects.get(model=MODEL).successor == "gemini-4-argon"
    assert not ModelLifecycle.objects.filter(model="gemini-2.5-flash").exists()


def test_a_later_version_adds_what_is_new_and_an_admins_row_of_that_day_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = CATALOGUE[MODEL]
    later = [replace(entry.lifecycle[0], valid_from=date(2027, month, 1)) for month in (1, 2)]
    ModelLifecycle.objects.create(model=MODEL, valid_from=date(2027, 1, 1), source="by hand")
    changed = {**CATALOGUE, MODEL: replace(entry, lifecycle=(*entry.lifecycle, *later))}
    monkeypatch.setattr("sessions_app.models.model_lifecycle.CATALOGUE", changed)
    call_command("migrate", verbosity=0)
    rows = ModelLifecycle.objects.filter(model=MODEL).order_by("valid_from")
    assert [row.valid_from.month for row in rows] == [12, 1, 2]
    assert rows[1].source == "by hand" and rows[1].successor == ""
