"""The admin shows help texts: what they name in the tree is there."""

import re
from pydoc import locate

import pytest
from django.apps import apps
from django.db.models import Field

NAMED = re.compile(r"\b(?:capture|catalogue|chat|context|gemini|panels|prompt|runs)(?:\.\w+)+")

TEXTS = {
    str(field): str(field.help_text)
    for model in apps.get_app_config("sessions_app").get_models()
    for field in model._meta.get_fields()
    if isinstance(field, Field) and NAMED.search(str(field.help_text))
}


def test_some_help_texts_name_a_place() -> None:
    assert len(TEXTS) > 10


@pytest.mark.parametrize("field", TEXTS)
def test_what_a_help_text_names_is_there(field: str) -> None:
    names = NAMED.findall(TEXTS[field])
    assert [name for name in names if locate(f"sessions_app.{name}") is None] == []
