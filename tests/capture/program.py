"""A program whose requests are recorded without the relay."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from sessions_app.capture.recording import Recording
from sessions_app.capture.records import Begun, Ended
from sessions_app.models import CaptureAddress, CapturedRequest


class Program:
    """Asks one after another, each a second later."""

    def __init__(self, address: CaptureAddress) -> None:
        self.address = address
        self.recording = Recording()
        self.now = timezone.now()

    def begun(self, body: bytes, **fields: Any) -> Begun:
        self.now += timedelta(seconds=1)
        facts: dict[str, Any] = {
            "address": self.address.pk,
            "owner": self.address.owner_id,
            "received_at": self.now,
            "method": "POST",
            "path": "/v1beta/models/m:generateContent",
            "asks_model": True,
            "body": body,
            "size": len(body),
        }
        return Begun(**(facts | fields))

    def ended(self, begun: Begun, answer: bytes = b"", status: int | None = 200, **fields: Any) -> Ended:
        facts: dict[str, Any] = {"status": status, "body": answer, "size": len(answer), "total_ms": 12.5}
        return Ended(begun.key, begun.address, begun.owner, begun.asks_model, self.now, **(facts | fields))

    def ask(self, body: bytes, answer: bytes = b"", status: int = 200, **fields: Any) -> CapturedRequest:
        one = self.begun(body, **fields)
        self.recording([one])
        self.recording([self.ended(one, answer, status)])
        return CapturedRequest.objects.get(public=one.key)
