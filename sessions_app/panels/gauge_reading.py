"""Reads the gauge of a session: what its newest request was made of, and how the provider counted it."""

from sessions_app.context.model_lookup import facts_of
from sessions_app.models import Exchange, Session
from sessions_app.prompt.gauge import Gauge, GaugeItem

FIELDS = ("manifest", "prompt_tokens", "cached_tokens", "model", "served_model")


def read_gauge(session: Session) -> Gauge:
    """Two queries; empty before the first request, and where its payload was purged."""
    last = Exchange.objects.filter(session=session).order_by("-number").only(*FIELDS).first()
    if last is None:
        return Gauge()
    items = tuple(GaugeItem(one.source, one.layer, one.tokens) for one in last.ledger_entries())
    window = facts_of(last.model, last.served_model).input_limit
    return Gauge(items, last.prompt_tokens, last.cached_tokens, window)
