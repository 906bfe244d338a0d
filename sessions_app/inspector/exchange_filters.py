"""Filters and order of the list of exchanges, from GET parameters."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import F, FloatField, OrderBy, Q, QuerySet
from django.db.models.functions import Cast

from sessions_app.models import Exchange
from sessions_app.prompt.reply import Outcome
from sessions_app.wording import verdicts

NEWEST = "newest"
OLDEST = "oldest"
QUERY_LENGTH = 200

ANSWERED = (Outcome.COMPLETE.value, Outcome.CALLS.value, Outcome.CONTINUES.value)

ENDS = {
    "answered": ("answered", Q(outcome__in=ANSWERED)),
    "other": ("answered otherwise", ~Q(outcome__in=(*ANSWERED, "")) & Q(error={})),
    "error": ("error", ~Q(error={})),
    "open": ("still open", Q(ended_at=None)),
}
SHARES = {
    "none": ("nothing", Q(cached_tokens=0) | Q(cached_tokens=None, prompt_tokens__isnull=False)),
    "low": ("less than half", Q(cached_tokens__gt=0, prompt_tokens__gt=F("cached_tokens") * 2)),
    "high": ("half or more", Q(cached_tokens__gt=0, prompt_tokens__lte=F("cached_tokens") * 2)),
}
ORDERS: dict[str, tuple[str, OrderBy]] = {
    NEWEST: ("newest first", F("number").desc()),
    OLDEST: ("oldest first", F("number").asc()),
    "cost": ("dearest first", F("usd").desc(nulls_last=True)),
    "slow": ("slowest first", F("total_ms").desc(nulls_last=True)),
    "first": ("longest wait first", F("first_chunk_ms").desc(nulls_last=True)),
    "prompt": ("longest prompt first", F("prompt_tokens").desc(nulls_last=True)),
    "share": ("least cached first", F("cached_share").asc(nulls_last=True)),
}


def _choices(known: dict[str, tuple[str, Any]]) -> list[tuple[str, str]]:
    return [("", "any"), *((key, words) for key, (words, _) in known.items())]


class FilterForm(forms.Form):
    """The GET parameters. Invalid values are ignored and shown as errors of their fields."""

    q = forms.CharField(required=False, max_length=QUERY_LENGTH, label="Text in a request or an answer")
    model = forms.CharField(required=False, max_length=80)
    verdict = forms.ChoiceField(
        required=False,
        choices=[("", "any"), *((code.value, words) for code, words in verdicts.LABELS.items())],
    )
    end = forms.ChoiceField(required=False, choices=_choices(ENDS))
    cached = forms.ChoiceField(required=False, choices=_choices(SHARES), label="From a cache")
    usd = forms.DecimalField(required=False, min_value=0, label="Cost from, $", max_digits=12)
    seconds = forms.FloatField(required=False, min_value=0, label="Total from, s")
    wait = forms.FloatField(required=False, min_value=0, label="First chunk from, s")
    sort = forms.ChoiceField(
        required=False, choices=[(key, words) for key, (words, _) in ORDERS.items()], label="Order"
    )

    def __init__(self, data: Any, models: list[str]) -> None:
        super().__init__(data)
        self.fields["q"].widget.attrs["type"] = "search"
        self.fields["model"].widget = forms.Select(choices=[("", "any"), *((one, one) for one in models)])
        for name in ("usd", "seconds", "wait"):
            self.fields[name].widget.attrs |= {"step": "any", "inputmode": "decimal"}


@dataclass(frozen=True, slots=True)
class Chip:
    """An active filter: its label, and the query string of the list without it."""

    label: str
    rest: str


class Filters:
    def __init__(self, data: Any, models: list[str]) -> None:
        self.form = FilterForm(data, models)
        self.form.is_valid()
        self.given = {key: value for key, value in self.form.cleaned_data.items() if value not in ("", None)}

    @property
    def text(self) -> str:
        """The text to search for, or an empty string."""
        return str(self.given.get("q", ""))

    @property
    def sort(self) -> str:
        return str(self.given.get("sort", NEWEST))

    @property
    def is_plain(self) -> bool:
        """No filter, newest first: the only list whose rows are updated live."""
        return not self.chips and self.sort == NEWEST

    @property
    def keeps_runs(self) -> bool:
        """The exchanges of a run stand one after another."""
        return self.sort in (NEWEST, OLDEST)

    @property
    def chips(self) -> list[Chip]:
        return [
            Chip(
                self._label(key, value),
                urlencode({other: kept for other, kept in self.given.items() if other != key}),
            )
            for key, value in self.given.items()
            if key != "sort"
        ]

    def apply(self, exchanges: QuerySet[Exchange]) -> QuerySet[Exchange]:
        """Filtered and ordered; `content_search` looks for the text."""
        found = exchanges.filter(*self._conditions())
        if self.sort == "share":
            cached = Cast("cached_tokens", FloatField()) / Cast("prompt_tokens", FloatField())
            found = found.annotate(cached_share=cached)
        return found.order_by(ORDERS[self.sort][1], "-number")

    def _conditions(self) -> list[Q]:
        return [_CONDITIONS[key](value) for key, value in self.given.items() if key in _CONDITIONS]

    def _label(self, key: str, value: Any) -> str:
        return _LABELS[key](value) if key in _LABELS else f"{key}: {str(value).replace('_', ' ')}"


_CONDITIONS: dict[str, Callable[[Any], Q]] = {
    "model": lambda name: Q(model=name) | Q(served_model=name),
    "verdict": lambda code: Q(verdict=code),
    "end": lambda key: ENDS[key][1],
    "cached": lambda key: SHARES[key][1],
    "usd": lambda usd: Q(usd__gte=usd),
    "seconds": lambda seconds: Q(total_ms__gte=1000 * seconds),
    "wait": lambda seconds: Q(first_chunk_ms__gte=1000 * seconds),
}
_LABELS: dict[str, Callable[[Any], str]] = {
    "q": lambda words: f"text “{words}”",
    "verdict": lambda code: f"verdict: {verdicts.label(code)}",
    "end": lambda key: f"end: {ENDS[key][0]}",
    "cached": lambda key: f"from a cache: {SHARES[key][0]}",
    "usd": lambda usd: f"cost from ${usd}",
    "seconds": lambda seconds: f"total from {seconds:g} s",
    "wait": lambda seconds: f"first chunk from {seconds:g} s",
}
"""Labels of active filters; others are labelled by the name of their parameter."""
