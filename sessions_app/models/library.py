"""The prompt library: texts that people choose for their sessions and admins edit."""

from typing import Annotated, Any

from django.db import models
from pydantic import BaseModel, ConfigDict, JsonValue, StringConstraints, TypeAdapter, ValidationError


class Variable(BaseModel):
    """A name that a text uses, with its default."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$")]
    default: JsonValue = ""


VARIABLES_HELP = (
    "One a line: name = default, for a text that says {{ name }} where the chat has no value of its own. A "
    "default may be a JSON list or object; a dot in the name makes a level."
)

VARIABLES = TypeAdapter(list[Variable])


def divided(variables: Any) -> tuple[list[Variable], list[Any]]:
    """The variables of a column, and its items that are none that this version knows."""
    known, unknown = [], []
    for item in variables if isinstance(variables, list) else [variables] if variables else []:
        try:
            known.append(Variable.model_validate(item))
        except ValidationError:
            unknown.append(item)
    return known, unknown


def defaults_of(variables: Any) -> dict[str, Any]:
    """Name → default, of the variables that are known."""
    return {each.name: each.default for each in divided(variables)[0]}


class PromptText(models.Model):
    class Kind(models.TextChoices):
        ROLE = "role", "Role"
        PROCEDURE = "procedure", "Procedure"
        CONSTRAINT = "constraint", "Constraint"
        SKILL = "skill", "Skill"
        COMMAND = "command", "Command"

    class Layer(models.TextChoices):
        STATIC = "static", "Static: the same in every request, cached"
        DYNAMIC = "dynamic", "Dynamic: may change from request to request"

    kind = models.CharField(max_length=12, choices=Kind)
    name = models.CharField(max_length=80)
    summary = models.CharField(max_length=200, blank=True, help_text="One line for the person who chooses.")
    body = models.TextField(help_text="What the model reads; a Jinja template over the prompt arguments.")
    variables = models.JSONField(
        default=list, blank=True, help_text='Variables with defaults: [{"name": …, "default": …}].'
    )
    layer = models.CharField(max_length=8, choices=Layer, default=Layer.STATIC)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["kind", "name"]
        constraints = [models.UniqueConstraint(fields=["kind", "name"], name="text_name_once_per_kind")]

    def __str__(self) -> str:
        return self.name

    @property
    def defaults(self) -> dict[str, Any]:
        return defaults_of(self.variables)


class Persona(models.Model):
    """Fields that assistants and sessions share."""

    roles: "models.ManyToManyField[PromptText, Any]" = models.ManyToManyField(
        PromptText, blank=True, related_name="+", limit_choices_to={"kind": "role"}
    )
    procedure = models.ForeignKey(
        PromptText,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        limit_choices_to={"kind": "procedure"},
    )

    class Meta:
        abstract = True
