"""What the static layer of a session is made of."""

from collections.abc import Sequence

from sessions_app.models import PromptText, Session
from sessions_app.prompt.layers import NamedText, StaticSources


def static_sources(session: Session, tools: Sequence[str]) -> StaticSources:
    """Reads purpose, roles, procedure and constraints; `tools` are the names the model may call."""
    return StaticSources(
        purpose=session.purpose,
        background=session.background,
        roles=tuple(_named(text) for text in session.roles.order_by("name")),
        procedure=_named(session.procedure) if session.procedure else None,
        constraints=tuple(
            _named(text) for text in PromptText.objects.filter(kind=PromptText.Kind.CONSTRAINT)
        ),
        language=session.options.language,
        history=(),
        tools=tuple(tools),
    )


def _named(text: PromptText) -> NamedText:
    return NamedText(name=text.name, body=text.body)
