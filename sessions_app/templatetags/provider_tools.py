"""What templates ask of the provider's own tools."""

from django import template

from sessions_app.chat.provider_tools import ToolSwitches
from sessions_app.models import Assistant, Session

register = template.Library()


@register.simple_tag
def tool_switches(session: Session) -> ToolSwitches:
    return ToolSwitches.of(session)


@register.simple_tag
def new_tool_switches(assistant: Assistant | None) -> ToolSwitches:
    return ToolSwitches.new(assistant.provider_tools if assistant else ())
