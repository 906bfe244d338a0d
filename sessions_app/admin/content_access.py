"""The way from metadata to content: a permission of its own, and a reason that is typed on the way in."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse

from sessions_app.admin.base import ModelAdmin
from sessions_app.errors import NotOpened
from sessions_app.log_codes import LoggedAction
from sessions_app.models import ContentGrant, Session
from sessions_app.models.audit_entry import record
from sessions_app.models.content_grant import LIFETIME, REASON_LENGTH, SHORTEST_REASON, may_read_content
from sessions_app.wording import audit_log


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label="Why do you have to read this?",
        min_length=SHORTEST_REASON,
        max_length=REASON_LENGTH,
        help_text="The person whose chat it is reads this at once, with your name.",
        widget=forms.Textarea(attrs={"rows": 3, "cols": 60}),
    )


class ContentLinks(ModelAdmin):
    """Pages of rows that belong to a session, with a link to what the session says."""

    change_form_template = "admin/record.html"

    def content_path(self, row: Any) -> str:
        """The page that shows the content of the row."""
        raise NotImplementedError

    def session_of(self, row: Any) -> Session:
        found: Session = row if isinstance(row, Session) else row.session
        return found

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **named: Any
    ) -> HttpResponse:
        obj = context.get("original")
        if obj is not None and may_read_content(request.user):
            place = reverse("admin:sessions_app_session_read", args=[self.session_of(obj).pk])
            context["content_link"] = f"{place}?next={self.content_path(obj)}"
        response: HttpResponse = super().render_change_form(request, context, *args, **named)
        return response


class ReadingPage(ModelAdmin):
    """The page of the reason, below a session."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.read_view)
        urls: list[URLPattern] = super().get_urls()
        return [path("<int:pk>/read/", view, name="sessions_app_session_read"), *urls]

    def read_view(self, request: Any, pk: int) -> HttpResponse:
        """POST with a reason opens the session for a while; with `close` it ends what was opened."""
        session = get_object_or_404(Session.objects.defer("title", "purpose", "background"), pk=pk)
        place = _place_in(session, request.POST.get("next") or request.GET.get("next", ""))
        if session.owner_id == request.user.pk or _is_open(request, session):
            return redirect(place)
        if not may_read_content(request.user):
            record(LoggedAction.CONTENT_REFUSED, request.user, session)
            raise PermissionDenied
        if "close" in request.POST:
            ContentGrant.objects.close(request.user, session)
            return redirect("admin:sessions_app_session_change", pk)
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                ContentGrant.objects.open(request.user, session, form.cleaned_data["reason"])
                return redirect(place)
            except NotOpened as error:
                form.add_error("reason", audit_log.refusal(error.reason, error.figures))
        context = {
            **admin.site.each_context(request),
            "title": "Read content",
            "form": form,
            "read_session": session,
            "next": place,
            "minutes": LIFETIME.seconds // 60,
        }
        return render(request, "admin/read_content.html", context)


def _is_open(request: HttpRequest, session: Session) -> bool:
    """Whether a GET leads on at once, as the reader has given a reason already."""
    return request.method == "GET" and ContentGrant.objects.of(request.user, session) is not None


def _place_in(session: Session, wanted: str) -> str:
    """A page of this session and of no other; without one the chat."""
    own = session.get_absolute_url()
    return wanted if wanted.startswith(own) and ".." not in wanted and "\\" not in wanted else own
