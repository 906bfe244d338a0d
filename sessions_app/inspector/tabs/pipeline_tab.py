"""The pipeline tab: what each stage did, before and after the call."""

from dataclasses import dataclass
from itertools import takewhile

from sessions_app.exchange_sums import equation_of
from sessions_app.inspector.stages import ShownRemark, Stage, notes_of, stages_of
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange
from sessions_app.prompt.stage_records import StageName
from sessions_app.wording import cache_plans, strategies


@dataclass(frozen=True, slots=True)
class ShownPipeline:
    """`built` is our time before the call in ms, including the stages before `send`."""

    stages: list[Stage]
    notes: tuple[ShownRemark, ...]
    built: float

    @property
    def ms(self) -> float:
        return sum(stage.ms for stage in takewhile(lambda stage: stage.is_before_call, self.stages))

    @property
    def rest(self) -> float:
        """Milliseconds before the call outside the stages: reading the session, writing the exchange."""
        return max(0.0, self.built - self.ms)

    @property
    def remarkable(self) -> list[Stage]:
        return [stage for stage in self.stages if stage.tone in ("warn", "bad")]


class PipelineTab(Tab):
    id = "pipeline"
    needs_payload = False
    title = "Pipeline"

    def context(self, exchange: Exchange, *, raw: bool) -> ShownPipeline:
        added: dict[str, tuple[str, ...]] = {
            StageName.PLAN_CACHE: plan_lines(exchange),
            StageName.ACCOUNT: account_lines(exchange),
        }
        return ShownPipeline(
            stages_of(exchange.stages, exchange.session_id, added), notes_of(exchange), exchange.build_ms
        )


def plan_lines(exchange: Exchange) -> tuple[str, ...]:
    """Reasons of plan and strategy; empty for rows of earlier versions, whose records hold the text."""
    plan, strategy = exchange.cache_plan, exchange.strategy
    return (
        *((cache_plans.reason(plan),) if plan else ()),
        *((strategies.sentence(strategy),) if strategy else ()),
    )


def account_lines(exchange: Exchange) -> tuple[str, ...]:
    """The cost; empty for rows of earlier versions, whose records hold the text."""
    if exchange.found_verdict is None:
        return ()
    return tuple(filter(None, [equation_of(exchange)]))
