"""Pages of capture: addresses, the list of what was asked under them, and single requests."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sessions_app.accounts.requests import AuthenticatedRequest, own_or_gone
from sessions_app.capture.clients import lines_for
from sessions_app.capture.forms import AddressForm, RegroupForm
from sessions_app.capture.listing import ListedRequest, listed, state_of
from sessions_app.capture.other_forms import conversation_of, cost_of
from sessions_app.capture.paths import MOUNT
from sessions_app.capture.regrouping import MOST
from sessions_app.errors import NotRegrouped
from sessions_app.log_codes import LoggedAction
from sessions_app.models import CaptureAddress, CapturedRequest, Session
from sessions_app.models.audit_entry import record
from sessions_app.models.capture_address import LIVING
from sessions_app.models.captured_request import RETENTION
from sessions_app.wording import capture as wording

NOT_KNOWN = "…"
"""Stands in the lines for programs where the token is not known any more."""

JOINABLE = 50
"""Sessions that are offered to be joined, the newest."""

CHANGES = {"pause": {"is_paused": True}, "resume": {"is_paused": False}}


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def capture(request: AuthenticatedRequest) -> HttpResponse:
    """POST makes an address and shows it: this once."""
    form = AddressForm(request.POST or None)
    context: dict[str, Any] = {"form": form, "retention": RETENTION.days}
    token = NOT_KNOWN
    if request.method == "POST" and form.is_valid():
        if CaptureAddress.objects.of(request.user).living().count() >= LIVING:
            form.add_error(None, wording.too_many_addresses(LIVING))
        else:
            made, token = _issue(request, form)
            context |= {"made": made, "form": AddressForm()}
    base = request.build_absolute_uri(MOUNT) + token
    context |= {"base": base, "clients": lines_for(base), "addresses": _addresses(request)}
    return render(request, "capture/page.html", context | _list(request))


@login_required
@never_cache
@require_safe
def capture_list(request: AuthenticatedRequest) -> HttpResponse:
    """The list where it has changed since the state that the page shows, else 204."""
    if request.GET.get("state") == state_of(request.user):
        return HttpResponse(status=204)
    return render(request, "capture/list.html", _list(request))


@login_required
@require_POST
def change_address(request: AuthenticatedRequest, address: UUID, change: str) -> HttpResponse:
    row = get_object_or_404(CaptureAddress.objects.of(request.user), public=address)
    rows = CaptureAddress.objects.filter(pk=row.pk)
    if change == "revoke":
        if rows.revoke():
            record(LoggedAction.CAPTURE_TOKEN_REVOKED, request.user, row)
    elif change in CHANGES:
        rows.update(**CHANGES[change])
    else:
        raise Http404
    return redirect("capture")


@login_required
@never_cache
@require_safe
def captured_request(request: AuthenticatedRequest, captured: UUID) -> HttpResponse:
    row = _own(request, captured)
    if row.exchange is not None:
        return redirect(row.exchange)
    said = conversation_of(row)
    cost = cost_of(row, said) if said else ""
    context = {"captured": ListedRequest(row, 0, 0), "row": row, "said": said, "cost": cost}
    return render(request, "capture/request.html", context)


@login_required
@require_safe
def captured_body(request: AuthenticatedRequest, captured: UUID, what: str) -> HttpResponse:
    """The bytes as they travelled."""
    row = _own(request, captured)
    body = row.sent_body() if what == "request" else row.received_body() if what == "answer" else b""
    if not body:
        raise Http404
    # Never as what it says it is: a page of somebody else would run here.
    response = HttpResponse(body, content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{row.public}.{what}"'
    patch_cache_control(response, private=True, no_store=True)
    return response


@login_required
@require_POST
def erase_other(request: AuthenticatedRequest) -> HttpResponse:
    """All requests of the person that belong to no session."""
    count = CapturedRequest.objects.of(request.user).filter(exchange=None).erase()
    messages.success(request, wording.erased(count))
    return redirect("capture")


@login_required
@require_POST
def erase_captured(request: AuthenticatedRequest, captured: UUID) -> HttpResponse:
    """A request of no session, with its bodies; one of a session goes with that. Says the same of one that
    another page has erased.
    """
    rows = CapturedRequest.objects.filter(public=captured)
    own = own_or_gone(rows, rows.of(request.user))
    if not own.exclude(exchange=None).exists():
        messages.success(request, wording.erased(own.filter(exchange=None).erase()))
    return redirect("capture")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def regroup(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """Lists the requests of a captured session; POST splits it at `split`, or joins it with `other`."""
    session = get_object_or_404(Session.objects.of(request.user).captured(), public=public)
    problem = ""
    if request.method == "POST":
        form = RegroupForm(request.POST, sessions=_joinable(session))
        try:
            if form.is_valid():
                return redirect(form.apply(session))
        except NotRegrouped as error:
            problem = wording.regroup_problem(error)
    rows = CapturedRequest.objects.filter(exchange__session=session).order_by("exchange__number")
    rows = rows.select_related("exchange__session", "address").defer("packets", "headers")
    context = {
        "session": session,
        "requests": [ListedRequest(row, row.exchange.number, 0) for row in rows[:MOST] if row.exchange],
        "others": _joinable(session)[:JOINABLE],
        "problem": problem,
    }
    return render(request, "capture/regroup.html", context, status=409 if problem else 200)


def _joinable(session: Session) -> QuerySet[Session]:
    """Other sessions of the same address, the newest first."""
    addresses = CaptureAddress.objects.filter(sessions__session=session)
    found = Session.objects.filter(captured_keys__address__in=addresses, deleted_at=None)
    return found.exclude(pk=session.pk).distinct().order_by("-updated_at")


def _own(request: AuthenticatedRequest, captured: UUID) -> CapturedRequest:
    rows = CapturedRequest.objects.of(request.user)
    return get_object_or_404(
        rows.select_related("address", "request_body", "response_body", "exchange__session"), public=captured
    )


def _issue(request: AuthenticatedRequest, form: AddressForm) -> tuple[CaptureAddress, str]:
    data = form.cleaned_data
    return CaptureAddress.issue(
        request.user.pk,
        data["name"],
        upstream=data["upstream"],
        lifetime=form.lifetime,
        uses_server_key=data["uses_server_key"],
    )


def _addresses(request: AuthenticatedRequest) -> list[tuple[CaptureAddress, str]]:
    """Those that live, and those that missed requests, with what is said of that."""
    rows = CaptureAddress.objects.of(request.user)
    return [
        (row, wording.missed(row.missed) if row.missed else "") for row in rows if row.is_living or row.missed
    ]


def _list(request: AuthenticatedRequest) -> dict[str, Any]:
    # The state first: what comes in between shows the next time.
    state = state_of(request.user)
    return {"state": state, "sessions": listed(request.user)}
