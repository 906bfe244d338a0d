"""Requests of other programs that were relayed, and what they were answered with."""

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.db import models, transaction
from django.utils import timezone

from sessions_app.models.blob import Blob
from sessions_app.models.cache import CacheEntry
from sessions_app.models.capture_address import OF_FILE, CaptureAddress

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

RETENTION = timedelta(days=30)
"""What belongs to no session is erased after so long; sessions have `session_queries.CAPTURED_LIFETIME`."""

PATH_LENGTH, CLIENT_LENGTH, KEY_LENGTH, MODEL_LENGTH = 300, 200, 90, 80


IN_OTHER_FORM = r"^/v1(alpha|beta[0-9]?)?/(openai/chat/completions|interactions)([?]|$)"
"""Paths by which a POST asks a model for a chat completion or a new interaction. For Python and databases."""


class CapturedRequestQuerySet(models.QuerySet["CapturedRequest"]):
    def of(self, user: "User | AnonymousUser") -> Self:
        return self.filter(address__owner_id=user.pk)

    def in_no_sum(self) -> Self:
        """Those answered in another form than Gemini's: what they cost is in no booking."""
        return self.filter(session="", method="POST", status=200, path__regex=IN_OTHER_FORM)

    def expired(self) -> Self:
        """Requests of no session; sessions are erased as a whole (`SessionQuerySet.expired_captured`).

        What was imported from a file stays until its owner deletes it, however old its requests are.
        """
        recorded = self.exclude(address__token_hash__startswith=OF_FILE)
        return recorded.filter(received_at__lt=timezone.now() - RETENTION, exchange=None)

    @transaction.atomic
    def erase(self) -> int:
        """Deletes the rows with their bodies; returns how many."""
        owners = set(self.order_by().values_list("address__owner_id", flat=True).distinct())
        rows = CapturedRequest.objects.filter(pk__in=self.order_by().values("pk"))
        # The caches that they made stay: they are booked, and explain the requests that name them.
        CacheEntry.objects.filter(captured_request__in=rows).update(captured_request=None)
        deleted = rows._raw_delete(rows.db)
        for owner_id in owners:
            Blob.objects.delete_unreferenced(owner_id)
        return deleted


class CapturedRequest(models.Model):
    """One HTTP request of a foreign program, stored before it is answered.

    Bodies are stored as they travelled. The path is stored without the token and without secrets of the
    query, the headers by a list of names. `session` to `is_guess` are where it belongs
    (`capture.placements.Placement`), empty for what asks no model.
    """

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    address = models.ForeignKey(CaptureAddress, on_delete=models.CASCADE, related_name="requests")
    received_at = models.DateTimeField()
    method = models.CharField(max_length=10)
    path = models.CharField(max_length=PATH_LENGTH)
    client = models.CharField(max_length=CLIENT_LENGTH, blank=True, help_text="User-Agent.")
    headers = models.JSONField(default=list, blank=True)
    scope = models.CharField(max_length=CLIENT_LENGTH, blank=True, help_text="Program and installation.")
    name = models.CharField(max_length=80, blank=True, help_text="The session's name, given by the client.")
    model = models.CharField(max_length=MODEL_LENGTH, blank=True)
    session = models.CharField(max_length=KEY_LENGTH, blank=True)
    lane = models.CharField(max_length=KEY_LENGTH, blank=True)
    relation = models.CharField(max_length=12, blank=True)
    role = models.CharField(max_length=12, blank=True)
    before = models.CharField(max_length=KEY_LENGTH, blank=True)
    shared = models.PositiveIntegerField(default=0, help_text="Contents that both begin with.")
    is_guess = models.BooleanField(default=False)
    exchange = models.OneToOneField(
        "Exchange",
        null=True,
        on_delete=models.CASCADE,
        related_name="captured",
        help_text="Has the bodies and the account of what asked a model.",
    )
    framing = models.JSONField(
        default=list, blank=True, help_text="What stands around the chunks in the answer (capture.framing)."
    )
    request_body = models.ForeignKey(Blob, null=True, on_delete=models.PROTECT, related_name="+")
    key_hash = models.CharField(
        max_length=16, blank=True, help_text="Keyed hash of the key that it went out with; empty without."
    )
    uses_server_key = models.BooleanField(default=False)
    request_size = models.PositiveBigIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True, help_text="Empty: no response came, or not yet.")
    content_type = models.CharField(max_length=80, blank=True)
    response_headers = models.JSONField(default=list, blank=True)
    response_body = models.ForeignKey(Blob, null=True, on_delete=models.PROTECT, related_name="+")
    response_size = models.PositiveBigIntegerField(default=0)
    packets = models.JSONField(
        default=list, blank=True, help_text="Pairs of milliseconds and bytes, as the answer arrived."
    )
    is_cut = models.BooleanField(default=False, help_text="The stored answer is its beginning only.")
    calls = models.JSONField(
        default=list, blank=True, help_text="Texts of the arguments of each call of the answer."
    )
    prompt_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    output_tokens = models.PositiveIntegerField(null=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    fault = models.CharField(
        max_length=24, blank=True, help_text="Why Pipeweb itself refused it or could not finish it."
    )
    first_ms = models.FloatField(null=True, help_text="Until the first byte of the answer.")
    total_ms = models.FloatField(null=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = CapturedRequestQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["address", "session"], name="captured_by_session"),
            models.Index(fields=["received_at"], name="captured_by_age"),
        ]

    def __str__(self) -> str:
        return str(self.public)

    @property
    def is_open(self) -> bool:
        return self.ended_at is None

    def sent_body(self) -> bytes:
        """What the program sent, byte for byte; empty where it was not kept."""
        if self.exchange is not None:
            return self.exchange.request_body()
        return self.request_body.bytes if self.request_body else b""

    def received_body(self) -> bytes:
        """What it was answered with, byte for byte as far as it was kept."""
        if self.response_body is not None or self.exchange is None:
            return self.response_body.bytes if self.response_body else b""
        chunks = [bytes(body) for body in self.exchange.chunks.values_list("body", flat=True)]
        if chunks and self.framing:
            before, between, after = (part.encode("latin-1") for part in self.framing)
            return bytes(before + between.join(chunks) + after)
        refused = self.exchange.attempts.exclude(body=None).select_related("body").first()
        return refused.body.bytes if refused is not None and refused.body is not None else b""


class CapturedSession(models.Model):
    """The session that holds the requests that were placed under a key of `capture.grouping`.

    Several keys lead to one session where a person joined sessions.
    """

    address = models.ForeignKey(CaptureAddress, on_delete=models.CASCADE, related_name="sessions")
    key = models.CharField(max_length=KEY_LENGTH)
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="captured_keys")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["address", "key"], name="captured_session_once")]

    def __str__(self) -> str:
        return self.key
