"""Make links, list and revoke them: for the person whose conversations they show."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sessions_app.accounts.requests import AuthenticatedRequest, own_or_gone, own_session
from sessions_app.context.personal_limits import check_shared_links, limits_of
from sessions_app.context.storage import check_storage
from sessions_app.error_codes import ShareProblem
from sessions_app.errors import NotShareable, OverLimit
from sessions_app.models import Session, SharedLink, Turn
from sessions_app.models.personal_limits import lock_person
from sessions_app.sharing.building import Branch
from sessions_app.sharing.forms import ShareForm
from sessions_app.sharing.shown import shown
from sessions_app.wording import sharing
from sessions_app.wording.refusals import error_texts


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def share(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """GET shows the form with the preview; POST makes a link of what `digest` names, and shows it."""
    session = own_session(request, public, "head")
    context: dict[str, Any] = {"session": session}
    try:
        branch = _branch(request, session)
        form = ShareForm(request.POST or None, candidates=branch.candidates)
        context |= {"branch": branch, "form": form, "leaf": _leaf(request, session)}
        if request.method == "POST" and form.is_valid():
            link = _make(branch, form, request.POST.get("digest", ""))
            address = _address(request, link)
            return render(request, "sharing/made.html", {"link": link, "address": address})
        context |= _preview(branch, form)
    except NotShareable as error:
        context["problem"] = sharing.problem(error.reason, error.figures)
        if error.reason == ShareProblem.CHANGED:
            context |= _preview(branch, form)
    except OverLimit as error:
        context["problem"] = " ".join(error_texts(error))
    return render(request, "sharing/form.html", context)


@login_required
@require_POST
def preview(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """What the link would show with these choices, and its digest."""
    session = own_session(request, public, "head")
    try:
        branch = _branch(request, session)
        context = _preview(branch, ShareForm(request.POST, candidates=branch.candidates))
    except NotShareable as error:
        context = {"problem": sharing.problem(error.reason, error.figures)}
    return render(request, "sharing/preview.html", context)


@login_required
@never_cache
@require_safe
def links(request: AuthenticatedRequest) -> HttpResponse:
    """The links of the person, the newest first; expired ones are erased."""
    SharedLink.objects.of(request.user).expired().revoke()
    rows = SharedLink.objects.of(request.user).select_related("session").prefetch_related("files")
    shown_links = [(row, _address(request, row)) for row in rows]
    context = {"links": shown_links, "is_off": not limits_of(request.user.pk).shared_links}
    return render(request, "sharing/links.html", context)


@login_required
@require_POST
def revoke(request: AuthenticatedRequest, link: UUID) -> HttpResponse:
    """Says the same of a link that another page has revoked."""
    rows = SharedLink.objects.filter(public=link)
    own_or_gone(rows, rows.filter(session__owner_id=request.user.pk)).revoke()
    messages.success(request, sharing.REVOKED)
    return redirect("shared-links")


def _branch(request: AuthenticatedRequest, session: Session) -> Branch:
    """The branch that ends at the turn of the request, or that in view. Raises NotShareable, Http404."""
    if not limits_of(session.owner_id).shared_links:
        raise NotShareable(ShareProblem.SWITCHED_OFF)
    if session.temporary:
        raise NotShareable(ShareProblem.TEMPORARY)
    return Branch.ending_at(session, _leaf(request, session))


def _leaf(request: AuthenticatedRequest, session: Session) -> Turn | None:
    """Named by the form, so that a link has nothing that came after its preview."""
    named = request.POST.get("leaf") or request.GET.get("leaf")
    if not named:
        return session.head
    try:
        return get_object_or_404(session.turns, public=UUID(named))
    except ValueError as error:
        raise Http404 from error


def _preview(branch: Branch, form: ShareForm) -> dict[str, Any]:
    """The very rendering that the link will show. Raises NotShareable."""
    is_chosen = form.is_bound and form.is_valid()
    chosen = form.chosen if is_chosen else set()
    snapshot = branch.snapshot(has_details=is_chosen and form.has_details, chosen=chosen)
    addresses = [file.url for file in branch.chosen_files(chosen)]
    return {
        "snapshot": snapshot,
        "digest": snapshot.digest,
        "rendered": shown(snapshot, addresses),
        "is_cut": branch.is_cut,
    }


def _make(branch: Branch, form: ShareForm, digest: str) -> SharedLink:
    """Raises NotShareable where the preview showed something else, and OverLimit."""
    snapshot = branch.snapshot(has_details=form.has_details, chosen=form.chosen)
    if snapshot.digest != digest:
        raise NotShareable(ShareProblem.CHANGED)
    stored, files = snapshot.stored(), branch.chosen_files(form.chosen)
    owner_id = branch.session.owner_id
    check_storage(owner_id, len(stored) + sum(file.size or 0 for file in files))
    with transaction.atomic():
        lock_person(owner_id)
        check_shared_links(owner_id)
        return SharedLink.objects.make(
            branch.session,
            snapshot=stored,
            has_details=snapshot.has_details,
            files=[file.to_share() for file in files],
            expires_at=form.expires_at,
        )


def _address(request: AuthenticatedRequest, link: SharedLink) -> str:
    return request.build_absolute_uri(reverse("shared", args=[link.token]))
