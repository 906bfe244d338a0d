"""HEAD is answered as GET is and changes nothing: no view takes it for the POST of its form."""

from django.test import Client
from django.urls import reverse

from tests.accounts.private_rows import PrivateRows
from tests.accounts.test_foreign_access import LEFT_OUT, ROUTES, addresses, outcome, rows, unchanged

__all__ = ["rows"]


def paths(rows: PrivateRows) -> list[str]:
    others = [reverse(route) for route, keys in ROUTES if not keys and route not in LEFT_OUT]
    return [address.path for address in addresses(rows)] + others


def test_head_is_answered_as_get_is(client: Client, rows: PrivateRows) -> None:
    tried = paths(rows)
    other = [
        path for path in tried if outcome(client, "head", path, rows) != outcome(client, "get", path, rows)
    ]
    assert other == []


def test_head_changes_nothing(client: Client, rows: PrivateRows) -> None:
    with unchanged(rows):
        for path in paths(rows):
            for query in ({}, rows.form()):
                answer = client.head(path, query)
                answer.getvalue()
                assert answer.status_code < 500, path
