"""The exchange of a captured request, written when it comes: what it contained, and where it belongs."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from sessions_app.capture import captured_history as history
from sessions_app.capture.client_caches import NO_CACHE, named_cache
from sessions_app.capture.contents import contents_of, named_items, turns_of
from sessions_app.capture.cutting import CutBody, cut
from sessions_app.capture.placements import Relation
from sessions_app.capture.traits import traits_of
from sessions_app.context.api_key import keys
from sessions_app.context.model_lookup import facts_of
from sessions_app.gemini.routes import route_of, route_to
from sessions_app.hosts import EMULATOR
from sessions_app.models import CapturedRequest, Exchange, Session, Turn
from sessions_app.models.columns import storable_json
from sessions_app.models.source import layer_tokens
from sessions_app.models.stored_sources import store_sources
from sessions_app.prompt import wire
from sessions_app.prompt.caching import CacheAction, CachePlan, PlanReason
from sessions_app.prompt.payload import Item
from sessions_app.runs.money_source import EMULATOR_ENDPOINT

GENERATION_CONFIG = "config:generationConfig", "config:generation_config"

NAME_LENGTH = 120
"""Characters of a cache's name that a column holds."""


def begin_exchange(
    captured: CapturedRequest, body: bytes, remembered: history.RememberedHistories, base_url: str = ""
) -> Exchange | None:
    """The rows of a request that was placed in a session, before it is answered. Must run in a transaction.

    It went to `base_url`, or where its address leads. None where the body is no request to a model.
    """
    columns = _columns(captured, body, remembered, base_url or captured.address.base_url)
    if columns is None:
        return None
    exchange = Exchange.objects.create(**columns)
    Exchange.objects.filter(pk=exchange.pk).update(started_at=captured.received_at)
    exchange.started_at = captured.received_at
    CapturedRequest.objects.filter(pk=captured.pk).update(exchange=exchange)
    return exchange


def place_again(
    captured: CapturedRequest, exchange: Exchange, remembered: history.RememberedHistories
) -> None:
    """Moves an exchange to the session under whose key its request stands now; without its answer."""
    remembered.forget()
    columns = _columns(captured, exchange.request_body(), remembered, exchange.base_url)
    for name, value in (columns or {}).items():
        setattr(exchange, name, value)
    # It was read from the manifest that the body was joined by.
    del exchange.stored_manifest
    exchange.save()


def _columns(
    captured: CapturedRequest, body: bytes, remembered: history.RememberedHistories, base_url: str
) -> dict[str, Any] | None:
    """What an exchange is in its session; turns, run and sources are made on the way."""
    traits = traits_of(body, scope=captured.scope, name=captured.name)
    if traits is None:
        return None
    found = cut(body)
    contents = contents_of(found, traits.contents)
    session = history.session_of(captured, contents)
    route = route_of_captured(captured, base_url, session)
    earlier = _before(captured, session)
    before = earlier.exchange if earlier else None
    cache = named_cache(found.cached_content, captured, route) if found.cached_content else NO_CACHE
    known = remembered.before(session.pk, earlier)
    if cache.has_answers and before is not None and before.cache_name != found.cached_content:
        # What stood in the request before stands in the cache: no place of the one is a place of the other.
        known = replace(known, contents=())
    is_behind = cache.has_answers and captured.relation == Relation.CONTINUES
    turns = turns_of(contents, known)
    turns = history.add_turns(session, contents, turns, captured, below=known.answer if is_behind else "")
    remembered.keep(captured, turns, contents)
    trigger = _trigger(session, turns)
    run = history.run_of(session, trigger, before, captured)
    items = [*cache.items, *named_items(found, turns)]
    if trigger is not None:
        history.advance(session, trigger, captured.role, captured.received_at)
    return {
        "session": session,
        "run": run,
        "number": history.next_exchange_number(session),
        "step": run.exchanges.count() + 1,
        "resend_of": before if captured.relation == Relation.RETRY else None,
        "continues": _continued(captured, before) if traits.token else None,
        "model": captured.model,
        "route": route,
        "base_url": base_url,
        "uses_client_key": not captured.uses_server_key,
        "request_sha256": sha256(body).hexdigest(),
        "request_size": len(body),
        "manifest": _manifest(session, items, found),
        "layer_tokens": layer_tokens(items),
        "fingerprint": cache.fingerprint or (before.fingerprint if before else ""),
        **_plan(found),
    }


def route_of_captured(captured: CapturedRequest, base_url: str, session: Session | None = None) -> str:
    """Another key is another route: caches are not shared between projects.

    The family is that of the model which answered in the session, where it is known.
    """
    endpoint, day = _endpoint_route(captured, base_url), captured.received_at.date()
    served = served_before(session.pk, captured.model, endpoint) if session else ""
    return route_to(endpoint, facts_of(captured.model, served, day).family)


def served_before(session_pk: int, model: str, endpoint: str, number: int | None = None) -> str:
    """The `modelVersion` of the newest answer to this name there, before exchange `number`; else empty."""
    answers = Exchange.objects.filter(session=session_pk, model=model, route__startswith=f"{endpoint}/")
    if number is not None:
        answers = answers.filter(number__lt=number)
    served = answers.exclude(served_model="").order_by("-number").values_list("served_model", flat=True)
    return served.first() or ""


def _endpoint_route(captured: CapturedRequest, base_url: str) -> str:
    if base_url == EMULATOR:
        return EMULATOR_ENDPOINT
    key = keys.current().text if captured.uses_server_key else f"client:{captured.key_hash}"
    return route_of(base_url, key)


def _plan(found: CutBody) -> dict[str, Any]:
    action = CacheAction.HIT if found.cached_content else CacheAction.NONE
    plan = CachePlan(action, found.cached_content[:NAME_LENGTH], PlanReason.CLIENT)
    return {"cache_action": plan.action, "cache_name": plan.name, "plan_figures": plan.stored()}


def _continued(captured: CapturedRequest, before: Exchange | None) -> Exchange | None:
    """The exchange whose answer a request with a continuation token goes on with."""
    if before is None or not captured.before:
        return None
    if captured.relation == Relation.HOP:
        return before
    return before.continues if captured.relation == Relation.RETRY else None


def _manifest(session: Session, items: Sequence[Item], found: CutBody) -> dict[str, Any]:
    """`models.source.Manifest` of a body whose order is the program's."""
    stored = store_sources(session, [*items, *found.configuration])
    entries = [
        [key, item.layer.value, _lead(item), item.content, item.part, item.start]
        for key, item in zip(stored, items, strict=False)
    ]
    beside = [
        {"source": key, "lead": item.lead.decode(), "start": item.start}
        for key, item in zip(stored[len(items) :], found.configuration, strict=True)
    ]
    return {
        "entries": entries,
        "beside": beside,
        "settings": storable_json(_settings(found)),
        "tail": found.tail.decode(),
    }


def _lead(item: Item) -> str | None:
    return item.lead.decode() if item.is_sent else None


def _settings(found: CutBody) -> Any:
    """The generation configuration; None where the body has none."""
    sent = (item.wire for item in found.configuration if item.source in GENERATION_CONFIG)
    body = next(sent, None)
    return None if body is None else wire.loads(body)


def _before(captured: CapturedRequest, session: Session) -> CapturedRequest | None:
    """The request that this one goes on from, else the last one of its lane."""
    lane = CapturedRequest.objects.filter(
        address=captured.address_id, lane=captured.lane, exchange__session=session, pk__lt=captured.pk
    ).select_related("exchange__run")
    known = lane.filter(public=captured.before).first() if captured.before else None
    return known or lane.order_by("-pk").first()


def _trigger(session: Session, turns: Sequence[str]) -> Turn | None:
    """The turn of the last content that is one."""
    key = next((key for key in reversed(turns) if key), None)
    return Turn.objects.filter(session=session, public=key).first() if key else None
