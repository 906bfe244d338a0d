"""What the static layer of a session is made of."""

from collections.abc import Sequence

from django.db.models import Q

from sessions_app.models import PromptText, Session
from sessions_app.prompt.layers import NamedText, StaticSources


def static_sources(session: Session, tools: Sequence[str]) -> StaticSources:
    """Reads purpose, roles, procedure and constraints; `tools` are the names the model may call."""
    texts = _texts(session)
    return StaticSources(
        purpose=session.purpose,
        background=session.background,
        roles=texts[PromptText.Kind.ROLE],
        procedure=next(iter(texts[PromptText.Kind.PROCEDURE]), None),
        constraints=texts[PromptText.Kind.CONSTRAINT],
        language=session.options.language,
        history=(),
        tools=tuple(tools),
    )


def _texts(session: Session) -> dict[str, tuple[NamedText, ...]]:
    """The session's texts by kind, each kind by name; constraints hold for every session."""
    roles = Session.roles.through.objects.filter(session=session).values("prompttext")
    mine = Q(pk__in=roles) | Q(pk=session.procedure_id) | Q(kind=PromptText.Kind.CONSTRAINT)
    found = PromptText.objects.filter(mine).values_list("kind", "name", "body")
    return {
        kind: tuple(NamedText(name=name, body=body) for of_kind, name, body in found if of_kind == kind)
        for kind in PromptText.Kind
    }
