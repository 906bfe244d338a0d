"""A program that makes, extends, names and deletes explicit caches, and what it leaves."""

from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.contrib.auth.models import User

from sessions_app.capture.headers import kept
from sessions_app.capture.records import Begun, Ended
from sessions_app.models import Booking, CacheEvent, CaptureAddress, CapturedRequest, Exchange
from tests.capture.answers import MODEL, Asking, says
from tests.capture.conversations import TOOLS, body_of, user
from tests.prices import make_price

NAME = "cachedContents/a1b2c3"
BOOK = user("The whole book about bread. " * 40)
ASKED = user("How do I scale the loaf to two kilograms?")
TOKENS = 9_000


class CachingProgram(Asking):
    """Its clock is the real one, which is that of what is booked."""

    heads: tuple[tuple[str, str], ...] = ()
    key_hash = ""

    def begun(self, body: bytes, **fields: Any) -> Begun:
        return super().begun(body, key_hash=self.key_hash, **fields)

    def ended(self, begun: Begun, answer: bytes = b"", status: int | None = 200, **fields: Any) -> Ended:
        return super().ended(begun, answer, status, headers=kept(self.heads, of_answer=True), **fields)

    def make(self, name: str = NAME, hours: float = 1.0) -> CapturedRequest:
        held = {
            "model": f"models/{MODEL}",
            "contents": [BOOK],
            "tools": TOOLS,
            "ttl": f"{hours * 3_600:.0f}s",
        }
        return self.of_caches("POST", "/v1beta/cachedContents", held, self.said(name, hours))

    def extend(self, hours: float) -> CapturedRequest:
        return self.of_caches("PATCH", f"/v1beta/{NAME}?updateMask=ttl", {}, self.said(NAME, hours))

    def delete(self) -> CapturedRequest:
        return self.of_caches("DELETE", f"/v1beta/{NAME}", None, {})

    def ask_with(self, name: str = NAME, *more: Any, cached: int = TOKENS) -> Exchange:
        body = body_of([ASKED, *more], system="", tools=None, cachedContent=name)
        body = body.replace(b'"systemInstruction":{"role":"user","parts":[{"text":""}]},', b"")
        return self.exchange(body, says("Double it.", TOKENS + 20, cached))

    def of_vertex(self, method: str, path: str, project: str = "1234") -> CapturedRequest:
        """`project` is how the answer names it."""
        said = self.said(f"projects/{project}/locations/europe-west4/cachedContents/77", 1)
        said["model"] = f"projects/{project}/locations/europe-west4/publishers/google/models/{MODEL}"
        held = {"model": said["model"], "contents": [BOOK], "tools": TOOLS}
        return self.of_caches(method, f"/v1/projects/bread/locations/europe-west4/{path}", held, said)

    def of_caches(self, method: str, path: str, body: Any, said: Any) -> CapturedRequest:
        sent = b"" if body is None else orjson.dumps(body)
        facts: dict[str, Any] = {"method": method, "path": path, "model": "", "asks_model": False}
        return self.ask(sent, orjson.dumps(said), **facts)

    def said(self, name: str, hours: float) -> dict[str, Any]:
        until = self.now + timedelta(hours=hours)
        facts = {"name": name, "model": f"models/{MODEL}", "expireTime": until.isoformat()}
        return facts | {"usageMetadata": {"totalTokenCount": TOKENS}}


def made_by(owner: User, upstream: str) -> CachingProgram:
    make_price(MODEL)
    made = CachingProgram(CaptureAddress.issue(owner.pk, "Laptop", upstream=upstream)[0])
    made.now -= timedelta(minutes=2)
    return made


@pytest.fixture(params=CaptureAddress.Upstream.values)
def program(request: pytest.FixtureRequest, alice: User) -> CachingProgram:
    """Before Google with a key of its own, and before the emulator."""
    return made_by(alice, request.param)


def beside(program: CachingProgram, owner: User) -> CachingProgram:
    """Another one, with the same clock."""
    made = CachingProgram(CaptureAddress.issue(owner.pk, "Again", upstream=program.address.upstream)[0])
    made.now = program.now
    return made


def kinds() -> list[str]:
    return list(CacheEvent.objects.order_by("at", "pk").values_list("kind", flat=True))


def booked() -> list[tuple[str, bool]]:
    """Causes of what caches cost; whether it was given back."""
    rows = Booking.objects.exclude(cache_name="").order_by("pk")
    return [(row.cause, row.stored_seconds < 0) for row in rows]
