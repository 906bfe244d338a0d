"""A page with a text that is too long to be formatted."""

import json
import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.chat.transfer import export_session
from sessions_app.markup import scanning
from sessions_app.markup.weights import BLOCK_LIMIT, weight
from sessions_app.wording.texts import REMARKS
from tests import factories
from tests.chat.importing import import_session


def test_an_imported_turn_of_ten_megabytes_opens_without_parsing_it(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = factories.make_session(alice)
    factories.answered(session, "A list, please", "Here.")
    file = json.loads(export_session(session))
    content = {"role": "model", "parts": [{"text": "- item\n" * 1_500_000}]}
    file["turns"][-1] |= {"key": str(uuid.uuid4()), "content": json.dumps(content)}
    file["session"]["head"] = file["turns"][-1]["key"]
    imported = import_session(alice, json.dumps(file).encode())
    parsed: list[str] = []
    blocks_of = scanning.outer_blocks
    monkeypatch.setattr(scanning, "outer_blocks", lambda text: blocks_of(_kept(parsed, text)))
    page = client.get(imported.get_absolute_url()).content.decode()
    assert parsed and sum(map(weight, parsed)) <= BLOCK_LIMIT
    assert all(page.count(remark) == 1 for remark in REMARKS.values()) and "<li>item" not in page


def _kept(parsed: list[str], text: str) -> str:
    parsed.append(text)
    return text
