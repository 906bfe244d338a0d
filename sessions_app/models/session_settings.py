"""What a person sets for one session: the shape of the JSON column `Session.settings`.

A field says everything about its setting: type, default and limits, and for the form its label (`title`),
its help (`description`) and its `FormField`. A key that the column lacks has its default; null in a limit
is no limit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from sessions_app.models.library import VARIABLES_HELP, Variable
from sessions_app.prompt.answer_schema import LONGEST
from sessions_app.prompt.examples import ExampleMessage

Group = Literal["assistant", "model", "tools", "limits", "advanced"]

GROUP_TITLES: dict[Group, str] = {
    "assistant": "Assistant",
    "model": "Model",
    "tools": "Tools",
    "limits": "Limits",
    "advanced": "Advanced",
}
"""The tabs of the form, in their order."""


@dataclass(frozen=True, slots=True)
class FormField:
    """Metadata of a setting that the form of a session shows.

    `choices` are the labels of the values of a Literal, or of the members of a list; `max_length` is in
    characters, `step` is the step of a number's spin buttons. A text of several `lines` has a larger field.
    """

    group: Group
    choices: Mapping[str, str] = field(default_factory=dict)
    placeholder: str = ""
    max_length: int | None = None
    step: str = "any"
    lines: int = 1


IntLimit = Annotated[int | None, FormField("limits", placeholder="No limit", step="1")]
UsdLimit = Annotated[float | None, FormField("limits", placeholder="No limit")]


EXAMPLES_HELP = (
    "How such a chat goes. A line that begins with user: or assistant: begins a message; the model reads "
    "them with their roles, before the history."
)


class SessionSettings(BaseModel):
    """What a person may set per session; the JSON column is read only through this."""

    model_config = ConfigDict(extra="ignore")

    thinking_level: Annotated[
        Literal["", "MINIMAL", "LOW", "MEDIUM", "HIGH"],
        FormField(
            "model",
            choices={
                "": "The model decides",
                "MINIMAL": "Minimal",
                "LOW": "Low",
                "MEDIUM": "Medium",
                "HIGH": "High",
            },
        ),
    ] = Field(default="", title="Thinking level", description="Of those that the model takes.")
    thinking_budget: Annotated[int | None, FormField("model", step="1")] = Field(
        default=None,
        ge=-1,
        le=65_536,
        title="Thinking budget",
        description="Tokens, on models that take a budget; −1 lets the model decide.",
    )
    temperature: Annotated[float | None, FormField("model", placeholder="Model's default", step="0.1")] = (
        Field(default=None, ge=0, le=2, title="Temperature", description="0 to 2; higher is more varied.")
    )
    top_p: Annotated[float | None, FormField("model", placeholder="Model's default", step="0.05")] = Field(
        default=None, ge=0, le=1, title="Top P", description="0 to 1; lower keeps to likelier words."
    )
    auto_title: Annotated[
        Literal["words", "model"],
        FormField("advanced", choices={"words": "From the first words", "model": "Written by the model"}),
    ] = Field(default="words", title="Title", description="A title you type yourself stays.")
    include_thoughts: Annotated[bool, FormField("model")] = Field(
        default=True,
        title="Show the model's thoughts",
        description="As summaries, on models that think.",
    )
    language: Annotated[str, FormField("assistant", max_length=60)] = Field(
        default="",
        title="Language of the answers",
        description="Empty: the assistant's, else that of the message.",
    )
    message_language: Annotated[str, FormField("assistant", max_length=40)] = Field(
        default="",
        title="Language you write in",
        description="Prompts know it as message.language. Empty: as in earlier messages, else the browser's.",
    )
    examples: Annotated[list[ExampleMessage], FormField("assistant")] = Field(
        default_factory=list, title="Example messages", description=EXAMPLES_HELP
    )
    variables: Annotated[list[Variable], FormField("assistant")] = Field(
        default_factory=list, title="Defaults of names", description=VARIABLES_HELP
    )
    """Values of names that purpose, instructions and examples use."""

    time_zone: Annotated[str, FormField("advanced", max_length=60)] = Field(
        default="UTC",
        title="Time zone",
        description="A name like Europe/Lisbon. Empty: UTC.",
    )
    clock_minutes: Annotated[int, FormField("advanced", step="1")] = Field(
        default=60,
        ge=1,
        le=1440,
        title="Clock, in minutes",
        description=(
            "The model's clock is rounded down to this; each tick costs some of the implicit cache."
            " Empty: 60."
        ),
    )
    tools: Annotated[list[str] | None, FormField("tools")] = Field(
        default=None, title="Tools", description="What the model may call."
    )
    """Names of the enabled tools; None means the standard ones."""

    provider_tools: Annotated[
        list[Literal["google_search", "url_context", "code_execution"]],
        FormField(
            "tools",
            choices={
                "google_search": "Search the web",
                "url_context": "Read links",
                "code_execution": "Run code",
            },
        ),
    ] = Field(
        default_factory=list,
        title="Gemini's own tools",
        description="They run at Google. A search has a price of its own; links and code cost their tokens.",
    )
    answer_schema: Annotated[
        str, FormField("tools", placeholder='{"type": "object", …}', max_length=LONGEST, lines=6)
    ] = Field(
        default="",
        title="Answer as JSON",
        description="A JSON schema: each answer is JSON that fits it. Empty: answers are text.",
    )

    model_panels: Annotated[
        Literal["quiet", "all", "none"],
        FormField(
            "tools",
            choices={
                "quiet": "Those that run no program",
                "all": "All of them",
                "none": "None",
            },
        ),
    ] = Field(
        default="quiet",
        title="What the model may switch by itself",
        description="With its tool for that, and never one that you switched on or off.",
    )
    history_policy: Annotated[
        Literal["repair", "strict"],
        FormField(
            "advanced",
            choices={
                "repair": "Mend it and show what was mended",
                "strict": "Send nothing and say why",
            },
        ),
    ] = Field(
        default="repair",
        title="Broken history",
        description="What to do when it breaks a rule, for example by a call without an answer.",
    )
    cache_mode: Annotated[
        Literal["auto", "explicit", "implicit"],
        FormField(
            "advanced",
            choices={
                "auto": "Automatic: by what it costs",
                "explicit": "Explicit: a cache with a name",
                "implicit": "Implicit: an unchanged beginning",
            },
        ),
    ] = Field(
        default="auto", title="Way of caching", description="How the provider keeps what is sent again."
    )
    cache_policy: Annotated[
        Literal["adaptive", "seed"],
        FormField(
            "advanced",
            choices={
                "adaptive": "Adaptive: when it saves the most money",
                "seed": "Fixed: by four thresholds",
            },
        ),
    ] = Field(
        default="adaptive",
        title="When old messages are put away",
        description="What is put away can be cached; putting it away costs a new cache.",
    )

    continue_cut: Annotated[bool, FormField("limits")] = Field(
        default=True,
        title="Go on by itself after a cut answer",
        description="One that reached the output limit.",
    )
    continue_todos: Annotated[bool, FormField("limits")] = Field(
        default=False,
        title="Go on by itself until every todo is done",
        description="Within the limits below.",
    )
    max_rounds: IntLimit = Field(default=10, ge=1, le=100, title="Rounds of tools", description="In one run.")
    max_continuations: IntLimit = Field(
        default=5, ge=0, le=100, title="Times it may go on", description="Since a person last wrote."
    )
    max_tokens: IntLimit = Field(
        default=1_000_000,
        ge=1,
        title="Tokens, sent and received",
        description="In a run with all it goes on to.",
    )
    max_seconds: IntLimit = Field(
        default=1_200, ge=1, title="Seconds", description="In a run with all it goes on to."
    )
    max_usd: UsdLimit = Field(
        default=1.0, gt=0, title="US dollars", description="In a run with all it goes on to."
    )
    budget_usd: UsdLimit = Field(
        default=None,
        gt=0,
        title="Budget of the chat, US dollars",
        description="The call that would begin beyond it is not made.",
    )

    # Set elsewhere than in the form.
    panels: dict[str, bool] = Field(default_factory=dict)
    """Panels that a person switched on or off; what is not named keeps its kind's default."""
    panels_of_model: dict[str, bool] = Field(default_factory=dict)
    """Panels that the model switched on or off; `panels` wins."""
    skills: list[str] | None = None
    """Names of the skills whose text the model sees; None means all that the library has."""
    dynamic_texts: list[str] = Field(default_factory=list)
    """Sources (`role:<pk>`, `purpose`, …) that a person moved from the static to the dynamic layer."""

    @classmethod
    def form_fields(cls) -> dict[str, FormField]:
        """The settings that the form shows, by name, in its order."""
        return {
            name: mark
            for name, info in cls.model_fields.items()
            for mark in info.metadata
            if isinstance(mark, FormField)
        }
