"""Panels about the session itself: its statistics, its tools, its history chunks."""

from django.db.models import Count, Q, Sum

from sessions_app.models import Booking, HistoryChunk, Session
from sessions_app.models.booking import INEXACT, exact
from sessions_app.panels.base import PanelInputs, PanelKind, PanelValue
from sessions_app.panels.context_actions import DropHistory, SwitchPanel
from sessions_app.panels.gauge_reading import read_gauge
from sessions_app.panels.rows import PanelRow
from sessions_app.prompt.pricing import MoneySource


class Statistics(PanelKind[PanelRow]):
    position = 50
    key = "statistics"
    title = "Statistics"
    description = (
        "Tokens of all answers and of each part of the last request, and what the session cost so far with"
        " titles, summaries and caches."
    )
    template = "value"

    def value(self, inputs: PanelInputs) -> PanelValue:
        """Requests and tokens so far, with what the whole session cost, and the gauge of the last request.

        Empty before the first answer.
        """
        figures = inputs.session.exchanges.exclude(ended_at=None).aggregate(
            requests=Count("pk"),
            prompt_tokens=Sum("prompt_tokens"),
            cached_tokens=Sum("cached_tokens"),
            output_tokens=Sum("output_tokens"),
            thought_tokens=Sum("thought_tokens"),
        )
        if not figures["requests"]:
            return PanelValue({})
        known = {name: value for name, value in figures.items() if value is not None}
        gauge = read_gauge(inputs.session)
        told = {"last_request": gauge.as_sent()} if gauge.items else {}
        return PanelValue(known | money_of(inputs.session) | told)


def money_of(session: Session) -> dict[str, str | int]:
    """The sums of its bookings that are not 0. `usd` was paid, `usd_emulated` would have been; of `unpriced`
    bookings the price is unknown, those of answers that were `cut_off` are lower bounds, and `estimates` are
    no bounds.
    """
    is_emulated = Q(source=MoneySource.EMULATOR)
    sums = Booking.objects.filter(session=session).aggregate(
        paid=Sum("usd", filter=~is_emulated),
        emulated=Sum("usd", filter=is_emulated),
        **INEXACT,
    )
    known = {"usd": sums["paid"], "usd_emulated": sums["emulated"]}
    told: dict[str, str | int] = {name: f"{exact(usd):.6f}" for name, usd in known.items() if usd}
    return told | {name: sums[name] for name in INEXACT if sums[name]}


class ToolSwitches(PanelKind[PanelRow]):
    position = 60
    key = "tools"
    title = "Tools"
    description = "Which tools are on and off; the model knows those that are on."
    template = "value"
    actions = (SwitchPanel,)
    tool_group = "context"

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
    actions = (DropHistory,)
    tool_group = "context"

    def value(self, inputs: PanelInputs) -> PanelValue:
        chunks = HistoryChunk.objects.on_branch(inputs.session.head_id)
        return PanelValue(
            [{"name": one.name, "messages": one.messages, "tokens": one.tokens} for one in chunks]
        )
