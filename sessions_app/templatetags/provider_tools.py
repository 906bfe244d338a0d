"""What templates ask of the provider's own tools."""

from django import template

from sessions_app.chat.provider_tools import ProviderToolSwitches
from sessions_app.models import Assistant, Session

register = template.Library()


@register.simple_tag
def tool_switches(session: Session) -> ProviderToolSwitches:
    return ProviderToolSwitches.of(session)


@register.simple_tag
def new_tool_switches(assistant: Assistant | None) -> ProviderToolSwitches:
    return ProviderToolSwitches.new(assistant.known.options.provider_tools if assistant else ())
