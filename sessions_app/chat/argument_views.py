"""A session's prompt arguments, the names templates may use, and its rendered texts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import retarget
from pydantic_core import PydanticCustomError

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.context.arguments import arguments_now
from sessions_app.context.session_texts import RenderedText, SessionText, read_texts, render_session_texts
from sessions_app.models import Session
from sessions_app.prompt.argument_maps import MAX_DEPTH, depth_of, expand_dotted, is_default_used, leaves_of
from sessions_app.prompt.arguments import RESERVED, dropped_arguments
from sessions_app.prompt.metering import as_json
from sessions_app.values import parse_json
from sessions_app.wording import values
from sessions_app.wording.remarks import sentence

ARGS_LIMIT = 64_000
"""Maximum number of characters."""

VALUE_LIMIT = 200
"""Characters of a value shown in the list of names."""


class ArgsForm(forms.Form):
    """The arguments as one JSON object."""

    args = forms.CharField(required=False, max_length=ARGS_LIMIT, strip=False)

    def clean_args(self) -> dict[str, Any]:
        text = self.cleaned_data["args"]
        try:
            value = parse_json(text) if text.strip() else {}
        except PydanticCustomError as error:
            raise ValidationError(values.sentence(error.type, error.context or {})) from error
        if not isinstance(value, dict):
            raise ValidationError("Write an object: names and values between { and }.")
        if depth_of(value) > MAX_DEPTH:
            raise ValidationError(f"At most {MAX_DEPTH} levels inside each other.")
        if dropped := [sentence(remark) for remark in dropped_arguments(value)]:
            raise ValidationError(dropped)
        return value


@dataclass(frozen=True, slots=True)
class ArgumentName:
    """A name that templates may use, with its current value."""

    path: str
    value: str
    is_own: bool = False
    default_in: str = ""
    """The texts for which this value is the default; elsewhere the name has none."""


@dataclass(frozen=True, slots=True)
class ArgumentsPage:
    """Names and texts for the stored arguments or for unsaved ones."""

    session: Session
    reports: tuple[str, ...]
    names: tuple[ArgumentName, ...]
    texts: tuple[RenderedText, ...]

    @classmethod
    def of(cls, session: Session) -> Self:
        found = arguments_now(session)
        written = [text for text in read_texts(session) if text.body]
        texts = render_session_texts(written, found, owner=session.owner_id)
        names = (*_names(found.values), *_defaults(written, found.values))
        return cls(session, tuple(map(sentence, found.remarks)), names, texts)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def arguments(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """Shows the page; POST saves the arguments or returns the invalid input."""
    found = own_chat(request, public, "assistant")
    form = ArgsForm(request.POST if request.method == "POST" else {"args": _pretty(found.args)})
    is_kept = form.is_valid() and request.method == "POST"
    if is_kept:
        found.args = form.cleaned_data["args"]
        found.save(update_fields=["args"])
    context = {"session": found, "form": form, "page": ArgumentsPage.of(found), "is_kept": is_kept}
    return render(request, "chat/arguments_body.html" if request.htmx else "chat/arguments.html", context)


@login_required
@require_POST
def preview(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """The lists for arguments that are not saved yet."""
    found = own_chat(request, public, "assistant")
    form = ArgsForm(request.POST)
    if not form.is_valid():
        return retarget(render(request, "chat/arguments_error.html", {"form": form}), "#args-error")
    found.args = form.cleaned_data["args"]
    context = {"session": found, "page": ArgumentsPage.of(found), "is_preview": True}
    return render(request, "chat/arguments_lists.html", context)


@login_required
@require_POST
def move_text(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """Moves one text between the static and the dynamic layer."""
    found = own_chat(request, public, "assistant")
    source, is_dynamic = request.POST.get("source", ""), request.POST.get("layer") == "dynamic"
    if not any(text.source == source and not text.is_fixed for text in read_texts(found)):
        return HttpResponseBadRequest("There is no such text that can be moved.")
    found.switch("dynamic_texts", source, is_dynamic)
    return render(request, "chat/arguments_lists.html", {"session": found, "page": ArgumentsPage.of(found)})


def _pretty(args: Any) -> str:
    return json.dumps(args, ensure_ascii=False, indent=2) if args else ""


def _names(values: Mapping[str, Any]) -> Iterator[ArgumentName]:
    for root in RESERVED:
        below = values[root]
        if isinstance(below, dict):
            yield from (
                ArgumentName(f"{root}.{key}", _shortened(value), root == "args")
                for key, value in below.items()
            )
        else:
            yield ArgumentName(root, _shortened(below), is_own=True)
    yield from (
        ArgumentName(key, _shortened(value), is_own=True)
        for key, value in values.items()
        if key not in RESERVED
    )


def _defaults(texts: Sequence[SessionText], values: Mapping[str, Any]) -> Iterator[ArgumentName]:
    """The defaults that hold now, each once."""
    titles: dict[tuple[str, str], list[str]] = {}
    for text in texts:
        for path, default in leaves_of(expand_dotted(text.defaults)):
            if is_default_used(values, path):
                titles.setdefault((".".join(path), _shortened(default)), []).append(text.title)
    for (name, value), where in titles.items():
        yield ArgumentName(name, value, default_in=", ".join(dict.fromkeys(where)))


def _shortened(value: Any) -> str:
    text = value if isinstance(value, str) else as_json(value)
    return text if len(text) <= VALUE_LIMIT else f"{text[:VALUE_LIMIT]}…"
