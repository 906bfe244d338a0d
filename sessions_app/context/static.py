"""The texts of a session's prompt: read from the library, rendered, and put into their layer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Q

from sessions_app.models import Assistant, PromptText, Session
from sessions_app.models.text import defaults_of
from sessions_app.prompt.arguments import parsed
from sessions_app.prompt.layers import NamedText, StaticSources
from sessions_app.prompt.lint import Breaker, breakers
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.templates import Rendered, render

INSTRUCTIONS = "instructions"
"""Key of the dynamic layer under which moved texts stand."""

MOVED = "It stands in the second JSON object, under instructions."
_READING = "They bind you like the texts of the first object; they stand here because they may change."


@dataclass(frozen=True, slots=True)
class SessionText:
    """One text as it was written. `source` names it: `role:<pk>`, `purpose`, `background`."""

    source: str
    kind: str
    name: str
    body: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    is_dynamic: bool = False
    is_fixed: bool = False
    """The library says that it is dynamic; the session cannot say otherwise."""

    @property
    def title(self) -> str:
        return f"{self.kind} “{self.name}”" if self.name else self.kind


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A text as the model reads it, and what breaks the cache of the layer it stands in."""

    text: SessionText
    rendered: Rendered
    breakers: tuple[Breaker, ...] = ()

    @property
    def body(self) -> str:
        return self.rendered.text


def read_texts(session: Session) -> tuple[SessionText, ...]:
    """Purpose, background, roles, procedure and constraints, each kind by name: one query.

    The roles are those of the session and of its assistant; the session's procedure comes before
    the assistant's. Constraints hold for every session.
    """
    moved = set(session.options.dynamic_texts)
    own = [("purpose", session.purpose), ("background", session.background)]
    return (
        *(SessionText(kind, kind, "", body, is_dynamic=kind in moved) for kind, body in own),
        *(_library_text(row, moved) for row in _rows(session)),
    )


def write_texts(texts: Sequence[SessionText], values: Mapping[str, Any]) -> tuple[WrittenText, ...]:
    """Each text rendered for itself: one that fails is sent as it was written and harms no other."""
    return tuple(_written(text, values) for text in texts)


def static_sources(session: Session, texts: Sequence[WrittenText], tools: Sequence[str]) -> StaticSources:
    """What the static layer is made of; `tools` are the names the model may call."""
    return StaticSources(
        purpose=_own(texts, "purpose"),
        background=_own(texts, "background"),
        roles=_named(texts, PromptText.Kind.ROLE),
        procedure=next(iter(_named(texts, PromptText.Kind.PROCEDURE)), None),
        constraints=_named(texts, PromptText.Kind.CONSTRAINT),
        language=language_of(session),
        history=(),
        tools=tuple(tools),
    )


def instructions(texts: Sequence[WrittenText], now: datetime) -> Panel | None:
    """The texts that stand in the dynamic layer, as its last panel; None when there are none.

    Stamped `now`, since they may change with every run: nothing that is steadier stands behind them.
    """
    moved = [each for each in texts if each.text.is_dynamic and each.body]
    if not moved:
        return None
    value = {
        "how_to_read": _READING,
        "texts": [{"kind": one.text.kind, "name": one.text.name, "text": one.body} for one in moved],
    }
    return Panel(INSTRUCTIONS, "Instructions", value, now)


def language_of(session: Session) -> str:
    """The language of the answers: the person's choice, else the assistant's."""
    return session.options.language or (session.assistant.language if session.assistant else "")


def _rows(session: Session) -> list[tuple[Any, ...]]:
    roles = Session.roles.through.objects.filter(session=session).values("prompttext")
    wanted = Q(pk__in=roles) | Q(kind=PromptText.Kind.CONSTRAINT)
    procedure = session.procedure_id
    if session.assistant is not None:
        theirs = Assistant.roles.through.objects.filter(assistant=session.assistant)
        wanted |= Q(pk__in=theirs.values("prompttext"))
        procedure = procedure or session.assistant.procedure_id
    found = PromptText.objects.filter(wanted | Q(pk=procedure))
    return list(found.values_list("pk", "kind", "name", "body", "variables", "layer"))


def _library_text(row: tuple[Any, ...], moved: set[str]) -> SessionText:
    pk, kind, name, body, variables, layer = row
    source = f"{kind}:{pk}"
    is_fixed = layer == PromptText.Layer.DYNAMIC
    defaults = parsed(defaults_of(variables))
    return SessionText(source, kind, name, body, defaults, is_fixed or source in moved, is_fixed)


def _written(text: SessionText, values: Mapping[str, Any]) -> WrittenText:
    rendered = render(text.body, values, text.defaults)
    is_still = text.is_dynamic or rendered.status != "rendered"
    return WrittenText(text, rendered, () if is_still else breakers(rendered.uses))


def _own(texts: Sequence[WrittenText], source: str) -> str:
    found = next(each for each in texts if each.text.source == source)
    return MOVED if found.text.is_dynamic and found.body else found.body


def _named(texts: Sequence[WrittenText], kind: str) -> tuple[NamedText, ...]:
    mine = (each for each in texts if each.text.kind == kind and not each.text.is_dynamic)
    return tuple(NamedText(each.text.name, each.body) for each in mine)
