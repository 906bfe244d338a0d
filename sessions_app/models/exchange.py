"""One request to the model and its response."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.db import models
from django.urls import reverse

from sessions_app.models.columns import ErrorKind
from sessions_app.models.dialect import Dialect
from sessions_app.models.exchange_queries import ExchangeQuerySet
from sessions_app.models.run import describe
from sessions_app.models.source import Manifest, SentItem, Source, names_and_tokens
from sessions_app.prompt.caching import CachePlan, PlanReason
from sessions_app.prompt.dialects import request_in
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import Item
from sessions_app.prompt.prefix_diff import BreakLine, CacheLoss, LedgerItem
from sessions_app.prompt.strategy import StrategyRecord
from sessions_app.prompt.verdict import Verdict

if TYPE_CHECKING:
    from sessions_app.errors import PipewebError
    from sessions_app.models.captured_request import CapturedRequest


class Exchange(models.Model):
    """`manifest` has what was sent (`request_body`), the rows of `chunks` what came; most other columns are
    figures of both.

    Written before the call, completed by `runs.recorder`; open until `ended_at` is set.
    """

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="exchanges", db_index=False)
    run = models.ForeignKey("Run", on_delete=models.CASCADE, related_name="exchanges")
    number = models.PositiveIntegerField(help_text="Counts from 1 in the session; part of its address.")
    step = models.PositiveIntegerField(help_text="Counts from 1 in the run.")
    resend_of = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.SET_NULL,
        related_name="resends",
        help_text="The failed request that this one repeats.",
    )
    continues = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The exchange whose answer this one goes on with, by its continuation token.",
    )
    model = models.CharField(max_length=80)
    searches = models.PositiveIntegerField(
        null=True, help_text="Searches of the provider that the answer took; null: an earlier version."
    )
    served_model = models.CharField(
        max_length=80, blank=True, help_text="modelVersion of the answer; may differ."
    )
    route = models.CharField(max_length=64, blank=True)
    dialect = models.CharField(max_length=12, choices=Dialect.choices, default=Dialect.GEMINI)
    provider = models.CharField(max_length=60, blank=True, help_text="Who answered, in words.")
    uses_client_key = models.BooleanField(
        default=False, help_text="A captured program paid for it with a key of its own."
    )
    base_url = models.CharField(max_length=255, blank=True, help_text="Empty in rows before version 0025.")
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
    plan_figures = models.JSONField(
        default=dict, blank=True, help_text="Why the cache was planned so (prompt.caching.CachePlan)."
    )
    verdict = models.CharField(max_length=20, blank=True)
    verdict_figures = models.JSONField(
        default=dict, blank=True, help_text="What the verdict rests on (prompt.verdict.Verdict)."
    )
    earlier_wording = models.JSONField(
        default=dict,
        blank=True,
        help_text="What an earlier version said in words only: verdict, cache_plan, strategy, budget.",
    )
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
    strategy_figures = models.JSONField(
        default=dict, blank=True, help_text="Why this policy and this mode (prompt.strategy.StrategyRecord)."
    )
    break_line = models.JSONField(
        default=dict,
        blank=True,
        help_text="Where the prefix left the previous exchange's (prompt.prefix_diff.BreakLine).",
    )
    lost_tokens = models.PositiveIntegerField(
        null=True, help_text="Cached for the previous exchange and not for this one; null: unknown."
    )
    lost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, help_text="Paid for these.")
    ledger = models.JSONField(
        default=dict, blank=True, help_text="Estimated hits and misses (prompt.prefix_diff.Ledger)."
    )
    price = models.ForeignKey("Price", null=True, on_delete=models.PROTECT, related_name="+")
    money = models.JSONField(
        default=dict, blank=True, help_text="The sum of `usd` in its terms (prompt.pricing)."
    )
    usd = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, help_text="What it cost; null: the price is unknown."
    )
    reserved_usd = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, help_text="Budgets count it while it is open. Null: none."
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
    payload_purged_at = models.DateTimeField(null=True, blank=True, help_text="Its bytes are gone since.")
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = ExchangeQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="exchange_number_in_session")
        ]
        indexes = [
            models.Index(fields=["session"], name="exchange_open", condition=models.Q(ended_at=None)),
            models.Index(fields=["started_at"], name="exchange_by_time"),
            # The filters of the admin's list: a row is long, so a scan reads hundreds of megabytes.
            models.Index(fields=["model", "id"], name="exchange_by_model"),
            models.Index(fields=["verdict", "id"], name="exchange_by_verdict"),
            models.Index(fields=["outcome", "id"], name="exchange_by_outcome"),
            models.Index(fields=["response_id"], name="exchange_by_response"),
            models.Index(ErrorKind("error"), "id", name="exchange_by_error"),
        ]

    def __str__(self) -> str:
        return f"exchange {self.number}"

    def get_absolute_url(self) -> str:
        return reverse("exchange", args=[self.session.public, self.number])

    @property
    def is_open(self) -> bool:
        return self.ended_at is None

    @cached_property
    def captured_request(self) -> "CapturedRequest | None":
        """The relayed request of a captured session: one query, none in a chat."""
        from sessions_app.models.captured_request import CapturedRequest

        if not self.is_captured:
            return None
        return CapturedRequest.objects.filter(exchange=self).select_related("address").first()

    @cached_property
    def stored_manifest(self) -> Manifest:
        return Manifest.model_validate(self.manifest)

    @property
    def found_break(self) -> BreakLine | None:
        """Where the bytes differ from those of `previous`; None where they do not."""
        return BreakLine.restored(self.break_line)

    @property
    def loss(self) -> CacheLoss:
        return CacheLoss(self.lost_tokens, self.lost_usd)

    @property
    def found_verdict(self) -> Verdict | None:
        """None before the end, and for rows of earlier versions."""
        return Verdict.restored(self.verdict_figures, self.found_break)

    @property
    def cache_plan(self) -> CachePlan | None:
        """None for rows of earlier versions."""
        return CachePlan.restored(self.cache_action, self.cache_name, self.plan_figures)

    @property
    def strategy(self) -> StrategyRecord | None:
        """None for rows of earlier versions."""
        return StrategyRecord.restored(self.cache_mode, self.cache_policy, self.strategy_figures)

    def earlier(self, subject: str) -> str:
        """The text that an earlier version stored about it; empty for rows with figures."""
        return str(self.earlier_wording.get(subject, ""))

    def ledger_entries(
        self, items: Sequence[Item] | None = None, known: Mapping[int, tuple[str, int]] | None = None
    ) -> list[LedgerItem]:
        """The manifest's items for the ledger; `items` of the payload, or `known` sources, save a query."""
        # Not `stored_manifest`: validating thousands of entries would slow every answer.
        listed: list[list[Any]] = self.manifest.get("entries", [])
        if items is not None:
            pairs = zip(listed, items, strict=True)
            known = {entry[0]: (item.source, item.tokens) for entry, item in pairs}
        elif known is None:
            known = names_and_tokens({entry[0] for entry in listed})
        return [
            LedgerItem(layer, known[key][0], key, known[key][1], lead is None)
            for key, layer, lead, *_ in listed
        ]

    def sent_items(self) -> list[SentItem]:
        """The manifest joined with sources and blobs: one query."""
        entries = self.stored_manifest.entries
        sources = Source.objects.select_related("blob").in_bulk({entry.source for entry in entries})
        return [
            SentItem(at, Layer(one.layer), source, source.blob.bytes, one.content, one.part, one.lead is None)
            for at, one in enumerate(entries)
            for source in (sources[one.source],)
        ]

    def request_body(self) -> bytes:
        """The prepared request, rebuilt byte for byte from the sources."""
        return self.stored_manifest.joined([item.wire for item in self.sent_items()], self.beside_items())

    @property
    def is_captured(self) -> bool:
        """Whether another program wrote the request, by its plan: no query."""
        return bool(self.plan_figures.get("reason") == PlanReason.CLIENT)

    def beside_items(self) -> list[bytes]:
        """The bytes of what stands beside the prompt in a captured body: one query, none for our own."""
        keys = [one.source for one in self.stored_manifest.beside]
        sources = Source.objects.select_related("blob").in_bulk(set(keys)) if keys else {}
        return [sources[key].blob.bytes for key in keys]

    @property
    def is_translated(self) -> bool:
        """Whether the request was sent in another format than Gemini's."""
        return self.dialect != Dialect.GEMINI

    def sent_body(self) -> bytes:
        """The rebuilt request in the exchange's dialect."""
        return request_in(self.dialect, self.model, self.request_body())

    @property
    def recorded_sha256(self) -> str:
        """The hash of the bytes that were sent, taken before the call."""
        return self.sent_sha256 or self.request_sha256

    def is_faithful(self) -> bool:
        """Whether the rebuilt request has the recorded hash."""
        return hashlib.sha256(self.sent_body()).hexdigest() == self.recorded_sha256

    def fail(self, error: "PipewebError") -> None:
        self.error = describe(error)
