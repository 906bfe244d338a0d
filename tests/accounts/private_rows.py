"""What belongs to one person, with a row for whatever a route or a form can name."""

import uuid
from io import BytesIO
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Model
from django.utils import timezone

from sessions_app.context.workspaces import workspace_of
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import HistoryInvalid
from sessions_app.models import (
    Artifact,
    Assistant,
    Attachment,
    Blob,
    CaptureAddress,
    CapturedRequest,
    FileChange,
    Folder,
    HistoryChunk,
    HistoryDrop,
    ImportJob,
    LogEntry,
    McpServer,
    Memory,
    Note,
    Notification,
    Origin,
    PromptText,
    QueuedMessage,
    Reference,
    Run,
    Session,
    SharedLink,
    Todo,
    ToolGrant,
    Turn,
)
from sessions_app.prompt import wire
from sessions_app.prompt.media import inline_part
from sessions_app.prompt.parts import content, text_part
from sessions_app.prompt.provider_tools import ProviderTool
from sessions_app.prompt.stage_records import StageName, StageRecord, StageStatus
from sessions_app.prompt.turns import user_task
from sessions_app.runs import history_edits
from tests.factories import answered, finish, make_run, make_session

WORD = "gooseberry"
HIDDEN = "hedgehogwinter"
SECRET = f"{WORD} {HIDDEN}"
"""Stands in all that is the person's. A page may repeat the word that was searched for, never the other."""

MODELS: list[type[Model]] = [*apps.get_app_config("sessions_app").get_models(), User]


class PrivateRows:
    """A session of the owner with all that a route can name, and what else is theirs."""

    def __init__(self, owner: User) -> None:
        self.owner = owner
        # A model that is about to end, so that the session can be led to its successor.
        self.session = make_session(
            owner,
            model="gemini-2.5-flash",
            title=SECRET,
            purpose=SECRET,
            background=SECRET,
            args={"secret": SECRET},
        )
        self.folder = Folder.objects.make(owner.pk, SECRET)
        self._add_history()
        self._add_panels()
        # Not by `create`, which the audit log would tell of: it is an administrator's.
        (server,) = McpServer.objects.bulk_create([McpServer(name="notes", title="Notes")])
        ToolGrant.objects.create(session=self.session, server=server, tool=SECRET)
        self.job = ImportJob.objects.create(owner=owner, name=f"{SECRET}.json")
        self._add_captured()
        self.temporary = make_session(owner, title=SECRET, temporary=True)
        make_session(owner, title=SECRET, archived_at=self.session.created_at)
        make_session(owner, title=SECRET, spent_usd=3)

    def _add_captured(self) -> None:
        self.of_programs = make_session(self.owner, title=SECRET, origin=Origin.CAPTURED)
        self.address, _ = CaptureAddress.issue(self.owner.pk, SECRET)
        body = wire.dumps({"contents": [content("user", [text_part(SECRET)])]})
        stored = Blob.objects.store(self.owner.pk, [body])
        (blob,) = stored.values()
        self.captured = CapturedRequest.objects.create(
            address=self.address,
            received_at=timezone.now(),
            method="POST",
            path=f"/v1beta/{SECRET}",
            client=SECRET,
            session="1",
            lane="1",
            relation="opens",
            role="main",
            request_body_id=blob,
            response_body_id=blob,
        )

    def _add_history(self) -> None:
        session = self.session
        self.exchanges = [answered(session, f"{SECRET} {n}", f"Answer: {SECRET}") for n in range(3)]
        tasks = list(session.turns.filter(kind=Turn.Kind.USER_TASK).order_by("pk"))
        history_edits.shorten(session.pk, tasks[-1].public, SECRET)
        self.summary = session.turns.get(summary=True)
        session.refresh_from_db()
        branch = Turn.objects.branch(session.head_id)
        self.task = branch[2]
        self.chunk = HistoryChunk.objects.freeze(session, None, [one.value for one in branch[:2]], "seed")
        self.drop = HistoryDrop.objects.create(
            session=session, key="d0d0d0d0", chunk=self.chunk, name=SECRET, messages=2
        )
        part = inline_part(SECRET.encode(), "application/pdf", f"{SECRET}.pdf")
        picture = user_task(str(uuid.uuid4()), SECRET, [part])
        self.picture = Turn.append(session, picture, parent=session.head, run=self.task.run)
        Turn.objects.filter(pk=self.picture.pk).update(citations={"suggestions": f"<b>{SECRET}</b>"})
        self.refused = self._refused_run()
        self.attachment = Attachment.objects.add(
            session, name=f"{SECRET}.pdf", mime="application/pdf", file=BytesIO(SECRET.encode())
        )
        QueuedMessage.objects.create(session=session, client_id=uuid.uuid4(), text=SECRET)
        Session.objects.filter(pk=session.pk).update(head=branch[-1])
        session.refresh_from_db()

    def _refused_run(self) -> Run:
        run = finish(make_run(self.session, SECRET))
        run.end(Run.Status.FAILED, error=HistoryInvalid(RefusalCode.HISTORY_INVALID, violations=[]))
        record = StageRecord(name=StageName.CHECK, status=StageStatus.BLOCKED)
        Run.objects.filter(pk=run.pk).update(stages=[record.stored()])
        return run

    def _add_panels(self) -> None:
        session, self.path = self.session, f"{WORD}.md"
        workspace_of(self.owner.pk).write_text(self.path, SECRET)
        self.reference = Reference.objects.create(session=session, path=self.path)
        Artifact.objects.create(session=session, path=self.path)
        # Of another file: an action deletes the first.
        workspace_of(self.owner.pk).write_text(f"{WORD}-2.md", SECRET)
        self.artifact = Artifact.objects.create(session=session, path=f"{WORD}-2.md")
        self.file_change = FileChange.objects.record(
            session, "c0ffee00", FileChange.Kind.EDITED, self.path, before=SECRET.encode(), after=b""
        )
        Todo.objects.create(session=session, position=1, title=SECRET)
        Note.objects.create(session=session, position=1, title=SECRET, text=SECRET)
        self.memory = Memory.objects.remember(self.owner.pk, SECRET, session=session)
        self.line = LogEntry.objects.create(session=session, text=SECRET)
        self.notification = Notification.objects.add(session.pk, "user_message", SECRET)
        self.link = SharedLink.objects.make(
            session, snapshot=SECRET.encode(), has_details=True, files=(), expires_at=None
        )
        self.assistant = Assistant.objects.create(
            owner=self.owner, name=SECRET, instructions=SECRET, starters=[SECRET], description=SECRET
        )
        self.skill = PromptText.objects.create(kind="skill", name="Kneading", body="Slowly.")

    def arguments(self, route: str) -> dict[str, Any]:
        """The arguments of all routes, as this one is given them."""
        last, first = self.exchanges[-1], self.exchanges[0]
        shared = {
            "public": self.session.public,
            "run": last.run.public,
            "turn": self.task.public,
            "attachment": self.attachment.public,
            "link": self.link.public,
            "folder": self.folder.public,
            "assistant": self.assistant.public,
            "number": last.number,
            "other": first.number,
            "index": 0,
            "part": 0,
            "kind": "reference",
            "what": "request",
            "place": "0-0",
            "address": self.address.public,
            "captured": self.captured.public,
            "change": "pause",
        }
        return shared | self._own_arguments().get(route, {})

    def _own_arguments(self) -> dict[str, dict[str, Any]]:
        """Where an argument of this name means another row."""
        return {
            "chunk": {"number": self.chunk.pk},
            "dismiss-import": {"public": self.job.public},
            "download-artifact": {"number": self.artifact.pk},
            "end-device": {"device": self.device()},
            "draft-summary": {"what": "shorten"},
            "exchange-program": {"name": "curl"},
            "file-change": {"change": self.file_change.key},
            "file-text": {"number": self.reference.pk},
            "history-drop": {"drop": self.drop.key},
            "leave": {"public": self.temporary.public},
            "regroup": {"public": self.of_programs.public},
            "media": {"turn": self.picture.public},
            "original-turn": {"turn": self.summary.public},
            "refused-run": {"run": self.refused.public},
            "repair-history": {"run": self.refused.public},
            "workspace-file": {"path": self.artifact.path},
            "undo-drop": {"drop": self.drop.key},
            "undo-change": {"change": self.file_change.key},
            "suggestions": {"turn": self.picture.public},
            "switch-tool": {"name": "write_note"},
        }

    def device(self) -> int:
        """A browser that the person is signed in with; 0: nobody keeps any (`PIPEWEB_ACCOUNTS`)."""
        if settings.PIPEWEB_ACCOUNTS != "team":
            return 0
        from allauth.usersessions.models import UserSession

        found = {"user": self.owner, "session_key": "of another browser"}
        row, _ = UserSession.objects.get_or_create(**found, defaults={"ip": "192.0.2.1"})
        return int(row.pk)

    def form(self) -> dict[str, Any]:
        """The fields of all forms and queries, with the rows of the person.

        `name` names a tool of Gemini's; a folder or a skill may be called the same.
        """
        return {
            "session": str(self.session.public),
            "act": "delete",
            "what": "both",
            "panel": "todos",
            "title": "Changed",
            "text": "Changed",
            "name": ProviderTool.SEARCH.value,
            "folder": str(self.folder.public),
            "way": "up",
            "args": "{}",
            "on": "on",
            "path": self.path,
            "position": 1,
            "memory": self.memory.pk,
            "number": self.notification.number,
            "page": 1,
            "line": self.line.pk,
            "skill": self.skill.pk,
            "messages": 2,
            "source": "purpose",
        }

    def snapshot(self) -> dict[tuple[Any, ...], Any]:
        """Every row and file that there is, each with its content."""
        rows = {
            (model.__name__, row["pk"]): repr({key: _comparable(value) for key, value in row.items()})
            for model in MODELS
            for row in model._base_manager.values("pk", *(f.attname for f in model._meta.concrete_fields))
        }
        folder = workspace_of(self.owner.pk).root
        return rows | {(path,): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _comparable(value: object) -> object:
    return bytes(value) if isinstance(value, memoryview) else value
