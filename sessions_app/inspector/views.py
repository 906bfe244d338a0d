"""Views of the inspector: the list of exchanges, one exchange, and texts loaded on request."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from sessions_app.inspector import exchange_header, formatting
from sessions_app.inspector.attempts import shown_body
from sessions_app.inspector.comparison import comparison_of
from sessions_app.inspector.exchange_list import list_exchanges
from sessions_app.inspector.exchange_updates import may_differ, state_now, updates_of
from sessions_app.inspector.list_state import ListState
from sessions_app.inspector.lookup import (
    exchange_or_404,
    kept_exchange_or_404,
    nth_or_404,
    run_or_404,
    session_or_404,
)
from sessions_app.inspector.part_costs import shown_parts
from sessions_app.inspector.part_views import PartReader, ShownPart
from sessions_app.inspector.savings import shown_savings
from sessions_app.inspector.signature_table import SignatureFilter, signature_table
from sessions_app.inspector.stages import refusal_of
from sessions_app.inspector.still_lists import StillList
from sessions_app.inspector.tabs import TABS, tab_named
from sessions_app.inspector.tabs.diff_tab import change_at
from sessions_app.inspector.tabs.layers_tab import LayerReader, show_item, show_layer
from sessions_app.inspector.tabs.renditions_tab import renditions_of
from sessions_app.inspector.tabs.response_tab import show_reply
from sessions_app.models import Exchange
from sessions_app.prompt.layers import Layer
from sessions_app.wording.retention import purged


@login_required
@require_safe
def exchanges(request: HttpRequest, public: UUID) -> HttpResponse:
    session = session_or_404(request, public)
    listing = list_exchanges(session, request.GET)
    return render(
        request, "inspector/exchanges.html", {"session": session, "listing": listing, "layers": list(Layer)}
    )


@login_required
@require_safe
def updates(request: HttpRequest, public: UUID) -> HttpResponse:
    """What changed in the list since the last poll; 204 for nothing."""
    session = session_or_404(request, public)
    found = updates_of(session, ListState.read(request.GET.dict()))
    if found is None:
        return HttpResponse(status=204)
    response = render(request, "inspector/news.html", {"session": session, "updates": found})
    if found.is_stale:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_safe
def since(request: HttpRequest, public: UUID) -> HttpResponse:
    """How much came since a list was read that stands still; 204 where the page says so already."""
    session = session_or_404(request, public)
    still = StillList.since(session, request.GET, ListState.read(request.GET.dict()))
    if still.told == request.GET.get("told"):
        return HttpResponse(status=204)
    return render(request, "inspector/still.html", {"session": session, "still": still})


@login_required
@require_safe
def savings(request: HttpRequest, public: UUID) -> HttpResponse:
    """What would have saved money: a page, or the part of it that the list of exchanges asks for."""
    session = session_or_404(request, public)
    is_part = "HX-Request" in request.headers
    page = "savings_table" if is_part else "savings"
    context = {"session": session, "savings": shown_savings(session, timezone.now())}
    if not is_part:
        context["part_costs"] = shown_parts(session)
    response = render(request, f"inspector/{page}.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@login_required
@require_safe
def signatures(request: HttpRequest, public: UUID) -> HttpResponse:
    """The table of all signatures of a session."""
    session = session_or_404(request, public)
    context = {
        "session": session,
        "table": signature_table(session, request.GET),
        "states": list(SignatureFilter),
    }
    return render(request, "inspector/signatures.html", context)


@login_required
@require_safe
def exchange(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    """The page of one exchange; with `live`, what changed since it was in that state, or 204."""
    seen = request.GET.get("live")
    if seen is not None and seen == state_now(session_or_404(request, public), number):
        return HttpResponse(status=204)
    found = exchange_or_404(request, public, number)
    tab = tab_named(request.GET.get("tab", ""))
    context = {
        "header": exchange_header.header_of(found),
        "session": found.session,
        "exchange": found,
        "tabs": TABS,
        "tab": tab,
        "raw": is_raw(request),
    }
    if found.payload_purged_at is not None and tab.needs_payload:
        context |= {"purged": purged(found.payload_purged_at)}
    elif seen is None or may_differ(tab, found, seen):
        context |= {"shown": tab.read(found, request.GET)}
    page = "exchange" if seen is None else "exchange_news"
    return render(request, f"inspector/{page}.html", context)


@login_required
@require_safe
def refused(request: HttpRequest, public: UUID, run: UUID) -> HttpResponse:
    """A run whose request was not sent."""
    found = run_or_404(request, public, run)
    message = found.task.text if found.task else ""
    context = {"session": found.session, "refusal": refusal_of(found, message)}
    return render(request, "inspector/refused.html", context)


@login_required
@require_safe
def full_text(request: HttpRequest, public: UUID, number: int, what: str, index: int) -> HttpResponse:
    """A text in full of which its tab shows the beginning."""
    found = kept_exchange_or_404(request, public, number)
    parts = full_text_of(found, what, index, raw=is_raw(request))
    return render(request, "inspector/whole.html", {"parts": parts, "exchange": found})


@login_required
@require_safe
def change(request: HttpRequest, public: UUID, number: int, other: int, place: str) -> HttpResponse:
    """One item of the diff in full."""
    found = kept_exchange_or_404(request, public, number)
    elsewhere = request.GET.get("of", "")
    old = comparison_of(found, f"{elsewhere}/{other}" if elsewhere else str(other), 0).other
    if old is None:
        raise Http404
    shown = change_at(old, found, place)
    return render(request, "inspector/change.html", {"change": shown.change})


def is_raw(request: HttpRequest) -> bool:
    return request.GET.get("view") == "raw"


def full_text_of(exchange: Exchange, what: str, index: int, *, raw: bool) -> Sequence[ShownPart]:
    """The parts of one text in full. Raises Http404 when there is none."""
    reader = PartReader(whole=True)
    match what:
        case "item":
            sent = exchange.sent_items()
            item = nth_or_404(sent, index)
            return show_item(item, LayerReader.of(exchange, sent, whole=True), raw=raw).parts
        case "layer":
            layer, sent = nth_or_404(list(Layer), index), exchange.sent_items()
            return show_layer(layer, sent, LayerReader.of(exchange, sent, whole=True), raw=raw).outline
        case "reply":
            return show_reply(exchange, reader, raw=raw).parts
        case "request":
            body = exchange.sent_body()
        case "rendition":
            body = nth_or_404(renditions_of(exchange), index).write()
        case "chunk":
            body = bytes(get_object_or_404(exchange.chunks, seq=index).body)
        case "attempt":
            return shown_body(get_object_or_404(exchange.attempts, number=index), reader, raw=raw)
        case _:
            raise Http404
    return [reader.part("raw", "", formatting.decoded(body) if raw else formatting.pretty(body))]
