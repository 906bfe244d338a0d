"""Commands: a message that begins with `/name` of the library becomes the command's text."""

import re
from datetime import datetime

from django.utils.text import slugify

from sessions_app.context.arguments import arguments_of
from sessions_app.models import PromptText, Session
from sessions_app.prompt.arguments import Message, parsed
from sessions_app.prompt.templates import render

_TYPED = re.compile(r"/(?P<name>[\w-]+)(?:\s(?P<rest>.*))?", re.DOTALL)


def expand(session: Session, text: str, now: datetime, language: str = "") -> str:
    """The command's text for `/name rest`; any other message as it is, without a look at the library.

    `message.text` in the command's template is `rest`; a template that does not use it gets it below.
    """
    typed = _TYPED.fullmatch(text)
    command = _command(typed["name"]) if typed else None
    if typed is None or command is None:
        return text
    rest = (typed["rest"] or "").strip()
    values = arguments_of(session, Message(rest, language), now).values
    written = render(command.body, values, parsed(command.defaults))
    uses_rest = any(use.path in ("message", "message.text") for use in written.uses)
    return f"{written.text}\n\n{rest}" if rest and not uses_rest else written.text


def _command(name: str) -> PromptText | None:
    """By its name as it is typed: “Weekly review” is /weekly-review."""
    rows = PromptText.objects.filter(kind=PromptText.Kind.COMMAND)
    wanted = slugify(name, allow_unicode=True)
    return next((row for row in rows if slugify(row.name, allow_unicode=True) == wanted), None)
