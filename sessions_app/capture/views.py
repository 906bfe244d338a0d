"""Pages of capture: addresses, the list of what was asked under them, and single requests."""

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.capture.clients import lines_for
from sessions_app.capture.comparison import captured_prompt
from sessions_app.capture.forms import AddressForm
from sessions_app.capture.listing import ListedRequest, listed, state_of
from sessions_app.capture.paths import MOUNT
from sessions_app.models import CaptureAddress, CapturedRequest
from sessions_app.models.capture_address import LIVING
from sessions_app.models.captured_request import RETENTION
from sessions_app.wording import capture as wording

NOT_KNOWN = "…"
"""Stands in the lines for programs where the token is not known any more."""

CHANGES = {"pause": {"is_paused": True}, "resume": {"is_paused": False}}


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
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
@require_GET
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
        rows.revoke()
    elif change in CHANGES:
        rows.update(**CHANGES[change])
    else:
        raise Http404
    return redirect("capture")


@login_required
@never_cache
@require_GET
def captured_request(request: AuthenticatedRequest, captured: UUID) -> HttpResponse:
    row = _own(request, captured)
    context: dict[str, Any] = {"captured": ListedRequest(row, 0, 0), "row": row}
    if row.request_body_id and row.session:
        context["prompt"] = captured_prompt(row)
    return render(request, "capture/request.html", context)


@login_required
@require_GET
def captured_body(request: AuthenticatedRequest, captured: UUID, what: str) -> HttpResponse:
    """The bytes as they travelled."""
    row = _own(request, captured)
    bodies = {"request": row.request_body, "answer": row.response_body}
    body = bodies.get(what)
    if body is None:
        raise Http404
    # Never as what it says it is: a page of somebody else would run here.
    response = HttpResponse(body.bytes, content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{row.public}.{what}"'
    patch_cache_control(response, private=True, no_store=True)
    return response


@login_required
@require_POST
def erase_captured(request: AuthenticatedRequest, captured: UUID) -> HttpResponse:
    """The session of the request, with the bodies; a request without a session alone."""
    row = _own(request, captured)
    rows = CapturedRequest.objects.of(request.user).filter(address_id=row.address_id)
    rows = rows.filter(session=row.session) if row.session else rows.filter(pk=row.pk)
    rows.erase()
    return redirect("capture")


def _own(request: AuthenticatedRequest, captured: UUID) -> CapturedRequest:
    rows = CapturedRequest.objects.of(request.user)
    return get_object_or_404(rows.select_related("address", "request_body", "response_body"), public=captured)


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
