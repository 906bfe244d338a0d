"""The panels of the library: the names of its texts, and the full text of the chosen skills."""

from collections.abc import Iterator
from typing import Annotated, Any

from django.db.models import QuerySet
from pydantic import BeforeValidator, JsonValue
from pydantic_core import from_json

from sessions_app.errors import RowGone
from sessions_app.models import PromptText, Session
from sessions_app.models.library import defaults_of
from sessions_app.panels.base import Action, PanelInputs, PanelKind, PanelValue
from sessions_app.panels.rows import PanelRow
from sessions_app.prompt.arguments import parse_json_texts
from sessions_app.prompt.templates import Rendered, Unrendered
from sessions_app.wording.remarks import failure_reason

SHARED = "The library belongs to the installation; which skills a session uses is one of its settings."


class LibraryRow(PanelRow):
    name: str
    kind: str
    summary: str


def _parsed(column: Any) -> Any:
    """SQLite gives a JSON column within an object as a text; a text of its own is no list of variables."""
    try:
        return from_json(column) if isinstance(column, str) else column
    except ValueError:
        return None


class SkillRow(PanelRow):
    name: str
    summary: str
    body: str
    variables: Annotated[JsonValue, BeforeValidator(_parsed)] = None


def _problems(skill: SkillRow, rendered: Rendered) -> Iterator[str]:
    """What of a skill's template could not be filled in, for the person."""
    if rendered.status == "fallback":
        yield f"“{skill.name}” is sent as it is written: {failure_reason(rendered)}."
    if rendered.undefined:
        yield f"“{skill.name}” names what has no value: {', '.join(rendered.undefined)}."


class Library(PanelKind[LibraryRow]):
    position = 40
    key = "library"
    title = "Library"
    description = "Names all that the library offers; few chats need it."
    model = PromptText
    row = LibraryRow
    is_transferred = False
    transfer_reason = SHARED

    def queryset(self, session: Any, owner: Any) -> "QuerySet[Any]":
        kinds = (PromptText.Kind.ROLE, PromptText.Kind.SKILL, PromptText.Kind.COMMAND)
        return PromptText.objects.filter(kind__in=kinds)

    def value(self, inputs: PanelInputs) -> PanelValue:
        names: dict[str, list[str]] = {}
        for text in sorted(self.of(inputs), key=lambda text: (text.kind, text.name)):
            line = f"{text.name}: {text.summary}" if text.summary else text.name
            names.setdefault(f"{text.kind}s", []).append(line)
        return PanelValue(names)


class SwitchSkill(Action):
    skill: int
    on: bool = False

    def carry_out(self, session: Session) -> str:
        skills = dict(PromptText.objects.filter(kind=PromptText.Kind.SKILL).values_list("pk", "name"))
        if self.skill not in skills:
            raise RowGone("The library does not have this skill any more.")
        name = skills[self.skill]
        session.switch("skills", name, self.on, skills.values())
        return f"“{name}” is {'on' if self.on else 'off'}."


class Skills(PanelKind[SkillRow]):
    position = 170
    key = "skills"
    title = "Skills"
    description = "Know-how from the library, in full; you choose which."
    default_on = True
    model = PromptText
    row = SkillRow
    is_transferred = False
    transfer_reason = SHARED
    actions = (SwitchSkill,)

    def queryset(self, session: Any, owner: Any) -> "QuerySet[Any]":
        return PromptText.objects.filter(kind=PromptText.Kind.SKILL)

    def value(self, inputs: PanelInputs) -> PanelValue:
        chosen = inputs.options.skills
        skills = [one for one in self.of(inputs) if chosen is None or one.name in chosen]
        skills.sort(key=lambda skill: skill.name)
        texts = [Unrendered(one.body, parse_json_texts(defaults_of(one.variables))) for one in skills]
        written = list(zip(skills, inputs.render(texts), strict=True))
        value = [{"name": one.name, "summary": one.summary, "body": text.text} for one, text in written]
        problems = [line for one, text in written for line in _problems(one, text)]
        return PanelValue(value, problem=" ".join(problems))

    def template_context(self, session: Session, read: Any) -> dict[str, Any]:
        chosen = session.options.skills
        library = PromptText.objects.filter(kind=PromptText.Kind.SKILL).defer("body")
        skills = [(one, chosen is None or one.name in chosen) for one in library]
        return {"skills": skills, **super().template_context(session, read)}
