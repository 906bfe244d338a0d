"""A session's prompt arguments and texts: what templates may name, and what becomes of each text."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import retarget

from sessions_app.chat.views import Request, own_session
from sessions_app.context.arguments import arguments_of, message_of
from sessions_app.context.static import WrittenText, read_texts, write_texts
from sessions_app.models import Session
from sessions_app.prompt.arguments import RESERVED
from sessions_app.prompt.maps import DEEPEST, depth_of
from sessions_app.prompt.sandbox import as_json

ARGS_LIMIT = 64_000
"""Characters of a session's arguments."""

SHOWN = 200
"""Characters of a value in the list of names."""


class ArgsForm(forms.Form):
    """The arguments as one JSON object."""

    args = forms.CharField(required=False, max_length=ARGS_LIMIT, strip=False)

    def clean_args(self) -> dict[str, Any]:
        text = self.cleaned_data["args"]
        try:
            value = json.loads(text) if text.strip() else {}
        except json.JSONDecodeError as error:
            raise ValidationError(f"Line {error.lineno}, column {error.colno}: {error.msg}.") from error
        except RecursionError as error:
            raise ValidationError("This is nested too deeply.") from error
        if not isinstance(value, dict):
            raise ValidationError("Write an object: names and values between { and }.")
        if depth_of(value) > DEEPEST:
            raise ValidationError(f"At most {DEEPEST} levels inside each other.")
        return value


@dataclass(frozen=True, slots=True)
class Name:
    """One thing a template may name, with its present value."""

    path: str
    value: str
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class ArgumentsPage:
    """What the page shows: for stored arguments, or for those that are being typed."""

    session: Session
    reports: tuple[str, ...]
    names: tuple[Name, ...]
    texts: tuple[WrittenText, ...]

    @classmethod
    def of(cls, session: Session) -> Self:
        newest = session.runs.select_related("trigger").order_by("-pk").first()
        found = arguments_of(session, message_of(newest), timezone.now())
        texts = write_texts(read_texts(session), found.values)
        shown = tuple(each for each in texts if each.text.body)
        return cls(session, found.reports, tuple(_names(found.values)), shown)


@login_required
@require_http_methods(["GET", "POST"])
def arguments(request: Request, public: UUID) -> HttpResponse:
    """The page. POST keeps the arguments; what was typed stays when it cannot be kept."""
    found = own_session(request, public, "assistant")
    form = ArgsForm(request.POST if request.method == "POST" else {"args": _pretty(found.args)})
    is_kept = form.is_valid() and request.method == "POST"
    if is_kept:
        found.args = form.cleaned_data["args"]
        found.save(update_fields=["args"])
    context = {"session": found, "form": form, "page": ArgumentsPage.of(found), "is_kept": is_kept}
    return render(request, "chat/arguments_body.html" if request.htmx else "chat/arguments.html", context)


@login_required
@require_POST
def preview(request: Request, public: UUID) -> HttpResponse:
    """The same lists for arguments that are not kept yet."""
    found = own_session(request, public, "assistant")
    form = ArgsForm(request.POST)
    if not form.is_valid():
        return retarget(render(request, "chat/arguments_error.html", {"form": form}), "#args-error")
    found.args = form.cleaned_data["args"]
    context = {"session": found, "page": ArgumentsPage.of(found), "is_preview": True}
    return render(request, "chat/arguments_lists.html", context)


@login_required
@require_POST
def move_text(request: Request, public: UUID) -> HttpResponse:
    """Moves one text between the static and the dynamic layer."""
    found = own_session(request, public, "assistant")
    source, is_dynamic = request.POST.get("source", ""), request.POST.get("layer") == "dynamic"
    if not any(text.source == source and not text.is_fixed for text in read_texts(found)):
        return HttpResponseBadRequest("There is no such text that can be moved.")
    moved = set(found.options.dynamic_texts) - {source} | ({source} if is_dynamic else set())
    found.settings = {**found.settings, "dynamic_texts": sorted(moved)}
    found.save(update_fields=["settings"])
    return render(request, "chat/arguments_lists.html", {"session": found, "page": ArgumentsPage.of(found)})


def _pretty(args: Any) -> str:
    return json.dumps(args, ensure_ascii=False, indent=2) if args else ""


def _names(values: Mapping[str, Any]) -> Iterator[Name]:
    for root in RESERVED:
        below = values[root]
        if isinstance(below, dict):
            yield from (Name(f"{root}.{key}", _shown(value), root == "args") for key, value in below.items())
        else:
            yield Name(root, _shown(below), is_own=True)
    yield from (Name(key, _shown(value), is_own=True) for key, value in values.items() if key not in RESERVED)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else as_json(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
