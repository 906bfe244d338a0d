"""A session that is played before a provider with a journal, step by step."""

import uuid
from datetime import timedelta
from typing import Any

import httpx2
from django.contrib.auth.models import User
from django.db.models import F

from sessions_app.audit.audit import audit_session
from sessions_app.emulator.slash_commands import parse_faults
from sessions_app.models import CacheEntry, CacheEvent, Exchange, Session
from sessions_app.prompt.verdict import Verdict
from tests.runs.mortal_process import MortalProcess
from tests.runs.unkind_provider import UnkindProvider

MODEL = "gemini-3-flash-preview"
LINE = "You keep lists for people, and you keep them well. "
SHORT, LONG = LINE * 200, LINE * 500
"""Both are large enough for an explicit cache; only the second is for an implicit one."""

AGED = {
    Exchange: ("started_at", "ended_at"),
    CacheEvent: ("at", "expires"),
    CacheEntry: ("expires_at", "made_at", "used_at", "changed_at"),
}


class RefusingProvider(UnkindProvider):
    """Refuses caches while `refuses` is set."""

    refuses = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.refuses and request.method == "POST" and request.url.path.endswith("/cachedContents"):
            error = {"code": 400, "message": "No caches today.", "status": "INVALID_ARGUMENT"}
            return httpx2.Response(400, json={"error": error})
        return await super().handle_async_request(request)


class ScriptedSession:
    """A session whose owner talks, waits and changes settings before a provider that keeps a journal."""

    def __init__(self, owner: User, background: str, **settings: Any) -> None:
        self.provider = RefusingProvider(1)
        self.provider.be_kind(True)
        self.session = Session.objects.create(
            owner=owner,
            model=MODEL,
            background=background,
            settings={"tools": [], "panels": {}, "cache_mode": "explicit", **settings},
        )
        self.process = MortalProcess(self.provider)
        self.said = 0

    def say(self, *, rounds: int = 0, more: str = "") -> Verdict:
        """The verdict on the newest exchange of the answer."""
        self.said += 1
        text = f"task=t{self.said} rounds={rounds} calls=1 {more}"
        self.process.call(self.process.runner.send(self.session.pk, uuid.uuid4(), text))
        self.process.drain()
        found = self.newest().found_verdict
        assert found is not None
        return found

    def newest(self) -> Exchange:
        return self.session.exchanges.latest("number")

    def change(self, **fields: Any) -> None:
        self.session.refresh_from_db()
        settings = self.session.settings | fields.pop("settings", {})
        Session.objects.filter(pk=self.session.pk).update(settings=settings, **fields)

    def wait(self, minutes: int) -> None:
        """Time passes for us and for the provider."""
        span = timedelta(minutes=minutes)
        for model, columns in AGED.items():
            model._base_manager.update(**{name: F(name) - span for name in columns})
        self.provider.skip(minutes * 60)

    def withhold(self, is_withheld: bool = True) -> None:
        """The provider reuses nothing of its own accord."""
        self.provider.emulator.faults.configured = tuple(parse_faults("miss")) if is_withheld else ()

    def agree(self) -> None:
        """The journal and the audit have nothing to say against what is stored."""
        contradictions = list(self.provider.contradictions(self.session))
        assert not contradictions, contradictions
        differences = list(audit_session(self.session.pk, "played"))
        assert not differences, differences
