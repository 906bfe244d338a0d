"""Fetch a web page that a person names, and attach its text."""

from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.chat.open_files import opened_response
from sessions_app.chat.text_files import keep_text
from sessions_app.context.storage import check_upload
from sessions_app.documents.fetching import URL_LIMIT
from sessions_app.documents.jobs import read_page
from sessions_app.errors import DocumentRefused, OverLimit, WorkspaceError
from sessions_app.models import Session
from sessions_app.wording import documents
from sessions_app.wording.refusals import error_texts


class WebPageForm(forms.Form):
    url = forms.CharField(label="Address of the page", max_length=URL_LIMIT)
    url.widget.input_type = "url"
    url.widget.attrs["autofocus"] = True


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def web_page(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """GET shows the form; POST fetches the page and opens its text."""
    session = own_chat(request, public)
    form = WebPageForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            _attach(session, form.cleaned_data["url"])
        except DocumentRefused as error:
            sentence = documents.problem(error.reason, error.figures)
            form.add_error("url", f"{sentence} {documents.hint('page')}")
        except (OverLimit, WorkspaceError) as error:
            form.add_error("url", " ".join(error_texts(error)))
        else:
            return opened_response()
    return render(request, "chat/web_page.html", {"session": session, "form": form})


def _attach(session: Session, url: str) -> None:
    """Raises DocumentRefused, OverLimit, WorkspaceError."""
    page = read_page(url, person=session.owner_id, allows_loopback=settings.PIPEWEB_LOOPBACK_PAGES)
    text = documents.page_with_origin(page.url, page.title, timezone.now(), page.text)
    check_upload(session.owner_id, len(text.encode()))
    keep_text(session, page.title or "web page", text)
