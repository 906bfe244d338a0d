"""One request to the model and its response, as it was on the wire."""

import hashlib
import uuid
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.db import models, transaction
from django.urls import reverse

from sessions_app.models.run import describe
from sessions_app.models.source import Manifest, SentItem, Source, keep_sources, layer_tokens, manifest_of
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import Payload
from sessions_app.prompt.renditions import openai

if TYPE_CHECKING:
    from sessions_app.errors import PipewebError
    from sessions_app.models.run import Run


class ExchangeQuerySet(models.QuerySet["Exchange"]):
    @transaction.atomic
    def begin(self, run: "Run", step: int, payload: Payload, **facts: Any) -> "Exchange":
        """Records what is about to be sent, before the call, so that a crash leaves the evidence.

        Only the session's one active run numbers exchanges, so reading and raising the count cannot race.
        """
        session = run.session
        session.exchange_count += 1
        session.save(update_fields=["exchange_count"])
        keys = keep_sources(session, payload.items)
        return self.create(
            session=session,
            run=run,
            number=session.exchange_count,
            step=step,
            model=payload.model,
            manifest=manifest_of(keys, payload),
            request_sha256=payload.sha256,
            request_size=len(payload.body),
            layer_tokens=layer_tokens(payload.items),
            **facts,
        )


class Dialect(models.TextChoices):
    """The form in which a request travels; it is always prepared as Gemini's."""

    GEMINI = "gemini", "Gemini"
    OPENAI = "openai", "OpenAI-compatible"


class Exchange(models.Model):
    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="exchanges")
    run = models.ForeignKey("Run", on_delete=models.CASCADE, related_name="exchanges")
    number = models.PositiveIntegerField(help_text="Counts from 1 in the session; part of its address.")
    step = models.PositiveIntegerField(help_text="Counts from 1 in the run.")
    resend_of = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.SET_NULL,
        related_name="resends",
        help_text="Sent again without its cache.",
    )
    model = models.CharField(max_length=80)
    served_model = models.CharField(
        max_length=80, blank=True, help_text="modelVersion of the answer; may differ."
    )
    route = models.CharField(max_length=64, blank=True)
    dialect = models.CharField(max_length=12, choices=Dialect.choices, default=Dialect.GEMINI)
    provider = models.CharField(max_length=60, blank=True, help_text="Who answered, in words.")
    manifest = models.JSONField(default=dict)
    request_sha256 = models.CharField(max_length=64)
    sent_sha256 = models.CharField(
        max_length=64, blank=True, help_text="Of what travelled; empty when that was the request itself."
    )
    request_size = models.PositiveIntegerField()
    layer_tokens = models.JSONField(
        default=dict, help_text="Estimated tokens per layer: lists draw it without bodies."
    )
    fingerprint = models.CharField(max_length=64, blank=True)
    cache_action = models.CharField(max_length=12, blank=True)
    cache_name = models.CharField(max_length=120, blank=True)
    cache_reason = models.CharField(max_length=300, blank=True)
    verdict = models.CharField(max_length=20, blank=True)
    verdict_words = models.CharField(max_length=400, blank=True)
    previous = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The exchange before it on its branch: what the prefix is compared with.",
    )
    stages = models.JSONField(default=list, blank=True, help_text="Stage records (design §5), in order.")
    cache_policy = models.CharField(max_length=12, blank=True)
    cache_mode = models.CharField(max_length=12, blank=True)
    strategy_reason = models.CharField(max_length=400, blank=True, help_text="Why this policy and this mode.")
    break_line = models.JSONField(
        default=dict, blank=True, help_text="Where the prefix left the previous exchange's (prompt.breaks)."
    )
    ledger = models.JSONField(
        default=dict, blank=True, help_text="Estimated hits and misses (prompt.ledger)."
    )
    price = models.ForeignKey("Price", null=True, on_delete=models.PROTECT, related_name="+")
    money = models.JSONField(
        default=dict, blank=True, help_text="The sum of `usd` in its terms (prompt.pricing)."
    )
    usd = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, help_text="What it cost; null: the price is unknown."
    )
    notes = models.JSONField(default=list, blank=True, help_text="Repairs and findings, as shown.")
    usage = models.JSONField(
        default=dict, blank=True, help_text="usageMetadata of the last chunk, as received."
    )
    prompt_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    output_tokens = models.PositiveIntegerField(null=True)
    thought_tokens = models.PositiveIntegerField(null=True)
    build_ms = models.FloatField(default=0)
    first_chunk_ms = models.FloatField(null=True)
    thought_ms = models.FloatField(null=True, help_text="Until the answer began; null when no thoughts came.")
    total_ms = models.FloatField(null=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    outcome = models.CharField(max_length=24, blank=True)
    response_id = models.CharField(max_length=80, blank=True)
    error = models.JSONField(default=dict, blank=True)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = ExchangeQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="exchange_number_in_session")
        ]

    def __str__(self) -> str:
        return f"exchange {self.number}"

    def get_absolute_url(self) -> str:
        return reverse("exchange", args=[self.session.public, self.number])

    @property
    def is_open(self) -> bool:
        return self.ended_at is None

    @cached_property
    def stored_manifest(self) -> Manifest:
        return Manifest.model_validate(self.manifest)

    def sent_items(self) -> list[SentItem]:
        """The manifest joined with sources and blobs: one query, whatever its length."""
        entries = self.stored_manifest.entries
        sources = Source.objects.select_related("blob").in_bulk({entry.source for entry in entries})
        return [
            SentItem(
                position,
                Layer(entry.layer),
                sources[entry.source],
                sources[entry.source].blob.bytes,
                entry.content,
                entry.part,
                entry.lead is None,
            )
            for position, entry in enumerate(entries)
        ]

    def request_body(self) -> bytes:
        """The request rebuilt from the stored sources, byte for byte, as it was prepared."""
        manifest = self.stored_manifest
        pieces: list[bytes] = []
        for entry, item in zip(manifest.entries, self.sent_items(), strict=True):
            if entry.lead is not None:
                pieces += [entry.lead.encode(), item.wire]
        return b"".join(pieces) + manifest.tail.encode()

    @property
    def is_translated(self) -> bool:
        """Whether other bytes travelled than the prepared ones."""
        return self.dialect != Dialect.GEMINI

    def sent_body(self) -> bytes:
        """What travelled: the rebuilt request, told in the exchange's dialect."""
        body = self.request_body()
        return openai.request_of(self.model, body) if self.is_translated else body

    @property
    def noted_sha256(self) -> str:
        """The hash of what travelled, taken before the call."""
        return self.sent_sha256 or self.request_sha256

    def is_faithful(self) -> bool:
        """Whether what travelled, rebuilt, has the hash that was noted when it was sent."""
        return hashlib.sha256(self.sent_body()).hexdigest() == self.noted_sha256

    def fail(self, error: "PipewebError") -> None:
        self.error = describe(error)
