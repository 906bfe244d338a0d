"""Money: every amount is a booking with its cause; sessions, and days of people, hold the sums of theirs."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import models, transaction
from django.db.models import Count, F, Q, Sum

from sessions_app.models.instances import new
from sessions_app.models.prepared import Change, Parameter, insert_all, parameter
from sessions_app.models.price import Price
from sessions_app.models.session import Session
from sessions_app.models.spending import MODEL_LENGTH, SOURCES, DayKey, Spending
from sessions_app.prompt.bookings import OF_CACHES, CauseSum, SpendingCause
from sessions_app.prompt.pricing import SMALLEST, MoneySource

if TYPE_CHECKING:
    from sessions_app.models.turn import Turn

NO_MONEY = Decimal(0)

LACKS_PRICE = Q(usd=None) | Q(searches__gt=0, search_price=None)
"""`Booking.lacks_price` of rows."""

INEXACT = {
    "unpriced": Count("pk", filter=LACKS_PRICE),
    "cut_off": Count("pk", filter=Q(cut_off=True)),
    "estimates": Count("pk", filter=Q(estimated=True)),
}
"""Bookings that cost something else than their sum says, by the column of sums that counts them."""

UNJUDGED = {"unjudged": Count("pk", filter=Q(estimated=None))}
"""Bookings of which nobody knows whether they are estimates."""


class BookingQuerySet(models.QuerySet["Booking"]):
    @transaction.atomic(savepoint=False)
    def book(self, *bookings: "Booking", head: "Turn | None" = None) -> None:
        """Writes bookings, and adds them to the sums of their sessions and days.

        Rows are locked in one order everywhere: sessions, then days. What came too late for its session,
        which was erased meanwhile, is booked without it. `head` becomes that of its session, one of theirs.
        """
        for key, own in _grouped(bookings, lambda one: one.session_id or 0):
            if key and not _add_to_session(key, own, head):
                _detach(own)
        for day, own in _grouped(bookings, _day_of):
            Spending.objects.add(day, _day_amounts(own))
        insert_all(bookings)

    @transaction.atomic
    def move(self, exchange_pk: int, session: Session) -> None:
        """Takes the bookings of an exchange to another session of the same person, with their sums."""
        own = list(self.filter(exchange=exchange_pk).exclude(session=session))
        for key, moved in _grouped(own, lambda one: one.session_id or 0):
            _added.run(session=key, **_session_amounts(moved, sign=-1))
            _added.run(session=session.pk, **_session_amounts(moved))
        self.filter(pk__in=[one.pk for one in own]).update(session=session)

    @transaction.atomic
    def take_known(self, booking: "Booking") -> bool:
        """Whether the person has this answer booked already, from another file or when it was relayed.

        What the erased session of that booking has left goes to the session of `booking`.
        """
        known = self.filter(owner=booking.owner_id, answer_key=booking.answer_key).order_by("pk").first()
        if known is None or not booking.answer_key:
            return False
        if known.session_id is None:
            place = {name: getattr(booking, name) for name in ("session_id", "exchange_id", "cause")}
            self.filter(pk=known.pk).update(**place)
            known.exchange_id = booking.exchange_id
            _added.run(session=booking.session_id, **_session_amounts([known]))
        return True

    def paid(self) -> Self:
        """Without those of the emulator."""
        return self.exclude(source=MoneySource.EMULATOR)

    def emulated(self) -> Self:
        """What would have been paid."""
        return self.filter(source=MoneySource.EMULATOR)

    def by_cause(self) -> list[CauseSum]:
        """The sums in the order of `SpendingCause`: one query."""
        return [one for *_, one in self._sums()]

    def by_day(self) -> list[tuple[date, MoneySource, CauseSum]]:
        """The sums of each day, source and cause, oldest first: one query."""
        return [(day, MoneySource(source), one) for day, source, one in self._sums("day", "source")]

    def _sums(self, *keys: str) -> list[tuple[Any, ...]]:
        """(value of each key, CauseSum), in the order of the keys and of `SpendingCause`."""
        sums = self.order_by().values(*keys, "cause")
        found = sums.annotate(total=Sum("usd"), bookings=Count("pk"), **INEXACT, **UNJUDGED)
        causes = list(SpendingCause)
        rows = [
            (
                *(one[key] for key in keys),
                CauseSum(
                    SpendingCause(one["cause"]),
                    exact(one["total"]),
                    one["bookings"],
                    *(one[name] for name in (*INEXACT, *UNJUDGED)),
                ),
            )
            for one in found
        ]
        return sorted(rows, key=lambda row: (*row[:-1], causes.index(row[-1].cause)))


class Booking(models.Model):
    """One amount of money: what for, for whom, by which session and at which price. Never changed.

    It stays when its exchange, session or owner is erased, without them.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    session = models.ForeignKey("Session", null=True, on_delete=models.SET_NULL, related_name="bookings")
    exchange = models.ForeignKey("Exchange", null=True, on_delete=models.SET_NULL, related_name="+")
    price = models.ForeignKey("Price", null=True, on_delete=models.PROTECT, related_name="+")
    search_price = models.ForeignKey("SearchPrice", null=True, on_delete=models.PROTECT, related_name="+")
    day = models.DateField()
    model = models.CharField(max_length=MODEL_LENGTH)
    cause = models.CharField(max_length=12, help_text="What it paid for (prompt.bookings.SpendingCause).")
    source = models.CharField(max_length=8, choices=SOURCES, default=MoneySource.UNKNOWN.value)
    usd = models.DecimalField(
        max_digits=16, decimal_places=8, null=True, help_text="Null: the price is unknown."
    )
    cut_off = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Its answer was not received to its end: tokens and sum are lower bounds.",
    )
    estimated = models.BooleanField(
        null=True,
        help_text="Its sum is an estimate (Money.is_estimate). Unknown: an earlier version did not keep it.",
    )
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    cached_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    thought_tokens = models.PositiveBigIntegerField(default=0)
    tool_use_tokens = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Of the provider's tools; charged as the prompt, beside it."
    )
    searches = models.PositiveIntegerField(default=0, help_text="At the provider, as they are charged.")
    answer_key = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="prompt.bookings.answer_key"
    )
    cache_name = models.CharField(max_length=120, blank=True, help_text="The cache that was made or kept.")
    stored_seconds = models.FloatField(
        default=0, help_text="Storage of the cache, paid ahead; negative: it ended so much earlier."
    )

    objects = BookingQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["owner", "day"], name="booking_of_day"),
            models.Index(fields=["day"], name="booking_by_day"),
            models.Index(fields=["cache_name"], name="booking_of_cache", condition=~Q(cache_name="")),
            models.Index(
                fields=["owner", "answer_key"], name="booking_of_answer", condition=~Q(answer_key="")
            ),
        ]

    def __str__(self) -> str:
        return f"booking {self.pk}"

    @classmethod
    def of(
        cls,
        session: Session | None,
        cause: SpendingCause,
        source: MoneySource,
        price: Price | None,
        *,
        model: str,
        **facts: Any,
    ) -> Self:
        """An unsaved booking; `model` is the one that served.

        Without a session, `owner_id` among the facts says whose it is.
        """
        if session is not None:
            facts |= {"owner_id": session.owner_id, "session_id": session.pk}
        return new(
            cls,
            cause=cause.value,
            source=source.value,
            price=price,
            model=model[:MODEL_LENGTH],
            **facts,
        )

    @property
    def lacks_price(self) -> bool:
        """Whether more was spent than `usd` says: nothing of it is priced, or its searches are not."""
        return self.usd is None or bool(self.searches and self.search_price_id is None)

    @property
    def is_emulated(self) -> bool:
        return self.source == MoneySource.EMULATOR


def _day_of(booking: "Booking") -> DayKey:
    return DayKey(booking.owner_id or 0, booking.day, booking.model, booking.source)


def _grouped(bookings: Iterable[Booking], key: Any) -> list[tuple[Any, list[Booking]]]:
    return [(found, list(own)) for found, own in groupby(sorted(bookings, key=key), key=key)]


def _add_to_session(key: int, own: Sequence[Booking], head: "Turn | None") -> bool:
    """Whether the session is still there. `head` becomes its head, if it is a turn of it."""
    amounts = _session_amounts(own)
    if head is None or head.session_id != key:
        return bool(_added.run(session=key, **amounts))
    changes = head.session.set_head(head)
    return bool(_added_with_head.run(session=key, **amounts, head=head.pk, updated_at=changes["updated_at"]))


SESSION_SUMS = ("spent_usd", "emulated_usd", *INEXACT, "prompt_tokens", "cached_tokens")


def _adding(*replaced: str) -> "tuple[models.QuerySet[Session], dict[str, Any]]":
    changes: dict[str, Any] = {name: F(name) + parameter(Session, name) for name in SESSION_SUMS}
    changes |= {name: parameter(Session, name) for name in replaced}
    return Session.objects.filter(pk=Parameter("session", models.BigIntegerField())), changes


_added = Change(_adding)
_added_with_head = Change(partial(_adding, "head", "updated_at"))


def _session_amounts(own: Sequence[Booking], sign: int = 1) -> dict[str, int | Decimal]:
    """What bookings add to their session, or with a `sign` of -1 take from it; tokens are those of its
    exchanges.
    """
    asked = [one for one in own if one.exchange_id]
    return {
        "spent_usd": sign * sum_of(own),
        "emulated_usd": sign * sum_of(one for one in own if one.is_emulated),
        "unpriced": sign * sum(one.lacks_price for one in own),
        "cut_off": sign * sum(one.cut_off for one in own),
        "estimates": sign * sum(bool(one.estimated) for one in own),
        "prompt_tokens": sign * sum(one.prompt_tokens for one in asked),
        "cached_tokens": sign * sum(one.cached_tokens for one in asked),
    }


def _detach(own: Sequence[Booking]) -> None:
    """Takes the session from bookings, and the owner where the person was erased as well."""
    people = set(get_user_model().objects.filter(pk__in={one.owner_id for one in own}).values_list("pk"))
    for one in own:
        one.session_id = one.exchange_id = None
        if (one.owner_id,) not in people:
            one.owner_id = None


def exact(usd: Decimal | None) -> Decimal:
    """A sum of the database, which SQLite adds up as floating point numbers."""
    return (usd or NO_MONEY).quantize(SMALLEST)


def sum_of(bookings: Iterable[Booking]) -> Decimal:
    """The known money of these bookings."""
    return sum((one.usd for one in bookings if one.usd is not None), NO_MONEY)


def _day_amounts(own: Sequence[Booking]) -> dict[str, int | Decimal]:
    asked = [one for one in own if one.cause not in OF_CACHES]
    made = [one for one in own if one.cause == SpendingCause.CACHE_MADE]
    return {
        "exchanges": len(asked),
        "unpriced": sum(one.lacks_price for one in own),
        "cut_off": sum(one.cut_off for one in own),
        "estimates": sum(bool(one.estimated) for one in own),
        "prompt_tokens": sum(one.prompt_tokens for one in asked),
        "cached_tokens": sum(one.cached_tokens for one in asked),
        "output_tokens": sum(one.output_tokens for one in asked),
        "thought_tokens": sum(one.thought_tokens for one in asked),
        "tool_use_tokens": sum(one.tool_use_tokens for one in asked),
        "usd": sum_of(asked),
        "caches": len(made),
        "cache_usd": sum_of(made),
        "storage_usd": sum_of(one for one in own if one.cause == SpendingCause.CACHE_KEPT),
    }
