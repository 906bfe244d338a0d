"""All that a person has as one zip file, written while it is sent: one session or file in memory at a time.

`account.json`, `sessions/<id>.json` (as a session is exported, so that it can be imported again),
`payloads/<id>/<n>-request.json` and `…-response.ndjson` (chunks, one a line), `attachments/<id>/…`,
`captured/<id>-….bin` (bodies of other programs' requests that no exchange holds), `workspace/…`,
`rows/<id>/<table>.ndjson` (a session's rows, one a line), `bytes/<id>/<n>.bin` (what a row names by `n` in a
column `…_id`, where no other file need hold it).
"""

import zipfile
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.utils import timezone

from sessions_app.chat.person_rows import OF_PERSON, chosen_in, columns_of, json_of, rows_of_session
from sessions_app.chat.transfer import export_session
from sessions_app.context.workspaces import workspace_of
from sessions_app.database import release_connections
from sessions_app.models import Attachment, AuditEntry, CapturedRequest, Exchange, Session
from sessions_app.workspace_paths import safe_name

PIECE = 64 * 1024
"""Bytes of a file that are read at once."""

SENT = 256 * 1024
"""Bytes of the zip file that are sent at once; no connection to the database waits while they are taken."""

APPS = ("sessions_app", "account", "mfa", "socialaccount", "usersessions")
"""Applications with rows of people; those after the first are there in a team only."""

Row = TypeVar("Row", bound=Model)

ELSEWHERE = {"Blob", "Session"}
"""Models of a person that have files of their own in the export."""


class _Unsent:
    """What the zip writer has written and nobody has taken yet."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing waits elsewhere."""

    def take(self) -> bytes:
        found = b"".join(self._parts)
        self._parts.clear()
        self.size = 0
        return found


def export_person(person: User) -> Iterator[bytes]:
    """The pieces of the zip file; each is read from the database when it is asked for.

    Between two pieces no statement is open: on SQLite its snapshot would keep the connection from writing.
    """
    unsent = _Unsent()
    with zipfile.ZipFile(unsent, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for name, pieces in _files(person):
            with archive.open(name, "w", force_zip64=True) as file:
                for piece in pieces:
                    file.write(piece)
                    if unsent.size >= SENT:
                        release_connections()
                        yield unsent.take()
    yield unsent.take()


def _files(person: User) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield "account.json", [json_of(account_of(person))]
    sessions = Session.objects.filter(owner=person, is_importing=False).order_by("pk")
    for pk in list(sessions.values_list("pk", flat=True)):
        session = sessions.select_related("head", "procedure", "assistant").filter(pk=pk).first()
        if session is not None:
            yield from _files_of_session(session)
    yield from _captured(person)
    workspace = workspace_of(person.pk)
    for path in sorted(one for one in workspace.root.rglob("*") if one.is_file() and not one.is_symlink()):
        yield f"workspace/{path.relative_to(workspace.root).as_posix()}", _pieces(path)


def _files_of_session(session: Session) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield f"sessions/{session.public}.json", [export_session(session)]
    kept = Exchange.objects.filter(session=session, payload_purged_at=None).order_by("number")
    for exchange in _one_by_one(kept):
        place = f"payloads/{session.public}/{exchange.number}"
        yield f"{place}-request.json", [exchange.sent_body()]
        chunks = exchange.chunks.order_by("seq").values_list("body", flat=True)
        yield f"{place}-response.ndjson", [bytes(body) + b"\n" for body in chunks]
        for attempt in exchange.attempts.exclude(body=None).select_related("body"):
            yield f"{place}-attempt-{attempt.number}.bin", [attempt.body.bytes if attempt.body else b""]
    for file in _one_by_one(Attachment.objects.filter(session=session).select_related("blob")):
        yield f"attachments/{session.public}/{file.pk}-{safe_name(file.name)}", [file.blob.bytes]
    yield from rows_of_session(session)


def _captured(person: User) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Bodies that stand in no exchange, and answers that the chunks of theirs do not give again."""
    kept = CapturedRequest.objects.of(person).exclude(request_body=None, response_body=None)
    rows: QuerySet[CapturedRequest] = kept.order_by("pk")
    for row in _one_by_one(rows.select_related("request_body", "response_body")):
        for name, blob in (("request", row.request_body), ("response", row.response_body)):
            if blob is not None:
                yield f"captured/{row.public}-{name}.bin", [blob.bytes]


def _one_by_one(rows: "QuerySet[Row]") -> "Iterator[Row]":
    """Rows that are still there when it is their turn."""
    for pk in list(rows.values_list("pk", flat=True)):
        yield from rows.filter(pk=pk)


def _pieces(path: Any) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def account_of(person: User) -> dict[str, Any]:
    """The account and every row that names the person as its owner, found by the models themselves."""
    account = columns_of(person) | chosen_in(person)
    found: dict[str, Any] = {"exported_at": timezone.now(), "account": account}
    installed = [apps.get_app_config(label) for label in APPS if label in apps.app_configs]
    for model in (model for app in installed for model in app.get_models()):
        fields = [one.name for one in model._meta.concrete_fields if one.name in OF_PERSON]
        if fields and model.__name__ not in ELSEWHERE:
            rows = model._default_manager.filter(**{fields[0]: person}).order_by("pk")
            told = [columns_of(row) | chosen_in(row) for row in rows]
            found[model._meta.db_table.removeprefix("sessions_app_")] = told
    beside = {
        "capturedrequest": CapturedRequest.objects.of(person).order_by("pk"),
        "auditentry": AuditEntry.objects.told_to(person.pk).order_by("pk"),
    }
    return found | {name: [columns_of(row) for row in rows] for name, rows in beside.items()}
