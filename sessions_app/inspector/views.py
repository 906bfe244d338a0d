"""The inspector's pages: a session's exchanges, one exchange, and texts too long for a page."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from sessions_app.inspector import pages
from sessions_app.inspector.lookup import exchange_or_404, session_or_404
from sessions_app.inspector.tabs import TABS, tab_named
from sessions_app.inspector.wholes import WHOLES
from sessions_app.prompt.layers import Layer


@login_required
@require_GET
def exchanges(request: HttpRequest, public: UUID) -> HttpResponse:
    session = session_or_404(request, public)
    page, totals = pages.list_exchanges(session, request.GET.get("page", "1"))
    context = {
        "session": session,
        "page": page,
        "totals": totals,
        "rows": [pages.row_of(one) for one in page],
        "layers": list(Layer),
    }
    return render(request, "inspector/exchanges.html", context)


@login_required
@require_GET
def exchange(request: HttpRequest, public: UUID, number: int) -> HttpResponse:
    found = exchange_or_404(request, public, number)
    tab, raw = tab_named(request.GET.get("tab", "")), is_raw(request)
    context = {
        "header": pages.header_of(found),
        "session": found.session,
        "exchange": found,
        "tabs": TABS,
        "tab": tab,
        "raw": raw,
        "shown": tab.context(found, raw=raw),
    }
    return render(request, "inspector/exchange.html", context)


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


def is_raw(request: HttpRequest) -> bool:
    return request.GET.get("view") == "raw"
