"""The texts of a session's prompt, read from the library and rendered; commands in messages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import BigIntegerField, Q, QuerySet
from django.utils.text import slugify

from sessions_app.context.arguments import arguments_of
from sessions_app.models import Assistant, PromptText, Session
from sessions_app.models.library import defaults_of
from sessions_app.models.prepared import NONE, Parameter, Reading
from sessions_app.prompt.arguments import Arguments, MessageArguments, parse_json_texts
from sessions_app.prompt.layers import NamedText, StaticSources
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.stage_records import StageStatus
from sessions_app.prompt.templates import CacheBreaker, Rendered, Unrendered, cache_breakers
from sessions_app.rendering.renderer import RenderTime, renderer

INSTRUCTIONS = "instructions"
"""Key of the dynamic layer that holds the moved texts."""

EXAMPLE = "example"
"""The kind of an example message, whose name is its role."""

KIND_TITLES = {"background": "instructions"}
"""What people read for a kind, where it is not the prompt's word."""

MOVED = "It stands in the present state of things, under instructions."
_READING = "They bind you like your standing brief; they stand here because they may change."


@dataclass(frozen=True, slots=True)
class SessionText:
    """One text before rendering; `source` is `role:<pk>`, `purpose`, `background`, …"""

    source: str
    kind: str
    name: str
    body: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    is_dynamic: bool = False
    is_fixed: bool = False
    """Dynamic in the library, so the session cannot change it."""

    @property
    def title(self) -> str:
        return f"{self.kind} “{self.name}”" if self.name else KIND_TITLES.get(self.kind, self.kind)


@dataclass(frozen=True, slots=True)
class RenderedText:
    """A rendered text, with the expressions in it that break the cache."""

    text: SessionText
    rendered: Rendered
    breakers: tuple[CacheBreaker, ...] = ()

    @property
    def body(self) -> str:
        return self.rendered.text

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Remarks for the person; each names the text by its title."""
        return tuple(_remarks(self))


def read_texts(session: Session) -> tuple[SessionText, ...]:
    """Purpose, background, example messages, roles, procedure and constraints, each kind by name: one query.

    Roles are those of the session and of the installation's assistant, the procedure is the session's or
    else that assistant's, constraints are those of the whole library.
    """
    options = session.options
    moved = set(options.dynamic_texts)
    defaults = parse_json_texts({one.name: one.default for one in options.variables})
    own = [("purpose", session.purpose), ("background", session.background)]
    examples = [(f"{EXAMPLE}:{number}", one) for number, one in enumerate(options.examples, 1)]
    return (
        *(SessionText(kind, kind, "", body, defaults, kind in moved) for kind, body in own),
        *(
            SessionText(source, EXAMPLE, one.role, one.text, defaults, source in moved)
            for source, one in examples
        ),
        *(_library_text(row, moved) for row in _rows(session)),
    )


def render_session_texts(
    texts: Sequence[SessionText], arguments: Arguments, *, owner: int, time: RenderTime | None = None
) -> tuple[RenderedText, ...]:
    """Renders each text; one that fails is sent unrendered."""
    sources = [Unrendered(text.body, text.defaults) for text in texts]
    rendered = renderer().render(sources, arguments.values, owner=owner, time=time)
    return tuple(_written(text, one, arguments) for text, one in zip(texts, rendered, strict=True))


def rendering_status(texts: Sequence[RenderedText]) -> StageStatus:
    """The most severe status of all texts."""
    if any(each.rendered.status == "fallback" for each in texts):
        return StageStatus.FALLBACK
    is_noticed = any(each.breakers or each.rendered.undefined for each in texts)
    return StageStatus.NOTICED if is_noticed else StageStatus.OK


def static_sources(session: Session, texts: Sequence[RenderedText], tools: Sequence[str]) -> StaticSources:
    """The sources of the static layer; `tools` are the names the model may call."""
    return StaticSources(
        purpose=_own(texts, "purpose"),
        background=_own(texts, "background"),
        roles=_named(texts, PromptText.Kind.ROLE),
        procedure=next(iter(_named(texts, PromptText.Kind.PROCEDURE)), None),
        constraints=_named(texts, PromptText.Kind.CONSTRAINT),
        examples=_named(texts, EXAMPLE),
        language=language_of(session),
        history=(),
        tools=tuple(tools),
    )


def instructions_panel(texts: Sequence[RenderedText], now: datetime) -> Panel | None:
    """The dynamic texts as the last panel, since they may change with every run; None without any."""
    moved = [each for each in texts if each.text.is_dynamic and each.body]
    if not moved:
        return None
    value = {
        "how_to_read": _READING,
        "texts": [{"kind": one.text.kind, "name": one.text.name, "text": one.body} for one in moved],
    }
    return Panel(INSTRUCTIONS, "Instructions", value, now)


def language_of(session: Session) -> str:
    """Language of the answers: the session's, else the assistant's."""
    assistant = session.installed_assistant
    return session.options.language or (assistant.language if assistant else "")


def _rows(session: Session) -> list[tuple[Any, ...]]:
    assistant = session.installed_assistant
    procedure = session.procedure_id or (assistant.procedure_id if assistant else None)
    keys = {"session": session.pk, "assistant": assistant.pk if assistant else NONE}
    return _wanted.all(**keys, procedure=procedure or NONE)


def _text_query() -> "QuerySet[PromptText, tuple[Any, ...]]":
    session, assistant, procedure = (
        Parameter(name, BigIntegerField()) for name in ("session", "assistant", "procedure")
    )
    own = Session.roles.through.objects.filter(session_id=session).values("prompttext")
    theirs = Assistant.roles.through.objects.filter(assistant_id=assistant).values("prompttext")
    wanted = Q(pk__in=own) | Q(pk__in=theirs) | Q(pk=procedure) | Q(kind=PromptText.Kind.CONSTRAINT)
    return PromptText.objects.filter(wanted).values_list("pk", "kind", "name", "body", "variables", "layer")


_wanted: Reading[tuple[Any, ...]] = Reading(_text_query)


def _library_text(row: tuple[Any, ...], moved: set[str]) -> SessionText:
    pk, kind, name, body, variables, layer = row
    source = f"{kind}:{pk}"
    is_fixed = layer == PromptText.Layer.DYNAMIC
    defaults = parse_json_texts(defaults_of(variables))
    return SessionText(source, kind, name, body, defaults, is_fixed or source in moved, is_fixed)


def _written(text: SessionText, rendered: Rendered, arguments: Arguments) -> RenderedText:
    is_still = text.is_dynamic or rendered.status != "rendered"
    breakers = () if is_still else cache_breakers(rendered.uses, arguments.described)
    own = arguments.values.get("args")
    return RenderedText(text, rendered, tuple(one for one in breakers if not _is_set(own, one.path)))


def _is_set(own: Any, path: str) -> bool:
    """Whether the session's arguments take the place of a value of the clock, which then stays."""
    if not path.startswith("system.") or not isinstance(own, Mapping):
        return False
    for name in path.split("."):
        if not isinstance(own, Mapping):
            break
        if name not in own:
            return False
        own = own[name]
    return not isinstance(own, Mapping)


def _own(texts: Sequence[RenderedText], source: str) -> str:
    found = next(each for each in texts if each.text.source == source)
    return MOVED if found.text.is_dynamic and found.body else found.body


def _named(texts: Sequence[RenderedText], kind: str) -> tuple[NamedText, ...]:
    mine = (each for each in texts if each.text.kind == kind and not each.text.is_dynamic)
    return tuple(NamedText(each.text.name, each.body) for each in mine)


def _remarks(written: RenderedText) -> Iterator[Remark]:
    title, rendered = written.text.title, written.rendered
    if rendered.status == "fallback":
        yield Remark(code=RemarkCode.TEXT_FELL_BACK, title=title, **rendered.failure_figures())
    elif rendered.status == "rendered":
        yield Remark(code=RemarkCode.TEXT_RENDERED, title=title)
    if rendered.undefined:
        yield Remark(code=RemarkCode.TEXT_UNDEFINED, title=title, names=list(rendered.undefined))
    for one in written.breakers:
        yield Remark(
            code=RemarkCode.TEXT_BREAKS_CACHE, title=title, line=one.line, path=one.path, rate=one.rate
        )
    if written.text.is_dynamic and written.body:
        yield Remark(code=RemarkCode.TEXT_IS_DYNAMIC, title=title)


COMMAND = "/"
_TYPED = re.compile(COMMAND + r"(?P<name>[\w-]+)(?:\s(?P<rest>.*))?", re.DOTALL)


def expand_command(session: Session, text: str, now: datetime, language: str = "") -> str:
    """The command's text for `/name rest`; any other message unchanged, without a query.

    `message.text` in the template is `rest`, which is appended when the template does not use it, and when it
    is sent as written because rendering failed.
    """
    typed = _TYPED.fullmatch(text)
    command = _command(typed["name"]) if typed else None
    if typed is None or command is None:
        return text
    rest = (typed["rest"] or "").strip()
    values = arguments_of(session, MessageArguments(rest, language), now).values
    body = Unrendered(command.body, parse_json_texts(command.defaults))
    (written,) = renderer().render([body], values, owner=session.owner_id)
    named = any(use.path == "message" or f"{use.path}.".startswith("message.text.") for use in written.uses)
    uses_rest = named and written.status == "rendered"
    return f"{written.text}\n\n{rest}" if rest and not uses_rest else written.text


def _command(name: str) -> PromptText | None:
    """The command with this slug: “Weekly review” is /weekly-review."""
    rows = PromptText.objects.filter(kind=PromptText.Kind.COMMAND)
    wanted = slugify(name, allow_unicode=True)
    found = (row for row in rows if slugify(row.name, allow_unicode=True) == wanted)
    return next(found, None) if wanted else None
