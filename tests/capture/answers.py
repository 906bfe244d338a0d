"""Answers of a model with its counts, and what the audit finds in the sessions that programs made."""

from typing import Any

from sessions_app.audit.audit import audit_session
from sessions_app.audit.differences import Difference
from sessions_app.audit.session_money import audit_left_caches, audit_money
from sessions_app.audit.spending import audit_days
from sessions_app.capture.records import Begun, Ended
from sessions_app.management.shown_money import shown_session
from sessions_app.models import CapturedRequest, Exchange, Session
from tests.capture.program import Program
from tests.factories import chunk, text_chunk

MODEL = "gemini-3-flash-preview"
PATH = f"/v1beta/models/{MODEL}:streamGenerateContent"


def counted(prompt: int, cached: int = 0, output: int = 7) -> dict[str, int]:
    usage = {"promptTokenCount": prompt, "candidatesTokenCount": output, "totalTokenCount": prompt + output}
    return usage | ({"cachedContentTokenCount": cached} if cached else {})


def says(text: str, prompt: int = 9_000, cached: int = 0, *, finish: str = "STOP", **fields: Any) -> bytes:
    """A whole answer, as one event."""
    return event(text_chunk(text, finish=finish, usage=counted(prompt, cached), **fields))


def calls(name: str, prompt: int = 9_000, cached: int = 0, **arguments: Any) -> bytes:
    """An answer with one call, under the id that `conversations.call` gives."""
    called = {"functionCall": {"name": name, "args": arguments, "id": f"id-{name}"}}
    return event(chunk(called, finish="STOP", usage=counted(prompt, cached)))


def event(body: bytes) -> bytes:
    return b"data: " + body + b"\r\n\r\n"


class Asking(Program):
    """A program that asks a model with a price, each request ten seconds after the one before."""

    def begun(self, body: bytes, **fields: Any) -> Begun:
        return super().begun(body, **({"path": PATH, "model": MODEL} | fields))

    def ended(self, begun: Begun, answer: bytes = b"", status: int | None = 200, **fields: Any) -> Ended:
        """`answer` arrives in one packet, unless `packets` say otherwise."""
        whole = {"packets": [(11.0, len(answer))] if answer else [], "first_ms": 11.0 if answer else None}
        return super().ended(begun, answer, status, **(whole | fields))

    def exchange(self, body: bytes, answer: bytes = b"", status: int | None = 200, **fields: Any) -> Exchange:
        """Asks, and returns the exchange with its session and run."""
        of_end = {name: fields.pop(name) for name in ("packets", "fault", "is_cut") if name in fields}
        begun = self.begun(body, **fields)
        self.recording([begun])
        self.recording([self.ended(begun, answer, status, **of_end)])
        return exchange_of(CapturedRequest.objects.get(public=begun.key))


def exchange_of(row: CapturedRequest) -> Exchange:
    return Exchange.objects.select_related("session", "run", "previous").get(captured=row)


def audited() -> list[Difference]:
    """Everything that the audit finds wrong, of all sessions, caches and days."""
    found: list[Difference] = []
    for session in Session.objects.captured().order_by("pk"):
        found += audit_session(session.pk, str(session.pk))
        found += audit_money(session.pk, str(session.pk), shown_session(session))
    return [*found, *audit_left_caches(), *audit_days()]
