"""Panels about the session itself: its statistics, its tools, its history chunks."""

from django.db.models import Count, Sum

from sessions_app.models import HistoryChunk
from sessions_app.panels.base import PanelInputs, PanelKind, PanelValue
from sessions_app.panels.rows import PanelRow


class Statistics(PanelKind[PanelRow]):
    position = 50
    key = "statistics"
    title = "Statistics"
    description = "Tokens and cost so far; new in every request, never cached."
    template = "value"

    def value(self, inputs: PanelInputs) -> PanelValue:
        """Requests, tokens and dollars so far; empty before the first answer."""
        figures = inputs.session.exchanges.exclude(ended_at=None).aggregate(
            requests=Count("pk"),
            prompt_tokens=Sum("prompt_tokens"),
            cached_tokens=Sum("cached_tokens"),
            output_tokens=Sum("output_tokens"),
            thought_tokens=Sum("thought_tokens"),
            usd=Sum("usd"),
        )
        if not figures["requests"]:
            return PanelValue({})
        known = {name: value for name, value in figures.items() if value is not None}
        return PanelValue(known | ({"usd": f"{known['usd']:.6f}"} if "usd" in known else {}))


class ToolSwitches(PanelKind[PanelRow]):
    position = 60
    key = "tools"
    title = "Tools"
    description = "Which tools are on and off; the model knows those that are on."
    template = "value"

    def value(self, inputs: PanelInputs) -> PanelValue:
        on = [name for name, is_on in inputs.tools.items() if is_on]
        off = [name for name, is_on in inputs.tools.items() if not is_on]
        return PanelValue({"on": on, "off": off} if on or off else None)


class HistoryChunks(PanelKind[PanelRow]):
    position = 160
    key = "history"
    title = "History"
    description = "Names the parts of the history that were put away."
    template = "value"

    def value(self, inputs: PanelInputs) -> PanelValue:
        chunks = HistoryChunk.objects.on_branch(inputs.session.head_id)
        return PanelValue(
            [{"name": one.name, "messages": one.messages, "tokens": one.tokens} for one in chunks]
        )
