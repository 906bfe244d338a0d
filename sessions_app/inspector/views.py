"""The inspector's pages: a session's exchanges, one exchange, and texts too long for a page."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from sessions_app.inspector import pages
from sessions_app.inspector.listing import list_exchanges
from sessions_app.inspector.live import news_of, still_open
from sessions_app.inspector.lookup import exchange_or_404, run_or_404, session_or_404
from sessions_app.inspector.refusals import refusal_of
from sessions_app.inspector.tabs import TABS, tab_named
from sessions_app.inspector.tabs.diff import change_at
from sessions_app.inspector.wholes import WHOLES
from sessions_app.models import Exchange
from sessions_app.prompt.layers import Layer


@login_required
@require_GET
def exchanges(request: HttpRequest, public: UUID) -> HttpResponse:
    session = session_or_404(request, public)
    listing = list_exchanges(session, request.GET)
    return render(
        request, "inspector/exchanges.html", {"session": session, "listing": listing, "layers": list(Layer)}
    )


@login_required
@require_GET
def news(request: HttpRequest, public: UUID) -> HttpResponse:
    """What changed in the list since the page last asked."""
    session = session_or_404(request, public)
    found = news_of(session, request.GET)
    response = render(request, "inspector/news.html", {"session": session, "news": found})
    if found.is_stale:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_GET
def exchange(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    found = exchange_or_404(request, public, number)
    tab = tab_named(request.GET.get("tab", ""))
    context = {
        "header": pages.header_of(found),
        "session": found.session,
        "exchange": found,
        "tabs": TABS,
        "tab": tab,
        "raw": is_raw(request),
    }
    if "live" in request.GET:
        return _exchange_news(request, context)
    return render(request, "inspector/exchange.html", context | {"shown": tab.read(found, request.GET)})


def _exchange_news(request: HttpRequest, context: dict[str, object]) -> HttpResponse:
    """The head of the page anew, and the tab when it may have changed."""
    found, tab = context["exchange"], tab_named(request.GET.get("tab", ""))
    assert isinstance(found, Exchange)
    if still_open(tab, found, was_open=request.GET["live"] == "open"):
        context |= {"shown": tab.read(found, request.GET)}
    return render(request, "inspector/exchange_news.html", context)


@login_required
@require_GET
def refused(request: HttpRequest, public: UUID, run: UUID) -> HttpResponse:
    """A run whose request was refused before it was sent."""
    found = run_or_404(request, public, run)
    asked = found.trigger.text if found.trigger else ""
    context = {"session": found.session, "refusal": refusal_of(found, asked)}
    return render(request, "inspector/refused.html", context)


@login_required
@require_GET
def whole(request: HttpRequest, public: UUID, number: int, what: str, index: int) -> HttpResponse:
    """Everything of one thing that its tab shows only the beginning of."""
    found = exchange_or_404(request, public, number)
    read = WHOLES.get(what)
    if read is None:
        raise Http404
    parts = read(found, index, is_raw(request))
    return render(request, "inspector/whole.html", {"parts": parts, "exchange": found})


@login_required
@require_GET
def change(request: HttpRequest, public: UUID, number: int, other: int, place: str) -> HttpResponse:
    """One item of the diff, whole."""
    found = exchange_or_404(request, public, number)
    old = get_object_or_404(Exchange, session=found.session_id, number=other)
    shown = change_at(old, found, place)
    return render(request, "inspector/change.html", {"change": shown.change})


def is_raw(request: HttpRequest) -> bool:
    return request.GET.get("view") == "raw"
